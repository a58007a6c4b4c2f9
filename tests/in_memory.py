"""A session over connections to servers in this process: what a request asks of a session.

The connections are the driver's own, over a transport that hands bytes to a server and its answers
back before ``write`` returns. Each pool has one of them, and the clock stands still.
"""

import heapq
from itertools import count
from uuid import UUID

from asv_benchmarks.server import Answer, InMemoryServer, answer_void
from driver.cluster.prepared import PreparedStatements
from driver.execution.options import Options, message_for
from driver.execution.response_future import ResponseFuture
from driver.net.connection import Connection
from driver.net.errors import ConnectionException
from driver.net.settings import ConnectionSettings
from driver.results.rows import named_tuple_factory
from driver.statements import BoundStatement, PreparedStatement, SimpleStatement
from driver.topology.host import Host
from driver.topology.metadata import Metadata
from driver.types.literals import Encoder
from driver.wire.codec import ProtocolHandler
from driver.wire.features import NO_FEATURES
from driver.wire.requests import PrepareMessage, StartupMessage
from driver.wire.responses import ReadyMessage


class AtOnce:
    """A loop that calls at once, from whichever thread."""

    def call_soon(self, fn, *args):
        fn(*args)

    call_soon_threadsafe = call_soon


class Transport:
    """Hands bytes to a server, and its answers back."""

    is_closing = False

    def __init__(self, server):
        self.server = server

    def start(self, on_data, _on_closed):
        self.on_data = on_data

    def write(self, data):
        answer = self.server.receive(data)
        if answer:
            self.on_data(answer)

    def close(self):
        self.is_closing = True

    abort = close


def connect(
    server=None,
    *,
    protocol_version=4,
    compression=None,
    features=NO_FEATURES,
    handler=ProtocolHandler,
    user_type_map=None,
    endpoint="in-memory",
):
    """A started connection; without a server, all answers are VOID."""
    server = server or InMemoryServer(answer_void, protocol_version, compression)
    settings = ConnectionSettings(
        protocol_version, handler=handler, user_type_map=user_type_map or {}
    )
    connection = Connection(AtOnce(), endpoint, settings, Transport(server))
    connection.features = features
    connection.set_compression(compression)
    answers = []
    options = {"COMPRESSION": compression} if compression else {}
    startup = StartupMessage(cqlversion="3.4.5", options=options)
    connection.send_msg(startup, connection.get_request_id(), answers.append)
    if not isinstance(answers[0], ReadyMessage):
        raise ConnectionException(f"STARTUP was answered with {answers[0]!r}", endpoint)
    connection.use_segments()
    connection.server = server
    return connection


class Timer:
    """One call that is due at a time of a virtual clock."""

    def __init__(self, fn):
        self.fn = fn

    def fire(self):
        fn, self.fn = self.fn, None
        if fn is not None:
            fn()

    def cancel(self):
        self.fn = None


class Timers:
    """Timers of a clock that stands still until it is told to go on; ``now`` is in seconds."""

    def __init__(self):
        self.now = 0.0
        self._order = count()
        self._timers = []

    def call_later(self, seconds, fn):
        timer = Timer(fn)
        heapq.heappush(self._timers, (self.now + seconds, next(self._order), timer))
        return timer

    def advance(self, seconds):
        """Let time pass; what comes due is called in its order, and at its time."""
        end = self.now + seconds
        while self._timers and self._timers[0][0] <= end:
            self.now, _, timer = heapq.heappop(self._timers)
            timer.fire()
        self.now = end

    @property
    def pending(self):
        return sum(timer.fn is not None for _, _, timer in self._timers)


class Pool:
    """The one connection to a host.

    ``borrowed`` counts loans that were not given back; ``routed`` has token and shard of each loan
    that was asked for with a token.
    """

    def __init__(self, host, connection):
        self.host = host
        self.connection = connection
        self.is_shutdown = False
        self.borrowed = 0
        self.routed = []

    def borrow_connection(self, routing_token=None, shard=None):
        stream = self.connection.get_request_id()
        self.borrowed += 1
        if routing_token is not None:
            self.routed.append((routing_token, shard))
        return self.connection, stream

    def return_connection(self, _connection):
        self.borrowed -= 1


class Cluster:
    """What sessions share, without a control connection; ``schema_changes`` has all of them."""

    def __init__(self, protocol_version, features, column_encryption_policy):
        self.metadata = Metadata()
        self.protocol_version = protocol_version
        self.sends_tablets = features.tablets_routing_v1 or features.tablets_routing_v2
        self.prepared = PreparedStatements(self)
        self.prepared_statements = self.prepared.by_id
        self.column_encryption_policy = column_encryption_policy
        self.schema_changes = []

    def schema_changed(self, _connection, event, done):
        self.schema_changes.append(dict(event))
        done(True)


