"""User-defined types, and the order in which they can be created."""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from ...types.type_string import parse_cqltype
from .part import SchemaPart
from .quoting import protect_name, qualified

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...types.type_string import Argument


@dataclass(eq=False, repr=False)
class UserType(SchemaPart):
    """A user-defined type.

    Attributes:
        keyspace: the keyspace it lives in.
        name: its name.
        field_names: names of its fields, in order.
        field_types: their types, as CQL text.
    """

    _LABEL = "Type {0.keyspace}.{0.name}"

    keyspace: str
    name: str
    field_names: Sequence[str]
    field_types: Sequence[str]

    def as_cql_query(self, formatted: bool = False) -> str:
        """``CREATE TYPE``."""
        opening, comma, closing = ("\n    ", ",\n    ", "\n") if formatted else ("", ", ", "")
        pairs = zip(self.field_names, self.field_types, strict=False)
        fields = comma.join(f"{protect_name(name)} {cql_type}" for name, cql_type in pairs)
        return f"CREATE TYPE {qualified(self.keyspace, self.name)} ({opening}{fields}{closing})"


def names_in_type(cql_type: str) -> Iterator[str]:
    """Every name in a CQL type: built-in and user-defined ones, unquoted.

    Raises:
        ValueError: the text is no CQL type.
    """
    yield from _names(parse_cqltype(cql_type))


def _names(node: Argument) -> Iterator[str]:
    if node.quoted != "'":
        yield node.name
    for argument in node.arguments:
        yield from _names(argument)


def in_order_of_creation(user_types: Mapping[str, UserType]) -> list[UserType]:
    """Types such that each stands behind those that it is made of, otherwise by name."""
    needs = {
        name: sorted(
            {needed for text in user_type.field_types for needed in _names_or_none(text)}
            & user_types.keys() - {name}
        )
        for name, user_type in sorted(user_types.items())
    }
    try:
        names = list(TopologicalSorter(needs).static_order())
    except CycleError:  # no server creates one, but a half-read keyspace must still be shown
        names = sorted(user_types)
    return [user_types[name] for name in names]


def _names_or_none(cql_type: str) -> list[str]:
    """The names in a type; none in one that is not understood."""
    try:
        return list(names_in_type(cql_type))
    except ValueError:
        return []
