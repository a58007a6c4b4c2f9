"""How ``import cassandra.cluster`` finds a served module: a meta-path finder and its loader."""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_loader
from pathlib import Path
from typing import TYPE_CHECKING

from .module import ServedModule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from .resolve import Patches
    from .served import Served

#: Name of the package that is served.
ROOT = "cassandra"


class ServedLoader(Loader):
    """Makes a served module; there is no code to run."""

    def __init__(self, served: Served, patches: Patches) -> None:
        """Of a table."""
        self._served = served
        self._patches = patches

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """An empty module that knows its table."""
        return ServedModule(spec.name, self._served, self._patches)

    def exec_module(self, module: ModuleType) -> None:
        """Say what it is; also the whole of ``importlib.reload``."""
        module.__doc__ = f"{module.__name__}, served by driver.compat; see {self._served.file}."
        module.__file__ = self._served.file
        module.__all__ = [name for name in self._served.names if not name.startswith("_")]  # type: ignore[attr-defined]


class RefusingLoader(Loader):
    """Says why a module is not served."""

    def __init__(self, reason: str) -> None:
        """With the reason."""
        self._reason = reason

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Refuse.

        Raises:
            ImportError: always.
        """
        raise ImportError(f"{spec.name} is not served by driver.compat: {self._reason}")

    def exec_module(self, module: ModuleType) -> None:
        """Never reached."""


class CompatFinder(MetaPathFinder):
    """Finds what the tables have, explains what they leave out, and leaves everything else."""

    def __init__(
        self,
        modules: Mapping[str, Served],
        refused: Mapping[str, str],
        on_top: Mapping[str, str],
        patches: Patches,
    ) -> None:
        """Of tables and reasons, by the full name of the module.

        Args:
            modules: what is served.
            refused: why what is not.
            on_top: packages in pure Python that stand on the names of the others, and so are
                taken from a distribution that is installed; and what to say if none is.
            patches: see ``Patches``.
        """
        self._modules = modules
        self._on_top = on_top
        self._refused = refused
        self._patches = patches

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002  (the import system's signature)
        target: ModuleType | None = None,  # noqa: ARG002  (the same)
    ) -> ModuleSpec | None:
        """A spec for a served or a refused module; None for every other one."""
        served = self._modules.get(fullname)
        if served is not None:
            return spec_from_loader(
                fullname,
                ServedLoader(served, self._patches),
                origin=served.file,
                is_package=served.is_package,
            )
        if fullname in self._on_top:
            folders = [str(Path(entry or ".", ROOT)) for entry in sys.path]
            found = PathFinder.find_spec(fullname, folders)
            return found or ModuleSpec(fullname, RefusingLoader(self._on_top[fullname]))
        package = ".".join(fullname.split(".")[:2])
        reason = self._refused.get(package)
        if reason is not None:
            return ModuleSpec(fullname, RefusingLoader(reason))
        return None
