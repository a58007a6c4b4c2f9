"""Forwarded attributes: what an object shows of another one that it has, and sets there."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar, Generic, Self, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")


class Forwarded(Generic[_T]):
    """An attribute of the object that a path leads to; how it is set is for subclasses to say."""

    _path: ClassVar[str]

    def __init__(self, attribute: str = "") -> None:
        """Show an attribute; by default the one that is called as this one."""
        self._attribute = attribute

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the name that the attribute has here."""
        self._name = name
        self._attribute = self._attribute or name
        self._read: Callable[[object], _T] = attrgetter(f"{self._path}.{self._attribute}")

    @overload
    def __get__(self, here: None, owner: type) -> Self: ...

    @overload
    def __get__(self, here: object, owner: type) -> _T: ...

    def __get__(self, here: object, owner: type) -> Self | _T:
        """The value now; of the class, what forwards."""
        return self if here is None else self._read(here)
