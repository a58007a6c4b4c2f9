"""Compression of frame bodies (v3, v4) and of segments (v5); which algorithms are installed.

Source: native protocol v4 section 5, v5 section 2.2. lz4 comes from the package ``lz4``, snappy
from ``cramjam`` or ``python-snappy``; without them the algorithm is not offered to the server.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from ..implementation import hand_over
from ..protocol.limits import limits
from .frame import MAX_FRAME_LENGTH
from .malformed import MalformedFrameError

if TYPE_CHECKING:
    from types import ModuleType

#: From the bytes of a body to bytes.
BodyFunction: TypeAlias = Callable[[bytes], bytes]


#: Bytes that one byte of compressed data can become at most: lz4 by a length that goes on, snappy
#: by a copy of 64 bytes in three.
_LZ4_GROWTH = 255
_SNAPPY_GROWTH = 22
#: What honest bodies seldom grow by; within it nothing else is asked.
_USUAL_GROWTH = 8


def _claimed(size: int, compressed: int, growth: int) -> int:
    """The uncompressed size that a frame claims, refused before memory is reserved for it."""
    if not 0 <= size <= MAX_FRAME_LENGTH:
        raise MalformedFrameError(
            f"a compressed frame claims {size} bytes; {MAX_FRAME_LENGTH} are allowed"
        )
    if size <= compressed * _USUAL_GROWTH:
        return size
    growth = min(growth, limits.growth)
    if size > compressed * growth + _LZ4_GROWTH:
        raise MalformedFrameError(
            f"a compressed frame of {compressed} bytes claims {size}; no more than {growth} times "
            "as many are possible or allowed by driver.protocol.limits"
        )
    return size


def _broken(algorithm: str, error: Exception) -> MalformedFrameError:
    """What to raise for bytes that the library could not decompress."""
    return MalformedFrameError(f"a frame is not valid {algorithm}: {error}")


def _lz4_functions(block: ModuleType) -> tuple[BodyFunction, BodyFunction]:
    """For bodies: an lz4 block after its uncompressed size, four bytes, big-endian."""

    def compress(body: bytes) -> bytes:
        """Compress a frame body."""
        packed: bytes = block.compress(body, store_size=False)
        return len(body).to_bytes(4, "big") + packed

    def decompress(body: bytes) -> bytes:
        """Decompress a frame body."""
        if len(body) < 4:
            raise MalformedFrameError(f"an lz4 body of {len(body)} bytes has no size")
        return _lz4_block(
            block, body[4:], _claimed(int.from_bytes(body[:4], "big"), len(body), _LZ4_GROWTH)
        )

    return compress, decompress


def _lz4_block(block: ModuleType, data: bytes, size: int) -> bytes:
    """Decompress a bare block to exactly ``size`` bytes."""
    if size == 0:
        # A block of nothing is one zero byte; the library refuses a size of zero.
        return b""
    try:
        body: bytes = block.decompress(data, uncompressed_size=size)
    except Exception as error:  # the library's own error, and ValueError
        raise _broken("lz4", error) from error
    if len(body) != size:
        raise MalformedFrameError(f"an lz4 block holds {len(body)} bytes and claims {size}")
    return body


def _snappy_size(data: bytes) -> int:
    """The uncompressed size at the start of snappy data: a little-endian base-128 varint."""
    size = 0
    for position, byte in enumerate(data[:5]):
        size |= (byte & 0x7F) << (7 * position)
        if byte < 0x80:
            return size
    raise MalformedFrameError("a frame is not valid snappy: it has no size")


def _snappy_functions(
    raw_compress: Callable[[bytes], Any], raw_decompress: Callable[[bytes], Any]
) -> tuple[BodyFunction, BodyFunction]:
    """For bodies: snappy without a stream format around it."""

    def compress(body: bytes) -> bytes:
        """Compress a frame body."""
        return bytes(raw_compress(body))

    def decompress(body: bytes) -> bytes:
        """Decompress a frame body."""
        _claimed(_snappy_size(body), len(body), _SNAPPY_GROWTH)
        try:
            return bytes(raw_decompress(body))
        except Exception as error:  # each library has its own
            raise _broken("snappy", error) from error

    return compress, decompress


def _installed(name: str) -> ModuleType | None:
    """An optional module, or None."""
    try:
        return import_module(name)
    except ImportError:
        return None


def _find() -> dict[str, tuple[BodyFunction, BodyFunction]]:
    """The algorithms that are installed, the preferred one first."""
    found = {}
    if _BLOCK is not None:
        found["lz4"] = _lz4_functions(_BLOCK)
    if (cramjam := _installed("cramjam")) is not None:
        found["snappy"] = _snappy_functions(
            cramjam.snappy.compress_raw, cramjam.snappy.decompress_raw
        )
    elif (snappy := _installed("snappy")) is not None:
        found["snappy"] = _snappy_functions(snappy.compress, snappy.decompress)
    return found


_BLOCK = _installed("lz4.block")

#: Name in STARTUP -> (compress, decompress) of frame bodies; the preferred algorithm first.
locally_supported_compressions: dict[str, tuple[BodyFunction, BodyFunction]] = _find()


def segment_compress(payload: bytes) -> bytes:
    """Compress the payload of a v5 segment: a bare lz4 block.

    Raises:
        RuntimeError: lz4 is not installed.
    """
    packed: bytes = _need_lz4().compress(payload, store_size=False)
    return packed


def segment_decompress(payload: bytes, size: int) -> bytes:
    """Decompress the payload of a v5 segment to exactly ``size`` bytes.

    Raises:
        MalformedFrameError: it is no lz4 block, or holds another number of bytes.
        RuntimeError: lz4 is not installed.
    """
    return _lz4_block(_need_lz4(), payload, size)


def _need_lz4() -> ModuleType:
    """The lz4 library, or a line that says how to get it."""
    if _BLOCK is None:
        raise RuntimeError("compressed segments need lz4: pip install cqlpath[lz4]")
    return _BLOCK


hand_over(globals())
