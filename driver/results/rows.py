"""Row factories: the Python shape of a result's rows.

A page of NumPy columns, a dict of column name -> array, has no rows: all factories hand it on.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import repeat
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, TypeAlias

from ..implementation import hand_over
from ..values.named_tuple import named_tuple_of

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # with a default; every type checker brings it

    Row = TypeVar("Row", default=Any)
else:
    from typing import TypeVar

    Row = TypeVar("Row")

#: Rows as they were decoded, or a page of NumPy columns.
Decoded: TypeAlias = "Iterable[Sequence[Any]] | dict[str, Any]"
#: Takes column names and decoded rows, gives the rows that the caller sees.
RowFactory: TypeAlias = Callable[[Sequence[str], Any], Iterable[Row]]

_Factory = TypeVar("_Factory", bound=Callable[..., Any])

_BEGINS_A_NAME = re.compile(r"[a-zA-Z0-9]")
_ENDS_A_NAME = re.compile(r"[a-zA-Z0-9_]")
#: Of more columns with one name, each is called by its position: long names would take a while.
_MOST_UNDERSCORES = 8
_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_]")


def makes_single_rows(factory: _Factory) -> _Factory:
    """Declare that a row factory makes a list, and each row of its values alone.

    It has an attribute ``makes_single_rows`` then, and gets a large page in parts. The attribute is
    the factory: ``functools.wraps`` copies it to another one, which may do something else.
    """
    factory.makes_single_rows = factory  # type: ignore[attr-defined]  # of a function
    return factory


@makes_single_rows
def tuple_factory(
    colnames: Sequence[str],  # noqa: ARG001  (every factory takes names and rows)
    rows: Decoded,
) -> Iterable[tuple[Any, ...]]:
    """Rows as they were decoded: tuples in the order of the columns."""
    return rows  # type: ignore[return-value]  # rows are tuples, and NumPy pages have none


@makes_single_rows
def named_tuple_factory(colnames: Sequence[str], rows: Decoded) -> list[Any]:
    """Rows as named tuples, whose names no type checker knows: ``class_factory`` has those.

    Names that Python does not allow change: ``system.now()`` becomes ``system_now`` and ``_x``
    becomes ``x``; what is taken gets an underscore at its end; what is a keyword, starts with a
    digit, has nothing left or is there for the tenth time is called by its position,
    ``field_2_``.
    """
    if isinstance(rows, dict):
        return rows  # type: ignore[return-value]  # a NumPy page
    return make_named_tuples(named_tuple_class(tuple(colnames)), rows)


def make_named_tuples(cls: type[Any], rows: Iterable[Iterable[Any]]) -> list[tuple[Any, ...]]:
    """An instance of a class of named tuples for each row.

    Raises:
        TypeError: a row has more or fewer values than the class has fields.
    """
    make = cls._make
    return [make(row) for row in rows]  # a call from here is cheaper than one from ``map``


def make_rows(
    factory: RowFactory[Any],
    colnames: Sequence[str],
    rows: Decoded,
) -> Iterable[Any]:
    """What a row factory makes of decoded rows that only the caller has.

    The rows themselves may become the factory's.
    """
    return factory(colnames, rows)


@lru_cache(maxsize=512)
def named_tuple_class(colnames: tuple[str, ...]) -> type[Any]:
    """The named tuple class for column names; making one is slow, so it is kept."""
    return named_tuple_of("Row", tuple(_field_names(colnames)))


def _field_names(colnames: Sequence[str]) -> list[str]:
    """A valid and unique field name for each column."""
    fields: dict[str, None] = {}
    for position, name in enumerate(colnames):
        field = _NOT_IN_A_NAME.sub("_", _without_ends(name))
        if not field or field[0].isdigit() or iskeyword(field):
            field = f"field_{position}_"
        if field + "_" * _MOST_UNDERSCORES in fields:
            field = f"field_{position}_"
        while field in fields:
            field += "_"
        fields[field] = None
    return list(fields)


def _without_ends(name: str) -> str:
    """A name without what cannot begin or end one; in one pass from each end."""
    first = _BEGINS_A_NAME.search(name)
    if first is None:
        return ""
    last = _ENDS_A_NAME.search(name[::-1])
    return name[first.start() : len(name) - (last.start() if last else 0)]


@makes_single_rows
def dict_factory(colnames: Sequence[str], rows: Decoded) -> list[dict[str, Any]]:
    """Rows as dicts by column name; of columns with one name the last counts."""
    if isinstance(rows, dict):
        return rows  # type: ignore[return-value]  # a NumPy page
    # Without a frame of Python's for each; a keyword for ``zip`` would cost a third of this.
    return list(map(dict, map(zip, repeat(colnames), rows)))


@makes_single_rows
def ordered_dict_factory(colnames: Sequence[str], rows: Decoded) -> list[OrderedDict[str, Any]]:
    """Rows as ordered dicts by column name."""
    if isinstance(rows, dict):
        return rows  # type: ignore[return-value]  # a NumPy page
    return list(map(OrderedDict, map(zip, repeat(colnames), rows)))


def class_factory(cls: Callable[..., Row]) -> RowFactory[Row]:
    """Rows of a class of the caller's own, whose fields a type checker knows.

    Args:
        cls: called with the columns of each row as keywords: a dataclass, a ``NamedTuple``, a
            ``TypedDict``, any class or function. It raises what it likes about names that it does
            not take, a ``TypeError`` as a rule.

    Returns:
        A row factory, for a request, a profile or a session. Make it once: two of them of one
        class are not equal.
    """

    @makes_single_rows
    def factory(colnames: Sequence[str], rows: Decoded) -> list[Row]:
        if isinstance(rows, dict):
            return rows  # type: ignore[return-value]  # a NumPy page
        return [cls(**row) for row in dict_factory(colnames, rows)]

    return factory


hand_over(globals())
