"""The control connection over real sockets: finding the cluster, watching it, not losing it."""

import asyncio
import contextlib
import re
import time
import uuid

import pytest
from control_core import is_reconnecting, on_a_loop, settled, until
from control_nodes import FakeCluster, Member
from cql_node import QUERY, REGISTER, STARTUP, error, schema_event

from driver.aio import Cluster as AsyncCluster
from driver.auth import PlainTextAuthProvider
from driver.cluster import core as core_module
from driver.cluster import reconnection
from driver.cluster.options import ClusterOptions
from driver.net.errors import ConnectionException, ConnectionShutdown, ProtocolVersionUnsupported
from driver.policies.reconnection import ConstantReconnectionPolicy
from driver.protocol.errors import (
    AuthenticationFailed,
    NoHostAvailable,
    OperationTimedOut,
    UnresolvableContactPoints,
)
from driver.topology.endpoint import DefaultEndPointFactory

QUICK = {
    "schema_event_refresh_window": 0,
    "topology_event_refresh_window": 0,
    "status_event_refresh_window": 0,
    "reconnection_policy": ConstantReconnectionPolicy(0.05, None),
    "max_schema_agreement_wait": 0,
}


@contextlib.asynccontextmanager
async def watching(cluster, *, contact=(0,), **options):
    """An open core whose control connection went to the first contact point that answers."""
    points = [cluster.members[i].endpoint for i in contact]
    options = ClusterOptions(contact_points=points, **{**QUICK, **options})
    core = AsyncCluster.from_options(options).core
    try:
        await core.open()
        yield core
    finally:
        await core.close()


def addresses(core):
    return sorted(host.endpoint.port for host in core.metadata.all_hosts())


def ports(cluster, *indexes):
    return sorted(cluster.members[i].port for i in indexes)


def host_of(core, member):
    return core.metadata.get_host(member.endpoint)


def watches(core, *members):
    """Whether the control connection goes to one of some members."""
    host = core.control_connection.host
    return host is not None and host.endpoint in {member.endpoint for member in members}


# --- finding -----------------------------------------------------------------------------------


@pytest.mark.parametrize("has_peers_v2", [True, False])
@pytest.mark.parametrize("token_metadata_enabled", [True, False])
def test_the_cluster_is_found_by_one_of_its_nodes(has_peers_v2, token_metadata_enabled):
    @on_a_loop
    async def run():
        async with watching(cluster, token_metadata_enabled=token_metadata_enabled) as core:
            metadata = core.metadata
            if has_peers_v2:
                assert addresses(core) == ports(cluster, 0, 1, 2)
            assert metadata.cluster_name == "a cluster"
            assert metadata.partitioner.endswith("Murmur3Partitioner")
            assert set(metadata.keyspaces) == {"ks"}
            assert (metadata.token_map is not None) is token_metadata_enabled
            if token_metadata_enabled:
                owners = metadata.token_map.token_to_host_owner
                assert {token.value: owner.endpoint.port for token, owner in owners.items()} == {
                    i * 1000: member.port
                    for i, member in enumerate(cluster.members)
                    if has_peers_v2 or i == 0
                }
            else:
                assert cluster.count("tokens") == 0
            control = core.control_connection
            assert control.host.endpoint == cluster.members[0].endpoint
            assert control.release_version == control.host.release_version == "5.0.0"
            assert not control.is_scylla
            assert all(host.is_up for host in metadata.all_hosts())

    with FakeCluster(3, has_peers_v2=has_peers_v2) as cluster:
        cluster.keyspaces.append("ks")
        if not has_peers_v2:
            # Without ports in the rows all nodes have the same, so two addresses have to do.
            cluster.members[1].is_listed = cluster.members[2].is_listed = False
        run()


def test_older_nodes_are_found_at_the_port_of_the_cluster():
    @on_a_loop
    async def run():
        factory = DefaultEndPointFactory(cluster.members[0].port)
        async with watching(cluster, endpoint_factory=factory) as core:
            endpoints = {str(host.endpoint) for host in core.metadata.all_hosts()}
            assert endpoints == {f"127.0.0.{i}:{cluster.members[0].port}" for i in (1, 2)}

    with FakeCluster(1, has_peers_v2=False) as cluster:
        cluster.members.append(Member(1, address="127.0.0.2", tokens=("7",)))
        run()


