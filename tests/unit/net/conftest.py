"""A node, and a loop of either kind to talk to it from."""

import asyncio
from functools import partial

import loops
import pytest
from cql_node import CqlNode

from driver.net.connection import Connection
from driver.net.settings import ConnectionSettings


@pytest.fixture(params=loops.LOOPS)
def run(request):
    """Runs a coroutine, and proves that nothing is left over."""
    return partial(loops.run, loops.LOOPS[request.param])


@pytest.fixture
def node():
    """A node without passwords."""
    with CqlNode() as running:
        yield running


async def connect(node, *, on_event=None, on_closed=None, **settings):
    """A connection to a node; without heartbeats, unless they are asked for."""
    settings = {"idle_heartbeat_interval": 0, "compression": False, **settings}
    return await Connection.connect(
        asyncio.get_running_loop(),
        node.endpoint,
        ConnectionSettings(**settings),
        on_event=on_event,
        on_closed=on_closed,
    )


@pytest.fixture(name="connect")
def connect_fixture():
    return connect
