"""Prepared statements: known while somebody holds them, prepared wherever they are executed."""

import gc
import threading

import pytest
from cql_cluster import CqlCluster
from cql_node import BATCH, EXECUTE, PREPARE, VOID, error, rows

from driver.cluster import Cluster, placement
from driver.policies import ConstantReconnectionPolicy, RoundRobinPolicy
from driver.protocol.errors import (
    DriverException,
    InvalidRequest,
    ProtocolException,
    UnsupportedOperation,
)
from driver.statements import BatchStatement
from driver.topology.schema.keyspace import KeyspaceMetadata
from driver.types import FloatType, Int32Type

INSERT = "INSERT INTO t (k) VALUES (?)"


@pytest.fixture(params=[4, 5])
def nodes(request):
    with CqlCluster(3, versions=(request.param,)) as found:
        found.prepare(INSERT, markers=[("k", Int32Type)])
        yield found


@pytest.fixture
def cluster(nodes):
    with connected_to(nodes) as found:
        yield found


def connected_to(nodes, **options):
    return Cluster(
        **nodes.options,
        load_balancing_policy=RoundRobinPolicy(),
        reconnection_policy=ConstantReconnectionPolicy(0.05, None),
        **options,
    )


def prepared_on(nodes):
    """How often each node was asked to prepare."""
    return [node.count(PREPARE) for node in nodes.nodes]


def test_a_statement_is_prepared_on_every_host(nodes, cluster):
    session = cluster.connect(wait_for_all_pools=True)
    prepared = session.prepare(INSERT)
    assert prepared_on(nodes) == [1, 1, 1]
    for host in session.hosts:
        session.execute(prepared, (1,), host=host)
    assert prepared_on(nodes) == [1, 1, 1]


def test_a_statement_is_prepared_on_one_host_if_that_is_asked_for(nodes):
    with connected_to(nodes, prepare_on_all_hosts=False) as cluster:
        session = cluster.connect(wait_for_all_pools=True)
        prepared = session.prepare(INSERT)
        assert sum(prepared_on(nodes)) == 1
        for host in session.hosts:
            session.execute(prepared, (1,), host=host)
        assert prepared_on(nodes) == [1, 1, 1]


def test_a_host_that_cannot_prepare_does_not_keep_others_from_it(nodes, cluster, caplog):
    session = cluster.connect(wait_for_all_pools=True)
    last = nodes.nodes[2]
    usual = last._on_prepare
    last._on_prepare = lambda _: error(0x2200, "not today")
    while True:
        try:
            prepared = session.prepare(INSERT)
        except InvalidRequest:
            continue  # it was the turn of that host to go first
        break
    last._on_prepare = usual
    assert "not today" in caplog.text
    for host in session.hosts:
        session.execute(prepared, (1,), host=host)


def test_what_the_server_says_to_a_text_is_raised(nodes, cluster):
    session = cluster.connect()
    for node in nodes.nodes:
        node._on_prepare = lambda _: error(0x2200, "no such table")
    with pytest.raises(InvalidRequest, match="no such table"):
        session.prepare(INSERT)


def test_a_statement_that_nobody_holds_is_forgotten(cluster):
    session = cluster.connect()
    prepared = session.prepare(INSERT)
    query_id = prepared.query_id
    assert cluster.core.prepared_statements[query_id] is prepared
    bound = prepared.bind((1,))
    del prepared
    gc.collect()
    assert query_id in cluster.core.prepared_statements, "the bound statement holds it"
    del bound
    gc.collect()
    assert query_id not in cluster.core.prepared_statements
    assert not cluster.core.prepared._by_keyspace()


def test_a_text_that_was_prepared_twice_stays_known_while_either_is_held(cluster):
    session = cluster.connect()
    first, second = session.prepare(INSERT), session.prepare(INSERT)
    query_id = first.query_id
    del second
    gc.collect()
    assert query_id in cluster.core.prepared_statements
    second = session.prepare(INSERT)
    del first
    gc.collect()
    assert query_id in cluster.core.prepared_statements
    assert sum(map(len, cluster.core.prepared._by_keyspace().values())) == 1
    del second
    gc.collect()
    assert query_id not in cluster.core.prepared_statements


def test_a_batch_holds_the_statements_that_it_may_have_to_prepare_again(nodes, cluster):
    session = cluster.connect(wait_for_all_pools=True)
    batch = BatchStatement()
    batch.add(session.prepare(INSERT), (1,))
    query_id = batch.statements[0][1]
    gc.collect()
    for node in nodes.nodes:
        node.forget_prepared()
    session.execute(batch)
    batch.clear()
    gc.collect()
    assert query_id not in cluster.core.prepared_statements


def test_a_keyspace_of_its_own_needs_protocol_v5(nodes, cluster):
    session = cluster.connect()
    if nodes.nodes[0].versions == (5,):
        assert session.prepare(INSERT, keyspace="ks").keyspace == "ks"
    else:
        with pytest.raises(UnsupportedOperation):
            session.prepare(INSERT, keyspace="ks")


def test_a_host_that_forgot_is_asked_to_prepare_again(nodes, cluster):
    session = cluster.connect(wait_for_all_pools=True)
    prepared = session.prepare(INSERT)
    for node in nodes.nodes:
        node.forget_prepared()
    for host in session.hosts:
        session.execute(prepared, (1,), host=host)
    assert prepared_on(nodes) == [2, 2, 2]
    assert [node.count(EXECUTE) for node in nodes.nodes] == [2, 2, 2]


OUTDATED = r"the schema changed \(k was int, is float\): prepare 'INSERT INTO t .* anew"