def test_contact_points_are_tried_in_their_order_until_one_answers():
    @on_a_loop
    async def run():
        cluster.nodes[0].stop()
        async with watching(cluster, contact=(0, 1, 2)) as core:
            assert core.control_connection.host.endpoint == cluster.members[1].endpoint
            assert cluster.nodes[2].accepted == 0

    with FakeCluster(3) as cluster:
        run()


def test_when_no_contact_point_answers_the_error_names_each_and_why():
    @on_a_loop
    async def run():
        with pytest.raises(NoHostAvailable) as failed:
            async with watching(cluster, contact=(0, 1)):
                pass
        errors = failed.value.errors
        assert set(errors) == {str(member.endpoint) for member in cluster.members}
        assert all(isinstance(error, ConnectionException) for error in errors.values())

    with FakeCluster(2) as cluster:
        for node in cluster.nodes:
            node.stop()
        run()


def test_a_wrong_password_is_tried_once_for_each_contact_point():
    @on_a_loop
    async def run():
        provider = PlainTextAuthProvider("user", "wrong")
        with pytest.raises(NoHostAvailable) as failed:
            async with watching(cluster, contact=(0, 1), auth_provider=provider):
                pass
        errors = list(failed.value.errors.values())
        assert [type(error) for error in errors] == [AuthenticationFailed] * 2
        assert "incorrect" in str(errors[0])
        assert [node.accepted for node in cluster.nodes] == [1, 1]
        await until(lambda: not any(node.clients for node in cluster.nodes))

    with FakeCluster(2, users={"user": "right"}) as cluster:
        run()


@pytest.mark.parametrize(("versions", "agreed"), [((3, 4), 4), ((3,), 3), ((3, 4, 5), 5)])
def test_the_highest_version_that_both_sides_speak_is_used(versions, agreed):
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            assert core.protocol_version == agreed
            assert core.control_connection.connection.protocol_version == agreed

    with FakeCluster(1, versions=versions) as cluster:
        run()


def test_a_version_that_was_asked_for_is_not_lowered():
    @on_a_loop
    async def run():
        with pytest.raises(NoHostAvailable) as failed:
            async with watching(cluster, protocol_version=5):
                pass
        (error,) = failed.value.errors.values()
        assert isinstance(error, ProtocolVersionUnsupported)

    with FakeCluster(1, versions=(3, 4)) as cluster:
        run()


def test_a_node_that_does_not_describe_itself_is_no_way_into_the_cluster():
    @on_a_loop
    async def run():
        cluster.members[0].rack = None
        async with watching(cluster, contact=(0, 1)) as core:
            assert core.control_connection.host.endpoint == cluster.members[1].endpoint

    with FakeCluster(2) as cluster:
        run()


def test_events_are_asked_for_before_anything_is_read():
    @on_a_loop
    async def run():
        async with watching(cluster, status_event_refresh_window=-1):
            opcodes = [request.opcode for request in cluster.nodes[0].requests]
            assert opcodes.index(STARTUP) < opcodes.index(REGISTER) < opcodes.index(QUERY)
            (client,) = cluster.nodes[0].clients
            assert client.events == {"TOPOLOGY_CHANGE", "SCHEMA_CHANGE"}

    with FakeCluster(1) as cluster:
        run()


def test_without_schema_metadata_no_schema_is_read_and_no_event_of_it_asked_for():
    @on_a_loop
    async def run():
        async with watching(cluster, schema_metadata_enabled=False) as core:
            assert cluster.count("system_schema") == 0
            (client,) = cluster.nodes[0].clients
            assert client.events == {"TOPOLOGY_CHANGE", "STATUS_CHANGE"}
            assert await core.control_connection.refresh_schema()
            assert core.metadata.keyspaces == {}
            assert await core.control_connection.refresh_schema(force=True)
            assert set(core.metadata.keyspaces) == {"ks"}

    with FakeCluster(1) as cluster:
        cluster.keyspaces.append("ks")
        run()


def test_scylladb_is_told_by_its_extensions_and_may_have_nodes_without_tokens():
    @on_a_loop
    async def run():
        cluster.members[1].tokens = None
        async with watching(cluster) as core:
            assert core.control_connection.is_scylla
            assert core.control_connection.features.tablets_routing_v1
            assert addresses(core) == ports(cluster, 0, 1)

    with FakeCluster(2, supported={"TABLETS_ROUTING_V1": [""]}) as cluster:
        run()


# --- nodes come, go and move -------------------------------------------------------------------


