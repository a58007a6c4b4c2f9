"""Pools over real connections to nodes of the tests."""

import asyncio
from functools import partial

import loops
import pytest
from cql_node import CqlNode

from driver.net.connection import Connection
from driver.net.settings import ConnectionSettings
from driver.policies.distance import HostDistance
from driver.pool.host_pool import HostPool
from driver.topology.host import Host


@pytest.fixture(params=loops.LOOPS)
def run(request):
    """Runs a coroutine, and proves that nothing is left over."""
    return partial(loops.run, loops.LOOPS[request.param])


@pytest.fixture
def node():
    with CqlNode() as running:
        yield running


def make_pool(node, *, settings=None, **options):
    """A pool for a node, not open yet; ``settings`` are those of its connections."""
    loop = asyncio.get_running_loop()
    chosen = ConnectionSettings(
        **{"idle_heartbeat_interval": 0, "compression": False, **(settings or {})}
    )

    async def connect(endpoint, *, on_closed, local_port=None):
        return await Connection.connect(
            loop, endpoint, chosen, on_closed=on_closed, local_port=local_port
        )

    return HostPool(loop, Host(node.endpoint), HostDistance.LOCAL, connect, **options)


@pytest.fixture(name="make_pool")
def make_pool_fixture():
    return make_pool
