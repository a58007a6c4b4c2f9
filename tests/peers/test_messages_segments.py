"""v5 segments are the same bytes as cassandra-driver's, and each decodes the other's."""

import io

import pytest
from cassandra.connection import segment_codec_lz4, segment_codec_no_compression
from hypothesis import given
from hypothesis import strategies as st

from driver.wire.compression import segment_compress, segment_decompress
from driver.wire.segments import MAX_PAYLOAD_LENGTH, SegmentCodec

CODECS = pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (SegmentCodec(), segment_codec_no_compression),
        (SegmentCodec(segment_compress, segment_decompress), segment_codec_lz4),
    ],
    ids=["plain", "lz4"],
)


def encoded_by_peer(codec, frame):
    f = io.BytesIO()
    codec.encode(f, frame)
    return f.getvalue()


@CODECS
@given(frame=st.binary(max_size=200) | st.integers(1, 2000).map(lambda size: b"ab" * size))
def test_a_segment_is_the_same_bytes(mine, theirs, frame):
    assert mine.encode(frame) == encoded_by_peer(theirs, frame)


@CODECS
@pytest.mark.parametrize("size", [MAX_PAYLOAD_LENGTH, MAX_PAYLOAD_LENGTH + 1, 300_000])
def test_a_large_frame_is_split_into_the_same_bytes(mine, theirs, size):
    frame = (bytes(range(251)) * (size // 251 + 1))[:size]
    assert mine.encode(frame) == encoded_by_peer(theirs, frame)


@CODECS
@given(frame=st.binary(min_size=1, max_size=200))
def test_the_peer_decodes_our_segment(mine, theirs, frame):
    f = io.BytesIO(mine.encode(frame))
    header = theirs.decode_header(f)
    assert theirs.decode(f, header).payload == frame
