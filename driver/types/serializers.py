"""Serializers: one object a bind marker, chosen once, that encodes every value bound to it.

The mirror image of ``types.deserializers``. In this pure form the type itself does it, but for
numbers of one width and texts in UTF-8, which one call of C's packs; the compiled form has classes
of its own for the types that pay.
"""

from __future__ import annotations

import struct
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..implementation import hand_over
from ..protocol.unset import UNSET_VALUE
from .numeric import Int32Type
from .text import UTF8Type
from .wrapper import unwrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..protocol.unset import UnsetType
    from .base import CQLType

__all__ = ["Serializer", "ValuesSerializer", "find_serializer", "make_serializers"]

#: How all types of numbers of one width are encoded, and all of texts.
_OF_NUMBERS = Int32Type.serialize.__func__  # type: ignore[attr-defined]  # of a class method
_OF_TEXTS = UTF8Type.serialize.__func__  # type: ignore[attr-defined]  # likewise


class Serializer:
    """Encodes the values of one CQL type.

    Attributes:
        cqltype: the type; of a frozen or reversed type the one inside.
        pack: in this form only, a function of C's that gives the bytes of a usual value, and fails
            for every other one; None where the type has none.
        serialize: ``serialize(value, protocol_version) -> bytes`` of a value that is neither None
            nor unset. It is the type's own class method, so that a type which goes the generic
            way pays for no call more. Errors as in ``types.base``.
    """

    __slots__ = ("cqltype", "pack", "serialize")

    def __init__(self, cqltype: type[CQLType]) -> None:
        """Take the type."""
        self.cqltype = cqltype
        self.serialize = cqltype.serialize
        self.pack = _packer(cqltype)


def _packer(cqltype: Any) -> Callable[[Any], bytes] | None:  # noqa: ANN401  (of a family that has it)
    """See ``Serializer.pack``."""
    encodes = getattr(cqltype.serialize, "__func__", None)
    if encodes is _OF_NUMBERS:
        return cqltype._pack  # type: ignore[no-any-return]  # noqa: SLF001  (of this folder)
    is_utf8 = encodes is _OF_TEXTS and cqltype.encoding == UTF8Type.encoding
    return str.encode if is_utf8 else None


@cache
def find_serializer(cqltype: type[CQLType]) -> Serializer:
    """The serializer of a type; the same one for the same type."""
    return Serializer(unwrapped(cqltype))


def make_serializers(cqltypes: Iterable[type[CQLType]]) -> list[Serializer]:
    """The serializer of each type, in order."""
    return [find_serializer(cqltype) for cqltype in cqltypes]


class ValuesSerializer:
    """Encodes the values of one statement, in the order of its bind markers."""

    __slots__ = ("_of_markers",)

    def __init__(self, cqltypes: Iterable[type[CQLType]]) -> None:
        """Choose a serializer for each bind marker."""
        self._of_markers = [(each.pack, each.serialize) for each in make_serializers(cqltypes)]

    def append(
        self,
        values: list[bytes | UnsetType | None],
        given: list[Any] | tuple[Any, ...],
        protocol_version: int,
    ) -> None:
        """Append the bytes of values up to one that is unset, which is left to the caller.

        Args:
            values: of the bind markers so far; the next value is ``given[len(values)]``.
            given: what to encode, one for each bind marker at most; None is null.
            protocol_version: of the connection that prepared the statement.

        Raises:
            Exception: what the type of the bind marker ``len(values)`` has to say of its value.
        """
        pairs = zip(given, self._of_markers)  # noqa: B905  (the keyword costs more than the call)
        for value, (pack, serialize) in islice(pairs, len(values), None) if values else pairs:
            if value is None:
                values.append(None)
            elif value is UNSET_VALUE:
                return
            elif pack is None:
                values.append(serialize(value, protocol_version))
            else:
                try:
                    values.append(pack(value))
                except (struct.error, OverflowError, TypeError):
                    # What is wrong with it, its type can tell.
                    values.append(serialize(value, protocol_version))


hand_over(globals())
