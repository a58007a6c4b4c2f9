"""Mount the driver package a second time in one process, under another name and implementation."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import driver

if TYPE_CHECKING:
    from types import ModuleType


def mount(alias: str, implementation: str) -> ModuleType:
    """Import a second copy of the driver package.

    Relative imports everywhere make this possible: the copy's modules are `alias.types...`,
    its classes are its own, and it decides on its implementation by itself.

    Args:
        alias: the name of the copy in sys.modules.
        implementation: the value of DRIVER_IMPL that the copy sees while it is imported.
    """
    folder = Path(driver.__file__).parent
    spec = importlib.util.spec_from_file_location(
        alias, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[alias] = package
    before = os.environ.get("DRIVER_IMPL")
    os.environ["DRIVER_IMPL"] = implementation
    try:
        spec.loader.exec_module(package)
    finally:
        if before is None:
            del os.environ["DRIVER_IMPL"]
        else:
            os.environ["DRIVER_IMPL"] = before
    return package
