"""Serializers: one object a bind marker, chosen once, that encodes every value bound to it.

The mirror image of ``types.deserializers``. In this pure form the type itself does it; the compiled
twin has classes of its own for the types that pay.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ..implementation import hand_over
from .wrapper import unwrapped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .base import CQLType

__all__ = ["Serializer", "find_serializer", "make_serializers"]


class Serializer:
    """Encodes the values of one CQL type.

    Attributes:
        cqltype: the type; of a frozen or reversed type the one inside.
        serialize: ``serialize(value, protocol_version) -> bytes`` of a value that is neither None
            nor unset. It is the type's own class method, so that a type which goes the generic
            way pays for no call more. Errors as in ``types.base``.
    """

    __slots__ = ("cqltype", "serialize")

    def __init__(self, cqltype: type[CQLType]) -> None:
        """Take the type."""
        self.cqltype = cqltype
        self.serialize = cqltype.serialize


@cache
def find_serializer(cqltype: type[CQLType]) -> Serializer:
    """The serializer of a type; the same one for the same type."""
    return Serializer(unwrapped(cqltype))


def make_serializers(cqltypes: Iterable[type[CQLType]]) -> list[Serializer]:
    """The serializer of each type, in order."""
    return [find_serializer(cqltype) for cqltype in cqltypes]


hand_over(globals())
