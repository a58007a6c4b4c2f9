"""Stream ids: never the same twice at a time, whoever takes them."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver.net.errors import ConnectionBusy
from driver.net.streams import StreamIds


@given(limit=st.integers(1, 600))
def test_every_id_below_the_limit_is_given_out_once(limit):
    streams = StreamIds(limit)
    assert sorted(streams.take() for _ in range(limit)) == list(range(limit))
    with pytest.raises(ConnectionBusy, match=f"{limit} requests wait"):
        streams.take()


@given(st.lists(st.booleans(), max_size=300), st.integers(1, 20))
def test_ids_in_use_are_distinct_whatever_comes_back_when(takes, limit):
    streams, used = StreamIds(limit), []
    for take in takes:
        if take and len(used) < limit:
            used.append(streams.take())
        elif used:
            streams.free.append(used.pop(0))
        assert len(set(used)) == len(used) == streams.taken
        assert all(0 <= stream < limit for stream in used)


def test_an_id_that_came_back_is_taken_again():
    streams = StreamIds(1)
    streams.free.append(streams.take())
    assert streams.take() == 0


def test_a_connection_with_few_requests_uses_few_ids():
    streams = StreamIds()
    seen = set()
    for _ in range(1000):
        stream = streams.take()
        seen.add(stream)
        streams.free.append(stream)
    assert len(seen) == 128


def test_the_id_that_rested_longest_is_taken_first():
    streams = StreamIds(300)
    used = [streams.take() for _ in range(300)]
    rested = used[7:90] + used[:7] + used[90:]
    for stream in rested:
        streams.free.append(stream)
    assert [streams.take() for _ in range(300)] == rested


def test_threads_never_share_an_id():
    streams = StreamIds(64)
    owners = [None] * 64
    clashes = []

    def work(me):
        for _ in range(3000):
            try:
                stream = streams.take()
            except ConnectionBusy:
                continue
            if owners[stream] is not None:
                clashes.append(stream)
            owners[stream] = me
            owners[stream] = None
            streams.free.append(stream)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not clashes
    assert streams.taken == 0


@pytest.mark.parametrize("limit", [0, -1, 2**15 + 1])
def test_a_limit_that_the_protocol_does_not_have_is_refused(limit):
    with pytest.raises(ValueError, match="1 to 32768"):
        StreamIds(limit)


def test_a_busy_connection_says_that_nothing_was_sent():
    streams = StreamIds(1, "10.0.0.1:9042")
    streams.take()
    with pytest.raises(ConnectionBusy, match=r"10\.0\.0\.1:9042") as caught:
        streams.take()
    assert not caught.value.was_sent
