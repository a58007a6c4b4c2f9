"""Three nodes: which of them a request goes to, and what the driver knows of them."""

import pytest
from ring.releases import RELEASE

from driver.cluster import EXEC_PROFILE_DEFAULT, ExecutionProfile
from driver.policies import (
    AllowListRoundRobinPolicy,
    ConstantSpeculativeExecutionPolicy,
    DCAwareRoundRobinPolicy,
    HostFilterPolicy,
    RackAwareRoundRobinPolicy,
    RoundRobinPolicy,
    TokenAwarePolicy,
)
from driver.protocol.errors import NoHostAvailable
from driver.statements import SimpleStatement
from tests.integration.leaks import eventually

KEYS = range(40)


def profiles(policy, **more):
    return {EXEC_PROFILE_DEFAULT: ExecutionProfile(load_balancing_policy=policy, **more)}


def coordinators(session, statement, parameters=()):
    """Who answered each of some requests."""
    found = []
    for values in parameters:
        future = session.execute_async(statement, values)
        future.result()
        found.append(future.coordinator_host.address)
    return found


def sources(trace):
    """Who worked on a request. The server writes events after it has written that it is done."""
    assert eventually(lambda: trace.populate(20) or trace.events)
    return {event.source for event in trace.events}


@pytest.fixture
def one_copy(three_nodes, clusters, keyspace_name):
    """A session on a keyspace with one copy of each row: one node is the right one."""
    policy = TokenAwarePolicy(RoundRobinPolicy())
    session = clusters(three_nodes.addresses, execution_profiles=profiles(policy)).connect()
    session.execute(
        f"CREATE KEYSPACE {keyspace_name} WITH replication = "
        "{'class': 'SimpleStrategy', 'replication_factor': 1}"
    )
    session.execute(f"CREATE TABLE {keyspace_name}.t (k int, l text, v text, PRIMARY KEY ((k, l)))")
    session.set_keyspace(keyspace_name)
    assert eventually(
        lambda: all(state["open_count"] for state in session.get_pool_state().values())
    )
    yield session
    session.execute(f"DROP KEYSPACE {keyspace_name}", timeout=30)


def test_all_nodes_are_found_from_one(three_nodes, clusters):
    cluster = clusters(three_nodes.addresses[:1])
    session = cluster.connect()
    assert sorted(host.address for host in cluster.metadata.all_hosts()) == three_nodes.addresses
    assert {host.release_version for host in cluster.metadata.all_hosts()} == {RELEASE.version}
    assert len({host.host_id for host in cluster.metadata.all_hosts()}) == 3
    assert eventually(lambda: len(session.get_pool_state()) == 3)


def test_requests_go_round(three_nodes, clusters):
    session = clusters(
        three_nodes.addresses, execution_profiles=profiles(RoundRobinPolicy())
    ).connect()
    assert eventually(lambda: len(session.get_pool_state()) == 3)
    found = coordinators(session, "SELECT key FROM system.local", [()] * 30)
    assert sorted(map(found.count, three_nodes.addresses)) == [10, 10, 10]


def test_bound_statements_go_to_the_node_that_holds_the_row(one_copy, three_nodes):
    """The server's own trace is the witness: with one copy, nobody else works on the request."""
    insert = one_copy.prepare("INSERT INTO t (k, l, v) VALUES (?, ?, 'v')")
    read = one_copy.prepare("SELECT v FROM t WHERE k = ? AND l = ?")
    worked = set()
    for k in KEYS:
        for statement in (insert, read):
            result = one_copy.execute(statement, (k, str(k)), trace=k < 6)
            if k >= 6:
                continue
            trace = result.get_query_trace(max_wait_sec=20)
            assert sources(trace) == {trace.coordinator}
            worked.add(trace.coordinator)
    assert worked <= set(three_nodes.addresses)
    found = coordinators(one_copy, read, [(k, str(k)) for k in KEYS])
    metadata = one_copy.cluster.metadata
    for k, coordinator in zip(KEYS, found, strict=True):
        key = read.bind((k, str(k))).routing_key
        (replica,) = metadata.get_replicas(one_copy.keyspace, key)
        assert coordinator == replica.address
    assert set(found) == set(three_nodes.addresses)


def test_a_simple_statement_with_a_routing_key_goes_to_its_node_too(one_copy):
    read = one_copy.prepare("SELECT v FROM t WHERE k = ? AND l = ?")
    for k in range(10):
        key = read.bind((k, "")).routing_key
        statement = SimpleStatement("SELECT v FROM t LIMIT 1", routing_key=key)
        (found,) = coordinators(one_copy, statement, [None])
        (replica,) = one_copy.cluster.metadata.get_replicas(one_copy.keyspace, key)
        assert found == replica.address


def test_the_token_map_follows_a_change_of_the_replication(one_copy, three_nodes):
    key = one_copy.prepare("SELECT v FROM t WHERE k = ? AND l = ?").bind((1, "")).routing_key
    metadata = one_copy.cluster.metadata
    assert len(metadata.get_replicas(one_copy.keyspace, key)) == 1
    one_copy.execute(
        f"ALTER KEYSPACE {one_copy.keyspace} WITH replication = "
        "{'class': 'SimpleStrategy', 'replication_factor': 3}"
    )
    assert eventually(lambda: len(metadata.get_replicas(one_copy.keyspace, key)) == 3)
    assert {host.address for host in metadata.get_replicas(one_copy.keyspace, key)} == set(
        three_nodes.addresses
    )


