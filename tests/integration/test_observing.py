"""What can be seen of a request beside its rows: traces, warnings, payloads, counts, the client."""

import pytest

from driver.protocol.errors import DriverException, InvalidRequest
from driver.statements import SimpleStatement
from tests.integration.leaks import eventually
from tests.integration.rings import V5


@pytest.fixture
def table(session):
    session.execute("CREATE TABLE t (k int PRIMARY KEY, v text)")
    return session


def test_a_traced_request_tells_what_the_server_did(table, one_node):
    result = table.execute("SELECT * FROM t WHERE k = 1", trace=True)
    trace = result.get_query_trace(max_wait_sec=20)
    assert trace.coordinator == one_node.addresses[0]
    assert trace.client == "127.0.0.1"
    assert trace.duration.total_seconds() > 0
    assert trace.parameters["query"] == "SELECT * FROM t WHERE k = 1"
    # The server writes events after it has written that it is done.
    assert eventually(
        lambda: trace.populate(20) or any("Parsing" in step.description for step in trace.events)
    )
    assert {event.source for event in trace.events} == {one_node.addresses[0]}
    assert all(event.source_elapsed for event in trace.events)


def test_every_page_has_a_trace_of_its_own(table):
    for k in range(4):
        table.execute("INSERT INTO t (k, v) VALUES (%s, 'v')", (k,))
    result = table.execute(SimpleStatement("SELECT k FROM t", fetch_size=2), trace=True)
    assert len(list(result)) == 4
    traces = result.get_all_query_traces(max_wait_sec_per=20)
    assert len({trace.trace_id for trace in traces}) == len(traces) >= 2


def test_a_request_that_is_not_traced_has_no_trace(table):
    assert table.execute("SELECT * FROM t").get_query_trace() is None


def test_warnings_of_the_server_are_handed_on(table):
    future = table.execute_async("SELECT count(*) FROM t")
    future.result()
    assert any("without partition key" in warning for warning in future.warnings or ())


@pytest.mark.parametrize("version", [4, V5])
def test_a_custom_payload_goes_to_the_server_and_comes_back(clusters, one_node, version):
    """The node runs CustomPayloadMirroringQueryHandler."""
    session = clusters(one_node.addresses, protocol_version=version).connect()
    payload = {"text": b"bytes", "empty": b""}
    future = session.execute_async("SELECT * FROM system.local", custom_payload=payload)
    future.result()
    assert future.custom_payload == payload
    prepared = session.prepare("SELECT * FROM system.local WHERE key = ?", custom_payload=payload)
    assert prepared.custom_payload == payload
    statement = prepared.bind(("local",))
    future = session.execute_async(statement)
    future.result()
    assert future.custom_payload == payload


def test_listeners_see_every_request_until_they_are_removed(table):
    seen = []

    def listen(future, *more):
        seen.append((future.query.query_string, more))

    table.add_request_init_listener(listen, "more")
    table.execute("SELECT v FROM t")
    table.remove_request_init_listener(listen, "more")
    table.execute("SELECT k FROM t")
    assert seen == [("SELECT v FROM t", ("more",))]


def test_metrics_count_requests_errors_and_connections(clusters, one_node, session):
    from driver.protocol.consistency import ConsistencyLevel

    session.execute("CREATE TABLE t (k int PRIMARY KEY)")
    name = session.keyspace
    cluster = clusters(one_node.addresses, metrics_enabled=True)
    counted = cluster.connect(name)
    before = cluster.metrics.request_timer["count"]
    for _ in range(10):
        counted.execute("SELECT * FROM t")
    assert cluster.metrics.request_timer["count"] - before == 10
    assert cluster.metrics.request_timer["mean"] > 0
    session.execute(
        f"ALTER KEYSPACE {name} WITH replication = "
        "{'class': 'SimpleStrategy', 'replication_factor': 3}"
    )
    with pytest.raises(DriverException):  # which one depends on the policy
        counted.execute(
            SimpleStatement("SELECT * FROM t WHERE k = 1", consistency_level=ConsistencyLevel.ALL)
        )
    stats = cluster.metrics.get_stats()
    assert stats["unavailables"] >= 1
    assert (stats["known_hosts"], stats["connected_to"]) == (1, 1)
    assert stats["open_connections"] >= 1
    assert stats["in_flight_requests"] == 0
    assert stats["request_timer"]["count"] >= 11


def test_metrics_are_none_unless_they_are_asked_for(session):
    assert session.cluster.metrics is None


def test_a_host_listener_hears_of_hosts(clusters, one_node):
    from driver.policies import HostStateListener

    class Listener(HostStateListener):
        def __init__(self):
            self.heard = []

        def on_up(self, host):
            self.heard.append(("up", host.address))

        def on_down(self, host):
            self.heard.append(("down", host.address))

        def on_add(self, host):
            self.heard.append(("add", host.address))

        def on_remove(self, host):
            self.heard.append(("remove", host.address))

    listener = Listener()
    cluster = clusters(one_node.addresses)
    cluster.register_listener(listener)
    cluster.connect()
    assert set(listener.heard) <= {("add", one_node.addresses[0]), ("up", one_node.addresses[0])}
    cluster.unregister_listener(listener)


@pytest.mark.since("4.0", "table of clients")
def test_the_server_knows_which_driver_it_talks_to(clusters, one_node):
    import driver

    cluster = clusters(
        one_node.addresses, application_name="the tests", application_version="1.2", client_id=None
    )
    session = cluster.connect()
    said = [
        dict(row.client_options)
        for row in session.execute("SELECT * FROM system_views.clients")
        if (row.client_options or {}).get("APPLICATION_NAME") == "the tests"
    ]
    configured = [each.pop("DRIVER_CONFIG") for each in said if "DRIVER_CONFIG" in each]
    assert len(configured) == 1 < len(said)  # on the control connection alone
    options = said[0]
    assert all(each == options for each in said)
    assert options["APPLICATION_VERSION"] == "1.2"
    assert options["DRIVER_NAME"]
    assert options["DRIVER_VERSION"]
    assert options["SESSION_ID"] == str(cluster.session_id)
    assert driver.IMPL in {"cython", "python"}


def test_invalid_requests_are_not_sent_to_a_second_host(table):
    future = table.execute_async("SELECT nothing FROM t")
    with pytest.raises(InvalidRequest):
        future.result()
    assert len(future.attempted_hosts) == 1
