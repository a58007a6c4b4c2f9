"""Requests: the message for each kind of statement, with the session's defaults filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..statements.base import FetchSizeUnset, Statement
from ..statements.batch import BatchStatement
from ..statements.bound import BoundStatement
from ..statements.simple import LiteralEncoder, SimpleStatement, bind_params
from ..vocabulary.consistency import ConsistencyLevel
from ..vocabulary.protocol_version import ProtocolVersion
from ..wire.requests import BatchMessage, ExecuteMessage, QueryMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..wire.messages import Request


class Defaults(NamedTuple):
    """What a session does where a statement says nothing.

    Attributes:
        consistency_level: a ``ConsistencyLevel``.
        serial_consistency_level: SERIAL, LOCAL_SERIAL, or None to leave it to the server.
        fetch_size: rows a page; None switches paging off.
    """

    consistency_level: int = ConsistencyLevel.LOCAL_ONE
    serial_consistency_level: int | None = None
    fetch_size: int | None = 5000


_EXECUTABLE = (BoundStatement, SimpleStatement, BatchStatement)


def message_for(
    statement: Statement,
    protocol_version: int,
    encoder: LiteralEncoder,
    defaults: Defaults = Defaults(),  # noqa: B008  (immutable)
    parameters: Sequence[Any] | dict[str, Any] | None = None,
    timestamp: int | None = None,
) -> Request:
    """The request that executes a statement.

    Args:
        statement: simple, bound or batch.
        protocol_version: of the connection.
        encoder: writes parameters of a simple statement as literals.
        defaults: for what the statement does not set.
        parameters: of a simple statement.
        timestamp: of the writes, in microseconds since the epoch; None leaves it to the server.

    Returns:
        A QUERY, EXECUTE or BATCH message with the statement's custom payload.

    Raises:
        TypeError: parameters for a bound or batch statement, or an unknown kind of statement.
    """
    if not isinstance(statement, _EXECUTABLE):
        raise TypeError(f"a {type(statement).__name__} cannot be executed")
    consistency = statement.consistency_level
    if consistency is None:
        consistency = defaults.consistency_level
    serial = statement.serial_consistency_level or defaults.serial_consistency_level
    fetch_size = statement.fetch_size
    if isinstance(fetch_size, FetchSizeUnset):
        fetch_size = defaults.fetch_size

    message: Request
    if isinstance(statement, BoundStatement):
        if parameters is not None:
            raise TypeError(f"a {type(statement).__name__} takes no parameters")
        prepared = statement.prepared_statement
        message = ExecuteMessage(
            prepared.query_id,
            statement.values,
            consistency,
            serial,
            fetch_size,
            None,
            timestamp,
            bool(prepared.result_metadata),
            prepared.result_metadata_id,
        )
        if statement.custom_payload is not None:
            message.update_custom_payload(statement.custom_payload)
        return message
    names_keyspace = ProtocolVersion.uses_keyspace_flag(protocol_version)
    keyspace = statement.keyspace if names_keyspace else None
    if isinstance(statement, SimpleStatement):
        text = statement.query_string
        if parameters is not None:
            text = bind_params(text, parameters, encoder)
        message = QueryMessage(
            text, consistency, serial, fetch_size, timestamp=timestamp, keyspace=keyspace
        )
    elif parameters is not None:
        raise TypeError(f"a {type(statement).__name__} takes no parameters")
    else:
        message = BatchMessage(
            statement.batch_type, statement.statements, consistency, serial, timestamp, keyspace
        )
    if statement.custom_payload is not None:
        message.update_custom_payload(statement.custom_payload)
    return message
