"""A core without sessions and sockets, for tests of what the control connection and hosts do."""

from __future__ import annotations

import asyncio
import functools
from types import SimpleNamespace

from driver.cluster.background import Background
from driver.cluster.hosts import HostRegistry
from driver.cluster.listeners import Listeners
from driver.cluster.placement import Placement
from driver.net.errors import ConnectionException, ConnectionShutdown
from driver.policies.conviction import SimpleConvictionPolicy
from driver.policies.distance import HostDistance
from driver.policies.reconnection import ConstantReconnectionPolicy
from driver.topology.endpoint import DefaultEndPointFactory
from driver.topology.host import Host
from driver.topology.metadata import Metadata
from driver.wire.features import NO_FEATURES
from driver.wire.responses import EventMessage


def on_a_loop(test):
    """Run a coroutine function as a test, and see that it leaves no task behind."""

    @functools.wraps(test)
    def run(*args, **kwargs):
        async def main():
            async with asyncio.timeout(30):
                await test(*args, **kwargs)
            # A task that was cancelled last needs a turn of the loop to be gone.
            await asyncio.sleep(0)
            left = asyncio.all_tasks() - {asyncio.current_task()}
            assert not left, left

        asyncio.run(main())

    return run


async def until(condition, seconds=10):
    """Wait until something holds."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  (conditions are about the state of others)
            await asyncio.sleep(0.002)


def is_reconnecting(core, host):
    """Whether a reconnector tries to reach a host."""
    entry = core.hosts._entries.get(id(host))
    return entry is not None and entry.reconnector is not None


async def settled(core):
    """Wait until all hosts have what they need, reconnectors apart."""
    hosts = core.hosts
    while busy := hosts.background._tasks - {
        entry.reconnector for entry in hosts._entries.values()
    }:
        await asyncio.wait(busy)


class Recorder:
    """A policy or listener that remembers what it was told."""

    def __init__(self):
        self.told = []

    def __getattr__(self, name):
        if not name.startswith("on_"):
            raise AttributeError(name)
        return lambda host: self.told.append((name, host.address))

    def of(self, address):
        return [what for what, told in self.told if told == address]


class FakePolicies(Recorder):
    """Takes every host for a local one, but for those in ``ignored``."""

    def __init__(self):
        super().__init__()
        self.ignored = set()
        self.live = set()

    def tell(self, what, host):
        getattr(self, what)(host)

    def distance(self, host):
        return HostDistance.IGNORED if host.address in self.ignored else HostDistance.LOCAL

    def __getattr__(self, name):
        record = super().__getattr__(name)

        def tell(host):
            (self.live.add if name in {"on_add", "on_up"} else self.live.discard)(host)
            record(host)

        return tell


class FakeConnection:
    """A connection to a node that ``FakeCore.answer`` speaks for."""

    features = NO_FEATURES

    def __init__(self, core, endpoint, on_event, on_closed):
        self.core = core
        self.endpoint = endpoint
        self.is_closed = False
        self.on_event, self.on_closed = on_event, on_closed
        self.registered = []

    async def ask(self, msg, timeout=None):  # noqa: ARG002, ASYNC109  (the contract's)
        rows = self.core.answer(self.endpoint, msg.query)
        for _ in range(self.core.latency()):
            await asyncio.sleep(0)
        if self.is_closed:
            raise ConnectionShutdown("closed", self.endpoint)
        if isinstance(rows, Exception):
            raise rows
        names = list(rows[0]) if rows else []
        parsed = [tuple(row[name] for name in names) for row in rows]
        return SimpleNamespace(column_names=names, parsed_rows=parsed, paging_state=None)

    async def register(self, event_types, timeout=None):  # noqa: ARG002, ASYNC109  (the contract's)
        await asyncio.sleep(0)
        self.registered += event_types

    def close(self):
        self.defunct(None)

    def defunct(self, exc):
        if not self.is_closed:
            self.is_closed = True
            self.core.closed_connections += 1
            if self.on_closed is not None:
                self.on_closed(self, exc)


class FakeCore:
    """What ``HostsCore`` describes, with pools that are a set.

    Attributes:
        unreachable: the error of each address to which nothing can be connected.
        pools: hosts with open pools.
        gate: opening pools and connections waits for it.
        attempts: addresses that were connected to.
        answer: gives the rows of a query, from an endpoint and the query's text.
        latency: gives the turns of the loop that an answer is on its way.
        connections: those that are open and hear of events.
    """

    def __init__(self, **options):
        self.options = SimpleNamespace(
            metadata_request_timeout=None,
            schema_metadata_page_size=1000,
            endpoint_factory=DefaultEndPointFactory(),
            reconnection_policy=ConstantReconnectionPolicy(0.001, None),
            conviction_policy_factory=SimpleConvictionPolicy,
            control_connection_timeout=2.0,
            max_schema_agreement_wait=0,
            schema_metadata_enabled=False,
            token_metadata_enabled=True,
            schema_event_refresh_window=0,
            topology_event_refresh_window=0,
            status_event_refresh_window=0,
        )
        vars(self.options).update(options)
        self.metadata = Metadata()
        self.placement = Placement(self)
        self.background = Background(asyncio.get_running_loop())
        self.profile_manager = FakePolicies()
        self.listener = Recorder()
        self.listeners = Listeners()
        self.listeners.register(self.listener)
        self.is_open = True
        self.unreachable = {}
        self.pools = set()
        self.gate = asyncio.Event()
        self.gate.set()
        self.attempts = []
        self.prepared_on = []
        self.closed_connections = 0
        self.updates_of_pools = 0
        self.answer = lambda _endpoint, _query: []
        self.latency = lambda: 1
        self.contact_hosts = []
        self.connections = []
        self.hosts = HostRegistry(self)
        self.hosts.background = Background(asyncio.get_running_loop())

    def host(self, address="a", **more):
        return Host(address, SimpleConvictionPolicy, "dc1", "r1", **more)

    async def connect_to(self, endpoint, on_event=None, on_closed=None):
        self.attempts.append(endpoint.address)
        await self.gate.wait()
        await asyncio.sleep(0)
        if endpoint.address in self.unreachable:
            raise self.unreachable[endpoint.address]
        connection = FakeConnection(self, endpoint, on_event, on_closed)
        if on_event is not None:
            self.connections.append(connection)
        return connection

    async def resolve_contact_hosts(self):
        await asyncio.sleep(0)

    def control_plan(self):
        return iter(sorted(self.profile_manager.live))

    def tell(self, event_type, **event):
        """Have the server send an event over the connections that asked for such."""
        for connection in self.connections:
            if event_type in connection.registered and not connection.is_closed:
                connection.on_event(EventMessage(event_type, event))

    async def prepare_statements(self, host):
        self.prepared_on.append(host.address)

    async def open_pools(self, host):
        await self.gate.wait()
        if host.address in self.unreachable:
            return [self.unreachable[host.address]]
        if self.profile_manager.distance(host) != HostDistance.IGNORED:
            self.pools.add(host)
        return []

    def close_pools(self, host):
        self.pools.discard(host)
        return asyncio.sleep(0)

    def update_pools(self):
        self.updates_of_pools += 1

    def is_connected(self, host):
        return host in self.pools

    def lose(self, host, error=None):
        """Have the connections to a host break, and say so."""
        self.pools.discard(host)
        self.hosts.signal_connection_failure(host, error or ConnectionException("lost"))

    async def settle(self):
        """Wait until nothing but reconnectors runs."""
        while len(self.background):  # noqa: ASYNC110  (the same)
            await asyncio.sleep(0)
        await settled(self)

    async def close(self):
        await self.hosts.close()
        await self.background.close()