def test_nodes_that_come_and_go_are_followed():
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            assert addresses(core) == ports(cluster, 0, 1)
            cluster.members[2].is_listed = True
            cluster.tell("NEW_NODE", cluster.members[2])
            await until(lambda: addresses(core) == ports(cluster, 0, 1, 2))
            await until(lambda: host_of(core, cluster.members[2]).is_up)
            assert len(core.metadata.token_map.ring) == 3
            cluster.members[1].is_listed = False
            cluster.tell("REMOVED_NODE", cluster.members[1])
            await until(lambda: addresses(core) == ports(cluster, 0, 2))
            assert len(core.metadata.token_map.ring) == 2

    with FakeCluster(3) as cluster:
        cluster.members[2].is_listed = False
        run()


def test_a_removed_node_that_is_listed_still_is_not_gone():
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            asked = cluster.count("system.peers_v2")
            cluster.tell("REMOVED_NODE", cluster.members[1])
            await until(lambda: cluster.count("system.peers_v2") > asked)
            assert await core.control_connection.refresh_nodes()
            assert addresses(core) == ports(cluster, 0, 1)

    with FakeCluster(2) as cluster:
        run()


def test_the_same_node_at_another_address_is_reached_there():
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            before = host_of(core, cluster.members[1])
            cluster.members[1].port = cluster.add_node().port
            await core.control_connection.refresh_nodes()
            after = host_of(core, cluster.members[1])
            assert after.host_id == before.host_id
            assert after.endpoint != before.endpoint
            assert addresses(core) == ports(cluster, 0, 1)
            assert after in core.metadata.token_map.token_to_host_owner.values()
            assert core.metadata.get_host(before.endpoint) is None

    with FakeCluster(2) as cluster:
        run()


def test_another_node_at_the_same_address_is_another_host():
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            before = host_of(core, cluster.members[1])
            cluster.members[1].host_id = uuid.uuid4()
            await core.control_connection.refresh_nodes()
            after = host_of(core, cluster.members[1])
            assert after is not before
            assert after.host_id == cluster.members[1].host_id
            assert len(core.metadata.all_hosts()) == 2
            await settled(core)
            assert after.is_up

    with FakeCluster(2) as cluster:
        run()


def test_a_node_found_through_another_name_keeps_the_endpoint_that_worked():
    @on_a_loop
    async def run():
        # The node calls itself 127.0.0.1; the contact point is another address of this machine.
        cluster.members[0].address = "127.0.0.9"
        options = ClusterOptions(contact_points=[cluster.nodes[0].endpoint], **QUICK)
        core = AsyncCluster.from_options(options).core
        try:
            await core.open()
            reached = cluster.nodes[0].endpoint
            host = core.metadata.get_host(reached)
            assert host.broadcast_rpc_address == "127.0.0.9"
            for _ in range(2):
                await core.control_connection.refresh_nodes()
                assert core.metadata.get_host(reached) is host
            # Also when another node tells of it.
            cluster.nodes[0].stop()
            await until(lambda: watches(core, cluster.members[1]))
            assert core.metadata.get_host(reached) is host
        finally:
            await core.close()

    with FakeCluster(2) as cluster:
        run()


def test_a_node_in_another_rack_has_its_replicas_chosen_anew():
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            ring = core.metadata.token_map
            await core.control_connection.refresh_nodes()
            assert core.metadata.token_map is ring
            cluster.members[1].rack = "r2"
            await core.control_connection.refresh_nodes()
            assert host_of(core, cluster.members[1]).rack == "r2"
            assert core.metadata.token_map is not ring

    with FakeCluster(2) as cluster:
        run()


def test_the_ring_is_built_anew_when_tokens_change_or_somebody_asks():
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            ring = core.metadata.token_map
            await core.control_connection.refresh_nodes(force_token_rebuild=True)
            assert core.metadata.token_map is not ring
            cluster.members[1].tokens = ("5", "6")
            cluster.tell("MOVED_NODE", cluster.members[1])
            await until(lambda: len(core.metadata.token_map.ring) == 3)

    with FakeCluster(2) as cluster:
        run()


@pytest.mark.parametrize("missing", ["rack", "data_center", "tokens"])
def test_a_known_node_whose_row_lacks_something_stays_as_it_is(missing):
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            host = host_of(core, cluster.members[1])
            setattr(cluster.members[1], missing, None)
            setattr(cluster.members[2], missing, None)
            cluster.members[2].is_listed = True
            await core.control_connection.refresh_nodes()
            assert core.metadata.all_hosts() == [core.control_connection.host, host]
            assert (host.datacenter, host.rack) == ("dc1", "r1")
            assert host in core.metadata.token_map.token_to_host_owner.values()

    with FakeCluster(3) as cluster:
        cluster.members[2].is_listed = False
        run()


