"""A thread with a loop: coroutines go in, values come out, and nothing can wait for itself."""

import asyncio
import os
import signal
import threading

import pytest

from driver.net import loop as loop_module
from driver.net.loop import LoopThread, new_event_loop


@pytest.fixture
def thread():
    running = LoopThread("test-loop")
    running.start()
    yield running
    running.stop()


async def value_of(what):
    await asyncio.sleep(0)
    return what


def test_it_gives_the_value_of_a_coroutine(thread):
    assert thread.run(value_of(5)) == 5


def test_it_raises_what_a_coroutine_raises(thread):
    async def fail():
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        thread.run(fail())


def test_what_takes_too_long_is_cancelled(thread):
    ended = threading.Event()

    async def wait():
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()

    with pytest.raises(TimeoutError):
        thread.run(wait(), timeout=0.01)
    assert ended.wait(10)


def test_waiting_on_its_own_thread_is_refused_with_a_clear_line(thread):
    async def inside():
        thread.run(value_of(1))

    with pytest.raises(RuntimeError, match="must not wait"):
        thread.run(inside())


@pytest.fixture
def ctrl_c():
    """SIGINT as in a terminal: in the background of a shell it is inherited as ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda: os.kill(os.getpid(), signal.SIGINT)
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_cancels_the_coroutine(thread, ctrl_c):
    ended = threading.Event()

    async def wait():
        try:
            ctrl_c()
            await asyncio.sleep(3600)
        finally:
            ended.set()

    with pytest.raises(KeyboardInterrupt):
        thread.run(wait())
    assert ended.wait(10)


def test_stopping_cancels_what_runs_and_joins_the_thread():
    thread = LoopThread("test-loop")
    thread.start()
    started = threading.Event()
    errors = []

    async def wait():
        started.set()
        await asyncio.sleep(3600)

    def use():
        try:
            thread.run(wait())
        except RuntimeError as error:
            errors.append(str(error))

    user = threading.Thread(target=use)
    user.start()
    assert started.wait(10)
    loop = thread.loop
    thread.stop()
    user.join(10)
    assert errors == ["the event loop of 'test-loop' was stopped"]
    assert loop.is_closed()
    assert "test-loop" not in {t.name for t in threading.enumerate()}
    thread.stop()


def test_nothing_runs_before_start_and_after_stop():
    thread = LoopThread()
    with pytest.raises(RuntimeError, match="does not run"):
        thread.run(value_of(1))
    thread.start()
    thread.start()
    assert thread.run(value_of(1)) == 1
    thread.stop()
    with pytest.raises(RuntimeError, match="does not run"):
        thread.run(value_of(1))


def test_a_forked_process_is_told_to_connect_anew(thread, monkeypatch):
    monkeypatch.setattr(loop_module.os, "getpid", lambda: -1)
    with pytest.raises(RuntimeError, match="forked"):
        thread.run(value_of(1))


def test_uvloop_is_used_if_it_is_installed_and_asyncio_otherwise(monkeypatch):
    loop = new_event_loop()
    loop.close()
    assert type(loop).__module__.startswith("uvloop")

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(loop_module, "import_module", missing)
    loop = new_event_loop()
    loop.close()
    assert type(loop).__module__.startswith("asyncio")
