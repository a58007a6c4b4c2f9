"""The pure modules, whichever driver runs: no schedule stops inside of a compiled function."""

import sys
from importlib import import_module

from mount import mount

_PURE = sys.modules.get("driver_pure") or mount("driver_pure", "python")


def stepped(name):
    """A module of it, by its name within the driver."""
    return import_module(f"{_PURE.__name__}.{name}")
