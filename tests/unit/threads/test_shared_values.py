"""What threads share below a session: each gets what it would get alone.

Where threads run beside each other these meet in caches, in slots and in lists that change.
"""

from collections import deque
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from together import STRESS, together

from asv_benchmarks import recordings, subjects
from driver.net.timers import Timers
from driver.policies.timestamps import MonotonicTimestampGenerator
from driver.protocol.kinds import BatchType
from driver.results.rows import named_tuple_factory
from driver.types import TimestampType
from driver.types.deserializers import find_deserializer
from driver.wire.codec import ProtocolHandler
from driver.wire.compression import locally_supported_compressions
from driver.wire.frame import FRAME_HEADER_LENGTH
from driver.wire.requests import BatchMessage, ExecuteMessage

THREADS = 4
ONE = 1


def mixed(number):
    """Values of ``insert_mixed`` that are a thread's own: three int, five float, two double."""
    return (number, number, number, *[float(number)] * 7)


def on_threads(work):
    """Have each of the threads do its work, which takes its number."""
    together(*(partial(work, number) for number in range(THREADS)))


def frame_of(prepared, values):
    message = ExecuteMessage(prepared.query_id, values, ONE)
    return ProtocolHandler.encode_message(message, 1, 4, None, False)


def test_values_are_bound_and_written_by_threads_with_one_statement():
    prepared = subjects.prepared("insert_mixed")
    expected = [frame_of(prepared, prepared.bind(mixed(n)).values) for n in range(THREADS)]
    assert len(set(expected)) == THREADS

    def work(number):
        for _ in range(200 * STRESS):
            assert frame_of(prepared, prepared.bind(mixed(number)).values) == expected[number]

    on_threads(work)


def test_a_statement_that_is_bound_again_has_the_values_of_one_of_them():
    prepared = subjects.prepared("insert_mixed")
    bound = prepared.bind(mixed(0))
    whole = {frame_of(prepared, prepared.bind(mixed(n)).values) for n in range(THREADS)}

    def work(number):
        for _ in range(200 * STRESS):
            bound.bind(mixed(number))
            assert frame_of(prepared, bound.values) in whole

    on_threads(work)


def test_values_that_grow_and_shrink_meanwhile_are_written_as_they_were_at_a_moment():
    prepared = subjects.prepared("insert_mixed")
    values = [b"1"]

    def changes():
        for length in range(2_000 * STRESS):
            values[:] = [b"x" * (length % 50)] * (length % 20)

    def writes():
        for _ in range(400 * STRESS):
            frame = frame_of(prepared, values)
            assert int.from_bytes(frame[5:9]) == len(frame) - FRAME_HEADER_LENGTH
            batch = BatchMessage(BatchType.UNLOGGED, [(True, b"id", values)] * 3, ONE)
            frame = ProtocolHandler.encode_message(batch, 1, 4, None, False)
            assert int.from_bytes(frame[5:9]) == len(frame) - FRAME_HEADER_LENGTH

    together(changes, writes, writes)


def test_numbers_of_a_vector_that_change_meanwhile_are_written():
    prepared = subjects.prepared("insert_vector_1536")
    numbers = list(subjects.recorded_value("rows_vector_1536", "embedding"))
    size = 4 * len(numbers)

    def changes():
        for count in range(200 * STRESS):
            numbers[:] = [float(count + at) for at in range(len(numbers))]

    def binds():
        for _ in range(50 * STRESS):
            assert len(prepared.bind((numbers,)).values[0]) == size

    together(changes, binds, binds)


def test_results_of_several_shapes_are_decoded_by_threads():
    names = [name for name in recordings.names(4) if name.startswith("rows_")][:16]
    frames = [recordings.frame(name, 4) for name in names]
    frames = [frame for frame in frames if not frame.about.get("compression")]

    def decoded(frame):
        message = subjects.decode_frame(frame)
        return message.column_names, repr(message.parsed_rows)

    expected = [decoded(frame) for frame in frames]

    def work(number):
        for turn in range(2 * STRESS):
            for at in range(len(frames)):
                at = (at + number + turn) % len(frames)  # noqa: PLW2901  (each its own order)
                assert decoded(frames[at]) == expected[at]

    on_threads(work)


def test_rows_of_different_names_are_not_of_each_other_s_class():
    def work(number):
        names = [f"a{number}", f"b{number}"]
        for _ in range(300 * STRESS):
            (row,) = named_tuple_factory(list(names), [(number, -number)])
            assert row._fields == tuple(names)
            assert row == (number, -number)

    on_threads(work)


def test_timestamps_of_different_days_are_those_days():
    deserializer = find_deserializer(TimestampType)

    def work(number):
        days = [datetime(2000 + number, 1, 1, tzinfo=UTC) + timedelta(days=d) for d in range(50)]
        for _ in range(5 * STRESS):
            for day in days:
                data = int(day.timestamp() * 1000).to_bytes(8)
                assert deserializer.deserialize_bytes(data, 4) == day.replace(tzinfo=None)

    on_threads(work)


@pytest.mark.skipif("lz4" not in locally_supported_compressions, reason="needs lz4")
def test_bodies_are_compressed_by_threads():
    compress, decompress = locally_supported_compressions["lz4"]

    def work(number):
        for length in range(1, 200 * STRESS):
            body = (b"%d and " % number) * length
            assert decompress(compress(body)) == body

    on_threads(work)


def test_timestamps_of_threads_are_different_and_ever_greater():
    generator = MonotonicTimestampGenerator(warn_on_drift=False)
    given = [[] for _ in range(THREADS)]

    def work(number):
        given[number].extend(generator() for _ in range(2_000 * STRESS))

    on_threads(work)
    assert all(stamps == sorted(stamps) for stamps in given)
    everything = [stamp for stamps in given for stamp in stamps]
    assert len(set(everything)) == len(everything)


class Loop:
    """Takes what threads ask it to call, for a thread that calls it."""

    def __init__(self):
        self.due = deque()

    def call_soon_threadsafe(self, fn, *args):
        self.due.append((fn, args))

    def call_later(self, _, fn, *args):
        self.due.append((fn, args))
        return self

    def cancel(self):
        """Nothing waits for its time here."""

    def turn(self):
        for _ in range(len(self.due)):
            fn, args = self.due.popleft()
            fn(*args)


def test_timers_of_threads_run_once_or_were_cancelled():
    loop, ran, wanted, over = Loop(), [], [], []
    timers = Timers(loop)

    def work(number):
        for count in range(300 * STRESS):
            timer = timers.call_later(0.0001 * (count % 3), partial(ran.append, (number, count)))
            if count % 2:
                timer.cancel()
            else:
                wanted.append((number, count))
        over.append(number)

    def runs():
        while len(over) < THREADS or timers.pending:
            loop.turn()

    together(runs, *(partial(work, number) for number in range(THREADS)))
    loop.turn()
    assert len(ran) == len(set(ran))
    assert set(ran) >= set(wanted)
