"""Timers set and cancelled on other threads run once, whatever the loop's thread does meanwhile."""

from collections import Counter

import pytest
from interleaving import Loop, Schedule
from unit.threads.stepped import stepped

module = stepped("net.timers")
TICK, Timers = module.TICK, module.Timers


@pytest.mark.parametrize("flushes", [False, True], ids=["ticks", "and run_all"])
@pytest.mark.parametrize("first", range(0, 400, 100))
def test_every_timer_that_was_not_cancelled_runs_once_and_not_early(first, flushes):
    for seed in range(first, first + 100):
        schedule, loop = Schedule(seed, [module]), Loop()
        with schedule.locks():
            timers = Timers(loop, loop.time)
        ran, wanted, early = Counter(), set(), []
        chance = schedule.random

        def note(key, due, ran=ran, early=early, loop=loop):
            ran[key] += 1
            if loop.now < due and not flushes:
                early.append(key)

        def sets(number, timers=timers, wanted=wanted, chance=chance, loop=loop, note=note):
            for key in ((number, each) for each in range(3)):
                seconds = chance.choice((0, TICK / 3, TICK, 5 * TICK))
                due = loop.now + seconds
                timer = timers.call_later(seconds, lambda key=key, due=due: note(key, due))
                if chance.random() < 0.7:
                    wanted.add(key)
                else:
                    timer.cancel()

        def loops(schedule=schedule, timers=timers, chance=chance, loop=loop):
            while not schedule.alone:
                loop.now += chance.choice((0, TICK / 2, TICK, 3 * TICK, 200 * TICK))
                loop.turn()
                if flushes and chance.random() < 0.3:
                    timers.run_all()
                schedule.turn()

        schedule.run(loops, lambda sets=sets: sets(1), lambda sets=sets: sets(2))
        for _ in range(200):
            loop.now += TICK
            loop.turn()
        assert {key: ran[key] for key in wanted} == dict.fromkeys(wanted, 1), f"seed {seed}"
        assert max(ran.values(), default=1) == 1, f"seed {seed}"
        assert not early, f"seed {seed}"
        assert timers.pending == 0, f"seed {seed}"
