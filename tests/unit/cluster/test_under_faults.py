"""Requests of every kind through a proxy that disturbs them; `tests/fault_run.py` runs longer."""

import pytest
from fault_proxy import FAULTS, Units
from fault_run import ENDS_WITHIN, against_own

from driver.wire.segments import SegmentCodec


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of the proxy, which drops connections
@pytest.mark.parametrize(("version", "seed"), [(4, 1), (5, 2)])
def test_disturbed_requests_end_once_with_their_own_answers_and_nothing_is_left(version, seed):
    found = against_own(
        seconds=4, seed=seed, share=0.05, version=version, cut=version == 5, grace=ENDS_WITHIN
    )
    assert not found["wrong"]
    assert sum(found["faults"].values()) > len(FAULTS)
    assert set(found["requests"]) == {"waits", "callbacks", "awaits", "concurrently"}
    assert found["acknowledged"]


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_the_proxy_cuts_frames_and_after_the_start_segments(step):
    ready = bytes([0x85, 0, 0, 1, 0x02, 0, 0, 0, 0])
    segment = SegmentCodec().encode(b"frame" * 20)
    data, units, found = ready + segment * 2, Units(), []
    for start in range(0, len(data), step):
        found += units.feed(data[start : start + step])
    assert found == [(ready, True), (segment, True), (segment, True)]
