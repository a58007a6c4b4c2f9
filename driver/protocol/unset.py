"""UNSET: the parameter that leaves a column as it is (protocol v4 and newer)."""

from __future__ import annotations

from typing import Any, Final, Self


class UnsetType:
    """The class of ``UNSET_VALUE``; it has that one instance, also after copy and pickle."""

    __slots__ = ()
    _instance: Any = None

    def __new__(cls) -> Self:
        """The one instance."""
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        instance: Self = cls._instance
        return instance

    def __repr__(self) -> str:
        """The public name."""
        return "UNSET_VALUE"

    def __reduce__(self) -> str:
        """Pickle by name, so that ``is UNSET_VALUE`` still holds in the other process."""
        return "UNSET_VALUE"


UNSET_VALUE: Final = UnsetType()
