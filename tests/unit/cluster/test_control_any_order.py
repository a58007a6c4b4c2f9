"""Whatever happens in whatever order: in the end the hosts are those of the last node list."""

import asyncio
import contextlib
import functools
import itertools
from dataclasses import dataclass, replace
from unittest import mock
from uuid import UUID

from control_core import FakeCore, on_a_loop, until
from hypothesis import given, settings
from hypothesis import strategies as st

from driver.cluster import control_connection, reconnection
from driver.cluster.control_connection import ControlConnection
from driver.net.errors import ConnectionException
from driver.protocol.errors import DriverException
from driver.topology.endpoint import DefaultEndPoint
from driver.topology.host import Host

NODES = range(5)


@dataclass(frozen=True)
class Node:
    host_id: UUID
    address: str
    rack: str = "r1"
    is_member: bool = True

    @property
    def row(self):
        return {
            "host_id": self.host_id,
            "peer": self.address,
            "native_address": self.address,
            "native_port": 9042,
            "data_center": "dc1",
            "rack": self.rack,
            "release_version": "5.0.0",
            "tokens": {str(self.host_id.int)},
            "cluster_name": "c",
            "partitioner": "Murmur3Partitioner",
        }


class Server:
    """All nodes, of which each one lists itself and the members among the others."""

    def __init__(self):
        self.nodes = {n: Node(UUID(int=n + 1), f"10.0.0.{n}") for n in NODES}
        self.listed = {}
        self._next = 100

    def change(self, n, **changes):
        self.nodes[n] = replace(self.nodes[n], **changes)

    def fresh(self):
        self._next += 1
        return self._next

    def answer(self, endpoint, query):
        own = [node for node in self.nodes.values() if node.address == endpoint.address]
        if "system.local" in query:
            self.listed = {node.host_id: node.address for node in own}
            return [node.row for node in own]
        assert "system.peers_v2" in query
        others = [node for node in self.nodes.values() if node.is_member and node not in own]
        if "WHERE" not in query:
            self.listed |= {node.host_id: node.address for node in others}
            return [node.row for node in others]
        return [node.row for node in others if f"'{node.address}'" in query]


class World:
    """A server, a core and its control connection; and what can happen to them."""

    def __init__(self, latencies):
        self.server = Server()
        self.core = FakeCore()
        self.core.latency = functools.partial(next, itertools.cycle(latencies))
        self.core.is_open = False
        self.core.answer = self.server.answer
        self.core.contact_hosts = [Host(DefaultEndPoint("10.0.0.0"))]
        self.control = ControlConnection(self.core)

    async def open(self):
        await self.control.connect()
        self.core.is_open = True
        self.core.profile_manager.live.update(self.core.metadata.all_hosts())
        self.core.hosts.start()
        self.core.pools.update(self.core.metadata.all_hosts())

    def host(self, n):
        return self.core.metadata.get_host(self.server.nodes[n].address)

    # What can happen; each takes the number of a node.

    def join(self, n):
        self.server.change(n, is_member=True)
        self.topology("NEW_NODE", n)

    def leave(self, n):
        self.server.change(n, is_member=False)
        self.topology("REMOVED_NODE", n)

    def leave_unnoticed(self, n):
        self.server.change(n, is_member=False)

    def move(self, n):
        # The contact point stays: if all nodes move at once, nobody can say where they are.
        if n:
            self.server.change(n, address=f"10.0.1.{self.server.fresh()}")

    def replace(self, n):
        self.server.change(n, host_id=UUID(int=self.server.fresh()))

    def relocate(self, n):
        self.server.change(n, rack=f"r{self.server.fresh()}")

    def topology(self, change, n):
        address = (self.server.nodes[n].address, 9042)
        self.core.tell("TOPOLOGY_CHANGE", change_type=change, address=address)

    def status(self, change, n):
        address = (self.server.nodes[n].address, 9042)
        self.core.tell("STATUS_CHANGE", change_type=change, address=address)

    def up(self, n):
        self.status("UP", n)

    def down(self, n):
        self.status("DOWN", n)

    def fail(self, n):
        if (host := self.host(n)) is not None:
            self.core.lose(host)

    def become_unreachable(self, n):
        self.core.unreachable[self.server.nodes[n].address] = ConnectionException("no")
        self.fail(n)

    def become_reachable(self, n):
        self.core.unreachable.pop(self.server.nodes[n].address, None)

    def lose_control(self, _):
        if self.control.connection is not None:
            self.control.connection.defunct(ConnectionException("lost"))

    def refresh(self, _):
        self.core.background.spawn(self._refresh)

    async def _refresh(self):
        with contextlib.suppress(DriverException):  # there may be no control connection
            await self.control.refresh_nodes()

    async def settle(self):
        """Wait until everything is as it will be."""
        self.core.unreachable.clear()
        await until(lambda: self.control.connection is not None)
        for _ in range(3):
            await asyncio.sleep(0.004)
            await self.core.settle()
        await until(lambda: all(host.is_up for host in self.core.metadata.all_hosts()))
        await self.core.settle()


HAPPENINGS = [name for name in vars(World) if not name.startswith("_")]
HAPPENINGS = [n for n in HAPPENINGS if n not in {"open", "host", "topology", "status", "settle"}]

happenings = st.lists(
    st.tuples(st.sampled_from(HAPPENINGS), st.sampled_from(NODES), st.integers(0, 6)), max_size=30
)


@settings(max_examples=min(settings.default.max_examples, 250))  # each lets a loop come to rest
@given(happenings, st.lists(st.integers(1, 8), min_size=1, max_size=8))
def test_in_the_end_the_hosts_are_those_that_the_last_node_list_says(happenings, latencies):
    @on_a_loop
    async def run():
        world = World(latencies)
        core = world.core
        try:
            await world.open()
            for name, n, turns in happenings:
                getattr(world, name)(n)
                for _ in range(turns):
                    await asyncio.sleep(0)
            await world.settle()
            hosts = core.metadata.all_hosts()
            assert {h.host_id: h.address for h in hosts} == world.server.listed
            assert core.profile_manager.live == core.pools == set(hosts)
            assert {id(h) for h in core.profile_manager.live} == {id(h) for h in hosts}
            assert set(core.metadata.token_map.token_to_host_owner.values()) == set(hosts)
            for address in {address for _, address in core.listener.told}:
                comings = [w for w in core.listener.of(address) if w in {"on_add", "on_remove"}]
                assert comings[::2] == ["on_add"] * len(comings[::2])
                assert comings[1::2] == ["on_remove"] * len(comings[1::2])
        finally:
            await world.control.close()
            await core.close()

    quickly = mock.patch.object(reconnection, "LEAST_DELAY", 0.001)
    with quickly, mock.patch.object(control_connection, "SHORT_LIFE", 0):
        run()
