"""A conversation gives the same frames however its bytes are cut."""

import contextlib
import io
import struct
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver.protocol.consistency import ConsistencyLevel
from driver.wire.compression import (
    locally_supported_compressions,
    segment_compress,
    segment_decompress,
)
from driver.wire.conversation import Conversation
from driver.wire.frame import Frame
from driver.wire.malformed import CrcMismatchException, MalformedFrameError
from driver.wire.requests import OptionsMessage, QueryMessage, StartupMessage
from driver.wire.segments import MAX_PAYLOAD_LENGTH, SegmentCodec

READY = 0x02
PLAIN = SegmentCodec()
LZ4 = SegmentCodec(segment_compress, segment_decompress)

frames = st.builds(
    Frame,
    stream_id=st.integers(-1, 2**15 - 1),
    version=st.just(4),
    flags=st.integers(0, 15),
    opcode=st.sampled_from([0x00, 0x06, 0x08, 0x0C]),
    body=st.binary(max_size=50),
)


def wire(frame):
    header = struct.pack(
        ">BBhBi", frame.version | 0x80, frame.flags, frame.stream_id, frame.opcode, len(frame.body)
    )
    return header + frame.body


def ready(version=5):
    return Frame(0, version, 0, READY, b"")


def chunks(data, cuts):
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


def feed_all(conversation, pieces):
    return [frame for piece in pieces for frame in conversation.feed(piece)]


CUTS = st.lists(st.integers(0, 10_000), max_size=20)


@given(sent=st.lists(frames, max_size=6), cuts=CUTS)
def test_v4_frames_are_the_same_for_any_cuts(sent, cuts):
    data = b"".join(map(wire, sent))
    assert feed_all(Conversation(4), chunks(data, cuts)) == sent


@pytest.mark.parametrize("compression", [None, "lz4"])
@given(
    before=st.lists(frames, max_size=2),
    after=st.lists(frames, max_size=6),
    cuts=CUTS,
    grouped=st.integers(1, 3),
)
def test_v5_turns_to_segments_after_ready_for_any_cuts(compression, before, after, cuts, grouped):
    before, after = ([f._replace(version=5) for f in part] for part in (before, after))
    codec = LZ4 if compression else PLAIN
    data = b"".join(map(wire, [*before, ready()]))
    for start in range(0, len(after), grouped):
        data += codec.encode(b"".join(map(wire, after[start : start + grouped])))
    conversation = Conversation(5, compression)
    assert feed_all(conversation, chunks(data, cuts)) == [*before, ready(), *after]
    assert conversation.started


@given(cuts=CUTS, length=st.integers(MAX_PAYLOAD_LENGTH, 3 * MAX_PAYLOAD_LENGTH))
def test_a_large_frame_comes_back_from_its_segments(cuts, length):
    large = Frame(3, 5, 0, 0x08, b"x" * length)
    small = Frame(4, 5, 0, 0x08, b"y")
    data = wire(ready()) + PLAIN.encode(wire(large)) + PLAIN.encode(wire(small))
    assert feed_all(Conversation(5), chunks(data, cuts)) == [ready(), large, small]


@given(good=st.lists(frames, max_size=3), cuts=CUTS)
def test_frames_before_the_bytes_break_are_not_lost_for_any_cuts(good, cuts):
    data = b"".join(map(wire, good)) + b"\x04" + bytes(8)
    conversation, found = Conversation(4), []

    def feed_until_broken():
        for piece in chunks(data, cuts):
            found.extend(conversation.feed(piece))

    with pytest.raises(MalformedFrameError, match="is a request: 0x04") as raised:
        feed_until_broken()
    assert [*found, *raised.value.frames] == good


def test_a_broken_conversation_stays_broken():
    conversation = Conversation(4)
    with pytest.raises(MalformedFrameError):
        conversation.feed(wire(ready(4)) + bytes(9))
    with pytest.raises(MalformedFrameError) as raised:
        conversation.feed(wire(ready(4)))
    assert raised.value.frames == ()