def test_of_two_lists_the_one_that_was_asked_for_later_holds():
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            member = cluster.members[1]
            gates = [asyncio.Event(), asyncio.Event()]
            rows = core.control_connection._tables.rows

            async def delayed(query):
                answer = await rows(query)
                if "peers" in query and gates:
                    await gates.pop(0).wait()
                return answer

            first, second = gates
            core.control_connection._tables.rows = delayed
            older = asyncio.ensure_future(core.control_connection.refresh_nodes())
            await until(lambda: len(gates) == 1)
            member.is_listed = False
            newer = asyncio.ensure_future(core.control_connection.refresh_nodes())
            await asyncio.sleep(0.05)
            second.set()
            await asyncio.sleep(0.05)
            first.set()
            await asyncio.gather(older, newer)
            assert addresses(core) == ports(cluster, 0)

    with FakeCluster(2) as cluster:
        run()


# --- nodes go up and down -----------------------------------------------------------------------


def test_events_bring_hosts_down_and_up():
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            host = host_of(core, cluster.members[1])
            cluster.nodes[1].stop_listening()
            cluster.tell("DOWN", cluster.members[1])
            await until(lambda: host.is_up is False)
            assert is_reconnecting(core, host)
            cluster.nodes[1].listen_again()
            cluster.members[1].release_version = "5.0.1"
            cluster.tell("UP", cluster.members[1])
            await until(lambda: host.is_up)
            await until(lambda: host.release_version == "5.0.1")

    with FakeCluster(2) as cluster:
        run()


def test_a_host_that_is_down_comes_back_without_any_event():
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            host = host_of(core, cluster.members[1])
            cluster.tell("DOWN", cluster.members[1])
            await until(lambda: host.is_up is False)
            await until(lambda: host.is_up)
            await until(lambda: not cluster.nodes[1].clients)

    with FakeCluster(2) as cluster:
        run()


def test_an_unknown_node_that_rises_is_looked_up():
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            cluster.members[1].is_listed = True
            cluster.tell("UP", cluster.members[1])
            await until(lambda: host_of(core, cluster.members[1]) is not None)
            await until(lambda: host_of(core, cluster.members[1]).is_up)

    with FakeCluster(2) as cluster:
        cluster.members[1].is_listed = False
        run()


def test_many_events_of_one_window_cause_one_refresh():
    @on_a_loop
    async def run():
        async with watching(cluster, topology_event_refresh_window=0.2) as core:
            asked = cluster.count("system.peers_v2")
            cluster.members[1].is_listed = False
            for _ in range(50):
                cluster.tell("REMOVED_NODE", cluster.members[1])
            await until(lambda: addresses(core) == ports(cluster, 0))
            await asyncio.sleep(0.25)
            # Those that came after the refresh had begun cause one more.
            assert cluster.count("system.peers_v2") - asked <= 2

    with FakeCluster(2) as cluster:
        run()


# --- the schema changes ------------------------------------------------------------------------


def test_schema_events_cause_what_changed_to_be_read():
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            cluster.keyspaces.append("new")
            cluster.nodes[0].send_event(schema_event("CREATED", "KEYSPACE", "new"))
            await until(lambda: "new" in core.metadata.keyspaces)
            cluster.keyspaces.remove("new")
            cluster.nodes[0].send_event(schema_event("DROPPED", "KEYSPACE", "new"))
            await until(lambda: "new" not in core.metadata.keyspaces)

    with FakeCluster(1) as cluster:
        run()


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_when_all_nodes_have_moved_the_names_of_contact_points_are_looked_up_anew(
    monkeypatch, caplog, is_forgotten
):
    old, new = 0, 1
    asked = []

    async def resolve(*_):
        asked.append(old if len(asked) < 1 else new)
        if len(asked) == 2 and is_forgotten:
            raise UnresolvableContactPoints("nobody knows")
        return [cluster.members[asked[-1]].endpoint]

    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            assert watches(core, cluster.members[old])
            cluster.nodes[old].stop_listening()
            cluster.nodes[old].drop_connections()
            await until(lambda: watches(core, cluster.members[new]))
            assert core.endpoints_resolved == [cluster.members[new].endpoint]
            assert ("nobody knows" in caplog.text) is is_forgotten

    monkeypatch.setattr(core_module, "resolve_contact_points", resolve)
    with FakeCluster(2) as cluster:
        cluster.members[new].is_listed = False
        run()


