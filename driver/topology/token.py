"""Tokens: the place of a partition key on the ring, as the cluster's partitioner computes it."""

from __future__ import annotations

import binascii
import functools
import hashlib
import struct
from typing import TYPE_CHECKING, ClassVar

from ..implementation import hand_over

if TYPE_CHECKING:
    from ..protocol.typing import TokenValue

_MASK = 0xFFFFFFFFFFFFFFFF
_C1 = 0x87C37B91114253D5
_C2 = 0x4CF5AD432745937F
_BLOCK = 16
_two_words_at = struct.Struct("<QQ").unpack_from
#: The lowest bit of each byte of a word.
_BYTES = 0x0101010101010101

MIN_LONG = -(2**63)
MAX_LONG = 2**63 - 1


def _rotate_left(x: int, bits: int) -> int:
    return ((x << bits) | (x >> (64 - bits))) & _MASK


def _final_mix(h: int) -> int:
    h ^= h >> 33
    h = (h * 0xFF51AFD7ED558CCD) & _MASK
    h ^= h >> 33
    h = (h * 0xC4CEB9FE1A85EC53) & _MASK
    return h ^ (h >> 33)


def _signed_tail(tail: bytes) -> int:
    """A little-endian word of up to eight bytes, each of them sign-extended before it is mixed in.

    Java's bytes are signed, and Cassandra's port of the hash shifts them as they are: the one place
    where its variant differs from MurmurHash3.
    """
    word = int.from_bytes(tail, "little")
    signs = word >> 7 & _BYTES
    if signs:
        # A sign turns all bits of the bytes above over, as often as there are signs below.
        signs ^= signs << 8
        signs ^= signs << 16
        signs ^= signs << 32
        word ^= (signs << 8) * 0xFF & _MASK
    return word


def murmur3(key: bytes) -> int:
    """The first 64 bits of MurmurHash3 x64 128 of a key, seed 0, in Cassandra's signed variant.

    Source: Austin Appleby's MurmurHash3 (public domain) and the sign extension described in
    ``_signed_tail``; CASSANDRA-2975 introduced it.

    Args:
        key: any bytes-like object.

    Returns:
        A signed 64-bit integer.

    Raises:
        TypeError: the key is not bytes-like.
    """
    data = key if type(key) is bytes else bytes(memoryview(key))
    length = len(data)
    tail = length - length % _BLOCK
    h1 = h2 = 0
    for block in range(0, tail, _BLOCK):
        k1, k2 = _two_words_at(data, block)
        h1 ^= (_rotate_left((k1 * _C1) & _MASK, 31) * _C2) & _MASK
        h1 = ((_rotate_left(h1, 27) + h2) * 5 + 0x52DCE729) & _MASK
        h2 ^= (_rotate_left((k2 * _C2) & _MASK, 33) * _C1) & _MASK
        h2 = ((_rotate_left(h2, 31) + h1) * 5 + 0x38495AB5) & _MASK

    if tail + 8 < length:
        k2 = (_signed_tail(data[tail + 8 :]) * _C2) & _MASK
        h2 ^= (_rotate_left(k2, 33) * _C1) & _MASK
    if tail < length:
        k1 = (_signed_tail(data[tail : tail + 8]) * _C1) & _MASK
        h1 ^= (_rotate_left(k1, 31) * _C2) & _MASK

    h1 ^= length
    h2 ^= length
    h1 = (h1 + h2) & _MASK
    h2 = (h2 + h1) & _MASK
    h1 = _final_mix(h1)
    h2 = _final_mix(h2)
    h1 = (h1 + h2) & _MASK
    return h1 if h1 <= MAX_LONG else h1 - 2**64


@functools.total_ordering
class Token:
    """A position on the ring. Tokens of one partitioner are ordered and hashable.

    Attributes:
        value: the position; an int for hashing partitioners, bytes for the byte-ordered one.
        partitioner: last part of the class name of the server's partitioner.
    """

    __slots__ = ("value",)
    partitioner: ClassVar[str] = ""
    value: TokenValue

    def __init__(self, token: int | bytes) -> None:
        """Wrap a position that is known already."""
        self.value = token

    @classmethod
    def hash_fn(cls, key: bytes) -> TokenValue:
        """The position of a partition key; the byte-ordered partitioner keeps the key itself."""
        return key

    @classmethod
    def from_key(cls, key: bytes) -> Token:
        """The token of a serialised partition key (a ``routing_key``)."""
        return cls(cls.hash_fn(key))

    @classmethod
    def from_string(cls, token_string: str) -> Token:
        """The token that ``system.local`` and ``system.peers`` write as text."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        """Whether both are the same place on the ring of one partitioner."""
        if not isinstance(other, Token):
            return NotImplemented
        return type(self) is type(other) and self.value == other.value

    def __lt__(self, other: Token) -> bool:
        """Whether this token comes before the other on the ring."""
        if type(self) is not type(other):
            return NotImplemented
        return bool(self.value < other.value)

    def __hash__(self) -> int:
        """Of the position: a token is a dictionary key in the replica maps."""
        return hash(self.value)

    def __repr__(self) -> str:
        """Class and position."""
        return f"<{type(self).__name__}: {self.value}>"

    __str__ = __repr__


class Murmur3Token(Token):
    """A token of Murmur3Partitioner, the default: a signed 64-bit integer, never the minimum."""

    __slots__ = ()
    partitioner = "Murmur3Partitioner"

    def __init__(self, token: int | str) -> None:
        """Accept an integer or its decimal text."""
        self.value = int(token)

    @classmethod
    def hash_fn(cls, key: bytes) -> int:
        """Murmur3 of the key; the minimum is the ring's own border, so it maps to the maximum."""
        h = murmur3(key)
        return h if h != MIN_LONG else MAX_LONG

    @classmethod
    def from_string(cls, token_string: str) -> Murmur3Token:
        """Parse a decimal integer."""
        return cls(int(token_string))


class MD5Token(Token):
    """A token of RandomPartitioner: the absolute value of MD5 read as a signed big integer."""

    __slots__ = ()
    partitioner = "RandomPartitioner"

    def __init__(self, token: int | str) -> None:
        """Accept an integer or its decimal text."""
        self.value = int(token)

    @classmethod
    def hash_fn(cls, key: bytes) -> int:
        """``new BigInteger(md5(key)).abs()``, as the server computes it."""
        digest = hashlib.md5(key, usedforsecurity=False).digest()
        return abs(int.from_bytes(digest, "big", signed=True))

    @classmethod
    def from_string(cls, token_string: str) -> MD5Token:
        """Parse a decimal integer."""
        return cls(int(token_string))


class BytesToken(Token):
    """A token of ByteOrderedPartitioner: the key's bytes, compared as unsigned bytes."""

    __slots__ = ()
    partitioner = "ByteOrderedPartitioner"

    @classmethod
    def from_string(cls, token_string: str) -> BytesToken:
        """Parse the hexadecimal text of the key's bytes."""
        return cls(binascii.unhexlify(token_string))


TOKEN_CLASSES: dict[str, type[Token]] = {
    cls.partitioner: cls for cls in (Murmur3Token, MD5Token, BytesToken)
}


def token_class_for(partitioner: str) -> type[Token] | None:
    """The token class of a partitioner, by full or short class name; None if it is unknown."""
    return TOKEN_CLASSES.get(partitioner.rpartition(".")[2])


hand_over(globals())
