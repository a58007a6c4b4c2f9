"""Deserializers: one object a column, chosen once, that decodes every value of it.

A type's class methods find the way by its parameters for each value; a deserializer has found it
already. In this pure form it hands on to the type; the compiled form has one class a type, which
reads from the frame's buffer without a bytes object in between.
"""

from __future__ import annotations

from functools import cache
from struct import Struct
from typing import TYPE_CHECKING

from ..implementation import hand_over
from .numeric import BooleanType, Int32Type
from .text import UTF8Type
from .wrapper import unwrapped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..protocol.typing import CqlValue
    from .base import CQLType


#: A length and a number behind it, by NumPy's name of the number.
_NUMBERS = {
    ">i1": Struct(">ib"), ">i2": Struct(">ih"), ">i4": Struct(">ii"), ">i8": Struct(">iq"),
    ">f4": Struct(">if"), ">f8": Struct(">id"),
}  # fmt: skip
_BOOLEAN = Struct(">i?")
#: How all types of numbers of one width are decoded, booleans, and all of texts.
_OF_NUMBERS = Int32Type.deserialize.__func__  # type: ignore[attr-defined]  # of a class method
_OF_BOOLEANS = BooleanType.deserialize.__func__  # type: ignore[attr-defined]  # likewise
_OF_TEXTS = UTF8Type.deserialize.__func__  # type: ignore[attr-defined]  # likewise


class Deserializer:
    """Decodes the values of one CQL type.

    Attributes:
        cqltype: the type; of a frozen or reversed type the one inside.
        number_at: in this form only, what reads a length and the number behind it from bytes at an
            offset, of a type whose values are numbers of one width, or booleans.
        number_size: bytes of both together; 0 of other types.
        is_utf8: likewise, whether its values are texts in UTF-8.
    """

    __slots__ = ("cqltype", "is_utf8", "number_at", "number_size")

    def __init__(self, cqltype: type[CQLType]) -> None:
        """Take the type."""
        self.cqltype = cqltype
        decodes = getattr(getattr(cqltype, "deserialize", None), "__func__", None)
        number = _BOOLEAN if decodes is _OF_BOOLEANS else None
        if decodes is _OF_NUMBERS:
            number = _NUMBERS.get(cqltype.dtype)
        self.number_at = number.unpack_from if number else None
        self.number_size = number.size if number else 0
        self.is_utf8 = (
            decodes is _OF_TEXTS and getattr(cqltype, "encoding", "") == UTF8Type.encoding
        )

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
