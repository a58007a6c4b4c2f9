"""Threads that wait for answers: woken by the read, one after the other where that is cheaper."""

import sys
import threading

import pytest

from driver.net import after_read
from driver.net.after_read import Latch, begin_read, call_after_read, end_read
from driver.net.loop import SLICE

LONG = 10.0


class Waiting:
    """Threads that wait, each for a latch of its own, and the order in which they went on."""

    def __init__(self, count, between=lambda: None):
        self.latches = [Latch() for _ in range(count)]
        self.order = []
        self._between, self._ready = between, threading.Barrier(count + 1)
        self.threads = [
            threading.Thread(target=self._wait, args=each, daemon=True)
            for each in enumerate(self.latches)
        ]
        for thread in self.threads:
            thread.start()
        self._ready.wait(LONG)

    def _wait(self, number, latch):
        self._ready.wait(LONG)
        if latch.wait(LONG):
            self.order.append(number)
            self._between()

    def read(self):
        """A read with the answers of all."""
        assert begin_read()
        for latch in self.latches:
            latch.open()
        in_the_read = list(self.order)
        end_read(len(self.latches))
        self.order.append("the loop")
        return in_the_read

    def join(self):
        for thread in self.threads:
            thread.join(LONG)
        return not any(thread.is_alive() for thread in self.threads)


@pytest.fixture
def turns(monkeypatch):
    """As with the interpreter's lock, and at leisure: nobody is switched from in the middle."""
    if not after_read.TAKES_TURNS:
        pytest.skip("without the interpreter's lock threads are woken at once")
    monkeypatch.setattr(after_read, "_SOON", LONG)
    monkeypatch.setattr(after_read._read, "rest", 0)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(LONG)
    yield
    sys.setswitchinterval(interval)


def test_without_a_read_a_latch_opens_at_once():
    latch = Latch()
    assert not latch.wait(0)
    latch.open()
    assert latch.wait(0)
    assert latch.wait(None), "it stays open"


def test_many_threads_may_wait_for_one_latch():
    latch, gone_on = Latch(), []
    threads = [threading.Thread(target=lambda: gone_on.append(latch.wait(LONG))) for _ in range(5)]
    for thread in threads:
        thread.start()
    latch.open()
    for thread in threads:
        thread.join(LONG)
    assert gone_on == [True] * 5


@pytest.mark.usefixtures("turns")
def test_threads_go_on_after_the_read_in_the_order_of_their_answers_and_the_loop_last():
    waiting = Waiting(20)
    assert waiting.read() == []
    assert waiting.join()
    assert waiting.order == [*range(20), "the loop"]


@pytest.mark.usefixtures("turns")
def test_a_thread_wakes_the_next_one_before_it_does_anything_else():
    """So that nobody waits for what it does next, however long that takes."""
    held = threading.Event()
    waiting = Waiting(3, between=lambda: held.wait(LONG))
    waiting.read()
    assert sorted(waiting.order[:3]) == [0, 1, 2]
    held.set()
    assert waiting.join()


def test_the_only_answer_of_a_read_makes_nobody_wait(monkeypatch):
    monkeypatch.setattr(after_read, "_SOON", None)  # which no lock takes
    waiting = Waiting(1)
    assert waiting.read() == []
    assert waiting.join()


@pytest.mark.parametrize("timeout", [None, 1.2, 0.2])
def test_it_is_waited_for_in_slices_so_that_no_signal_is_seen_late(timeout):
    """One that comes in the moment before a wait begins does not end that wait."""
    asked, latch = [], Latch()

    class Lock:
        def acquire(self, _blocking=True, timeout=-1):
            asked.append(timeout)
            return len(asked) == 4

        def release(self):
            """Nothing."""

    latch.lock = Lock()
    assert latch.wait(timeout) is (timeout is None)
    slices = {None: [SLICE] * 4, 1.2: [SLICE, SLICE, 1.2 - 2 * SLICE], 0.2: [0.2]}
    assert asked == pytest.approx(slices[timeout])


@pytest.mark.parametrize("place", [0, 1, 4])
def test_others_go_on_though_one_has_given_up_waiting(place):
    waiting = Waiting(5)
    given_up = Latch()
    assert not given_up.wait(0)
    waiting.latches.insert(place, given_up)
    waiting.read()
    assert waiting.join()


@pytest.mark.usefixtures("turns")
def test_who_gives_up_when_it_was_woken_wakes_the_next_one():
    waiting = Waiting(2)

    class Lock:
        """Wakes somebody who is interrupted in that moment."""

        def release(self):
            with pytest.raises(KeyboardInterrupt):
                given_up.wait(LONG)

        def acquire(self, *_, **__):
            raise KeyboardInterrupt

    given_up = Latch()
    given_up.lock = Lock()
    waiting.latches.insert(0, given_up)
    waiting.read()
    assert waiting.join()
    assert waiting.order == [0, 1, "the loop"]


@pytest.mark.usefixtures("turns")
@pytest.mark.parametrize("count", [5, 40])
def test_nobody_waits_for_a_thread_that_has_given_up(monkeypatch, count):
    monkeypatch.setattr(after_read, "_SOON", 0.01)
    waiting = Waiting(count)
    waiting.latches.insert(count // 2, Latch())
    waiting.read()
    assert waiting.join()
    assert set(waiting.order) == {*range(count), "the loop"}


@pytest.mark.usefixtures("turns")
def test_after_threads_that_did_not_get_to_run_others_are_woken_at_once_for_some_time(monkeypatch):
    monkeypatch.setattr(after_read, "_SOON", 0.01)
    waiting = Waiting(2)
    waiting.latches.insert(0, Latch())
    waiting.read()
    assert waiting.join()
    monkeypatch.setattr(after_read, "_SOON", None)  # which no lock takes
    for _ in range(after_read._REST):
        waiting = Waiting(2)
        waiting.read()
        assert waiting.join()
    waiting = Waiting(2)
    with pytest.raises(TypeError):
        waiting.read()


def test_a_read_that_fails_wakes_its_threads():
    waiting = Waiting(3)
    begin_read()
    for latch in waiting.latches:
        latch.open()
    # Without a running loop nothing can be called in its next pass.
    call_after_read(None, lambda: 1 / 0)
    with pytest.raises(RuntimeError):
        end_read(1)
    assert waiting.join()
    assert begin_read(), "the read has ended"
    end_read(0)
