"""``cassandra.connection``: the functions behind the compressions, and bits of the header."""

from __future__ import annotations

from errno import EAGAIN, EWOULDBLOCK
from typing import TYPE_CHECKING, Final

from ...wire.compression import (
    locally_supported_compressions,
    segment_compress,
    segment_decompress,
)
from .root import __version__
from .segment import SegmentCodec

if TYPE_CHECKING:
    from ...wire.compression import BodyFunction

DRIVER_VERSION: Final = __version__
DEFAULT_CQL_VERSION: Final = "3.0.0"
HEADER_DIRECTION_FROM_CLIENT: Final = 0x00
HEADER_DIRECTION_TO_CLIENT: Final = 0x80
HEADER_DIRECTION_MASK: Final = 0x80
PROTOCOL_VERSION_MASK: Final = 0x7F
USE_BETA_MASK: Final = ~0x10
NONBLOCKING: Final = (EAGAIN, EWOULDBLOCK)

segment_codec_no_compression: Final = SegmentCodec()
segment_codec_lz4: Final = (
    SegmentCodec(segment_compress, segment_decompress)
    if "lz4" in locally_supported_compressions
    else None
)


def _functions(name: str) -> tuple[BodyFunction, BodyFunction]:
    """Compress and decompress by a compression.

    Raises:
        ImportError: what it needs is not installed.
    """
    functions = locally_supported_compressions.get(name)
    if functions is None:
        raise ImportError(f"{name} is not installed: pip install cqlpath[{name}]")
    return functions


def lz4_compress(byts: bytes) -> bytes:
    """Compress the body of a frame."""
    return _functions("lz4")[0](byts)


def lz4_decompress(byts: bytes) -> bytes:
    """Decompress the body of a frame."""
    return _functions("lz4")[1](byts)


def decompress(byts: bytes) -> bytes:
    """Decompress the body of a frame that snappy compressed."""
    return _functions("snappy")[1](byts)
