"""Segments and frames of both implementations: the same bytes, or the same error."""

import zlib
from importlib import import_module

from hypothesis import example, given
from hypothesis import strategies as st

HEADERS = st.sampled_from([3, 5])


#: What shrinks, what does not, and what is both.
FRAMES = st.one_of(
    st.binary(max_size=200),
    st.tuples(st.binary(min_size=1, max_size=9), st.integers(1, 9000)).map(
        lambda of: of[0] * of[1]
    ),
    st.tuples(st.binary(max_size=60), st.integers(0, 500)).map(lambda of: of[0] + bytes(of[1])),
)


def module(package, name):
    return import_module(f"{package.__name__}.wire.{name}")


def outcome(call, *arguments):
    try:
        return call(*arguments)
    except Exception as error:  # noqa: BLE001  (any error is an outcome to compare)
        return type(error).__name__, str(error)


@given(st.binary(max_size=300), st.sampled_from([bytes, bytearray]))
def test_frames_become_the_same_segment(pure, compiled, frames, kind):
    wanted = module(pure, "segments").plain_segment(kind(frames))
    assert module(compiled, "segments").plain_segment(kind(frames)) == wanted
    codec = module(pure, "segments").SegmentCodec()
    assert wanted == codec._encode_segment(frames, is_self_contained=True)


@given(
    st.binary(min_size=1, max_size=64),
    st.one_of(st.integers(0, 400), st.integers(0, 0x1FFFF)),
    st.integers(0, 15),
)
def test_checksums_of_all_lengths_are_zlib_s(pure, compiled, repeated, size, before):
    """Wherever in memory it begins; up to the longest payload, and by each step of the folding."""
    frames = (repeated * (size // len(repeated) + 1))[:size]
    segment = module(pure, "segments").plain_segment(frames)
    ours = module(compiled, "segments")
    assert ours.plain_segment(frames) == segment
    assert ours.read_segment(bytes(before) + segment, before, 3)[0] == frames
    broken = segment[:-1] + bytes([segment[-1] ^ 1])
    message = outcome(module(pure, "segments").read_segment, broken, 0, 3)
    assert outcome(ours.read_segment, broken, 0, 3) == message != frames


@given(st.data(), st.binary(max_size=40), st.booleans(), st.binary(max_size=9), HEADERS)
def test_whole_cut_and_damaged_segments_are_read_alike(
    pure, compiled, data, payload, is_self_contained, before, header_length
):
    segments = module(pure, "segments")
    codec = segments.SegmentCodec(*((bytes, bytes) if header_length == 5 else ()))
    whole = before + codec._encode_segment(payload, is_self_contained=is_self_contained)
    damaged = bytearray(whole)
    if data.draw(st.booleans()):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= data.draw(st.integers(0, 255))
    damaged = damaged[: data.draw(st.integers(len(before), len(damaged)))]
    for kind in (bytes, bytearray):
        arguments = (kind(damaged), len(before), header_length)
        wanted = outcome(segments.read_segment, *arguments)
        assert outcome(module(compiled, "segments").read_segment, *arguments) == wanted


FRAME = st.tuples(
    st.sampled_from([0x85, 0x84, 5]), st.binary(min_size=4, max_size=4), st.binary(max_size=5)
)


@given(
    st.lists(FRAME, max_size=4),
    st.binary(max_size=12),
    st.sampled_from([0, -1, 2**28, 2**28 + 1]),
    st.sampled_from([bytes, bytearray]),
)
def test_frames_are_cut_out_alike(pure, compiled, frames, rest, wrong, kind):
    data = b"".join(
        bytes([version]) + head + len(body).to_bytes(4) + body for version, head, body in frames
    )
    data += rest + b"\x85\0\0\0\x08" + wrong.to_bytes(4, signed=True)
    found, wanted = [], []
    ours, theirs = module(compiled, "conversation"), module(pure, "conversation")
    position = theirs.take_whole_frames(kind(data), 0x85, wanted)
    assert ours.take_whole_frames(kind(data), 0x85, found) == position
    assert found == wanted
    assert [type(frame) is ours.Frame for frame in found] == [True] * len(found)
    assert all(
        frame._asdict() == other._asdict() for frame, other in zip(found, wanted, strict=True)
    )


def lz4_codec(package):
    compression = module(package, "compression")
    return module(package, "segments").SegmentCodec(
        compression.segment_compress, compression.segment_decompress
    )


@example(bytes(2**17 - 1))
@example(bytes(2**17))
@given(FRAMES)
def test_compressed_segments_are_read_by_the_other(pure, compiled, frames):
    for one, other in ((pure, compiled), (compiled, pure)):
        sent, position, read = lz4_codec(one).encode(frames), 0, []
        while position < len(sent):
            payload, is_self_contained, position = lz4_codec(other).read(sent, position)
            assert is_self_contained == (len(frames) < 2**17)
            read.append(payload)
        assert b"".join(read) == frames
        assert len(sent) <= len(frames) + 12 * max(len(read), 1)


@given(st.binary(max_size=200), st.sampled_from([bytes, bytearray]))
def test_what_does_not_shrink_travels_as_it_is_in_both(pure, compiled, noise, kind):
    packed = module(pure, "compression").segment_compress(noise)
    if len(packed) >= len(noise):
        assert lz4_codec(compiled).encode(kind(noise)) == lz4_codec(pure).encode(kind(noise))


def fed(package, pieces):
    """The frames of a started v5 conversation with lz4, and its error."""
    conversation = module(package, "conversation").Conversation(5, "lz4")
    ready = b"\x85\0\0\0\x02\0\0\0\0"
    taken = [conversation.feed(ready)]
    for piece in pieces:
        try:
            taken.append([tuple(frame) for frame in conversation.feed(piece)])
        except Exception as error:  # noqa: BLE001  (any error is an outcome to compare)
            taken.append((type(error).__name__, str(error), list(map(tuple, error.frames))))
    return taken[1:]


@given(
    st.data(),
    st.lists(st.lists(st.integers(0, 400), min_size=1, max_size=3), min_size=1, max_size=4),
    st.integers(-3, 3),
)
def test_conversations_with_lz4_go_alike(pure, compiled, data, segments, lie):
    codec = lz4_codec(pure)
    header = module(pure, "segments").SegmentHeader
    initial = module(pure, "segments").CRC32_INITIAL
    sent = b""
    for sizes in segments:
        frames = b"".join(b"\x85\0\0\1\x08" + size.to_bytes(4) + bytes(size) for size in sizes)
        sent += codec.encode(frames)
    # One more with valid checksums, whose length after decompression is a lie.
    packed = module(pure, "compression").segment_compress(frames)
    about = header(len(packed), len(frames) + lie, is_self_contained=data.draw(st.booleans()))
    sent += codec.encode_header(about) + packed + zlib.crc32(packed, initial).to_bytes(4, "little")
    damaged = bytearray(sent)
    if data.draw(st.booleans()):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(damaged)))
    pieces = [bytes(damaged[:cut]), bytes(damaged[cut:]), b""]
    assert fed(compiled, pieces) == fed(pure, pieces)
