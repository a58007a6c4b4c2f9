"""Sessions with nodes that speak ScyllaDB's extensions: requests go where their data is."""

import asyncio
import contextlib
import time

import pytest
from cql_node import EXECUTE
from scylla_node import extensions

from driver import aio
from driver.cluster import Cluster
from driver.policies import DCAwareRoundRobinPolicy, RetryPolicy, TokenAwarePolicy
from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.errors import RateLimitReached
from driver.statements import BatchStatement
from driver.topology.token import Murmur3Token

SELECT = "SELECT v FROM {} WHERE k = ?"
INSERT = "INSERT INTO {} (k, v) VALUES (?, ?)"
KEYS = range(60)
FEW_SECONDS = 20


@pytest.fixture
def connect():
    """A session with a cluster, whose pools are open."""
    with contextlib.ExitStack() as stack:

        def connect(scylla, **options):
            policy = TokenAwarePolicy(DCAwareRoundRobinPolicy("dc1"))
            options = {"load_balancing_policy": policy, "protocol_version": 4, **options}
            cluster = stack.enter_context(
                Cluster(scylla.contact_points, port=scylla.port, **options)
            )
            return cluster.connect(wait_for_all_pools=True)

        yield connect


def run(session, statement, keys=KEYS):
    """Execute a prepared statement for keys, and give the arrivals of these."""
    count = len(statement.column_metadata)
    for key in keys:
        session.execute(statement, (key,) * count)


def until(condition):
    """Wait until something holds."""
    deadline = time.monotonic() + FEW_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def owner(scylla, token):
    """The node that owns a token on the ring: that of the first token that is not less."""
    ring = sorted((place, node.number) for node in scylla.nodes for place in scylla.tokens(node))
    return next((number for place, number in ring if place >= token), ring[0][1])


TABLETS = pytest.mark.parametrize("lacks", [[extensions.TABLETS_V2], []], ids=["v1", "v2"])


def is_at_home(scylla, table, arrival):
    """Whether a request came to a node and shard that hold its tablet."""
    replicas = scylla.tables[table].tablet_of(arrival.token).replicas
    return (scylla.nodes[arrival.node].host_id, arrival.shard) in replicas


# --- shards ---------------------------------------------------------------------------------------


def test_a_session_reaches_every_shard_of_every_node(scylla, connect):
    cluster = scylla(nodes=2, shards=3)
    connect(cluster)
    for node in cluster.nodes:
        # The control connection is one more, to any shard.
        until(lambda node=node: set(node.shards_reached()) == {0, 1, 2})


@pytest.mark.parametrize("has_shard_aware_port", [True, False])
def test_requests_arrive_at_the_owner_and_shard_of_their_token(
    scylla, connect, has_shard_aware_port
):
    cluster = scylla(
        nodes=2, shards=4, replication_factor=1, has_shard_aware_port=has_shard_aware_port
    )
    cluster.create_table("ks", "t")
    session = connect(cluster)
    run(session, session.prepare(INSERT.format("ks.t")))
    run(session, session.prepare(SELECT.format("ks.t")))
    assert len(cluster.arrivals) == 2 * len(KEYS)
    for arrival in cluster.arrivals:
        assert arrival.node == owner(cluster, arrival.token)
        assert arrival.shard == extensions.shard_of(arrival.token, 4, 12)
    assert {arrival.shard for arrival in cluster.arrivals} == {0, 1, 2, 3}


def test_a_table_on_the_ring_has_no_tablets(scylla, connect):
    cluster = scylla(nodes=2)
    cluster.create_table("ks", "t")
    session = connect(cluster)
    run(session, session.prepare(SELECT.format("ks.t")))
    assert not session.cluster.metadata.tablets.table_has_tablets("ks", "t")


# --- tablets --------------------------------------------------------------------------------------


@TABLETS
def test_tablets_are_learnt_from_answers_and_used_from_then_on(scylla, connect, lacks):
    cluster = scylla(nodes=3, shards=4, replication_factor=1, lacks=lacks)
    table = cluster.create_table("ks", "t", tablets=8)
    session = connect(cluster)
    insert = session.prepare(INSERT.format("ks.t"))
    run(session, insert)
    # The ring places tablets wrongly, so that there was something to learn.
    assert not all(is_at_home(cluster, "ks.t", arrival) for arrival in cluster.arrivals)
    known = session.cluster.metadata.tablets
    for arrival in cluster.arrivals:
        expected = table.tablet_of(arrival.token)
        found = known.get_tablet_for_key("ks", "t", Murmur3Token(arrival.token))
        if found is not None:
            learnt = (found.first_token, found.last_token, found.replicas)
            assert learnt == (expected.first, expected.last, expected.replicas)
            assert (found.version is None) == bool(lacks)
    cluster.arrivals.clear()
    run(session, insert)
    assert len(cluster.arrivals) == len(KEYS)
    assert all(is_at_home(cluster, "ks.t", arrival) for arrival in cluster.arrivals)