@pytest.mark.parametrize(
    "policy",
    [
        lambda addresses: AllowListRoundRobinPolicy(addresses[1:2]),
        lambda addresses: HostFilterPolicy(
            RoundRobinPolicy(), lambda host: host.address == addresses[1]
        ),
    ],
    ids=["allow list", "host filter"],
)
def test_only_allowed_hosts_are_asked(three_nodes, clusters, policy):
    addresses = three_nodes.addresses
    session = clusters(addresses[1:2], execution_profiles=profiles(policy(addresses))).connect()
    found = coordinators(session, "SELECT key FROM system.local", [()] * 6)
    assert set(found) == {addresses[1]}
    assert {host.address for host in session.get_pool_state()} == {addresses[1]}


def test_a_keyspace_is_used_on_the_connections_to_all_nodes(session3):
    session3.execute("CREATE TABLE t (k int PRIMARY KEY)")
    for host in session3.cluster.metadata.all_hosts():
        assert session3.execute("SELECT * FROM t", host=host).all() == []


def test_an_idempotent_request_to_a_slow_node_is_sent_to_another_as_well(three_nodes, clusters):
    policy = profiles(
        RoundRobinPolicy(),
        speculative_execution_policy=ConstantSpeculativeExecutionPolicy(0.1, 2),
    )
    session = clusters(three_nodes.addresses, execution_profiles=policy).connect()
    assert eventually(lambda: len(session.get_pool_state()) == 3)
    query = "SELECT key FROM system.local"
    slow = next(
        host
        for host in session.cluster.metadata.all_hosts()
        if host != session.cluster.get_control_connection_host()
    )
    three_nodes.pause(three_nodes.addresses.index(slow.address) + 1)
    try:
        futures = [
            session.execute_async(SimpleStatement(query, is_idempotent=True), timeout=8)
            for _ in range(9)
        ]
        for future in futures:
            assert future.result().one()[0] == "local"
        helped = [future for future in futures if slow in future.attempted_hosts]
        assert helped
        for future in helped:
            assert len(future.attempted_hosts) >= 2
            assert future.coordinator_host != slow
    finally:
        three_nodes.heal()


def test_data_centres_are_kept_apart_until_a_remote_one_is_allowed(two_regions, clusters):
    first, second, third = two_regions.addresses
    query = "SELECT key FROM system.local"

    def asked(policy, contact=first):
        session = clusters([contact], execution_profiles=profiles(policy)).connect()
        assert eventually(lambda: len(session.get_pool_state()) >= 1)
        return session, set(coordinators(session, query, [()] * 12))

    session, found = asked(DCAwareRoundRobinPolicy("east"))
    places = {(h.address, h.datacenter, h.rack) for h in session.cluster.metadata.all_hosts()}
    assert places == {(first, "east", "r1"), (second, "east", "r2"), (third, "west", "r1")}
    assert eventually(lambda: set(coordinators(session, query, [()] * 6)) == {first, second})
    assert third not in {host.address for host in session.get_pool_state()}
    assert found <= {first, second}
    # Without a name it is the data centre of the first contact point.
    assert asked(DCAwareRoundRobinPolicy(), contact=third)[1] == {third}
    session, _ = asked(DCAwareRoundRobinPolicy("west", used_hosts_per_remote_dc=1), contact=third)
    assert eventually(lambda: len(session.get_pool_state()) == 2)
    plan = [
        host.address
        for host in session.get_execution_profile(
            EXEC_PROFILE_DEFAULT
        ).load_balancing_policy.make_query_plan()
    ]
    assert plan[0] == third
    assert plan[1] in {first, second}


def test_the_own_rack_goes_first(two_regions, clusters):
    first, second, third = two_regions.addresses
    policy = RackAwareRoundRobinPolicy("east", "r2")
    session = clusters([first], execution_profiles=profiles(policy)).connect()
    assert eventually(lambda: len(session.get_pool_state()) >= 2)
    assert set(coordinators(session, "SELECT key FROM system.local", [()] * 8)) == {second}
    plan = [host.address for host in policy.make_query_plan()]
    assert plan[:2] == [second, first]
    assert third not in plan


def test_replicas_of_each_data_centre_are_known(two_regions, clusters, keyspace_name):
    first, second, third = two_regions.addresses
    policy = TokenAwarePolicy(DCAwareRoundRobinPolicy("west"))
    session = clusters([third], execution_profiles=profiles(policy)).connect()
    session.execute(
        f"CREATE KEYSPACE {keyspace_name} WITH replication = "
        "{'class': 'NetworkTopologyStrategy', 'east': 1, 'west': 1}"
    )
    session.execute(f"CREATE TABLE {keyspace_name}.t (k int PRIMARY KEY)")
    read = session.prepare(f"SELECT k FROM {keyspace_name}.t WHERE k = ?")
    for k in range(10):
        replicas = session.cluster.metadata.get_replicas(keyspace_name, read.bind((k,)).routing_key)
        assert sorted(host.datacenter for host in replicas) == ["east", "west"]
    assert set(coordinators(session, read, [(k,) for k in range(10)])) == {third}
    session.execute(f"DROP KEYSPACE {keyspace_name}", timeout=30)
    assert {first, second}.isdisjoint(host.address for host in session.get_pool_state())


def test_a_data_centre_that_is_not_there_leaves_nobody_to_ask(two_regions, clusters):
    policy = DCAwareRoundRobinPolicy("nowhere")
    cluster = clusters(two_regions.addresses, execution_profiles=profiles(policy))
    with pytest.raises(NoHostAvailable):
        cluster.connect().execute("SELECT key FROM system.local")
