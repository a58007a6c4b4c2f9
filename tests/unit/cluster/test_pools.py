"""The pools of a session: one for each host, whoever wants it, and nothing is kept of hosts."""

import asyncio
import gc
from types import SimpleNamespace

import pytest
from control_core import on_a_loop

from driver.cluster import pools as module
from driver.cluster.background import Background
from driver.cluster.core import ClusterCore
from driver.cluster.pools import SessionPools
from driver.net.errors import ConnectionException
from driver.policies.distance import HostDistance
from driver.topology.host import Host


class FakePool:
    """Opens when it may, drains when it may, and remembers all of its kind."""

    made: list

    def __init__(self, _loop, host, distance, _connect, **_options):
        self.host, self.host_distance = host, distance
        self.is_shutdown = False
        self.made.append(self)
        self.may_open, self.may_drain = asyncio.Event(), asyncio.Event()
        self.may_drain.set()
        self.error = None

    async def open(self):
        await self.may_open.wait()
        if self.error:
            raise self.error

    async def close(self, *_):
        self.is_shutdown = True
        await self.may_drain.wait()


class Core:
    """What pools ask of a core; ``failures`` are the hosts that it was told of."""

    def __init__(self, *hosts):
        self.distance = HostDistance.LOCAL
        self.failures = []
        self.loop = asyncio.get_running_loop()
        self.options = SimpleNamespace(connections_per_host=1)
        self.profile_manager = SimpleNamespace(distance=lambda _: self.distance)
        self.metadata = SimpleNamespace(all_hosts=lambda: list(hosts))
        self.hosts = SimpleNamespace(
            signal_connection_failure=lambda host, _: self.failures.append(host)
        )
        self.connect_to = None
        self.background = Background(self.loop)


@pytest.fixture(autouse=True)
def made(monkeypatch):
    monkeypatch.setattr(module, "HostPool", FakePool)
    FakePool.made = []
    return FakePool.made


def all_can_open(pools):
    for pool in pools:
        pool.may_open.set()


async def turns(count=5):
    for _ in range(count):
        await asyncio.sleep(0)


@on_a_loop
async def test_an_update_while_a_host_rises_opens_no_second_pool(made):
    host = Host("127.0.0.1")
    pools = SessionPools(Core(host))
    going_up = asyncio.create_task(pools.add_or_renew(host))
    await turns()
    updating = asyncio.create_task(pools.update())
    await turns()
    all_can_open(made)
    await asyncio.gather(going_up, updating)
    assert len(made) == 1
    assert pools.by_host[host] is made[0]


@on_a_loop
async def test_a_host_that_became_ignored_while_its_pool_was_opened_keeps_none(made):
    core = Core(host := Host("127.0.0.1"))
    pools = SessionPools(core)
    going_up = asyncio.create_task(pools.add_or_renew(host))
    await turns()
    core.distance = HostDistance.IGNORED
    updating = asyncio.create_task(pools.update())
    all_can_open(made)
    await asyncio.gather(going_up, updating)
    assert pools.by_host == {}
    assert made[0].is_shutdown


@on_a_loop
async def test_nothing_is_kept_of_a_host_whose_pool_is_gone(made):
    host = Host("127.0.0.1")
    pools = SessionPools(Core(host))
    opening = asyncio.create_task(pools.add_or_renew(host))
    await turns()
    all_can_open(made)
    await opening
    await pools.take(host).close()
    del opening
    gc.collect()
    assert len(pools._renewing) == 0


@on_a_loop
async def test_a_pool_that_drains_keeps_nobody_from_renewing_it_again(made):
    host = Host("127.0.0.1")
    pools = SessionPools(Core(host))
    renewals = []
    for _ in range(3):
        renewals.append(asyncio.create_task(pools.add_or_renew(host)))
        await turns()
        made[-1].may_drain.clear()
        all_can_open(made)
        await turns()
    assert pools.by_host[host] is made[2]
    assert [pool.is_shutdown for pool in made] == [True, True, False]
    for pool in made:
        pool.may_drain.set()
    await asyncio.gather(*renewals)


@on_a_loop
async def test_a_pool_that_cannot_be_opened_by_an_update_is_a_failure_of_its_host(made):
    core = Core(host := Host("127.0.0.1"))
    pools = SessionPools(core)
    updating = asyncio.create_task(pools.update())
    await turns()
    made[0].error = ConnectionException("no")
    all_can_open(made)
    await updating
    assert core.failures == [host]
    assert pools.by_host == {}
    assert made[0].is_shutdown


@on_a_loop
async def test_pools_are_closed_although_whoever_closes_them_is_cancelled(made):
    pools = SessionPools(core := Core(Host("127.0.0.1"), Host("127.0.0.2")))
    updating = asyncio.create_task(pools.update())
    await turns()
    all_can_open(made)
    await updating
    closing = asyncio.create_task(pools.close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    await core.background.close()
    assert [pool.is_shutdown for pool in made] == [True, True]


@on_a_loop
async def test_a_cluster_that_ends_while_a_host_goes_down_leaves_no_pool_open(made):
    pools = SessionPools(core := Core(host := Host("127.0.0.1")))
    opening = asyncio.create_task(pools.add_or_renew(host))
    await turns()
    all_can_open(made)
    await opening
    core.sessions = [SimpleNamespace(pools=pools)]
    going_down = asyncio.create_task(ClusterCore.close_pools(core, host))
    await asyncio.sleep(0)
    going_down.cancel()
    with pytest.raises(asyncio.CancelledError):
        await going_down
    await core.background.close()
    assert pools.by_host == {}
    assert made[0].is_shutdown
