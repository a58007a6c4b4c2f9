"""Hosts that fail and recover, with sessions that have pools to them; over real sockets."""

import asyncio
import contextlib

import pytest
from control_core import is_reconnecting, on_a_loop, until
from control_nodes import FakeCluster

from driver.aio import Cluster as AsyncCluster
from driver.auth import PlainTextAuthProvider
from driver.cluster.options import ClusterOptions
from driver.policies.reconnection import ConstantReconnectionPolicy


@contextlib.asynccontextmanager
async def connected(cluster, **options):
    """A core with one session, all of whose pools are open."""
    settings = {
        "schema_event_refresh_window": 0,
        "topology_event_refresh_window": 0,
        "status_event_refresh_window": 0,
        "reconnection_policy": ConstantReconnectionPolicy(0.05, None),
    }
    points = [cluster.members[0].endpoint]
    options = ClusterOptions(contact_points=points, **{**settings, **options})
    core = AsyncCluster.from_options(options).core
    try:
        session = await core.connect_session(wait_for_all_pools=True)
        yield core, session
    finally:
        await core.close()
        await until(lambda: not any(node.clients for node in cluster.nodes))


class Witness:
    """Notes how many connections to a host there were when it was said to be up."""

    def __init__(self, session):
        self.session = session
        self.told = []

    def on_add(self, host):
        self.told.append(("add", self.session.pools.open_count(host)))

    def on_up(self, host):
        self.told.append(("up", self.session.pools.open_count(host)))

    def on_down(self, host):
        self.told.append(("down", self.session.pools.open_count(host)))

    def on_remove(self, host):
        self.told.append(("remove", self.session.pools.open_count(host)))


def test_a_node_that_dies_and_returns_is_up_when_its_pools_are_open():
    @on_a_loop
    async def run():
        async with connected(cluster) as (core, session):
            witness = Witness(session)
            core.listeners.register(witness)
            host = core.metadata.get_host(cluster.members[1].endpoint)
            cluster.nodes[1].stop_listening()
            cluster.nodes[1].drop_connections()
            await until(lambda: host.is_up is False)
            assert host not in session.pools.by_host
            cluster.nodes[1].listen_again()
            await until(lambda: host.is_up)
            assert witness.told == [("down", 0), ("up", 1)]

    with FakeCluster(2) as cluster:
        run()


def test_a_new_node_has_pools_before_it_is_announced():
    @on_a_loop
    async def run():
        async with connected(cluster) as (core, session):
            witness = Witness(session)
            core.listeners.register(witness)
            cluster.members[1].is_listed = True
            cluster.tell("NEW_NODE", cluster.members[1])
            await until(lambda: witness.told)
            cluster.members[1].is_listed = False
            cluster.tell("REMOVED_NODE", cluster.members[1])
            await until(lambda: len(witness.told) == 2)
            assert witness.told == [("add", 1), ("remove", 1)]
            await until(lambda: not cluster.nodes[1].clients)

    with FakeCluster(2) as cluster:
        cluster.members[1].is_listed = False
        run()


def test_hearsay_does_not_take_down_a_node_that_answers():
    @on_a_loop
    async def run():
        async with connected(cluster) as (core, _):
            host = core.metadata.get_host(cluster.members[1].endpoint)
            cluster.tell("DOWN", cluster.members[1])
            await asyncio.sleep(0.05)
            assert host.is_up

    with FakeCluster(2) as cluster:
        run()


def test_a_password_that_is_no_longer_accepted_causes_no_storm():
    @on_a_loop
    async def run():
        provider = PlainTextAuthProvider("user", "right")
        async with connected(cluster, auth_provider=provider) as (core, _):
            host = core.metadata.get_host(cluster.members[1].endpoint)
            cluster.nodes[1].users["user"] = "another"
            before = cluster.nodes[1].accepted
            cluster.nodes[1].drop_connections()
            await until(lambda: host.is_up is False)
            await asyncio.sleep(0.5)
            # One attempt of the pool that lost its connection, and one of the reconnector.
            assert cluster.nodes[1].accepted - before <= 2
            assert not cluster.nodes[1].clients
            assert is_reconnecting(core, host)

    with FakeCluster(2, users={"user": "right"}) as cluster:
        run()


@pytest.mark.parametrize("goes", ["down", "away"])
def test_pools_that_are_being_opened_when_a_host_goes_leave_no_connection(goes):
    @on_a_loop
    async def run():
        async with connected(cluster) as (core, session):
            cluster.nodes[1].fall_silent()
            cluster.members[1].is_listed = True
            await core.control_connection.refresh_nodes()
            host = core.metadata.get_host(cluster.members[1].endpoint)
            await until(lambda: cluster.nodes[1].clients)
            cluster.nodes[1].stop_listening()
            if goes == "down":
                await core.hosts.on_down(host)
            else:
                cluster.members[1].is_listed = False
                await core.control_connection.refresh_nodes()
            await until(lambda: not cluster.nodes[1].clients)
            assert session.pools.open_count(host) == 0

    with FakeCluster(2) as cluster:
        cluster.members[1].is_listed = False
        run()


def test_nodes_that_flap_under_sessions_are_up_in_the_end():
    @on_a_loop
    async def run():
        async with connected(cluster) as (core, session):
            for turn in range(12):
                node = cluster.nodes[turn % 3]
                node.drop_connections()
                cluster.tell("DOWN" if turn % 2 else "UP", cluster.members[(turn + 1) % 3])
                await asyncio.sleep(0.01)
            hosts = core.metadata.all_hosts()
            await until(lambda: all(host.is_up for host in hosts))
            await until(lambda: all(session.pools.open_count(host) for host in hosts))
            await until(lambda: core.control_connection.connection is not None)
            assert len(hosts) == 3

    with FakeCluster(3) as cluster:
        run()
