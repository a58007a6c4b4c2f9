"""Routing keys: the serialised partition key, from which the token is computed.

A key of one column is that column's bytes. A composite key joins its parts as Cassandra's
CompositeType does: each is a [short] length, the bytes, and a zero byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..implementation import hand_over
from ..types.marshal import uint16_pack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def _key_parts_packed(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Frame each part of a composite key: length, bytes, end of component."""
    for p in parts:
        yield uint16_pack(len(p)) + p + b"\0"


def pack_parts(parts: Sequence[bytes]) -> bytes:
    """The routing key of the serialised columns of a partition key, in their order.

    Args:
        parts: one bytes object a column; one alone is the key as it is.

    Returns:
        The key that a partitioner hashes.

    Raises:
        struct.error: a part of a composite key is longer than 65,535 bytes.
    """
    if len(parts) == 1:
        return parts[0]
    return b"".join(_key_parts_packed(parts))


hand_over(globals())
