"""Parts of a value with their lengths in front, as collections, tuples and UDTs hold them.

A part is a 32-bit length and that many bytes; a negative length is a null (native_protocol_v5
section 3, [bytes]).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import marshal
from .base import truncated

if TYPE_CHECKING:
    from ..protocol.typing import CqlValue
    from .base import CQLType

_NULL = marshal.int32_pack(-1)


def pack_part(subtype: type[CQLType], value: CqlValue, protocol_version: int) -> bytes:
    """A part with its length in front; None is null."""
    if value is None:
        return _NULL
    data = subtype.to_binary(value, protocol_version)
    return marshal.int32_pack(len(data)) + data


def read_count(data: bytes, smallest: int, typename: str) -> int:
    """The number of elements that a collection begins with.

    Args:
        data: the collection.
        smallest: bytes that an element takes at least, so that a count that lies is found before
            anything is allocated for it.
        typename: for the message.

    Raises:
        MarshalException: the data cannot hold that many elements.
    """
    if len(data) < 4:
        raise truncated(typename, 4, len(data))
    count: int = marshal.int32_unpack(data[:4])
    left = len(data) - 4
    if count < 0 or count * smallest > left:
        raise truncated(typename, count * smallest, left)
    return count


def read_part(data: bytes, offset: int, typename: str) -> tuple[bytes | None, int]:
    """The part at an offset, and the offset behind it.

    Raises:
        MarshalException: the data ends inside of the part.
    """
    left = len(data) - offset
    if left < 4:
        raise truncated(typename, 4, left)
    size: int = marshal.int32_unpack(data[offset : offset + 4])
    offset += 4
    if size < 0:
        return None, offset
    if size > left - 4:
        raise truncated(typename, size, left - 4)
    return data[offset : offset + size], offset + size
