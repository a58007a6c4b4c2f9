"""Options: what a request is asked to do, merged once, and the message that says so to a node.

What a call says goes before what its statement says, and that before the profile. The object never
changes: threads share that of a profile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypedDict

from ..implementation import hand_over
from ..policies.retry import RetryPolicy
from ..protocol.consistency import ConsistencyLevel
from ..protocol.version import ProtocolVersion
from ..results.rows import named_tuple_factory
from ..statements.base import FetchSizeUnset, Statement
from ..statements.batch import BatchStatement
from ..statements.bound import BoundStatement
from ..statements.simple import SimpleStatement, bind_params
from ..wire.requests import BatchMessage, ExecuteMessage, QueryMessage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..results.rows import RowFactory
    from ..topology.host import Host
    from ..types.literals import Encoder
    from ..wire.codec import ProtocolHandler
    from ..wire.messages import Request

_DEFAULT_RETRY_POLICY: Final = RetryPolicy()


class RequestOptions(TypedDict, total=False):
    """What ``execute`` takes beside its older arguments, and neither statement nor profile has.

    Attributes:
        keyspace: in which the request is executed, in place of the session's: for names without
            one in a text, and in the texts of a batch (protocol v5).
        now_in_seconds: what the server takes for the current time, in seconds since the epoch,
            where it decides what has expired: for tests of expiring data (protocol v5).
    """

    keyspace: str
    now_in_seconds: int


class Options(NamedTuple):
    """What a request is asked to do.

    Attributes:
        consistency_level: a ``ConsistencyLevel``.
        serial_consistency_level: SERIAL, LOCAL_SERIAL, or None to leave it to the server.
        fetch_size: rows a page; None switches paging off.
        timeout: seconds until ``OperationTimedOut``, for each page; None for none.
        row_factory: shape of the rows.
        load_balancing_policy: makes the query plan; None for the session's.
        retry_policy: asked about failures.
        speculative_execution_policy: says when to ask another host as well; None for never.
        trace: whether the server is asked to trace it.
        custom_payload: for a custom query handler of the server.
        paging_state: where to begin, from an earlier result.
        host: the only host that may be asked.
        protocol_handler: encodes and decodes; None for the connection's own.
        more: the options of ``RequestOptions`` that were asked for.
    """

    consistency_level: int = ConsistencyLevel.LOCAL_ONE
    serial_consistency_level: int | None = None
    fetch_size: int | None = 5000
    timeout: float | None = None
    row_factory: RowFactory[Any] = named_tuple_factory
    load_balancing_policy: Any = None
    retry_policy: Any = _DEFAULT_RETRY_POLICY
    speculative_execution_policy: Any = None
    trace: bool = False
    custom_payload: Mapping[str, bytes | None] | None = None
    paging_state: bytes | None = None
    host: Host | None = None
    protocol_handler: type[ProtocolHandler] | None = None
    more: Mapping[str, Any] | None = None

    def merged(
        self, statement: Statement, call: dict[str, Any], more: Mapping[str, Any] | None = None
    ) -> Options:
        """These, but for what a statement and a call say otherwise.

        Args:
            statement: what is executed.
            call: values of these options for this request alone, by name.
            more: of the options of ``RequestOptions``, the same.

        Raises:
            TypeError: there is no option of that name, or it is no statement.
        """
        if not isinstance(statement, Statement):
            raise TypeError(f"a {type(statement).__name__} cannot be executed")
        own: dict[str, Any] = {}
        if statement.consistency_level is not None:
            own["consistency_level"] = statement.consistency_level
        if statement.serial_consistency_level:
            own["serial_consistency_level"] = statement.serial_consistency_level
        if not isinstance(statement.fetch_size, FetchSizeUnset):
            own["fetch_size"] = statement.fetch_size
        if statement.retry_policy:
            own["retry_policy"] = statement.retry_policy
        if statement.custom_payload:
            payload = call.get("custom_payload") or {}
            call = {**call, "custom_payload": {**statement.custom_payload, **payload}}
        if more:
            unknown = more.keys() - RequestOptions.__annotations__.keys()
            if unknown:
                raise TypeError(f"a request has no option {', '.join(sorted(unknown))}")
            own["more"] = {name: value for name, value in more.items() if value is not None}
        return self._replace(**own, **call) if own or call else self


def message_for(
    statement: Statement,
    options: Options,
    protocol_version: int,
    encoder: Encoder,
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
