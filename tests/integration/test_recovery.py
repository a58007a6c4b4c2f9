"""Nodes that freeze or are gone, without load: what is noticed, what is told, what comes back."""

import time

import pytest

from driver.cluster import EXEC_PROFILE_DEFAULT, ExecutionProfile
from driver.policies import ConstantReconnectionPolicy, RoundRobinPolicy
from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.errors import NoHostAvailable, WriteTimeout
from driver.statements import SimpleStatement
from tests.integration.disturbed import NOTICED, connected_to, control_index
from tests.integration.leaks import eventually, threads


def test_the_control_connections_node_freezes_and_schema_is_still_followed(
    three_nodes, clusters, keyspace_name
):
    cluster = clusters(
        three_nodes.addresses,
        reconnection_policy=ConstantReconnectionPolicy(1.0, None),
        idle_heartbeat_interval=1,
        idle_heartbeat_timeout=2,
        schema_event_refresh_window=0,
        control_connection_timeout=2.0,
    )
    session = cluster.connect()
    victim = control_index(session, three_nodes.addresses)
    three_nodes.pause(victim)
    assert eventually(
        lambda: control_index(session, three_nodes.addresses) not in {0, victim}, NOTICED
    )
    other = clusters(
        [three_nodes.addresses[victim % 3]],
        execution_profiles={
            EXEC_PROFILE_DEFAULT: ExecutionProfile(
                load_balancing_policy=RoundRobinPolicy(), request_timeout=30
            )
        },
        connect_timeout=2,
        control_connection_timeout=2.0,
        max_schema_agreement_wait=1,
    ).connect()
    healthy = next(
        host
        for host in other.cluster.metadata.all_hosts()
        if host.address == three_nodes.addresses[victim % 3]
    )
    assert eventually(lambda: healthy.address in connected_to(other))
    other.execute(
        f"CREATE KEYSPACE {keyspace_name} WITH replication = "
        "{'class': 'SimpleStrategy', 'replication_factor': 3}",
        host=healthy,
    )
    assert eventually(lambda: keyspace_name in cluster.metadata.keyspaces, NOTICED)
    three_nodes.heal()
    assert eventually(lambda: connected_to(session) == set(three_nodes.addresses), NOTICED)
    session.execute(f"DROP KEYSPACE {keyspace_name}", timeout=30)


def test_a_schema_change_that_a_frozen_node_has_not_seen_is_not_agreed_on(
    three_nodes, clusters, keyspace_name
):
    cluster = clusters(three_nodes.addresses, max_schema_agreement_wait=1)
    session = cluster.connect()
    witness = cluster.get_control_connection_host()
    three_nodes.pause(control_index(session, three_nodes.addresses) % 3 + 1)
    future = session.execute_async(
        f"CREATE KEYSPACE {keyspace_name} WITH replication = "
        "{'class': 'SimpleStrategy', 'replication_factor': 3}",
        host=witness,
    )
    future.result()
    assert not future.is_schema_agreed
    three_nodes.heal()
    future = session.execute_async(f"DROP KEYSPACE {keyspace_name}", timeout=30, host=witness)
    future.result()
    assert eventually(lambda: cluster.core.metadata.keyspaces.get(keyspace_name) is None)


def test_a_write_that_a_replica_did_not_confirm_tells_who_waited(
    loaded, three_nodes, keyspace_name
):
    witness = loaded.cluster.get_control_connection_host()
    three_nodes.pause(control_index(loaded, three_nodes.addresses) % 3 + 1)
    statement = SimpleStatement(
        f"INSERT INTO {keyspace_name}.t (id) VALUES (1)", consistency_level=ConsistencyLevel.ALL
    )
    with pytest.raises(WriteTimeout) as caught:
        loaded.execute(statement, host=witness)
    assert (caught.value.received_responses, caught.value.required_responses) == (2, 3)
    assert witness.address in "".join(caught.value.__notes__)


@pytest.mark.once
@pytest.mark.within(240)
def test_without_any_node_requests_fail_soon_and_work_again_when_nodes_are_back(
    loaded, three_nodes
):
    """Once: half a minute of waiting for servers; reconnecting has no compiled form."""
    for index in (1, 2, 3):
        three_nodes.kill(index)
    assert eventually(lambda: connected_to(loaded) == set(), NOTICED)
    with pytest.raises(NoHostAvailable):
        loaded.execute("SELECT key FROM system.local")
    threads_before = len(threads())
    time.sleep(3)  # reconnecting goes on, and must not pile up
    assert len(threads()) <= threads_before
    three_nodes.heal()
    assert eventually(lambda: connected_to(loaded) == set(three_nodes.addresses), NOTICED)
    assert loaded.execute("SELECT key FROM system.local").one()[0] == "local"
