"""Serializers: one object a bind marker, chosen once, that encodes every value bound to it.

The mirror image of ``types.deserializers``. In this pure form the type itself does it; the compiled
form has classes of its own for the types that pay.
"""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..implementation import hand_over
from ..protocol.unset import UNSET_VALUE
from .wrapper import unwrapped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..protocol.unset import UnsetType
    from .base import CQLType

__all__ = ["Serializer", "ValuesSerializer", "find_serializer", "make_serializers"]


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


class ValuesSerializer:
    """Encodes the values of one statement, in the order of its bind markers."""

    __slots__ = ("_serialize",)

    def __init__(self, cqltypes: Iterable[type[CQLType]]) -> None:
        """Choose a serializer for each bind marker."""
        self._serialize = [serializer.serialize for serializer in make_serializers(cqltypes)]

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
        pairs = zip(given, self._serialize, strict=False)
        for value, serialize in islice(pairs, len(values), None) if values else pairs:
            if value is None:
                values.append(None)
            elif value is UNSET_VALUE:
                return
            else:
                values.append(serialize(value, protocol_version))


hand_over(globals())
