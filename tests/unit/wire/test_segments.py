"""v5 segments: every payload comes back, every flipped bit is noticed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver.wire.compression import segment_compress, segment_decompress
from driver.wire.malformed import CrcMismatchException, MalformedFrameError
from driver.wire.segments import (
    CRC24_INIT,
    CRC24_POLY,
    MAX_PAYLOAD_LENGTH,
    SegmentCodec,
    SegmentHeader,
    compute_crc24,
)

PLAIN = SegmentCodec()
LZ4 = SegmentCodec(segment_compress, segment_decompress)
CODECS = pytest.mark.parametrize("codec", [PLAIN, LZ4], ids=["plain", "lz4"])


def decode_all(codec, data):
    """Headers and payloads of consecutive segments."""
    decoded = []
    while data:
        header = codec.decode_header(data)
        data = data[codec.header_length_with_crc :]
        decoded.append((header, codec.decode(header, data[: header.segment_length])))
        data = data[header.segment_length :]
    return decoded


def crc24_bit_by_bit(data):
    crc = CRC24_INIT
    for byte in data:
        crc ^= byte << 16
        for _ in range(8):
            crc <<= 1
            if crc & 0x1000000:
                crc ^= CRC24_POLY
    return crc


@given(st.binary(max_size=16))
def test_the_table_gives_the_crc24_of_the_shift_register(data):
    assert compute_crc24(data) == crc24_bit_by_bit(data)


@CODECS
@given(payload=st.binary(max_size=300))
def test_a_small_frame_is_one_self_contained_segment(codec, payload):
    [(header, decoded)] = decode_all(codec, codec.encode(payload))
    assert header.is_self_contained
    assert decoded == payload


@CODECS
@pytest.mark.parametrize("excess", [0, 1, 77, MAX_PAYLOAD_LENGTH, MAX_PAYLOAD_LENGTH + 1])
def test_a_frame_over_128_kib_is_split_and_the_pieces_are_not_self_contained(codec, excess):
    frame = bytes(range(256)) * 512 + b"x" * 1024
    frame = (frame * 3)[: MAX_PAYLOAD_LENGTH + excess]
    decoded = decode_all(codec, codec.encode(frame))
    assert b"".join(payload for _, payload in decoded) == frame
    assert len(decoded) == -(-len(frame) // MAX_PAYLOAD_LENGTH)
    assert all(header.is_self_contained == (excess == 0) for header, _ in decoded)


def test_a_payload_that_does_not_shrink_travels_as_it_is():
    [(header, payload)] = decode_all(LZ4, LZ4.encode(b"\x00\x07abc"))
    assert header == SegmentHeader(5, 0, is_self_contained=True)
    assert payload == b"\x00\x07abc"


def test_a_payload_that_shrinks_states_both_lengths():
    [(header, payload)] = decode_all(LZ4, LZ4.encode(b"a" * 5000))
    assert header.uncompressed_payload_length == 5000
    assert header.payload_length < 100
    assert payload == b"a" * 5000


@CODECS
@given(
    payload=st.binary(min_size=1, max_size=64), bit=st.integers(0, 7), where=st.integers(0, 10_000)
)
def test_one_flipped_bit_anywhere_is_noticed(codec, payload, bit, where):
    data = bytearray(codec.encode(payload))
    data[where % len(data)] ^= 1 << bit
    with pytest.raises(CrcMismatchException):
        decode_all(codec, bytes(data))


def test_a_compressed_payload_of_another_length_than_stated_is_malformed():
    compressed = segment_compress(b"a" * 1000)
    with pytest.raises(MalformedFrameError, match="claims 1001"):
        segment_decompress(compressed, 1001)
    with pytest.raises(MalformedFrameError, match="not valid lz4"):
        segment_decompress(compressed, 999)


@CODECS
@given(
    length=st.integers(0, MAX_PAYLOAD_LENGTH),
    uncompressed=st.integers(0, MAX_PAYLOAD_LENGTH),
    self_contained=st.booleans(),
)
def test_a_header_decodes_to_what_it_was_made_of(codec, length, uncompressed, self_contained):
    header = SegmentHeader(length, uncompressed if codec.compression else 0, self_contained)
    assert codec.decode_header(codec.encode_header(header)) == header


def test_a_codec_needs_both_functions_or_neither():
    with pytest.raises(ValueError, match="or neither"):
        SegmentCodec(segment_compress)
