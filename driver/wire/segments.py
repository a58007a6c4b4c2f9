"""v5 segments: checksummed, optionally compressed pieces that carry frames.

A segment is a header, a CRC24 of the header, a payload of at most 128 KiB - 1 and a CRC32 of the
payload; all four little-endian. A self-contained segment holds whole frames; a larger frame is
split over several segments that are not. Header, from the lowest bit (v5, sections 2.1 and 2.2)::

    uncompressed   17 bits payload length, 1 bit self-contained, 6 bits padding       3 bytes
    compressed     17 bits payload length, 17 bits length after decompression (0: the
                   payload is not compressed), 1 bit self-contained, 5 bits padding   5 bytes

Source of the checksums beside it: Cassandra's ``org.apache.cassandra.net.Crc``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias
from zlib import crc32

from ..implementation import hand_over
from .compression import BodyFunction
from .malformed import CrcMismatchException

#: Compress a payload. Not only for type checkers: the compiled form needs that of compression.
SegmentCompressor: TypeAlias = BodyFunction
#: Decompress a payload to a number of bytes.
SegmentDecompressor: TypeAlias = Callable[[bytes, int], bytes]

MAX_PAYLOAD_LENGTH = 2**17 - 1
_LENGTH_BITS = 17
_LENGTH_MASK = 2**17 - 1

CRC24_INIT = 0x875060
CRC24_POLY = 0x1974F0B
CRC24_LENGTH = 3

#: Four bytes that are fed to CRC32 before each payload.
CRC32_PREFIX = b"\xfa\x2d\x55\xca"
CRC32_LENGTH = 4
#: The CRC32 of nothing: what that of a payload as it is on the wire goes on from.
CRC32_INITIAL = crc32(CRC32_PREFIX)


def _crc24_of_byte(byte: int) -> int:
    """Eight steps of the shift register, for the table."""
    crc = byte << 16
    for _ in range(8):
        crc <<= 1
        if crc & 0x1000000:
            crc ^= CRC24_POLY
    return crc


_CRC24_TABLE = tuple(_crc24_of_byte(byte) for byte in range(256))


def compute_crc24(data: bytes) -> int:
    """The CRC24 of a segment's header, as its bytes are on the wire."""
    crc = CRC24_INIT
    for byte in data:
        crc = ((crc << 8) & 0xFFFFFF) ^ _CRC24_TABLE[(crc >> 16) ^ byte]
    return crc


class SegmentHeader(NamedTuple):
    """The header of a segment.

    Attributes:
        payload_length: bytes on the wire, without the CRC32 behind them.
        uncompressed_payload_length: bytes after decompression; 0 if there is nothing to decompress.
        is_self_contained: the payload is whole frames, not a piece of one.
    """

    payload_length: int
    uncompressed_payload_length: int
    is_self_contained: bool

    @property
    def segment_length(self) -> int:
        """Bytes that follow the header: the payload and its CRC32."""
        return self.payload_length + CRC32_LENGTH