def leads(scylla, table, arrival):
    """Whether a request came to the leader of its tablet, and to the shard that has it."""
    leader = scylla.tables[table].tablet_of(arrival.token).replicas[0]
    return (scylla.nodes[arrival.node].host_id, arrival.shard) == leader


def shares_of_leaders(scylla, session, levels):
    """The part of the requests that came to a leader, by level, once tablets are known."""
    statement = session.prepare(SELECT.format("ks.t"))
    shares = {}
    for level in (None, *levels):  # the first round learns
        scylla.arrivals.clear()
        for key in KEYS:
            bound = statement.bind((key,))
            bound.consistency_level = level
            session.execute(bound)
        came = [leads(scylla, "ks.t", arrival) for arrival in scylla.arrivals]
        shares[level] = sum(came) / len(came)
    return shares


QUORUM, ONE, LOCAL_ONE = ConsistencyLevel.QUORUM, ConsistencyLevel.ONE, ConsistencyLevel.LOCAL_ONE


def test_leaders_of_tablets_are_asked_first_but_for_what_any_replica_answers(scylla, connect):
    cluster = scylla(nodes=3, shards=2, lacks=[])
    cluster.create_table("ks", "t", tablets=8, consistency="global")
    session = connect(cluster)
    shares = shares_of_leaders(cluster, session, (QUORUM, ONE, LOCAL_ONE))
    assert shares[QUORUM] == 1
    assert 0 < shares[ONE] < 1
    assert 0 < shares[LOCAL_ONE] < 1
    assert "consistency = 'global'" in session.cluster.metadata.keyspaces["ks"].as_cql_query()


@pytest.mark.parametrize(
    ("consistency", "lacks"),
    [("global", [extensions.TABLETS_V2]), ("eventual", []), ("local", []), (None, [])],
)
def test_without_leaders_that_are_known_all_replicas_share_the_load(
    scylla, connect, consistency, lacks
):
    cluster = scylla(nodes=3, shards=2, lacks=lacks)
    cluster.create_table("ks", "t", tablets=8, consistency=consistency)
    shares = shares_of_leaders(cluster, connect(cluster), (QUORUM,))
    assert 0 < shares[QUORUM] < 1


def test_a_leader_that_is_down_is_passed_over(scylla, connect):
    cluster = scylla(nodes=3, shards=2, lacks=[])
    cluster.create_table("ks", "t", tablets=8, consistency="global")
    session = connect(cluster)
    assert shares_of_leaders(cluster, session, (QUORUM,))[QUORUM] == 1
    down = session.cluster.metadata.get_host(cluster.nodes[2].host)
    down.set_down()
    cluster.arrivals.clear()
    run(session, session.prepare(SELECT.format("ks.t")))
    assert {arrival.node for arrival in cluster.arrivals} == {0, 1}


def test_a_keyspace_that_is_no_longer_led_forgets_its_leaders(scylla, connect):
    cluster = scylla(nodes=3, shards=2, lacks=[])
    cluster.create_table("ks", "t", tablets=8, consistency="global")
    session = connect(cluster)
    assert shares_of_leaders(cluster, session, (QUORUM,))[QUORUM] == 1
    metadata = session.cluster.metadata
    assert metadata.led_keyspaces == {"ks"}
    cluster.change_consistency("ks", "eventual")
    session.cluster.refresh_keyspace_metadata("ks")
    assert not metadata.led_keyspaces
    assert not metadata.tablets.table_has_tablets("ks", "t")
    assert 0 < shares_of_leaders(cluster, session, (QUORUM,))[QUORUM] < 1


