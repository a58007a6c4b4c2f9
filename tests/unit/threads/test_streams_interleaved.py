"""Stream ids are never shared, and not refused while one is free."""

import pytest
from interleaving import Schedule
from unit.threads.stepped import stepped

module = stepped("net.streams")
StreamIds = module.StreamIds


@pytest.mark.parametrize("limit", [3, 200])
@pytest.mark.parametrize("first", [0, 200])
def test_three_threads_with_one_request_each_always_get_an_id_of_their_own(first, limit):
    for seed in range(first, first + 200):
        schedule = Schedule(seed, [module])
        with schedule.locks():
            streams = StreamIds(limit)
        used = set()

        def asks(schedule=schedule, streams=streams, used=used):
            for _ in range(4):
                stream = streams.take()
                assert stream not in used
                used.add(stream)
                schedule.turn()
                used.remove(stream)
                streams.free.append(stream)

        schedule.run(asks, asks, asks)
        assert streams.taken == 0, f"seed {seed}"
        assert len(set(streams.free)) == len(streams.free), f"seed {seed}"