@pytest.mark.parametrize(
    ("scope", "agreed"), [("cluster", False), ("dc", False), ("rack", True)], ids=str
)
def test_schema_agreement_is_waited_for_within_a_scope(scope, agreed):
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            control = core.control_connection
            assert await control.wait_for_schema_agreement(5, scope)
            cluster.members[1].schema_version = uuid.UUID(int=2)
            wait_time = 5 if agreed else 0.05
            assert await control.wait_for_schema_agreement(wait_time, scope) is agreed
            await core.hosts.on_down(host_of(core, cluster.members[1]))
            assert await control.wait_for_schema_agreement(5, scope)

    with FakeCluster(2) as cluster:
        cluster.members[1].rack = "r2"
        run()


def test_an_unknown_scope_is_refused_before_anybody_is_asked():
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            asked = len(cluster.nodes[0].requests)
            for wait_time in (0, 5, None):
                with pytest.raises(ValueError, match="no scope"):
                    await core.control_connection.wait_for_schema_agreement(wait_time, "planet")
            assert len(cluster.nodes[0].requests) == asked

    with FakeCluster(1) as cluster:
        run()


def test_the_node_where_the_schema_was_changed_is_asked_who_agrees():
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            connection = await core.connect_to(cluster.members[1].endpoint)
            assert await core.control_connection.refresh_schema(
                connection=connection,
                schema_agreement_wait=5,
                target_type="KEYSPACE",
                keyspace="ks",
            )
            assert any("schema_version" in text for text in cluster.nodes[1].texts)
            assert set(core.metadata.keyspaces) == {"ks"}
            connection.close()

    with FakeCluster(2) as cluster:
        cluster.keyspaces.append("ks")
        run()


def test_a_schema_that_nodes_disagree_on_is_read_all_the_same():
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            cluster.keyspaces.append("ks")
            cluster.members[1].schema_version = uuid.UUID(int=2)
            control = core.control_connection
            assert not await control.refresh_schema(schema_agreement_wait=0.05)
            assert set(core.metadata.keyspaces) == {"ks"}

    with FakeCluster(2) as cluster:
        run()


def test_a_part_of_the_schema_that_cannot_be_read_costs_the_others_nothing(caplog):
    @on_a_loop
    async def run():
        async with watching(cluster, schema_event_refresh_window=0.1) as core:
            cluster.keyspaces.append("new")
            unauthorized = error(0x2100, "no permission on bad")
            cluster.nodes[0].when(re.compile("= 'bad'"), unauthorized)
            for keyspace in ("bad", "new"):
                cluster.nodes[0].send_event(schema_event("CREATED", "KEYSPACE", keyspace))
            await until(lambda: "new" in core.metadata.keyspaces)
            assert "no permission on bad" in caplog.text
            assert core.control_connection.connection is not None

    with FakeCluster(1) as cluster:
        run()


# --- losing it ---------------------------------------------------------------------------------


def test_when_its_node_dies_another_one_is_watched():
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            cluster.nodes[0].stop()
            await until(lambda: watches(core, *cluster.members[1:3]))
            cluster.members[3].is_listed = True
            cluster.tell("NEW_NODE", cluster.members[3])
            await until(lambda: host_of(core, cluster.members[3]) is not None)
            assert host_of(core, cluster.members[0]).is_up is False

    with FakeCluster(4) as cluster:
        cluster.members[3].is_listed = False
        run()


def test_what_changed_while_there_was_no_control_connection_is_found_afterwards():
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            for node in cluster.nodes:
                node.stop_listening()
                node.drop_connections()
            await until(lambda: core.control_connection.connection is None)
            with pytest.raises(ConnectionShutdown, match="no control connection"):
                await core.control_connection.refresh_nodes()
            cluster.members[2].is_listed = True
            cluster.keyspaces.append("new")
            for node in cluster.nodes:
                node.listen_again()
            await until(lambda: core.control_connection.connection is not None)
            assert addresses(core) == ports(cluster, 0, 1, 2)
            assert set(core.metadata.keyspaces) == {"new"}
            await until(lambda: all(host.is_up for host in core.metadata.all_hosts()))

    with FakeCluster(3) as cluster:
        cluster.members[2].is_listed = False
        run()


