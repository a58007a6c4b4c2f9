"""Requests of every kind through a proxy that disturbs them; `tests/fault_run.py` runs longer."""

import contextlib
import socket

import pytest
from fault_proxy import FAULTS, FaultProxy, Units
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


def test_the_proxy_ends_both_sides_of_what_leads_astray_however_early_and_often_that_is_mended():
    with contextlib.ExitStack() as kept:
        nodes = [kept.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(2)]
        proxy = kept.enter_context(FaultProxy([each.getsockname() for each in nodes]))

        def go_astray_again_and_again():
            proxy._straighten()
            proxy._leads.reverse()
            proxy._loop.call_soon(go_astray_again_and_again)

        proxy._loop.call_soon_threadsafe(go_astray_again_and_again)
        for port in list(proxy._ports.values()) * 5:
            client = kept.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            with contextlib.suppress(ConnectionResetError):
                assert client.recv(1) == b""


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_the_proxy_cuts_frames_and_after_the_start_segments(step):
    ready = bytes([0x85, 0, 0, 1, 0x02, 0, 0, 0, 0])
    segment = SegmentCodec().encode(b"frame" * 20)
    data, units, found = ready + segment * 2, Units(), []
    for start in range(0, len(data), step):
        found += units.feed(data[start : start + step])
    assert found == [(ready, True), (segment, True), (segment, True)]
