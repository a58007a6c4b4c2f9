"""The module type that is served: every name goes through to the modules behind, both ways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .tables import LEFT_OUT, MODULES

if TYPE_CHECKING:
    from .resolve import Patches
    from .served import Served


class ServedModule(ModuleType):
    """A module of the ``cassandra`` package, without an object of its own.

    Nothing is kept here but what the import system puts here (``__spec__``, submodules) and names
    that nobody served before (``mock.patch(..., create=True)``).
    """

    def __init__(self, name: str, served: Served, patches: Patches) -> None:
        """Serve a table under a name; everything behind it is imported when it is first used."""
        super().__init__(name)
        self.__served__ = served
        self.__patches__ = patches

    def __getattr__(self, name: str) -> Any:
        """A served name, as it is in the module behind at this moment."""
        try:
            return self.__patches__.get(self.__served__, name)
        except AttributeError:
            submodule = f"{self.__name__}.{name}"
            if submodule in MODULES:
                # Programs rely on what other modules of the package import.
                return import_module(submodule)
            reason = LEFT_OUT.get(f"{self.__name__}.{name}")
            raise AttributeError(
                f"module {self.__name__!r}, served by driver.compat, has no attribute {name!r}"
                + (f": {reason}" if reason else ""),
                name=name,
                obj=self,
            ) from None

    def __setattr__(self, name: str, value: object) -> None:
        """Set a served name in the modules behind, any other one here."""
        if _is_own(name, value) or not self.__patches__.serves(self.__served__, name):
            super().__setattr__(name, value)
        else:
            self.__patches__.set(self.__served__, name, value)

    def __delattr__(self, name: str) -> None:
        """Take a served name away in the modules behind, any other one here."""
        if name in _native(self) or not self.__patches__.serves(self.__served__, name):
            super().__delattr__(name)
        else:
            self.__patches__.delete(self.__served__, name)

    def __dir__(self) -> list[str]:
        """The names of the table, and what the import system put here."""
        return sorted({*_native(self), *self.__served__.names})

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        """The names and what they stand for, read through.

        ``mock.patch`` looks here to see whether a name is the module's own: an own name is set
        again afterwards, another one is deleted first, and a thread that needed it would fail.
        """
        return _Names(self)


class _Names(Mapping[str, Any]):
    """The namespace of a served module."""

    def __init__(self, module: ServedModule) -> None:
        """Of a module."""
        self._module = module

    def __getitem__(self, name: str) -> Any:
        """What a name stands for."""
        try:
            return getattr(self._module, name)
        except AttributeError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        """All names."""
        return iter(dir(self._module))

    def __len__(self) -> int:
        """How many names there are."""
        return len(dir(self._module))


_dict_of: Any = vars(ModuleType)["__dict__"].__get__


def _native(module: ModuleType) -> dict[str, Any]:
    """What is really kept in a module."""
    own: dict[str, Any] = _dict_of(module)
    return own


def _is_own(name: str, value: object) -> bool:
    """What belongs to the module itself: what the import system sets, and submodules."""
    return (name.startswith("__") and name.endswith("__")) or isinstance(value, ServedModule)
