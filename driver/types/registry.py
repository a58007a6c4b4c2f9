"""From a type string to a type: every family is imported here, and nowhere below."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from . import (  # noqa: F401  (each family registers its types by being imported)
    collection,
    composite,
    identity,
    numeric,
    record,
    temporal,
    text,
    vector,
    wrapper,
)
from .base import MARSHAL_PREFIX, CQLType, casstypes, cqltypes
from .custom import mkUnrecognizedType
from .type_string import Argument, parse_casstype, parse_cqltype

if TYPE_CHECKING:
    from collections.abc import Mapping


def _write(node: Argument) -> str:
    """A parsed class name as text again, for types that stay unknown."""
    label = f"{node.label}:" if node.label else ""
    arguments = f"({','.join(map(_write, node.arguments))})" if node.arguments else ""
    return f"{label}{node.name}{arguments}"


def _with_mapped_class(
    cqltype: type[CQLType], user_type_map: Mapping[str, Mapping[str, type]]
) -> type[CQLType]:
    """The same type, whose values are of the class that is registered for it, if one is."""
    if not issubclass(cqltype, record.UserType):
        return cqltype
    names = cast("tuple[str, ...]", cqltype.fieldnames)
    mapped_class = user_type_map.get(cqltype.keyspace, {}).get(cqltype.typename)
    return record.UserType.make_udt_class(
        cqltype.keyspace, cqltype.typename, names, cqltype.subtypes, mapped_class
    )


def lookup_casstype(
    casstype: str | type[CQLType],
    user_type_map: Mapping[str, Mapping[str, type]] | None = None,
) -> type[CQLType]:
    """The type of a class name with its arguments, as schema tables and custom types have it.

    Args:
        casstype: ``"ListType(Int32Type)"``, with or without packages; a type is returned as is.
            Class names that this driver does not know give a type whose values are bytes.
        user_type_map: class to give values of a user-defined type, by keyspace and type name.

    Raises:
        ValueError: the string does not follow the grammar, or the arguments are wrong.
    """

    def build(node: Argument) -> type[CQLType]:
        found = casstypes.get(node.name.removeprefix(MARSHAL_PREFIX))
        if found is None:
            return mkUnrecognizedType(_write(node._replace(label=None)))
        if not node.arguments:
            return found
        new = found.from_arguments(node.arguments, build)
        return _with_mapped_class(new, user_type_map) if user_type_map else new

    return build(parse_casstype(casstype)) if isinstance(casstype, str) else casstype


def lookup_casstype_simple(casstype: str) -> type[CQLType]:
    """The type of a class name without arguments, with or without its package."""
    return casstypes.get(casstype.removeprefix(MARSHAL_PREFIX)) or mkUnrecognizedType(casstype)


def lookup_cqltype(
    cqltype: str, user_types: Mapping[str, type[CQLType]] | None = None
) -> type[CQLType]:
    """The type that CQL writes so: ``"frozen<map<text, list<int>>>"``, ``"vector<float, 3>"``.

    Args:
        cqltype: names of built-in types in any case; custom classes in single quotes.
        user_types: user-defined types by name, also by ``keyspace.name``.

    Raises:
        ValueError: the string does not follow the grammar, or names a type that is not known.
    """
    known = user_types or {}

    def build(node: Argument) -> type[CQLType]:
        if node.quoted == "'":
            return lookup_casstype(node.name)
        found = None if node.quoted else cqltypes.get(node.name.lower())
        if found is None:
            found = known.get(node.name if node.quoted else node.name.lower())
        if found is None:
            raise ValueError(f"Unknown type {node.name!r} in {cqltype!r}")
        if node.arguments:
            return found.from_arguments(node.arguments, build)
        if found.num_subtypes and not found.subtypes:
            raise ValueError(f"Type {node.name!r} in {cqltype!r} needs its subtypes")
        return found

    return build(parse_cqltype(cqltype))
