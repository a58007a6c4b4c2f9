"""Requests: the message for each kind of statement, with the options of the request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..implementation import hand_over
from ..protocol.version import ProtocolVersion
from ..statements.batch import BatchStatement
from ..statements.bound import BoundStatement
from ..statements.simple import LiteralEncoder, SimpleStatement, bind_params
from ..wire.requests import BatchMessage, ExecuteMessage, QueryMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..statements.base import Statement
    from ..wire.messages import Request
    from .options import Options


def message_for(
    statement: Statement,
    options: Options,
    protocol_version: int,
    encoder: LiteralEncoder,
    parameters: Sequence[Any] | dict[str, Any] | None = None,
    timestamp: int | None = None,
) -> Request:
    """The request that executes a statement.

    Args:
        statement: simple, bound or batch.
        options: what it is asked to do, the statement's own included.
        protocol_version: of the connection.
        encoder: writes parameters of a simple statement as literals.
        parameters: of a simple statement.
        timestamp: of the writes, in microseconds since the epoch; None leaves it to the server.

    Returns:
        A QUERY, EXECUTE or BATCH message.

    Raises:
        TypeError: parameters for a bound or batch statement, or an unknown kind of statement.
    """
    message: QueryMessage | ExecuteMessage | BatchMessage
    if isinstance(statement, SimpleStatement):
        text = statement.query_string
        if parameters is not None:
            text = bind_params(text, parameters, encoder)
        message = QueryMessage(
            text,
            options.consistency_level,
            options.serial_consistency_level,
            options.fetch_size,
            options.paging_state,
            timestamp,
            _keyspace_of(statement, protocol_version),
        )
    elif parameters is not None:
        raise TypeError(f"a {type(statement).__name__} takes no parameters")
    elif isinstance(statement, BoundStatement):
        prepared = statement.prepared_statement
        message = ExecuteMessage(
            prepared.query_id,
            statement.values,
            options.consistency_level,
            options.serial_consistency_level,
            options.fetch_size,
            options.paging_state,
            timestamp,
            bool(prepared.result_metadata),
            prepared.result_metadata_id,
        )
    elif isinstance(statement, BatchStatement):
        message = BatchMessage(
            statement.batch_type,
            statement.statements,
            options.consistency_level,
            options.serial_consistency_level,
            timestamp,
            _keyspace_of(statement, protocol_version),
        )
    else:
        raise TypeError(f"a {type(statement).__name__} cannot be executed")
    if options.more:
        message.options = {**(message.options or {}), **options.more}
    if options.trace:
        message.tracing = options.trace
    if options.custom_payload is not None:
        message.update_custom_payload(options.custom_payload)
    return message


def _keyspace_of(statement: Statement, protocol_version: int) -> str | None:
    """The keyspace of a statement, where the protocol can carry it; it routes in any case."""
    names_keyspace = ProtocolVersion.uses_keyspace_flag(protocol_version)
    return statement.keyspace if names_keyspace else None


hand_over(globals())
