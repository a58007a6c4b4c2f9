"""The type of a column as the server writes it: [option], section 4.2.5.2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ...types import ListType, MapType, SetType, TupleType, UserType
from ...types.base import types_by_option_code
from ...types.registry import lookup_casstype
from ..malformed import MalformedFrameError
from ..primitives import read_short, read_string

if TYPE_CHECKING:
    from collections.abc import Mapping
    from io import BytesIO

    from ..messages import UserTypeMap

#: A class of ``driver.types``.
Type: TypeAlias = Any

CUSTOM: Final = 0x0000
LIST: Final = 0x0020
MAP: Final = 0x0021
SET: Final = 0x0022
UDT: Final = 0x0030
TUPLE: Final = 0x0031

#: Option codes without a value of their own; each type says its own. 0x000A was text in v1 and v2.
SIMPLE_TYPES: Final[Mapping[int, Type]] = {
    0x000A: types_by_option_code[0x000D],
    **types_by_option_code,
}

_SIMPLE: Final = frozenset(SIMPLE_TYPES.values())
_COLLECTIONS: Final = frozenset({ListType, SetType, MapType, TupleType})

#: Deeper than any schema; a hostile frame could otherwise exhaust the stack.
MAX_NESTING: Final = 64


def read_type(f: BytesIO, user_type_map: UserTypeMap, depth: int = 0) -> Type:
    """Read an [option] and give the class of ``driver.types`` that it means.

    Args:
        f: the frame's body.
        user_type_map: class for the values of a user-defined type, by keyspace and type name.
        depth: types around this one.

    Raises:
        MalformedFrameError: an unknown code, a class name that does not parse, or more than
            ``MAX_NESTING`` types in each other.
    """
    if depth > MAX_NESTING:
        raise MalformedFrameError(f"a column's type nests deeper than {MAX_NESTING}")
    code = read_short(f)
    simple = SIMPLE_TYPES.get(code)
    if simple is not None:
        return simple
    reader = _READERS.get(code)
    if reader is None:
        raise MalformedFrameError(f"a column has an unknown type code: {code:#06x}")
    try:
        return reader(f, user_type_map, depth + 1)
    except (ValueError, TypeError, RecursionError) as error:
        raise MalformedFrameError(f"a column has a type that cannot be: {error}") from error


def _read_custom(f: BytesIO, user_type_map: UserTypeMap, _: int) -> Type:
    """A [string]: the server's class name, which may have parameters; a vector comes so."""
    return lookup_casstype(read_string(f), user_type_map)


def _read_list(f: BytesIO, user_type_map: UserTypeMap, depth: int) -> Type:
    """The type of the elements."""
    return ListType.apply_parameters((read_type(f, user_type_map, depth),))


def _read_set(f: BytesIO, user_type_map: UserTypeMap, depth: int) -> Type:
    """The type of the elements."""
    return SetType.apply_parameters((read_type(f, user_type_map, depth),))


def _read_map(f: BytesIO, user_type_map: UserTypeMap, depth: int) -> Type:
    """The types of keys and values."""
    key = read_type(f, user_type_map, depth)
    return MapType.apply_parameters((key, read_type(f, user_type_map, depth)))


def _read_tuple(f: BytesIO, user_type_map: UserTypeMap, depth: int) -> Type:
    """A [short] n and n types."""
    count = read_short(f)
    return TupleType.apply_parameters(
        tuple(read_type(f, user_type_map, depth) for _ in range(count))
    )


def _read_udt(f: BytesIO, user_type_map: UserTypeMap, depth: int) -> Type:
    """Keyspace, name, a [short] n and n pairs of name and type."""
    keyspace = read_string(f)
    name = read_string(f)
    fields = [(read_string(f), read_type(f, user_type_map, depth)) for _ in range(read_short(f))]
    return UserType.make_udt_class(
        keyspace,
        name,
        [field for field, _ in fields],
        [type_ for _, type_ in fields],
        user_type_map.get(keyspace, {}).get(name),
    )


def means_the_same(type_: Type) -> bool:
    """Whether the bytes of a type mean it on every connection, whatever classes users registered.

    Those of a user-defined type and of a custom one do not.
    """
    generic = type_.__dict__.get("generic", type_)
    if generic in _COLLECTIONS:
        return all(map(means_the_same, type_.subtypes))
    return generic in _SIMPLE


_READERS: Final = {
    CUSTOM: _read_custom,
    LIST: _read_list,
    MAP: _read_map,
    SET: _read_set,
    UDT: _read_udt,
    TUPLE: _read_tuple,
}
