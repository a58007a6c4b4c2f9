"""Frames that leave together share segments, as far as a segment can hold them."""

import asyncio
import threading

from hypothesis import given, settings
from hypothesis import strategies as st

from driver.net.segmenting import SegmentWriter
from driver.wire.segments import MAX_PAYLOAD_LENGTH, SegmentCodec


class Wire:
    """A transport that remembers what it was given, segment by segment."""

    def __init__(self):
        self.segments = []

    def write(self, data):
        self.segments.append(data)

    def payloads(self):
        codec, found = SegmentCodec(), []
        data = b"".join(self.segments)
        while data:
            header = codec.decode_header(data)
            data = data[codec.header_length_with_crc :]
            found.append((header.is_self_contained, codec.decode(header, data)))
            data = data[header.segment_length :]
        return found


def test_frames_of_one_turn_of_the_loop_share_a_segment(run):
    async def main():
        wire = Wire()
        writer = SegmentWriter(asyncio.get_running_loop(), wire, SegmentCodec())
        for number in range(10):
            writer.write(b"%d" % number)
        assert wire.segments == []
        await asyncio.sleep(0)
        writer.write(b"later")
        await asyncio.sleep(0)
        assert wire.payloads() == [(True, b"0123456789"), (True, b"later")]

    run(main())


def test_another_thread_sends_a_segment_of_its_own_at_once(run):
    async def main():
        wire = Wire()
        writer = SegmentWriter(asyncio.get_running_loop(), wire, SegmentCodec())
        worker = threading.Thread(target=writer.write, args=(b"now",))
        worker.start()
        worker.join()
        assert wire.payloads() == [(True, b"now")]

    run(main())


@settings(max_examples=30)
@given(
    st.lists(
        st.sampled_from([1, 9, 60_000, MAX_PAYLOAD_LENGTH - 1, MAX_PAYLOAD_LENGTH, 300_000]),
        min_size=1,
        max_size=8,
    )
)
def test_frames_of_any_size_arrive_in_order_and_whole_frames_are_not_cut(sizes):
    frames = [bytes([number]) * size for number, size in enumerate(sizes)]

    async def main():
        wire = Wire()
        writer = SegmentWriter(asyncio.get_running_loop(), wire, SegmentCodec())
        for frame in frames:
            writer.write(frame)
        await asyncio.sleep(0)
        return wire.payloads()

    payloads = asyncio.run(main())
    assert b"".join(payload for _, payload in payloads) == b"".join(frames)
    for is_self_contained, payload in payloads:
        if is_self_contained:
            # Whole frames only: each frame is of one byte, and has its full length.
            assert all(payload.count(byte) == sizes[byte] for byte in set(payload))
