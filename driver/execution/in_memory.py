"""A session over an in-memory connection: everything but the sockets, for tests and benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from ..net.in_memory import Answer, InMemoryConnection, InMemoryServer, ReceivedRequest, answer_void
from ..results.rows import named_tuple_factory
from ..statements.bound import BoundStatement
from ..statements.prepared import PreparedStatement
from ..statements.simple import SimpleStatement
from ..topology.host import Host
from ..topology.metadata import Metadata
from ..types.literals import Encoder
from ..vocabulary.protocol_version import ProtocolVersion
from ..wire.codec import ProtocolHandler
from ..wire.features import NO_FEATURES
from ..wire.requests import PrepareMessage
from .requests import Defaults, message_for
from .response_future import ResponseFuture

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..net.contract import Connection
    from ..policies.column_encryption import ColumnEncryptionPolicy
    from ..results.result_set import ResultSet
    from ..results.rows import RowFactory
    from ..statements.base import Statement
    from ..wire.features import ProtocolFeatures
    from ..wire.messages import Request

_LOCALHOST = "127.0.0.1"


class InMemoryCluster:
    """What sessions share, without a control connection.

    Attributes:
        metadata: the cluster as it is known; the one host is in it.
        protocol_version: of the connection.
        features: what the server announced.
        tablets_routing_v1: whether the server sends tablets.
        prepared_statements: by the server's id.
        column_encryption_policy: what encrypts bound values and decrypts rows.
        schema_changes: fields of every schema change, in order.
    """

    def __init__(
        self,
        protocol_version: int = ProtocolVersion.V4,
        features: ProtocolFeatures = NO_FEATURES,
        column_encryption_policy: ColumnEncryptionPolicy | None = None,
    ) -> None:
        """Know one host."""
        self.metadata = Metadata()
        self.protocol_version = protocol_version
        self.features = features
        self.tablets_routing_v1 = features.tablets_routing_v1
        self.prepared_statements: dict[bytes, PreparedStatement] = {}
        self.column_encryption_policy = column_encryption_policy
        self.schema_changes: list[dict[str, Any]] = []

    def refresh_schema(self, connection: Connection, **schema_change_event: Any) -> bool:  # noqa: ANN401, ARG002  (the contract)
        """Remember a change and forget what it makes stale. One host agrees with itself."""
        self.schema_changes.append(schema_change_event)
        self.metadata.schema_changed(**schema_change_event)
        return True


class InMemorySession:
    """A session with one host and one connection; requests are answered before they return.

    Attributes:
        cluster: what it belongs to.
        server: the other end; ``server.requests`` has what was sent.
        connection: the connection to it.
        host: the one host.
        row_factory: default shape of rows.
        encoder: writes literals.
        keyspace: the keyspace in use; None before the first USE.
        defaults: what statements do where they say nothing.
        default_timeout: seconds that ``result`` waits.
    """

    def __init__(
        self,
        answer: Callable[[ReceivedRequest], Answer | None] = answer_void,
        *,
        protocol_version: int = ProtocolVersion.V4,
        compression: str | None = None,
        features: ProtocolFeatures = NO_FEATURES,
        handler: type[ProtocolHandler] = ProtocolHandler,
        row_factory: RowFactory = named_tuple_factory,
        column_encryption_policy: ColumnEncryptionPolicy | None = None,
        user_type_map: Mapping[str, Mapping[str, type]] | None = None,
    ) -> None:
        """Connect to a server that answers as ``answer`` says; by default with VOID."""
        if column_encryption_policy is not None:
            policy = {"column_encryption_policy": column_encryption_policy}
            handler = type(handler.__name__, (handler,), policy)
        self.cluster = InMemoryCluster(protocol_version, features, column_encryption_policy)
        self.server = InMemoryServer(answer, protocol_version, compression)
        self.connection = InMemoryConnection(
            self.server,
            protocol_version=protocol_version,
            compression=compression,
            features=features,
            handler=handler,
            user_type_map=user_type_map,
            endpoint=_LOCALHOST,
        )
        self.host = Host(_LOCALHOST, host_id=UUID(int=1))
        self.cluster.metadata.add_or_return_host(self.host)
        self.row_factory = row_factory
        self.encoder = Encoder()
        self.keyspace: str | None = None
        self.defaults = Defaults()
        self.default_timeout: float | None = 10.0

    # --- what users call -----------------------------------------------------------------------

    def execute(self, *args: Any, **kwargs: Any) -> ResultSet:  # noqa: ANN401  (as execute_async)
        """``execute_async(...).result()``."""
        return self.execute_async(*args, **kwargs).result()

    def execute_async(
        self,
        query: str | Statement | PreparedStatement,
        parameters: Sequence[Any] | dict[str, Any] | None = None,
        trace: bool = False,
        custom_payload: dict[str, bytes | None] | None = None,
        paging_state: bytes | None = None,
    ) -> ResponseFuture:
        """Send a statement.

        Args:
            query: text, or a statement of any kind.
            parameters: values for text, a simple or a prepared statement.
            trace: ask the server to trace it.
            custom_payload: added to the statement's own.
            paging_state: where to begin, from an earlier result.

        Returns:
            The future of its answer.
        """
        if isinstance(query, str):
            query = SimpleStatement(query)
        elif isinstance(query, PreparedStatement):
            query = query.bind(parameters)
            parameters = None
        message: Any = message_for(
            query, self.cluster.protocol_version, self.encoder, self.defaults, parameters
        )
        message.tracing = trace
        message.update_custom_payload(custom_payload)
        if paging_state is not None:
            message.paging_state = paging_state
        prepared = query.prepared_statement if isinstance(query, BoundStatement) else None
        return self._send(message, query, prepared)

    def prepare(
        self,
        query: str,
        custom_payload: dict[str, bytes | None] | None = None,
        keyspace: str | None = None,
    ) -> PreparedStatement:
        """Have the server prepare a text."""
        message = PrepareMessage(query, keyspace=keyspace)
        message.update_custom_payload(custom_payload)
        response = self._send(message, None, None).result().one()
        prepared = PreparedStatement.from_message(
            response.query_id,
            response.bind_metadata,
            response.pk_indexes,
            self.cluster.metadata,
            query,
            keyspace,
            self.cluster.protocol_version,
            response.column_metadata,
            response.result_metadata_id,
            response.is_lwt,
            self.cluster.column_encryption_policy,
        )
        self.cluster.prepared_statements[prepared.query_id] = prepared
        return prepared

    def _send(
        self, message: Request, query: Statement | None, prepared: PreparedStatement | None
    ) -> ResponseFuture:
        future = ResponseFuture(
            self, message, query, self.default_timeout, prepared_statement=prepared
        )
        future.send_request()
        return future

    # --- what futures call ---------------------------------------------------------------------

    def borrow_connection(
        self,
        query: Any,  # noqa: ANN401, ARG002  (the contract)
        host: Host | None = None,
    ) -> tuple[Host, InMemoryConnection, None]:
        """The one connection, and no pool."""
        return host or self.host, self.connection, None

    def submit(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  (the contract)
        """Run a function now."""
        return fn(*args, **kwargs)

    def set_keyspace_for_all_pools(
        self, keyspace: str, callback: Callable[[Mapping[Any, Any]], None]
    ) -> None:
        """Use a keyspace; there is no other connection to tell."""
        self.keyspace = keyspace
        callback({})
