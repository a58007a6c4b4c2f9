"""Runs coroutines of tests on both kinds of event loop, and proves that nothing is left over."""

import asyncio
import contextlib
import gc
import time
from pathlib import Path

import uvloop

LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


def open_sockets():
    """How many descriptors of this process are sockets."""
    count = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            count += str(descriptor.readlink()).startswith("socket:")
    return count


def run(make_loop, coroutine):
    """Run a coroutine to its end; at that end no task and no socket may be left over."""
    gc.collect()
    before = open_sockets()
    with asyncio.Runner(loop_factory=make_loop) as runner:
        value, tasks, after = runner.run(_counted(coroutine))
    assert not tasks, f"tasks are left: {tasks}"
    assert after <= 0, f"{after} sockets are left"
    gc.collect()
    assert open_sockets() <= before
    return value


async def _counted(coroutine):
    before = open_sockets()  # those of the loop among them
    value = await coroutine
    await eventually(lambda: not _others() and open_sockets() <= before, must=False)
    return value, _others(), open_sockets() - before


def _others():
    return asyncio.all_tasks() - {asyncio.current_task()}


async def eventually(holds, *, must=True):
    """Wait until something holds; how long is no matter, as long as it does."""
    for _ in range(2000):
        if holds():
            return
        await asyncio.sleep(0.005)
    assert not must, "it never came to hold"


def eventually_here(holds):
    """As ``eventually``, for tests without a loop."""
    for _ in range(2000):
        if holds():
            return
        time.sleep(0.005)
    raise AssertionError("it never came to hold")
