"""Segments and frames of both implementations: the same bytes, or the same error."""

from importlib import import_module

from hypothesis import given
from hypothesis import strategies as st

HEADERS = st.sampled_from([3, 5])


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
    ours, theirs = module(compiled, "frame"), module(pure, "frame")
    position = theirs.take_whole_frames(kind(data), 0x85, wanted)
    assert ours.take_whole_frames(kind(data), 0x85, found) == position
    assert found == wanted
    assert [type(frame) is ours.Frame for frame in found] == [True] * len(found)
    assert all(
        frame._asdict() == other._asdict() for frame, other in zip(found, wanted, strict=True)
    )
