"""Where requests and the schema differ from cassandra-driver 3.30.1 on purpose: executed rows.

The columns are those of known_differences.py; ``run`` takes the one or the other side of SIDES.
"""

from types import SimpleNamespace
from unittest.mock import Mock

from cassandra import cluster as peer_cluster
from cassandra import metadata as peer_metadata
from cassandra import policies as peer_policies
from cassandra import protocol as peer_protocol
from cassandra import query as peer_query
from cassandra.connection import ConnectionShutdown as PeerShutdown
from peers.known_differences import Difference
from script import OVERLOADED, respond, session_of

from driver import policies
from driver.net.errors import ConnectionShutdown
from driver.statements import SimpleStatement
from driver.topology.schema.column import ColumnMetadata
from driver.topology.schema.keyspace import KeyspaceMetadata
from driver.topology.schema.table import IndexMetadata, TableMetadata


class Ours:
    """Two hosts that let a request wait."""

    def __init__(self, policy="RetryPolicy"):
        self.session = session_of([], [])
        self.session.retry_policy = getattr(policies, policy)()
        self.session.speculative_execution_policy = policies.ConstantSpeculativeExecutionPolicy(
            1, 5
        )
        self.hosts = self.session.hosts
        self.future = self.session.execute_async(
            SimpleStatement("q", is_idempotent=True), timeout=10
        )

    def time_out(self):
        self.session.timers.advance(10)

    def speculate(self):
        self.session.timers.advance(1)

    def lose_connection(self, number):
        self.session.pools[self.hosts[number]].connection.defunct(ConnectionShutdown("lost"))

    def overload(self):
        respond(self.session, 0, OVERLOADED)


class Theirs:
    """The same of the peer."""

    def __init__(self, policy="RetryPolicy"):
        self.hosts = [Mock(name="one"), Mock(name="two")]
        self.pools = {host: self._pool(host) for host in self.hosts}
        session = Mock(_pools=self.pools, submit=lambda fn, *args: fn(*args))
        session.cluster.protocol_version = 4
        self.future = peer_cluster.ResponseFuture(
            session,
            peer_protocol.QueryMessage("q", 1),
            peer_query.SimpleStatement("q", is_idempotent=True),
            None,
            load_balancer=Mock(make_query_plan=lambda *_: iter(self.hosts)),
            retry_policy=getattr(peer_policies, policy)(),
        )
        self.future.send_request()

    def _pool(self, host):
        connection = Mock(_requests={}, orphaned_request_ids=set(), orphaned_threshold=9)
        connection.send_msg.return_value = 1
        connection.endpoint = f"endpoint of {host}"
        return Mock(
            host=host, is_shutdown=False, borrow_connection=lambda *_, **__: (connection, 1)
        )

    def time_out(self):
        self.future._on_timeout()

    def speculate(self):
        self.future.send_request(error_no_hosts=False)

    def lose_connection(self, number):
        self.pools[self.hosts[number]].is_shutdown = True
        self.future._set_result(self.hosts[number], None, None, PeerShutdown("lost"))

    def overload(self):
        error = peer_protocol.OverloadedErrorMessage(0x1001, "busy", None)
        self.future._set_result(self.hosts[0], None, None, error)


SCHEMA = SimpleNamespace(
    ColumnMetadata=ColumnMetadata, IndexMetadata=IndexMetadata, KeyspaceMetadata=KeyspaceMetadata,
    TableMetadata=TableMetadata,
)  # fmt: skip
SIDES = (
    SimpleNamespace(request=Ours, schema=SCHEMA),
    SimpleNamespace(request=Theirs, schema=peer_metadata),
)


def error_of(request):
    try:
        request.future.result()
    except Exception as error:  # noqa: BLE001  (it is what is looked at)
        return error
    raise AssertionError("it succeeded")


def hosts_of_a_timeout(side):
    request = side.request()
    request.time_out()
    return set(error_of(request).errors) <= set(request.hosts)


def end_while_another_host_is_asked(side):
    request = side.request()
    request.speculate()
    request.lose_connection(0)
    future = request.future
    return future._final_exception is not None


def class_of_overloaded(side):
    request = side.request("FallthroughRetryPolicy")
    request.overload()
    return type(error_of(request)).__name__


def keyspace(side):
    return side.schema.KeyspaceMetadata("ks", True, "SimpleStrategy", {"replication_factor": "1"})


def table(side, name):
    key = side.schema.ColumnMetadata(None, "k", "int")
    made = side.schema.TableMetadata("ks", name, [key], [], {"k": key})
    made.options = {}
    return made


def log_of_changes(side):
    described = keyspace(side)
    for name in ("t", "t_scylla_cdc_log"):
        described.tables[name] = table(side, name)
    return "t_scylla_cdc_log" in described.export_as_string()


def view_of_an_index(side):
    indexed = table(side, "t")
    indexed.indexes["i"] = side.schema.IndexMetadata("ks", "t", "i", "COMPOSITES", {"target": "v"})
    indexed.views["i_index"] = Mock(
        export_as_string=lambda: "CREATE MATERIALIZED VIEW",
        as_cql_query=lambda **_: "CREATE MATERIALIZED VIEW",
    )
    return "VIEW" in indexed.export_as_string()


DIFFERENCES = [
    Difference(
        "keys of `OperationTimedOut.errors`",
        "hosts, as in `NoHostAvailable.errors`",
        "texts of endpoints",
        "one kind of key for whoever looks a host up",
        hosts_of_a_timeout,
        True,
        False,
    ),
    Difference(
        "one of two speculative executions fails, and the query plan has no further host",
        "the other one is waited for",
        "NoHostAvailable",
        "the other host may still answer: that is what it was asked for",
        end_while_another_host_is_asked,
        False,
        True,
    ),
    Difference(
        "a host is overloaded, or bootstrapping; truncate and server errors",
        "an exception of the driver, `Overloaded`",
        "a message of the protocol, `OverloadedErrorMessage`",
        "who catches DriverException catches it; `driver.compat` raises what is both",
        class_of_overloaded,
        "Overloaded",
        "OverloadedErrorMessage",
    ),
    Difference(
        "ScyllaDB's log of the changes of a table in the CQL of a keyspace",
        "is left out",
        "is a table as any other",
        "the server makes it along with its table, and refuses to make it twice",
        log_of_changes,
        False,
        True,
    ),
    Difference(
        "ScyllaDB's view of a secondary index in the CQL of a table",
        "is left out",
        "is a view as any other",
        "it comes and goes with the index",
        view_of_an_index,
        False,
        True,
    ),
]