def test_a_frame_of_another_version_comes_out_so_that_the_caller_can_go_down():
    [frame] = Conversation(5).feed(wire(Frame(0, 4, 0, 0x00, b"")))
    assert frame.version == 4


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x82\x00\x00\x02\x00\x00\x00\x00\x00", "speaks protocol v2"),
        (b"\x84\x00\x00\x00\x08\x7f\xff\xff\xff", "body of 2147483647 bytes"),
        (b"\x84\x00\x00\x00\x08\xff\xff\xff\xff", "body of -1 bytes"),
        (b"HTTP/1.1 400 Bad Request", "is a request: 0x48"),
    ],
)
def test_what_is_no_frame_is_refused_at_its_header(data, words):
    with pytest.raises(MalformedFrameError, match=words):
        Conversation(4).feed(data)


@given(
    noise=st.lists(st.binary(max_size=40), max_size=5),
    version=st.sampled_from([3, 4, 5]),
    started=st.booleans(),
)
def test_noise_is_frames_or_the_one_error(noise, version, started):
    conversation = Conversation(version, "lz4")
    if started:
        conversation.feed(wire(ready(version)))
    with contextlib.suppress(MalformedFrameError):
        feed_all(conversation, noise)


def test_a_damaged_segment_ends_the_conversation():
    segment = bytearray(PLAIN.encode(wire(ready())))
    segment[-1] ^= 1
    conversation = Conversation(5)
    with pytest.raises(CrcMismatchException, match="payload"):
        conversation.feed(wire(ready()) + bytes(segment))


def test_a_self_contained_segment_holds_whole_frames():
    half = wire(Frame(1, 5, 0, 0x08, b"half"))[:-1]
    conversation = Conversation(5)
    conversation.feed(wire(ready()))
    with pytest.raises(MalformedFrameError, match="ends inside a frame"):
        conversation.feed(PLAIN.encode(half))


def test_a_self_contained_segment_does_not_interrupt_a_large_frame():
    large = PLAIN.encode(wire(Frame(1, 5, 0, 0x08, b"x" * 2 * MAX_PAYLOAD_LENGTH)))
    first = 6 + MAX_PAYLOAD_LENGTH + 4
    conversation = Conversation(5)
    conversation.feed(wire(ready()) + large[:first])
    with pytest.raises(MalformedFrameError, match="interrupts a frame"):
        conversation.feed(PLAIN.encode(wire(ready())))


def test_v4_compresses_from_the_answer_to_startup_on():
    conversation = Conversation(4, "snappy")
    query = QueryMessage("SELECT", ConsistencyLevel.ONE)
    assert conversation.send(StartupMessage("3.0.0", {"COMPRESSION": "snappy"}), 0)[1] == 0
    conversation.feed(wire(ready(4)))
    request = conversation.send(query, 1)
    assert request[1] == 0x01
    body = io.BytesIO()
    query.send_body(body, 4)
    assert locally_supported_compressions["snappy"][1](request[9:]) == body.getvalue()
    assert conversation.decompressor is locally_supported_compressions["snappy"][1]


@pytest.mark.parametrize("compression", [None, "lz4"])
def test_v5_sends_segments_from_the_answer_to_startup_on(compression):
    conversation = Conversation(5, compression)
    request = OptionsMessage()
    plain = conversation.send(request, 2)
    assert plain == bytes.fromhex("05 00 0002 05 00000000")
    conversation.feed(wire(ready()))
    codec = LZ4 if compression else PLAIN
    assert conversation.send(request, 2) == codec.encode(plain)
    assert conversation.decompressor is None


def test_authenticate_also_ends_the_start():
    conversation = Conversation(5)
    conversation.feed(wire(Frame(0, 5, 0, 0x03, b"\x00\x01A")))
    assert conversation.started


@pytest.mark.parametrize(
    ("version", "compression", "words"),
    [(4, "zip", "'zip' is installed"), (5, "snappy", "lz4 only")],
)
def test_a_compression_that_cannot_be_is_refused(version, compression, words):
    with pytest.raises(ValueError, match=words):
        Conversation(version, compression)