def test_tablets_that_were_split_and_moved_are_learnt_anew(scylla, connect):
    cluster = scylla(nodes=3, shards=2, replication_factor=1)
    table = cluster.create_table("ks", "t", tablets=4)
    session = connect(cluster)
    select = session.prepare(SELECT.format("ks.t"))
    run(session, select)
    run(session, select)
    cluster.place_tablets(table, 16, first_node=1)
    # Every request that is not at home teaches one tablet, and no tablet is taught twice.
    misrouted = []
    for _ in range(len(table.tablets) + 1):
        cluster.arrivals.clear()
        run(session, select)
        misrouted.append(sum(not is_at_home(cluster, "ks.t", a) for a in cluster.arrivals))
    assert misrouted[0] > 0
    assert sum(misrouted) <= len(table.tablets)
    assert misrouted[-1] == 0


@TABLETS
def test_tablets_are_routed_by_without_a_schema(scylla, connect, lacks):
    cluster = scylla(nodes=3, shards=4, replication_factor=1, lacks=lacks)
    cluster.create_table("ks", "t", tablets=8)
    session = connect(cluster, schema_metadata_enabled=False)
    insert = session.prepare(INSERT.format("ks.t"))
    for _ in range(3):
        cluster.arrivals.clear()
        run(session, insert)
    assert not session.cluster.metadata.keyspaces
    assert len(cluster.arrivals) == len(KEYS)
    assert all(is_at_home(cluster, "ks.t", arrival) for arrival in cluster.arrivals)


def test_without_a_schema_the_ring_names_no_replicas_but_tokens_their_shards(scylla, connect):
    cluster = scylla(nodes=2, shards=4, replication_factor=1)
    cluster.create_table("ks", "t")
    session = connect(cluster, schema_metadata_enabled=False)
    run(session, session.prepare(INSERT.format("ks.t")))
    assert {arrival.node for arrival in cluster.arrivals} == {0, 1}
    for arrival in cluster.arrivals:
        assert arrival.shard == extensions.shard_of(arrival.token, 4, 12)
    # Read by hand, the keyspace is enough.
    session.cluster.refresh_keyspace_metadata("ks")
    cluster.arrivals.clear()
    run(session, session.prepare(SELECT.format("ks.t")))
    assert all(arrival.node == owner(cluster, arrival.token) for arrival in cluster.arrivals)


def versions_known(session, keyspace="ks", table="t"):
    """The version of each tablet that is known, by its last token."""
    tablets = session.cluster.metadata.tablets.by_table.get((keyspace, table), ())
    return {tablet.last_token: tablet.version for tablet in tablets}


def test_a_replica_that_came_is_learnt_though_the_others_still_answer(scylla, connect):
    cluster = scylla(nodes=3, shards=2, replication_factor=2, lacks=())
    table = cluster.create_table("ks", "t", tablets=2)
    session = connect(cluster)
    select = session.prepare(SELECT.format("ks.t"))
    until(lambda: run(session, select) or len(versions_known(session)) == 2)
    before = versions_known(session)
    # One replica of each tablet is where it was, and would say nothing by the first version.
    table.tablets = [
        extensions.Tablet(t.first, t.last, (t.replicas[0], (cluster.nodes[i + 2].host_id, 0)))
        for i, t in zip((0, -1), table.tablets, strict=True)
    ]
    until(lambda: run(session, select) or versions_known(session) != before)
    until(
        lambda: (
            run(session, select)
            or {last: version % 2**64 for last, version in versions_known(session).items()}
            == {tablet.last: tablet.version for tablet in table.tablets}
        )
    )


def test_a_tablet_that_is_known_is_told_no_more(scylla, connect):
    cluster = scylla(nodes=2, shards=2, replication_factor=2, lacks=())
    cluster.create_table("ks", "t", tablets=1)
    session = connect(cluster)
    select = session.prepare(SELECT.format("ks.t"))
    until(lambda: run(session, select) or versions_known(session))
    for _ in range(64):
        future = session.execute_async(select, (1,))
        future.result()
        assert future.custom_payload is None


def test_nodes_of_both_versions_of_tablets_stand_beside_each_other(scylla, connect):
    cluster = scylla(nodes=2, shards=2, replication_factor=1, lacks=())
    cluster.nodes[1].lacks.add(extensions.TABLETS_V2)
    cluster.create_table("ks", "t", tablets=4)
    session = connect(cluster)
    insert = session.prepare(INSERT.format("ks.t"))
    for _ in range(3):
        cluster.arrivals.clear()
        run(session, insert)
    assert {arrival.node for arrival in cluster.arrivals} == {0, 1}
    assert all(is_at_home(cluster, "ks.t", arrival) for arrival in cluster.arrivals)


