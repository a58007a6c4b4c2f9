"""Deserializers: one object a column, chosen once, that decodes every value of it.

A type's class methods find the way by its parameters for each value; a deserializer has found it
already. In this pure form it hands on to the type; the compiled form has one class a type, which
reads from the frame's buffer without a bytes object in between.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ..implementation import hand_over
from .wrapper import unwrapped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..protocol.typing import CqlValue
    from .base import CQLType


class Deserializer:
    """Decodes the values of one CQL type.

    Attributes:
        cqltype: the type; of a frozen or reversed type the one inside.
    """

    __slots__ = ("cqltype",)

    def __init__(self, cqltype: type[CQLType]) -> None:
        """Take the type."""
        self.cqltype = cqltype

    def deserialize_bytes(self, data: bytes | None, protocol_version: int) -> CqlValue:
        """The value of bytes; None for null (None), and for zero bytes that are no value.

        Raises:
            MarshalException: the bytes are no value of the type.
            UnicodeDecodeError: the bytes are no text.
            OverflowError: a timestamp that ``datetime`` cannot hold.
        """
        if data is None:
            return None
        return self.cqltype.from_binary(data, protocol_version)


@cache
def find_deserializer(cqltype: type[CQLType]) -> Deserializer:
    """The deserializer of a type; the same one for the same type."""
    return Deserializer(unwrapped(cqltype))


def make_deserializers(cqltypes: Iterable[type[CQLType]]) -> list[Deserializer]:
    """The deserializer of each type, in order."""
    return [find_deserializer(cqltype) for cqltype in cqltypes]


hand_over(globals())
