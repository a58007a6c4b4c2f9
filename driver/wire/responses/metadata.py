"""The metadata of results and of prepared statements: sections 4.2.5.2 and 4.2.5.4.

The type of a column is an [option] there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from ...protocol.columns import ColumnMetadata
from ...protocol.version import ProtocolVersion
from ...types import TupleType, UserType, UTF8Type
from ...types.base import types_by_option_code
from ...types.registry import lookup_casstype
from ..malformed import MalformedFrameError
from ..primitives import (
    read_binary_longstring,
    read_binary_string,
    read_int,
    read_short,
    read_string,
)
from ..row_shape import RowShape, known_shape, remember_shape

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

GLOBAL_TABLES_SPEC_FLAG: Final = 0x0001
HAS_MORE_PAGES_FLAG: Final = 0x0002
NO_METADATA_FLAG: Final = 0x0004
METADATA_CHANGED_FLAG: Final = 0x0008


class ResultMetadata(NamedTuple):
    """What precedes the rows of a result.

    Attributes:
        column_count: values in a row.
        columns: None if the server left them out.
        paging_state: where the next page begins; None if this page is the last.
        metadata_id: of ``columns``, if they are not those that the client has (v5).
    """

    column_count: int
    columns: RowShape | None
    paging_state: bytes | None
    metadata_id: bytes | None


class BindMetadata(NamedTuple):
    """The bind markers of a prepared statement.

    Attributes:
        flags: as the server sent them; extensions add some.
        columns: one a marker.
        pk_indexes: which markers make the partition key, in its order; None in v3.
    """

    flags: int
    columns: list[ColumnMetadata]
    pk_indexes: list[int] | None


def read_result_metadata(f: BytesIO, user_type_map: UserTypeMap) -> ResultMetadata:
    """Read <flags><columns_count>[<paging_state>][<new_metadata_id>][<columns>]."""
    flags = read_int(f)
    column_count = _read_count(f)
    paging_state = read_binary_longstring(f) if flags & HAS_MORE_PAGES_FLAG else None
    metadata_id = read_binary_string(f) if flags & METADATA_CHANGED_FLAG else None
    if flags & NO_METADATA_FLAG:
        columns = None
    else:
        columns = _read_shape(f, flags, column_count, user_type_map)
    return ResultMetadata(column_count, columns, paging_state, metadata_id)


def _read_shape(f: BytesIO, flags: int, column_count: int, user_type_map: UserTypeMap) -> RowShape:
    """The shape of rows with these columns: one that is known, or a new one that is from now on."""
    body, start = f.getvalue(), f.tell()
    known = known_shape(body, start, flags, column_count)
    if known is not None:
        f.seek(start + len(known.columns))
        return known.shape
    shape = RowShape(_read_columns(f, flags, column_count, user_type_map))
    if all(means_the_same(column.type) for column in shape):
        remember_shape(flags, body[start : f.tell()], shape)
    return shape


def read_bind_metadata(
    f: BytesIO, protocol_version: int, user_type_map: UserTypeMap
) -> BindMetadata:
    """Read <flags><columns_count>[<pk_count><pk_indexes>]<columns>."""
    flags = read_int(f)
    column_count = _read_count(f)
    pk_indexes = None
    if protocol_version >= ProtocolVersion.V4:
        pk_indexes = [read_short(f) for _ in range(_read_count(f))]
    return BindMetadata(flags, _read_columns(f, flags, column_count, user_type_map), pk_indexes)


def _read_count(f: BytesIO) -> int:
    """A number of things as [int], which is not negative."""
    count = read_int(f)
    if count < 0:
        raise MalformedFrameError(f"metadata counts {count} columns")
    return count


def _read_columns(
    f: BytesIO, flags: int, count: int, user_type_map: UserTypeMap
) -> list[ColumnMetadata]:
    """Read [<global_table_spec>]<col_spec_1>...<col_spec_n>."""
    if flags & GLOBAL_TABLES_SPEC_FLAG:
        keyspace = read_string(f)
        table = read_string(f)
        return [
            ColumnMetadata(keyspace, table, read_string(f), read_type(f, user_type_map))
            for _ in range(count)
        ]
    return [
        ColumnMetadata(read_string(f), read_string(f), read_string(f), read_type(f, user_type_map))
        for _ in range(count)
    ]


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
