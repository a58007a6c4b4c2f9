"""v5 segments byte for byte: header bits by hand from the specification, checksums beside them."""

import pytest

from driver.wire.compression import segment_compress, segment_decompress
from driver.wire.malformed import CrcMismatchException
from driver.wire.segments import CRC32_INITIAL, SegmentCodec, SegmentHeader, compute_crc24

PLAIN = SegmentCodec()
LZ4 = SegmentCodec(segment_compress, segment_decompress)
# An OPTIONS request of nine bytes: bit 17 says self-contained.
OPTIONS = bytes.fromhex("05 00 0001 05 00000000")
PLAIN_SEGMENT = bytes.fromhex("090002 a4c8c1 050000010500000000 b5557486")
# The same in the compressed format: its length, 0 for not compressed, bit 34 for self-contained.
LZ4_SEGMENT = bytes.fromhex("0900000004 c2b895 050000010500000000 b5557486")


def test_a_plain_segment():
    assert PLAIN.encode(OPTIONS) == PLAIN_SEGMENT


def test_a_segment_of_the_compressed_format_that_is_not_compressed():
    assert LZ4.encode(OPTIONS) == LZ4_SEGMENT


@pytest.mark.parametrize(("codec", "segment"), [(PLAIN, PLAIN_SEGMENT), (LZ4, LZ4_SEGMENT)])
def test_the_header_and_payload_come_back(codec, segment):
    header = codec.decode_header(segment)
    assert header == SegmentHeader(9, 0, is_self_contained=True)
    assert codec.decode(header, segment[codec.header_length_with_crc :]) == OPTIONS


def test_the_checksums_of_nothing_are_their_seeds():
    assert compute_crc24(b"") == 0x875060
    # CRC32 of the four bytes fa 2d 55 ca alone.
    assert CRC32_INITIAL == 0x44777ED3


def test_the_error_states_both_checksums():
    with pytest.raises(CrcMismatchException, match=r"header: 0x000000 stated, 0x\w{6} computed"):
        PLAIN.decode_header(PLAIN_SEGMENT[:3] + bytes(3))
    header = PLAIN.decode_header(PLAIN_SEGMENT)
    with pytest.raises(CrcMismatchException, match=r"payload: 0x00000000 stated, 0x\w{8} comp"):
        PLAIN.decode(header, OPTIONS + bytes(4))