class InMemorySession:
    """A session whose servers answer before a request returns, or when a test lets them.

    ``hosts`` are in the order of query plans; ``servers`` and ``pools`` are by host; take a pool
    out to have its host down. ``host``, ``server`` and ``connection`` are the first of them.
    """

    def __init__(
        self,
        answer=answer_void,
        *,
        protocol_version=4,
        compression=None,
        features=NO_FEATURES,
        handler=ProtocolHandler,
        row_factory=named_tuple_factory,
        column_encryption_policy=None,
        user_type_map=None,
        hosts=None,
        metrics=None,
    ):
        """Connect to one server, or to one for each of ``hosts``: how it answers, by address."""
        if column_encryption_policy is not None:
            policy = {"column_encryption_policy": column_encryption_policy}
            handler = type(handler.__name__, (handler,), policy)
        self.cluster = Cluster(protocol_version, features, column_encryption_policy)
        self.preparing = {}
        self.servers, self.pools = {}, {}
        for number, (address, answer_of) in enumerate((hosts or {"127.0.0.1": answer}).items(), 1):
            host = Host(address, host_id=UUID(int=number))
            server = InMemoryServer(answer_of, protocol_version, compression)
            connection = connect(
                server,
                protocol_version=protocol_version,
                compression=compression,
                features=features,
                handler=handler,
                user_type_map=user_type_map,
                endpoint=address,
            )
            self.servers[host] = server
            self.pools[host] = Pool(host, connection)
            self.cluster.metadata.add_or_return_host(host)
        self.hosts = list(self.pools)
        self.host = self.hosts[0]
        self.server = self.servers[self.host]
        self.connection = self.pools[self.host].connection
        self.row_factory = row_factory
        self.encoder = Encoder()
        self.keyspace = None
        self.defaults = Options()
        self.default_timeout = 10.0
        self.retry_policy = None
        self.speculative_execution_policy = None
        self.loop = None
        self.timers = Timers()
        self.metrics = metrics
        self.request_listeners = []
        self._last = ((), None)

    # --- what users call -----------------------------------------------------------------------

    def execute(self, *args, **kwargs):
        return self.execute_async(*args, **kwargs).result()

    def execute_async(self, *args, **kwargs):
        future = self.request(ResponseFuture, *args, **kwargs)
        future.send_request()
        return future

    def request(
        self,
        kind,
        query,
        parameters=None,
        trace=False,
        custom_payload=None,
        timeout=None,
        paging_state=None,
        host=None,
        **more,
    ):
        """A request that was not sent yet; arguments as of ``SessionCore.request``."""
        if isinstance(query, str):
            query = SimpleStatement(query)
        elif isinstance(query, PreparedStatement):
            query, parameters = query.bind(parameters), None
        call = {
            "trace": trace or None,
            "custom_payload": custom_payload,
            "timeout": timeout,
            "paging_state": paging_state,
            "host": host,
        }
        call = {name: value for name, value in call.items() if value is not None}
        options = self._options().merged(query, call, more)
        message = message_for(
            query, options, self.cluster.protocol_version, self.encoder, parameters
        )
        speculation = self.speculative_execution_policy
        return kind(
            self,
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

    def _options(self):
        """What the session asks of a request; as last time, if nothing changed."""
        given = {"timeout": self.default_timeout, "row_factory": self.row_factory}
        if self.retry_policy is not None:
            given["retry_policy"] = self.retry_policy
        if self._last[0] != (self.defaults, given):
            self._last = ((self.defaults, given), self.defaults._replace(**given))
        return self._last[1]

    def prepare(self, query, custom_payload=None, keyspace=None):
        """Have the first server that answers prepare a text."""
        message = PrepareMessage(query, keyspace=keyspace)
        message.update_custom_payload(custom_payload)
        future = ResponseFuture(self, message, None, self._options())
        future.send_request()
        response = future.result().one()
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
        self.cluster.prepared.add(prepared)
        return prepared

    # --- what requests call --------------------------------------------------------------------

    def query_plan(self, _query, _load_balancer=None, host=None, _keyspace=None):
        return iter(self.hosts if host is None else (host,))

    def pool_for(self, host):
        return self.pools.get(host)

    def set_keyspace_for_all_pools(self, keyspace, callback):
        self.keyspace = keyspace
        for pool in self.pools.values():
            pool.connection.keyspace = keyspace
        callback({})

    # --- what tests call -----------------------------------------------------------------------

    def respond(self, host, request, answer: Answer):
        """Let a server answer a request that it left without an answer."""
        self.pools[host].connection._receive(self.servers[host].send(request.stream_id, answer))
