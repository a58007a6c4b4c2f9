"""The type of a column as the server writes it: [option], section 4.2.5.2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ...types import TupleType, UserType, UTF8Type
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

#: Types by option code; each type says its own. 0x000A was text in v1 and v2.
_TYPES: Final[Mapping[int, Type]] = {0x000A: UTF8Type, **types_by_option_code}
#: Those that are whole without more.
_SIMPLE: Final = {code: type_ for code, type_ in _TYPES.items() if type_.num_subtypes == 0}
#: Those that mean the same on every connection, with subtypes that do.
_WITHOUT_NAMES: Final = frozenset(_TYPES.values()) - {UserType}

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
    simple = _SIMPLE.get(code)
    if simple is not None:
        return simple
    found = _TYPES.get(code)
    if found is None and code != CUSTOM:
        raise MalformedFrameError(f"a column has an unknown type code: {code:#06x}")
    try:
        if found is None:
            # The server's class name, which may have parameters; a vector comes so.
            return lookup_casstype(read_string(f), user_type_map)
        if found is UserType:
            return _read_udt(f, user_type_map, depth + 1)
        count = read_short(f) if found is TupleType else found.num_subtypes
        return found.apply_parameters(
            [read_type(f, user_type_map, depth + 1) for _ in range(count)]
        )
    except (ValueError, TypeError, RecursionError) as error:
        raise MalformedFrameError(f"a column has a type that cannot be: {error}") from error


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
    return generic in _WITHOUT_NAMES and all(map(means_the_same, type_.subtypes))
