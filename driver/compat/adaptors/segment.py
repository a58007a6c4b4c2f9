"""``cassandra.segment``: the codec over binary files instead of bytes."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, ClassVar

from ...wire import segments
from ...wire.segments import MAX_PAYLOAD_LENGTH, SegmentHeader
from ...wire.segments import SegmentCodec as _SegmentCodec

if TYPE_CHECKING:
    from ...wire.segments import SegmentCompressor, SegmentDecompressor


def compute_crc24(data: int, length: int) -> int:
    """The CRC24 of the ``length`` lowest bytes of a number, little-endian."""
    return segments.compute_crc24(data.to_bytes(length, "little"))


def compute_crc32(data: bytes, value: int) -> int:
    """The CRC32 of data, going on from another one."""
    return zlib.crc32(data, value)


@dataclass
class Segment:
    """The payload of a segment, and whether it is whole frames."""

    MAX_PAYLOAD_LENGTH: ClassVar[int] = MAX_PAYLOAD_LENGTH

    payload: bytes
    is_self_contained: bool


class SegmentCodec:
    """Frames to segments in a file, and back.

    Args:
        compressor, decompressor: of payloads; None for both means the uncompressed format.
    """

    COMPRESSED_HEADER_LENGTH = 5
    UNCOMPRESSED_HEADER_LENGTH = 3
    FLAG_OFFSET = 17

    def __init__(
        self,
        compressor: SegmentCompressor | None = None,
        decompressor: SegmentDecompressor | None = None,
    ) -> None:
        """Choose the format."""
        self.compressor = compressor
        self.decompressor = decompressor
        self._codec = _SegmentCodec(compressor, decompressor)

    @property
    def compression(self) -> bool:
        """Whether this is the compressed format."""
        return self._codec.compression

    @property
    def header_length(self) -> int:
        """Bytes of a header without its CRC24."""
        return self.header_length_with_crc - segments.CRC24_LENGTH

    @property
    def header_length_with_crc(self) -> int:
        """Bytes of a header and its CRC24."""
        return self._codec.header_length_with_crc

    def encode_header(
        self,
        buffer: IO[bytes],
        payload_length: int,
        uncompressed_length: int,
        is_self_contained: bool,
    ) -> None:
        """Write a header and its CRC24."""
        header = SegmentHeader(payload_length, max(uncompressed_length, 0), is_self_contained)
        buffer.write(self._codec.encode_header(header))

    def encode(self, buffer: IO[bytes], msg: bytes) -> None:
        """Write frames as one segment, or as many."""
        buffer.write(self._codec.encode(msg))

    def decode_header(self, buffer: IO[bytes]) -> SegmentHeader:
        """Read a header.

        Raises:
            CrcMismatchException: the CRC24 is another.
        """
        return self._codec.decode_header(buffer.read(self.header_length_with_crc))

    def decode(self, buffer: IO[bytes], header: SegmentHeader) -> Segment:
        """Read what follows a header.

        Raises:
            CrcMismatchException: the CRC32 is another.
        """
        payload = self._codec.decode(header, buffer.read(header.segment_length))
        return Segment(payload, header.is_self_contained)