@TABLETS
def test_statements_without_a_partition_are_executed_and_batches_too(scylla, connect, lacks):
    cluster = scylla(nodes=2, shards=2, lacks=lacks)
    cluster.create_table("ks", "t", tablets=2)
    session = connect(cluster)
    session.execute(session.prepare("TRUNCATE ks.other"))
    insert = session.prepare(INSERT.format("ks.t"))
    batch = BatchStatement()
    batch.add(insert, (1, 1))
    session.execute(batch)
    assert [node.texts.count(insert.query_string) for node in cluster.nodes].count(1) == 1


@TABLETS
def test_what_was_written_by_tablet_is_read_by_tablet(scylla, connect, lacks):
    cluster = scylla(nodes=3, shards=3, replication_factor=2, lacks=lacks)
    cluster.create_table("ks", "t", tablets=8)
    session = connect(cluster)
    run(session, session.prepare(INSERT.format("ks.t")))
    select = session.prepare(SELECT.format("ks.t"))
    assert [session.execute(select, (key,)).one().v for key in KEYS] == list(KEYS)


def test_without_custom_payloads_requests_still_arrive(scylla, connect):
    cluster = scylla(nodes=2, shards=2)
    cluster.create_table("ks", "t", tablets=4)
    # Version 3 has no payload, hence no tablets.
    session = connect(cluster, protocol_version=3)
    run(session, session.prepare(SELECT.format("ks.t")))
    assert len(cluster.arrivals) == len(KEYS)
    assert not session.cluster.metadata.tablets.table_has_tablets("ks", "t")


# --- ids of metadata ------------------------------------------------------------------------------


def executions(cluster):
    """The EXECUTE requests of all nodes, in order."""
    return [r for node in cluster.nodes for r in node.requests if r.opcode == EXECUTE]


def columns_of(session, statement, key=1):
    return session.execute(statement, (key,)).column_names


def test_a_change_of_the_columns_reaches_prepared_statements(scylla, connect):
    cluster = scylla(nodes=1, shards=1)
    table = cluster.create_table("ks", "t")
    session = connect(cluster)
    session.execute(session.prepare(INSERT.format("ks.t")), (1, 2))
    everything = session.prepare("SELECT * FROM ks.t WHERE k = ?")
    assert [columns_of(session, everything) for _ in range(2)] == [["k", "v"]] * 2
    table.added.append("w")
    assert session.execute(everything, (1,)).all() == [(1, 2, None)]
    assert [columns_of(session, everything) for _ in range(2)] == [["k", "v", "w"]] * 2
    ids = [request.metadata_id for request in executions(cluster)[1:]]
    assert ids[:3] == [ids[0]] * 3
    assert ids[3:] == [everything.result_metadata_id] * 2
    assert ids[3] != ids[0]


def test_a_statement_that_was_prepared_without_an_id_gets_one(scylla, connect):
    cluster = scylla(nodes=2, shards=2, replication_factor=2)
    cluster.nodes[0].lacks.add(extensions.METADATA_ID)
    cluster.create_table("ks", "t")
    session = connect(cluster)
    run(session, session.prepare(INSERT.format("ks.t")))
    everything = session.prepare("SELECT * FROM ks.t WHERE k = ?")
    everything.result_metadata_id = None
    for key in KEYS:
        assert session.execute(everything, (key,)).all() == [(key, key)]
    sent = [
        [r.metadata_id for r in node.requests if r.text == everything.query_string and r.query_id]
        for node in cluster.nodes
    ]
    assert set(sent[0]) == {None}
    assert sent[1][0] == b""
    assert set(sent[1][1:]) == {everything.result_metadata_id}
    assert everything.result_metadata_id


def test_version_3_has_no_ids_of_metadata(scylla, connect):
    cluster = scylla(nodes=1, shards=1, lacks=())
    cluster.create_table("ks", "t")
    session = connect(cluster, protocol_version=3)
    run(session, session.prepare(SELECT.format("ks.t")), [1])
    said = {name for client in cluster.nodes[0].clients for name in client.startup_options}
    assert not {extensions.METADATA_ID, extensions.TABLETS_V2} & said
    assert [request.metadata_id for request in executions(cluster)] == [None]


# --- lightweight transactions ---------------------------------------------------------------------


def nodes_asked(session, cluster, statement, key, times=20):
    """Where executions for a key arrived."""
    cluster.arrivals.clear()
    run(session, statement, [key] * times)
    return [arrival.node for arrival in cluster.arrivals]