def test_while_nobody_answers_it_is_tried_no_more_often_than_the_policy_says():
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            attempts = []
            connect_to = core.connect_to

            async def counting(endpoint, **more):
                attempts.append(endpoint)
                return await connect_to(endpoint, **more)

            core.connect_to = counting
            cluster.nodes[0].stop()
            started = time.monotonic()
            await until(lambda: len(attempts) >= 10)
            # The control connection and the reconnector of the host, every 0.05 seconds each.
            assert len(attempts) <= 2 * ((time.monotonic() - started) / 0.05 + 1)

    with FakeCluster(1) as cluster:
        run()


def test_a_node_that_accepts_and_drops_connections_is_not_asked_in_a_loop():
    @on_a_loop
    async def run():
        async with watching(cluster):
            accepted = cluster.nodes[0].accepted
            started = time.monotonic()
            for _ in range(25):
                cluster.nodes[0].drop_connections()
                await asyncio.sleep(0.02)
            # The control connection and the reconnector of the host, as above.
            attempts = cluster.nodes[0].accepted - accepted
            assert attempts <= 2 * ((time.monotonic() - started) / 0.05 + 2)

    with FakeCluster(1) as cluster:
        run()


def test_a_node_that_does_not_answer_questions_in_time_is_left():
    @on_a_loop
    async def run():
        async with watching(cluster, control_connection_timeout=0.1) as core:
            cluster.nodes[0].fall_silent()
            with pytest.raises(OperationTimedOut):
                await core.control_connection.refresh_nodes()
            cluster.nodes[0].stop()
            await until(lambda: watches(core, cluster.members[1]))

    with FakeCluster(2) as cluster:
        run()


def test_a_node_that_goes_down_is_left_before_its_connection_notices():
    @on_a_loop
    async def run():
        async with watching(cluster) as core:
            host = core.control_connection.host
            cluster.nodes[0].stop_listening()
            await core.hosts.on_down(host)
            await until(lambda: watches(core, cluster.members[1]))

    with FakeCluster(2) as cluster:
        run()


def test_all_nodes_have_moved_and_a_contact_point_knows_where():
    @on_a_loop
    async def run():
        async with watching(cluster, contact=(0, 2)) as core:
            # The only node there was is gone, and unknown to the one that took its place.
            cluster.nodes[0].stop()
            cluster.members[0].is_listed = False
            await until(lambda: watches(core, cluster.members[2]))
            assert addresses(core) == ports(cluster, 2)

    with FakeCluster(3) as cluster:
        cluster.members[1].is_listed = cluster.members[2].is_listed = False
        run()


def test_after_a_refused_password_the_control_connection_waits(monkeypatch):
    waits = []

    async def wait(seconds, _hurry):
        waits.append(seconds)
        await asyncio.Event().wait()

    monkeypatch.setattr(reconnection, "_wait", wait)

    @on_a_loop
    async def run():
        provider = PlainTextAuthProvider("user", "right")
        async with watching(cluster, auth_provider=provider) as core:
            core.control_connection._connected_at = -1000.0
            cluster.nodes[0].users["user"] = "another"
            cluster.nodes[0].drop_connections()
            await until(lambda: reconnection.AUTHENTICATION_DELAY in waits)

    with FakeCluster(1, users={"user": "right"}) as cluster:
        run()


# --- the end -----------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["idle", "reconnecting", "in a window", "asking"])
def test_closing_ends_everything_at_any_time(when):
    @on_a_loop
    async def run():
        window = 1000 if when == "in a window" else 0
        async with watching(cluster, topology_event_refresh_window=window) as core:
            if when == "reconnecting":
                cluster.nodes[0].stop()
                await until(lambda: core.control_connection.connection is None)
            if when == "in a window":
                cluster.tell("NEW_NODE", cluster.members[0])
                await asyncio.sleep(0.05)
            if when == "asking":
                cluster.nodes[0].fall_silent()
                cluster.tell("NEW_NODE", cluster.members[0])
                await asyncio.sleep(0.05)
            await core.close()
            await core.control_connection.close()
        if when != "reconnecting":
            await until(lambda: not cluster.nodes[0].clients)

    with FakeCluster(1) as cluster:
        run()


def test_closing_while_connecting_leaves_no_connection_behind():
    @on_a_loop
    async def run():
        options = ClusterOptions(contact_points=[cluster.members[0].endpoint], **QUICK)
        core = AsyncCluster.from_options(options).core
        cluster.nodes[0].fall_silent()
        opening = asyncio.ensure_future(core.open())
        await until(lambda: cluster.nodes[0].clients)
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)
        await core.close()
        await until(lambda: not cluster.nodes[0].clients)

    with FakeCluster(1) as cluster:
        run()
