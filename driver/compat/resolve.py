"""From a served name to the objects behind it, and what a patch of the name replaces.

A patch of a name in the table replaces it in the module where it lives and in every loaded module
of this driver that imported the same object by the same name. A patch of a name that only stands
in the modules behind (``log``, ``time``) replaces it in those of them that have it. What was there
is kept for each place, so that setting the first original again puts everything back.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from .served import Served

#: The name that this driver is imported by.
PACKAGE: Final = (__package__ or "").rpartition(".")[0]

_MISSING: Final = object()


@dataclass(slots=True)
class _Patch:
    """A name that was replaced, and what was in each place before."""

    name: str
    originals: dict[str, Any] = field(default_factory=dict)  # by the name of the module

    @property
    def original(self) -> object:
        """What the served name gave before: the first place is the one that is asked."""
        return next(iter(self.originals.values()))


class Patches:
    """The names that are replaced at present."""

    def __init__(self, on_import: Callable[[], None]) -> None:
        """Nothing is.

        Args:
            on_import: called when a module behind was imported just now.
        """
        self._on_import = on_import
        self._active: dict[tuple[str, str], _Patch] = {}
        self._lock = threading.RLock()

    def module(self, name: str) -> ModuleType:
        """A module of this driver, imported; the name is relative to the package."""
        full_name = f"{PACKAGE}.{name}"
        is_new = full_name not in sys.modules
        module = import_module(full_name)
        if is_new:
            self._on_import()
        return module

    def get(self, served: Served, name: str) -> Any:
        """What a name stands for now.

        Raises:
            AttributeError: nothing behind the module has that name.
        """
        target = served.names.get(name)
        if target is not None:
            return getattr(self.module(target.module), target.name)
        if not name.startswith("__"):
            for behind in served.behind:
                value = vars(self.module(behind)).get(name, _MISSING)
                if value is not _MISSING:
                    return value
        raise AttributeError(name)

    def serves(self, served: Served, name: str) -> bool:
        """Whether a name goes through to a module behind, also while it is deleted there."""
        return (
            name in served.names
            or self._key(served, name) in self._active
            or bool(self._behind_with(served, name))
        )

    def set(self, served: Served, name: str, value: object) -> None:
        """Replace a name, or put the original back."""
        with self._lock:
            key = self._key(served, name)
            patch = self._started(served, name, key)
            if value is patch.original:
                self._restore(key)
                return
            for module in patch.originals:
                setattr(sys.modules[module], patch.name, value)

    def delete(self, served: Served, name: str) -> None:
        """Take a name away until it is set again.

        Raises:
            AttributeError: it is not there.
        """
        with self._lock:
            self.get(served, name)
            patch = self._started(served, name, self._key(served, name))
            for module in patch.originals:
                vars(sys.modules[module]).pop(patch.name, None)

    def restore_all(self) -> None:
        """Put everything back."""
        with self._lock:
            for key in list(self._active):
                self._restore(key)

    def _restore(self, key: tuple[str, str]) -> None:
        """Put the original back into each place."""
        patch = self._active.pop(key)
        for module, original in patch.originals.items():
            setattr(sys.modules[module], patch.name, original)

    @staticmethod
    def _key(served: Served, name: str) -> tuple[str, str]:
        """The same for all served names that stand for the same name of ours."""
        target = served.names.get(name)
        return (target.module, target.name) if target else (served.file, name)

    def _behind_with(self, served: Served, name: str) -> list[ModuleType]:
        """The modules behind that have a name which is not in the table."""
        if name.startswith("__"):
            return []
        modules = [self.module(behind) for behind in served.behind]
        return [module for module in modules if name in vars(module)]

    def _started(self, served: Served, name: str, key: tuple[str, str]) -> _Patch:
        """The patch of a name, with every place that has what is to be replaced now."""
        target = served.names.get(name)
        patch = self._active.get(key)
        if patch is None:
            patch = self._active[key] = _Patch(target.name if target else name)
            if target is None:
                places = self._behind_with(served, name)
            else:
                home = self.module(target.module)
                places = [home, *_sharing(target.name, getattr(home, target.name))]
            for module in places:
                patch.originals.setdefault(module.__name__, vars(module)[patch.name])
        elif target is not None:
            # A module that was first imported under a patch has kept the replacement.
            now = vars(self.module(target.module)).get(target.name, _MISSING)
            for module in _sharing(target.name, now):
                patch.originals.setdefault(module.__name__, patch.original)
        return patch


def _sharing(name: str, value: object) -> list[ModuleType]:
    """The loaded modules of this driver in which a name stands for this very object."""
    return [
        module
        for module_name, module in list(sys.modules.items())
        if module_name.startswith(PACKAGE + ".")
        and vars(module).get(name, _MISSING) is value
        and value is not _MISSING
    ]