class SegmentCodec:
    """Frames to segments, and segments back to payloads.

    Args:
        compressor, decompressor: of payloads; None for both means the uncompressed format.

    Attributes:
        header_length_with_crc: bytes of a header and its CRC24: 6, or 8 in the compressed format.
    """

    # Where compiled code finds them.
    __slots__ = (
        "_compressor",
        "_decompressor",
        "_flag_offset",
        "_header_length",
        "header_length_with_crc",
    )

    def __init__(
        self,
        compressor: SegmentCompressor | None = None,
        decompressor: SegmentDecompressor | None = None,
    ) -> None:
        """Choose the format."""
        if (compressor is None) != (decompressor is None):
            raise ValueError("a segment codec needs a compressor and a decompressor, or neither")
        self._compressor = compressor
        self._decompressor = decompressor
        self._flag_offset = _LENGTH_BITS if compressor is None else 2 * _LENGTH_BITS
        self._header_length = 3 if compressor is None else 5
        self.header_length_with_crc = self._header_length + CRC24_LENGTH

    @property
    def compression(self) -> bool:
        """Whether this is the compressed format."""
        return self._compressor is not None

    def encode(self, frame: bytes) -> bytes:
        """One frame, or several whole ones, as one self-contained segment or as many that are not.

        Several frames must fit in one payload together.
        """
        if len(frame) <= MAX_PAYLOAD_LENGTH:
            if self._compressor is None:
                return plain_segment(frame)
            return self._encode_segment(frame, is_self_contained=True)
        return b"".join(
            self._encode_segment(frame[start : start + MAX_PAYLOAD_LENGTH], is_self_contained=False)
            for start in range(0, len(frame), MAX_PAYLOAD_LENGTH)
        )

    def _encode_segment(self, payload: bytes, *, is_self_contained: bool) -> bytes:
        """One segment."""
        uncompressed_length = 0
        if self._compressor is not None:
            compressed = self._compressor(payload)
            # What does not shrink travels as it is, and says so with a length of 0.
            if len(compressed) < len(payload):
                uncompressed_length = len(payload)
                payload = compressed
        header = SegmentHeader(len(payload), uncompressed_length, is_self_contained)
        checksum = crc32(payload, CRC32_INITIAL).to_bytes(CRC32_LENGTH, "little")
        return b"".join((self.encode_header(header), payload, checksum))

    def encode_header(self, header: SegmentHeader) -> bytes:
        """A header and its CRC24."""
        bits = header.payload_length
        if self._compressor is not None:
            bits |= header.uncompressed_payload_length << _LENGTH_BITS
        bits |= header.is_self_contained << self._flag_offset
        data = bits.to_bytes(self._header_length, "little")
        return data + compute_crc24(data).to_bytes(CRC24_LENGTH, "little")

    def read(self, data: bytes, position: int) -> tuple[bytes | None, bool, int]:
        """The segment that begins at a position.

        Returns:
            Its payload, decompressed; whether it is self-contained; the position behind it. Where
            it is not all there: None, False, and how many bytes are needed from the position on.

        Raises:
            CrcMismatchException: a checksum is another.
            MalformedFrameError: the payload does not decompress to the length in the header.
        """
        payload, bits, after = read_segment(data, position, self._header_length)
        if payload is None:
            return None, False, after
        if self._decompressor is not None:
            uncompressed_length = bits >> _LENGTH_BITS & _LENGTH_MASK
            if uncompressed_length:
                payload = self._decompressor(payload, uncompressed_length)
        return payload, bool(bits >> self._flag_offset & 1), after

    def decode_header(self, data: bytes) -> SegmentHeader:
        """The header at the start of ``data``, which has ``header_length_with_crc`` bytes or more.

        Raises:
            CrcMismatchException: the CRC24 is another.
        """
        bits = _header_bits(data[: self._header_length], data, self._header_length)
        uncompressed = bits >> _LENGTH_BITS & _LENGTH_MASK if self.compression else 0
        return SegmentHeader(bits & _LENGTH_MASK, uncompressed, bool(bits >> self._flag_offset & 1))

    def decode(self, header: SegmentHeader, data: bytes) -> bytes:
        """The payload of a segment, decompressed.

        Args:
            header: from :meth:`decode_header`.
            data: the ``header.segment_length`` bytes that follow it.

        Raises:
            CrcMismatchException: the CRC32 is another.
            MalformedFrameError: the payload does not decompress to the length in the header.
        """
        payload = data[: header.payload_length]
        _check_payload(payload, data, header.payload_length)
        if self._decompressor is None or header.uncompressed_payload_length == 0:
            return payload
        return self._decompressor(payload, header.uncompressed_payload_length)


def plain_segment(frames: bytes) -> bytes:
    """Whole frames, as many as a payload can hold, as a segment of the uncompressed format."""
    header = (len(frames) | 1 << _LENGTH_BITS).to_bytes(3, "little")
    return b"".join(
        (
            header,
            compute_crc24(header).to_bytes(CRC24_LENGTH, "little"),
            frames,
            crc32(frames, CRC32_INITIAL).to_bytes(CRC32_LENGTH, "little"),
        )
    )


def read_segment(data: bytes, position: int, header_length: int) -> tuple[bytes | None, int, int]:
    """The segment that begins at a position, as it is on the wire.

    Args:
        data: what came.
        position: where the segment begins in it.
        header_length: 3, or 5 in the compressed format.

    Returns:
        Its payload, the bits of its header, and the position behind it. Where it is not all there:
        None, 0, and how many bytes are needed from the position on.

    Raises:
        CrcMismatchException: a checksum is another.
    """
    start = position + header_length + CRC24_LENGTH
    if len(data) < start:
        return None, 0, start - position
    bits = _header_bits(data[position : position + header_length], data, position + header_length)
    end = start + (bits & _LENGTH_MASK)
    after = end + CRC32_LENGTH
    if len(data) < after:
        return None, 0, after - position
    payload = data[start:end]
    _check_payload(payload, data, end)
    return payload, bits, after


def _header_bits(header: bytes, data: bytes, end: int) -> int:
    """The bits of a header, whose CRC24 follows in ``data`` at ``end``."""
    stated = int.from_bytes(data[end : end + CRC24_LENGTH], "little")
    computed = compute_crc24(header)
    if stated != computed:
        raise CrcMismatchException(
            f"CRC mismatch on a segment's header: {stated:#08x} stated, {computed:#08x} computed"
        )
    return int.from_bytes(header, "little")


def _check_payload(payload: bytes, data: bytes, end: int) -> None:
    """Check a payload, whose CRC32 follows in ``data`` at ``end``."""
    stated = int.from_bytes(data[end : end + CRC32_LENGTH], "little")
    computed = crc32(payload, CRC32_INITIAL)
    if stated != computed:
        raise CrcMismatchException(
            f"CRC mismatch on a segment's payload: {stated:#010x} stated, {computed:#010x} computed"
        )


hand_over(globals())