def test_lightweight_transactions_start_at_the_same_replica(scylla, connect):
    cluster = scylla(nodes=3, shards=2, replication_factor=3)
    cluster.create_table("ks", "t")
    session = connect(cluster)
    conditional = session.prepare(INSERT.format("ks.t") + " IF NOT EXISTS")
    plain = session.prepare(INSERT.format("ks.t"))
    assert [conditional.is_lwt(), plain.is_lwt()] == [True, False]
    nodes = nodes_asked(session, cluster, conditional, 1)
    assert nodes == [owner(cluster, cluster.arrivals[0].token)] * 20
    assert len(set(nodes_asked(session, cluster, plain, 1))) > 1


def test_lightweight_transactions_start_at_the_first_replica_of_their_tablet(scylla, connect):
    cluster = scylla(nodes=3, shards=2, replication_factor=3)
    table = cluster.create_table("ks", "t", tablets=8)
    session = connect(cluster)
    plain = session.prepare(INSERT.format("ks.t"))
    # Every node has every tablet here, but not at the shard where its token would be on the ring:
    # for such a key, whatever node is asked first teaches the tablet.
    for key in KEYS:
        run(session, plain, [key])
        if not is_at_home(cluster, "ks.t", cluster.arrivals[-1]):
            break
    first_replica, _ = table.tablet_of(cluster.arrivals[-1].token).replicas[0]
    conditional = session.prepare(INSERT.format("ks.t") + " IF NOT EXISTS")
    nodes = nodes_asked(session, cluster, conditional, key)
    assert {cluster.nodes[number].host_id for number in nodes} == {first_replica}
    assert len(set(nodes_asked(session, cluster, plain, key))) > 1


def test_whether_a_lightweight_transaction_was_applied_is_told(scylla, connect):
    cluster = scylla(nodes=1)
    cluster.create_table("ks", "t")
    session = connect(cluster)
    conditional = session.prepare(INSERT.format("ks.t") + " IF NOT EXISTS")
    assert [session.execute(conditional, (1, 1)).was_applied for _ in range(2)] == [True, False]


# --- rate limits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("is_write", [True, False])
@pytest.mark.parametrize("by_coordinator", [True, False])
def test_a_rate_limit_is_raised_and_not_retried(scylla, connect, is_write, by_coordinator):
    cluster = scylla(nodes=2)
    cluster.create_table("ks", "t")
    session = connect(cluster, default_retry_policy=RetryPolicy())
    text = (INSERT if is_write else SELECT).format("ks.t")
    for node in cluster.nodes:
        node.rate_limited[text] = by_coordinator
    statement = session.prepare(text)
    with pytest.raises(RateLimitReached) as reached:
        run(session, statement, [1])
    assert reached.value.op_type == is_write
    assert reached.value.rejected_by_coordinator == by_coordinator
    assert len(cluster.arrivals) == 1


# --- everything else ------------------------------------------------------------------------------


def test_the_version_and_the_schema_are_found_out(scylla, connect):
    cluster = scylla(nodes=2)
    cluster.create_table("ks", "t", tablets=4)
    session = connect(cluster, protocol_version=None)
    assert session.cluster.protocol_version == 4
    table = session.cluster.metadata.keyspaces["ks"].tables["t"]
    assert [column.name for column in table.partition_key] == ["k"]
    assert list(table.columns) == ["k", "v"]
    hosts = {host.address: host for host in session.cluster.metadata.all_hosts()}
    assert sorted(hosts) == cluster.contact_points
    assert {host.sharding_info.shards_count for host in hosts.values()} == {4}


def test_the_awaitable_session_routes_as_well(scylla):
    cluster = scylla(nodes=2, shards=3, replication_factor=1)
    cluster.create_table("ks", "t", tablets=4)

    async def main():
        policy = TokenAwarePolicy(DCAwareRoundRobinPolicy("dc1"))
        async with aio.Cluster(
            cluster.contact_points,
            port=cluster.port,
            protocol_version=4,
            load_balancing_policy=policy,
        ) as connected:
            session = await connected.connect(wait_for_all_pools=True)
            insert = await session.prepare(INSERT.format("ks.t"))
            for _ in range(2):
                cluster.arrivals.clear()
                for key in KEYS:
                    await session.execute(insert, (key, key))

    asyncio.run(main())
    assert all(is_at_home(cluster, "ks.t", arrival) for arrival in cluster.arrivals)
