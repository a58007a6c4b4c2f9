"""Named tuples of names that a server gave: ``pickle`` and ``copy`` find their classes again."""

from __future__ import annotations

from collections import namedtuple
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1024)
def named_tuple_of(name: str, fields: tuple[str, ...]) -> type[Any]:
    """The class of named tuples of this name and these fields.

    No module has it, so its instances are pickled with what it is made of.
    """
    cls = namedtuple(name, fields)  # type: ignore[misc]  # noqa: PYI024  (known at run time)

    def reduce(self: Any) -> tuple[Any, ...]:  # noqa: ANN401  (of the class)
        return named_tuple, (name, fields, tuple(self))

    cls.__reduce__ = reduce  # type: ignore[method-assign]
    return cls


def named_tuple(name: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:  # noqa: ANN401  (of the class)
    """An instance again."""
    return named_tuple_of(name, fields)._make(values)
