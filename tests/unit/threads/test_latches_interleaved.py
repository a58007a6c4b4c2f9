"""Threads that are woken in turn: all go on, whoever gives up waiting, and whenever."""

from functools import partial

import pytest
from interleaving import Schedule
from unit.threads.stepped import stepped

module = stepped("net.after_read")
Latch = module.Latch


@pytest.mark.parametrize("first", [0, 200])
def test_all_who_wait_go_on(first):
    for seed in range(first, first + 200):
        schedule = Schedule(seed, [module])
        with schedule.locks():
            latches = [Latch() for _ in range(3)]
            gone_on = []

            def waits(latch, timeout, gone_on=gone_on):
                if latch.wait(timeout):
                    gone_on.append(latch)

            def reads(latches=latches):
                module.begin_read()
                for latch in latches:
                    latch.open()
                module.end_read(len(latches))

            limits = [1.0, None, None]
            schedule.run(reads, *map(partial, [waits] * 3, latches, limits))
        assert set(gone_on) >= set(latches[1:]), f"seed {seed}"
        assert all(not latch.lock._held for latch in latches), f"seed {seed}"