@pytest.fixture
def outdated(nodes, cluster):
    """A session, and two statements of a text whose table was dropped and created anew."""
    session = cluster.connect(wait_for_all_pools=True)
    statements = [session.prepare(INSERT), session.prepare(INSERT)]
    nodes.prepare(INSERT, markers=[("k", FloatType)])
    for node in nodes.nodes:
        node.forget_prepared()
    return session, statements


def executed_on(nodes):
    """How many values reached the nodes by statements that these knew."""
    return sum(node.count(EXECUTE) + node.count(BATCH) for node in nodes.nodes)


def test_no_node_is_sent_values_that_were_bound_to_other_types(outdated):
    session, (first, second) = outdated
    bound = [statement.bind((1,)) for statement in (first, second)]
    with pytest.raises(DriverException, match=OUTDATED):
        session.execute(bound[0])
    # Every node is told the text, as another program might have done.
    session.prepare(INSERT)
    for statement in (*bound, first, second):
        for host in session.hosts:
            with pytest.raises(DriverException, match=OUTDATED):
                session.execute(statement, None if statement in bound else (1,), host=host)
    anew = session.prepare(INSERT)
    session.execute(anew, (1.5,))
    assert not anew.outdated


def test_a_batch_of_before_is_not_sent_either(nodes, outdated):
    session, (first, second) = outdated
    batches = [BatchStatement().add(statement, (1,)) for statement in (first, second)]
    for batch in (*batches, *batches):
        with pytest.raises(DriverException, match=OUTDATED):
            session.execute(batch)
    assert executed_on(nodes) == 1
    session.execute(BatchStatement().add(session.prepare(INSERT), (1.5,)))


def test_preparing_a_text_anew_tells_that_older_statements_are_outdated(outdated):
    session, statements = outdated
    session.prepare(INSERT)
    for statement in statements:
        with pytest.raises(DriverException, match=OUTDATED):
            session.execute(statement, (1,))


def test_so_does_a_host_that_rises(cluster, outdated):
    session, statements = outdated
    cluster.run(cluster.core.prepare_statements(session.hosts[0]))
    assert [statement.outdated for statement in statements] == ["k was int, is float"] * 2


def test_another_partition_key_is_another_table(nodes, cluster):
    text = "INSERT INTO t (k, v) VALUES (?, ?)"
    markers = [("k", Int32Type), ("v", Int32Type)]
    nodes.prepare(text, markers=markers, pk=[0])
    session = cluster.connect(wait_for_all_pools=True)
    prepared = session.prepare(text)
    session.prepare(text)
    assert not prepared.outdated
    nodes.prepare(text, markers=markers, pk=[1])
    anew = session.prepare(text)
    assert prepared.outdated == "the partition key is another one"
    assert anew.routing_key_indexes == [1]
    assert not anew.outdated


def test_a_partition_key_that_was_not_known_before_is_no_other_one(nodes, cluster):
    session = cluster.connect(wait_for_all_pools=True)
    prepared = session.prepare(INSERT)
    assert prepared.routing_key_indexes is None
    nodes.prepare(INSERT, markers=[("k", Int32Type)], pk=[0])
    assert session.prepare(INSERT).routing_key_indexes == [0]
    session.execute(prepared, (1,))


def test_statements_of_every_keyspace_are_prepared_on_a_host_that_rises(nodes, cluster):
    session = cluster.connect("one", wait_for_all_pools=True)
    held = [session.prepare(INSERT)]
    session.set_keyspace("two")
    held.append(session.prepare("SELECT k FROM t"))
    host = session.hosts[0]
    node = nodes.node(host)
    node.forget_prepared()
    asked = len(node.requests)
    cluster.run(cluster.core.prepare_statements(host))
    seen = [(r.text, r.client.keyspace) for r in node.requests[asked:] if r.opcode == PREPARE]
    assert [text for text, _ in seen] == [INSERT, "SELECT k FROM t"]
    uses = [r.text for r in node.requests[asked:] if r.text.startswith("USE")]
    assert uses == ['USE "one"', 'USE "two"']
    assert len(held) == 2


def test_nothing_is_prepared_on_a_host_that_rises_if_the_options_say_so(nodes):
    with connected_to(nodes, reprepare_on_up=False) as cluster:
        session = cluster.connect(wait_for_all_pools=True)
        prepared = session.prepare(INSERT)
        before = prepared_on(nodes)
        for host in session.hosts:
            cluster.run(cluster.core.prepare_statements(host))
        assert prepared_on(nodes) == before
        assert prepared.query_id in cluster.core.prepared_statements


@pytest.mark.parametrize("answer", [rows([("k", Int32Type)], [(1,)]), VOID])
def test_prepare_that_is_answered_by_something_else_is_an_error_of_the_driver(
    nodes, cluster, monkeypatch, answer
):
    session = cluster.connect()
    for node in nodes.nodes:
        monkeypatch.setattr(node, "_on_prepare", lambda _: answer)
    with pytest.raises(ProtocolException, match="PREPARE was answered by something else"):
        session.prepare(INSERT)


def test_who_replicates_a_large_ring_is_known_before_the_first_request(cluster, monkeypatch):
    session = cluster.connect()
    ring = cluster.metadata.token_map
    described = KeyspaceMetadata("ks", True, "SimpleStrategy", {"replication_factor": "1"})
    cluster.metadata.keyspaces["ks"] = described
    threads = []
    place = ring._place
    monkeypatch.setattr(placement, "_LARGE_RING", 1)
    monkeypatch.setattr(
        ring, "_place", lambda name: (threads.append(threading.current_thread()), place(name))
    )
    session.prepare(INSERT)
    (placed_on,) = threads
    assert placed_on.name.startswith(("asyncio", "uvloop"))
    assert len(ring.tokens_to_hosts_by_ks["ks"]) == 3
    assert len(cluster.metadata.get_replicas("ks", b"key")) == 1
    assert threads == [placed_on]
