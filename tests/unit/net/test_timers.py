"""Timers run once, not before their time, on the loop's thread; cancelled ones are forgotten."""

import asyncio
import gc
import threading
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loops import eventually

from driver.net.timers import TICK, Timers


class ManualLoop:
    """A loop whose ticks a test makes."""

    def __init__(self):
        self.soon = []
        self.handles = []

    def call_soon_threadsafe(self, fn, *args):
        self.soon.append((fn, args))

    def call_later(self, _, fn):
        self.handles.append(fn)
        return Handle()

    def turn(self, ticks=2):
        """Ticks at one time: the first may give way to what has to be read before."""
        soon, self.soon = self.soon, []
        for fn, args in soon:
            fn(*args)
        for _ in range(ticks):
            handles, self.handles = self.handles, []
            for fn in handles:
                fn()


class Handle:
    def cancel(self):
        pass


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def loop():
    return ManualLoop()


@given(st.lists(st.floats(0, 5), max_size=20), st.lists(st.floats(0, 1), max_size=40))
def test_no_timer_is_early_and_none_is_later_than_two_ticks(durations, steps):
    loop, clock = ManualLoop(), Clock()
    timers, ran = Timers(loop, clock), {}
    for number, seconds in enumerate(durations):
        timers.call_later(seconds, lambda number=number: ran.setdefault(number, clock.now))
    for step in [*steps, 10.0]:
        clock.now += step
        loop.turn()
        for number, seconds in enumerate(durations):
            due = 1000.0 + seconds
            assert number not in ran or ran[number] >= due
            assert number in ran or clock.now <= due + 2 * TICK
    assert len(ran) == len(durations)
    assert timers.pending == 0


def test_a_cancelled_timer_does_not_run_and_is_not_kept_until_it_is_due(loop, clock):
    timers = Timers(loop, clock)

    class Function:
        def __call__(self):
            raise AssertionError("it ran")

    function = Function()
    kept = weakref.ref(function)
    timer = timers.call_later(3600, function)
    timer.cancel()
    del function, timer
    gc.collect()
    assert kept() is None
    assert timers.pending == 0
    clock.now += 4000
    loop.turn()


def test_cancelling_twice_or_after_the_run_does_nothing(loop, clock):
    timers, ran = Timers(loop, clock), []
    timer = timers.call_later(0.1, lambda: ran.append(1))
    clock.now += 1
    loop.turn()
    timer.cancel()
    timer.cancel()
    assert ran == [1]


def test_a_timer_may_cancel_another_of_the_same_moment_and_set_new_ones(loop, clock):
    timers, ran = Timers(loop, clock), []
    later = []

    def first():
        later[0].cancel()
        timers.call_later(0, lambda: ran.append("new"))

    timers.call_later(0.1, first)
    later.append(timers.call_later(0.1, lambda: ran.append("cancelled")))
    clock.now += 1
    loop.turn()
    clock.now += 1
    loop.turn()
    assert ran == ["new"]


def test_the_loop_is_woken_once_for_many_timers(loop, clock):
    timers = Timers(loop, clock)
    for _ in range(100):
        timers.call_later(10, print).cancel()
    assert len(loop.soon) == 1


def test_the_ticking_ends_when_there_is_nothing_to_wait_for_and_begins_again(loop, clock):
    timers, ran = Timers(loop, clock), []
    timers.call_later(0.1, lambda: ran.append(1))
    for _ in range(300):
        clock.now += TICK
        loop.turn()
    assert not loop.handles
    assert not loop.soon
    clock.now += 1000
    timers.call_later(0.1, lambda: ran.append(2))
    loop.turn()
    assert ran == [1]
    clock.now += 1
    loop.turn()
    assert ran == [1, 2]


def test_a_loop_that_was_held_up_reads_before_it_runs_timers_but_once(loop, clock):
    timers, ran = Timers(loop, clock), []
    timers.call_later(1, lambda: ran.append(1))
    loop.turn()
    clock.now += 5  # a page is decoded
    loop.turn(ticks=1)
    assert ran == []
    clock.now += 5  # and another one
    loop.turn(ticks=1)
    assert ran == [1]


def test_what_a_timer_raises_is_logged_and_stops_no_other(loop, clock, caplog):
    timers, ran = Timers(loop, clock), []
    timers.call_later(0.1, lambda: 1 / 0)
    timers.call_later(0.1, lambda: ran.append(1))
    clock.now += 1
    loop.turn()
    assert ran == [1]
    assert "ZeroDivisionError" in caplog.text


def test_a_slot_that_passes_while_a_thread_is_on_its_way_to_it_runs_all_the_same(loop, clock):
    timers, ran = Timers(loop, clock), []
    timers.call_later(1, print)
    clock.now += 0.5
    loop.turn()
    clock.now -= 0.4  # the thread read the clock, and was stopped for a while
    timers.call_later(0, lambda: ran.append(1))
    loop.turn()
    assert ran == [1]
    assert timers.pending == 1


def test_a_thread_that_stalls_on_its_way_to_a_slot_takes_no_other_timer_along(loop, clock):
    timers, ran = Timers(loop, clock), []

    def stalled():
        # As a thread that read the clock long ago, and goes on while the tick runs what is due.
        now, clock.now = clock.now, 1000.0
        timers.call_later(2 * TICK, lambda: ran.append("late"))
        clock.now = now

    timers.call_later(TICK, stalled)
    timers.call_later(2 * TICK, lambda: ran.append("of another request"))
    clock.now += 1
    loop.turn()
    loop.turn()
    assert sorted(ran) == ["late", "of another request"]
    timers.call_later(0.1, lambda: ran.append("afterwards"))
    clock.now += 1
    loop.turn()
    loop.turn()
    assert ran[2:] == ["afterwards"], "the ticking goes on"
    assert not timers._slots, "an empty slot of the past would stay for good"


def test_closing_forgets_all_timers(loop, clock):
    timers = Timers(loop, clock)
    timers.call_later(0.1, lambda: pytest.fail("it ran"))
    timers.close()
    timers.call_later(0.1, lambda: pytest.fail("it ran"))
    clock.now += 10
    loop.turn()


def test_timers_of_other_threads_run_on_the_loops_thread(run):
    async def main():
        timers, ran = Timers(asyncio.get_running_loop()), []
        here = threading.get_ident()

        def work():
            for number in range(50):
                timers.call_later(0.01, lambda: ran.append(threading.get_ident()))
                timer = timers.call_later(30, print)
                if number % 2:
                    timer.cancel()

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        await eventually(lambda: len(ran) == 200)
        for thread in threads:
            thread.join()
        assert set(ran) == {here}
        assert timers.pending == 100
        timers.close()

    run(main())


@pytest.mark.parametrize(
    ("seconds", "kind", "words"),
    [
        (None, TypeError, "unsupported operand"),
        ("1", TypeError, "unsupported operand"),
        (float("inf"), OverflowError, "infinity"),
        (float("nan"), ValueError, "NaN"),
    ],
)
def test_what_is_no_time_is_refused_in_the_same_words(loop, clock, seconds, kind, words):
    with pytest.raises(kind, match=words):
        Timers(loop, clock).call_later(seconds, print)
