"""A session over in-memory connections: all but sockets and time, for tests and benchmarks."""

from __future__ import annotations

import heapq
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar, Unpack
from uuid import UUID

from ..net.in_memory import Answer, InMemoryConnection, InMemoryServer, ReceivedRequest, answer_void
from ..protocol.version import ProtocolVersion
from ..results.rows import named_tuple_factory
from ..statements.bound import BoundStatement
from ..statements.prepared import PreparedStatement
from ..statements.simple import SimpleStatement
from ..topology.host import Host
from ..topology.metadata import Metadata
from ..types.literals import Encoder
from ..wire.codec import ProtocolHandler
from ..wire.features import NO_FEATURES
from ..wire.requests import PrepareMessage
from .options import Options, RequestOptions
from .requests import message_for
from .response_future import ResponseFuture

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..net.connection import Connection
    from ..policies.column_encryption import ColumnEncryptionPolicy
    from ..policies.speculative import SpeculativeExecutionPolicy
    from ..results.result_set import ResultSet
    from ..results.rows import RowFactory
    from ..statements.base import Statement
    from ..wire.features import ProtocolFeatures
    from .listeners import RequestEvent
    from .metrics import Metrics
    from .request import RequestExecution

    #: Gives the answer to a request; None leaves it without one.
    AnswerTo = Callable[[ReceivedRequest], Answer | None]

_LOCALHOST = "127.0.0.1"
_Request = TypeVar("_Request", bound="RequestExecution")


class InMemoryTimer:
    """One call that is due at a time of a virtual clock."""

    def __init__(self, fn: Callable[[], object]) -> None:
        """Not cancelled."""
        self._fn: Callable[[], object] | None = fn

    @property
    def is_set(self) -> bool:
        """Whether it was neither called nor cancelled."""
        return self._fn is not None

    def fire(self) -> None:
        """Call, once."""
        fn, self._fn = self._fn, None
        if fn is not None:
            fn()

    def cancel(self) -> None:
        """Do not call."""
        self._fn = None


class InMemoryTimers:
    """Timers of a clock that stands still until it is told to go on.

    Attributes:
        now: seconds since the beginning.
    """

    def __init__(self) -> None:
        """Begin at 0."""
        self.now = 0.0
        self._order = count()
        self._timers: list[tuple[float, int, InMemoryTimer]] = []

    def call_later(self, seconds: float, fn: Callable[[], object]) -> InMemoryTimer:
        """Call a function when the clock has gone on by so many seconds."""
        timer = InMemoryTimer(fn)
        heapq.heappush(self._timers, (self.now + seconds, next(self._order), timer))
        return timer

    def advance(self, seconds: float) -> None:
        """Let time pass; what comes due is called in its order, and at its time."""
        end = self.now + seconds
        while self._timers and self._timers[0][0] <= end:
            self.now, _, timer = heapq.heappop(self._timers)
            timer.fire()
        self.now = end

    @property
    def pending(self) -> int:
        """How many timers wait."""
        return sum(timer.is_set for _, _, timer in self._timers)


class InMemoryPool:
    """The one connection to a host.

    Attributes:
        host: whose connection it is.
        connection: the connection.
        is_shutdown: whether nothing is lent any more.
        borrowed: how often the connection was lent and not given back yet.
        routed: token and shard that the connection was asked for with, each time.
    """

    def __init__(self, host: Host, connection: InMemoryConnection) -> None:
        """Lend a connection."""
        self.host = host
        self.connection = connection
        self.is_shutdown = False
        self.borrowed = 0
        self.routed: list[tuple[int | None, int | None]] = []

    def borrow_connection(
        self, routing_token: int | None = None, shard: int | None = None
    ) -> tuple[InMemoryConnection, int]:
        """The connection and a free stream.

        Raises:
            ConnectionBusy: there is none.
        """
        stream = self.connection.get_request_id()
        self.borrowed += 1
        if routing_token is not None:
            self.routed.append((routing_token, shard))
        return self.connection, stream

    def return_connection(self, connection: Connection) -> None:  # noqa: ARG002  (there is one)
        """Take the connection back."""
        self.borrowed -= 1


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

    def schema_changed(
        self,
        connection: Connection,  # noqa: ARG002  (the contract)
        event: Mapping[str, Any],
        done: Callable[[bool], None],
    ) -> None:
        """Remember a change and forget what it makes stale. The hosts agree."""
        self.schema_changes.append(dict(event))
        self.metadata.schema_changed(**event)
        done(True)


