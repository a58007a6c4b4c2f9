"""``cassandra.cqltypes``: type strings as nested lists, and small questions about types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from ...types.base import MARSHAL_PREFIX, CQLType
from ...types.composite import EmptyType
from ...types.numeric import CounterColumnType
from ...types.registry import lookup_casstype
from ...types.type_string import Argument, parse_cqltype
from ...types.wrapper import ReversedType

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A type in CQL as lists: a name, and behind a name with parameters the list of those.
TypeList: TypeAlias = "list[str | TypeList]"

apache_cassandra_type_prefix: Final = MARSHAL_PREFIX
cassandra_empty_type: Final = EmptyType.cass_parameterized_type(full=True)
cql_empty_type: Final = EmptyType.typename

#: Forms in which CQL reads timestamps.
cql_timestamp_formats: Final = (
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d",
)


def trim_if_startswith(s: str, prefix: str) -> str:
    """A string without a prefix."""
    return s.removeprefix(prefix)


def _quoted(node: Argument) -> str:
    """A name with the quotation marks that it had."""
    return f"{node.quoted}{node.name}{node.quoted}"


def _as_list(node: Argument) -> TypeList:
    """A parsed type as lists."""
    inner: TypeList = []
    for argument in node.arguments:
        inner += _as_list(argument)
    return [_quoted(node), inner] if inner else [_quoted(node)]


def cqltype_to_python(cql_string: str) -> TypeList:
    """A type in CQL as nested lists: ``map<int, list<text>>`` -> ``["map", ["int", "list", ...]]``.

    Raises:
        ValueError: the string does not follow the grammar.
    """
    return _as_list(parse_cqltype(cql_string))


def python_to_cqltype(types: TypeList) -> str:
    """A type in CQL from nested lists."""
    written: list[str] = []
    for item in types:
        if isinstance(item, list):
            written[-1] += f"<{python_to_cqltype(item)}>"
        else:
            written.append(item)
    return ", ".join(written)


def _without_frozen(node: Argument) -> Argument:
    """A parsed type, frozen nowhere."""
    if node.name.lower() == "frozen" and node.arguments:
        return _without_frozen(node.arguments[0])
    return node._replace(arguments=tuple(map(_without_frozen, node.arguments)))


def strip_frozen(cql: str) -> str:
    """A type in CQL without every ``frozen<...>``.

    Raises:
        ValueError: the string does not follow the grammar.
    """
    return python_to_cqltype(_as_list(_without_frozen(parse_cqltype(cql))))


def cql_types_from_string(cql_type: str) -> list[str]:
    """The names in a type in CQL, without ``frozen``.

    Raises:
        ValueError: the string does not follow the grammar.
    """

    def names(node: Argument) -> Iterator[str]:
        yield _quoted(node)
        for argument in node.arguments:
            yield from names(argument)

    return list(names(_without_frozen(parse_cqltype(cql_type))))


def cql_typename(casstypename: str) -> str:
    """The name in CQL of a type by its class name."""
    return lookup_casstype(casstypename).cql_parameterized_type()


def parse_casstype_args(typestring: str) -> type[CQLType]:
    """The type of a class name with its arguments."""
    return lookup_casstype(typestring)


def is_counter_type(t: type) -> bool:
    """Whether a type, or the class name of one, is counter."""
    return issubclass(lookup_casstype(t) if isinstance(t, str) else t, CounterColumnType)


def is_reversed_casstype(data_type: type) -> bool:
    """Whether a type orders its column backwards."""
    return issubclass(data_type, ReversedType)