class InMemorySession:
    """A session whose servers answer before a request returns, or when a test lets them.

    Attributes:
        cluster: what it belongs to.
        hosts: in the order of query plans.
        servers: the other ends, by host; ``server.requests`` has what was sent to one.
        pools: by host; take one out to have the host down.
        host: the first host.
        server: its server.
        connection: the connection to it.
        row_factory: default shape of rows.
        encoder: writes literals.
        keyspace: the keyspace in use; None before the first USE.
        defaults: what statements do where they say nothing.
        default_timeout: seconds until a request times out.
        retry_policy: for statements without one; None for the driver's default.
        speculative_execution_policy: when to ask another host as well; None for never.
        loop: the event loop of responses that are awaited; None leaves it to who makes them.
        timers: their clock stands still until ``timers.advance``.
        metrics: where requests are counted; None counts nothing.
        request_listeners: called with each request.
    """

    def __init__(
        self,
        answer: AnswerTo = answer_void,
        *,
        protocol_version: int = ProtocolVersion.V4,
        compression: str | None = None,
        features: ProtocolFeatures = NO_FEATURES,
        handler: type[ProtocolHandler] = ProtocolHandler,
        row_factory: RowFactory = named_tuple_factory,
        column_encryption_policy: ColumnEncryptionPolicy | None = None,
        user_type_map: Mapping[str, Mapping[str, type]] | None = None,
        hosts: Mapping[str, AnswerTo] | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        """Connect to servers.

        Args:
            answer: how the server answers; by default with VOID.
            protocol_version: of all connections.
            compression: of all connections.
            features: of all connections.
            handler: encodes and decodes.
            row_factory: default shape of rows.
            column_encryption_policy: what encrypts bound values and decrypts rows.
            user_type_map: classes of user-defined types.
            hosts: how each of several hosts answers, by address; instead of ``answer``.
            metrics: where requests are counted.
        """
        if column_encryption_policy is not None:
            policy = {"column_encryption_policy": column_encryption_policy}
            handler = type(handler.__name__, (handler,), policy)
        self.cluster = InMemoryCluster(protocol_version, features, column_encryption_policy)
        self.hosts: list[Host] = []
        self.servers: dict[Host, InMemoryServer] = {}
        self.pools: dict[Host, InMemoryPool] = {}
        for number, (address, answer_of) in enumerate((hosts or {_LOCALHOST: answer}).items(), 1):
            host = Host(address, host_id=UUID(int=number))
            server = InMemoryServer(answer_of, protocol_version, compression)
            connection = InMemoryConnection(
                server,
                protocol_version=protocol_version,
                compression=compression,
                features=features,
                handler=handler,
                user_type_map=user_type_map,
                endpoint=address,
            )
            self.hosts.append(host)
            self.servers[host] = server
            self.pools[host] = InMemoryPool(host, connection)
            self.cluster.metadata.add_or_return_host(host)
        self.host = self.hosts[0]
        self.server = self.servers[self.host]
        self.connection = self.pools[self.host].connection
        self.row_factory = row_factory
        self.encoder = Encoder()
        self.keyspace: str | None = None
        self.defaults = Options()
        self._given: tuple[object, ...] = ()
        self._known = self.defaults
        self.default_timeout: float | None = 10.0
        self.retry_policy: Any = None
        self.speculative_execution_policy: SpeculativeExecutionPolicy | None = None
        self.loop: AbstractEventLoop | None = None
        self.timers = InMemoryTimers()
        self.metrics = metrics
        self.request_listeners: list[Callable[[RequestEvent], object]] = []

    # --- what users call -----------------------------------------------------------------------

    def execute(self, *args: Any, **kwargs: Any) -> ResultSet:  # noqa: ANN401  (as execute_async)
        """``execute_async(...).result()``."""
        return self.execute_async(*args, **kwargs).result()

    def execute_async(self, *args: Any, **kwargs: Any) -> ResponseFuture:  # noqa: ANN401  (as request)
        """Send a statement; arguments as of ``request``.

        Returns:
            The future of its answer.
        """
        future = self.request(ResponseFuture, *args, **kwargs)
        future.send_request()
        return future

    def request(
        self,
        kind: type[_Request],
        query: str | Statement | PreparedStatement,
        parameters: Sequence[Any] | dict[str, Any] | None = None,
        trace: bool = False,
        custom_payload: dict[str, bytes | None] | None = None,
        timeout: float | None = None,
        paging_state: bytes | None = None,
        host: Host | None = None,
        **more: Unpack[RequestOptions],
    ) -> _Request:
        """A request that was not sent yet.

        Args:
            kind: ``ResponseFuture``, or another class of requests.
            query: text, or a statement of any kind.
            parameters: values for text, a simple or a prepared statement.
            trace: ask the server to trace it.
            custom_payload: added to the statement's own.
            timeout: seconds; None for ``default_timeout``.
            paging_state: where to begin, from an earlier result.
            host: the only host to ask.
            more: options of ``RequestOptions``.
        """
        if isinstance(query, str):
            query = SimpleStatement(query)
        elif isinstance(query, PreparedStatement):
            query = query.bind(parameters)
            parameters = None
        call: dict[str, Any] = {}
        if trace:
            call["trace"] = trace
        if custom_payload is not None:
            call["custom_payload"] = custom_payload
        if timeout is not None:
            call["timeout"] = timeout
        if paging_state is not None:
            call["paging_state"] = paging_state
        if host is not None:
            call["host"] = host
        options = self._options().merged(query, call, more)
        message = message_for(
            query, options, self.cluster.protocol_version, self.encoder, parameters
        )
        speculation = self.speculative_execution_policy
        return kind(
            self,  # type: ignore[arg-type]  # its pools and timers are stand-ins
            message,
            query,
            options,
            prepared_statement=(
                query.prepared_statement if isinstance(query, BoundStatement) else None
            ),
            speculative_execution_plan=(
                None if speculation is None else speculation.new_plan(self.keyspace, query)
            ),
        )

    def _options(self) -> Options:
        """What the session asks of a request; as last time, if nothing changed."""
        given = (self.defaults, self.default_timeout, self.row_factory, self.retry_policy)
        if given != self._given:
            self._given = given
            known = self.defaults._replace(
                timeout=self.default_timeout, row_factory=self.row_factory
            )
            if self.retry_policy is not None:
                known = known._replace(retry_policy=self.retry_policy)
            self._known = known
        return self._known

    def prepare(
        self,
        query: str,
        custom_payload: dict[str, bytes | None] | None = None,
        keyspace: str | None = None,
    ) -> PreparedStatement:
        """Have the first server that answers prepare a text."""
        message = PrepareMessage(query, keyspace=keyspace)
        message.update_custom_payload(custom_payload)
        future = ResponseFuture(self, message, None, self._options())  # type: ignore[arg-type]  # the same
        future.send_request()
        response: Any = future.result().one()
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

    # --- what requests call --------------------------------------------------------------------

    def query_plan(
        self,
        query: Any,  # noqa: ANN401, ARG002  (the contract)
        load_balancer: Any = None,  # noqa: ANN401, ARG002  (the contract)
        host: Host | None = None,
        keyspace: str | None = None,  # noqa: ARG002  (the contract)
    ) -> Iterator[Host]:
        """All hosts in their order, or the given one."""
        return iter(self.hosts if host is None else (host,))

    def pool_for(self, host: Host) -> InMemoryPool | None:
        """The connection to a host; None if it is down."""
        return self.pools.get(host)

    def set_keyspace_for_all_pools(
        self, keyspace: str, callback: Callable[[Mapping[Any, Any]], None]
    ) -> None:
        """Use a keyspace, on all connections."""
        self.keyspace = keyspace
        for pool in self.pools.values():
            pool.connection.keyspace = keyspace
        callback({})

    # --- what tests call -----------------------------------------------------------------------

    def respond(self, host: Host, request: ReceivedRequest, answer: Answer) -> None:
        """Let a server answer a request that it left without an answer."""
        connection = self.pools[host].connection
        connection.receive(self.servers[host]._frame(request.stream_id, answer))  # noqa: SLF001  (the other half of this)
