"""Which implementation runs: the readable Python one, or its compiled modules.

Decided once, at import, for the whole package, from the environment variable ``DRIVER_IMPL``:

========  ====================================================================
auto      compiled if all compiled modules are there, else pure (the default)
cython    compiled; ImportError lists what is missing
python    pure Python, whatever is installed
========  ====================================================================

A process is never mixed. The compiled form of ``driver/wire/rows.py`` is
``driver/_cython/wire/rows.pyx``; the last line of a module that has one is
``hand_over(globals())``.
"""

from __future__ import annotations

import json
import os
from functools import update_wrapper
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import GetSetDescriptorType, WrapperDescriptorType
from typing import Any

_PACKAGE = __name__.rpartition(".")[0]
_HERE = Path(__file__).resolve().parent
_CHOICES = ("auto", "cython", "python")

#: Modules that have a compiled form, relative to the package, lowest layer first.
TWINS: tuple[str, ...] = (
    "types.marshal",
    "types.deserializers",
    "types.serializers",
    "wire.compression",
    "wire.segments",
    "wire.rows",
    "wire.decoding",
    "wire.conversation",
    "wire.arrow.page",
    "wire.requests.frames",
    "statements.routing_key",
    "statements.bound",
    "topology.token",
    "topology.ring",
    "topology.metadata",
    "policies.load_balancing.token_aware",
    "results.rows",
    "results.page",
    "results.result_set",
    "net.after_read",
    "net.timers",
    "net.streams",
    "net.transport",
    "net.segmenting",
    "net.connection",
    "pool.host_pool",
    "policies.timestamps",
    "execution.options",
    "execution.request",
    "execution.response_future",
    "execution.awaitable",
    "cluster.session_core",
    "cluster.session",
    "aio.session",
)
#: Compiled modules that others need and that have no pure form.
ALONE: tuple[str, ...] = ("net.shared_reading",)


def _missing() -> list[str]:
    """Modules whose compiled form is not installed."""

    def compiled(module: str) -> bool:
        stem = _HERE.joinpath("_cython", *module.split("."))
        return any(stem.with_name(stem.name + suffix).exists() for suffix in EXTENSION_SUFFIXES)

    return [module for module in (*TWINS, *ALONE) if not compiled(module)]


def _why_pure() -> str:
    """What the build recorded about why it did not compile; empty if it recorded nothing."""
    manifest = _HERE / "_cython" / "built.json"
    if not manifest.exists():
        return "never built"
    return str(json.loads(manifest.read_text(encoding="utf-8")).get("pure_because", ""))


def _decide() -> tuple[str, str]:
    """The implementation and the reason, from DRIVER_IMPL and what is installed."""
    wanted = os.environ.get("DRIVER_IMPL", "auto")
    if wanted not in _CHOICES:
        raise ImportError(f"DRIVER_IMPL={wanted!r}: must be one of {', '.join(_CHOICES)}")
    if wanted == "python":
        return "python", "DRIVER_IMPL=python"
    missing = _missing()
    if not missing:
        return "cython", f"DRIVER_IMPL={wanted}"
    names = ", ".join(f"{_PACKAGE}._cython.{module}" for module in missing)
    if wanted == "cython":
        raise ImportError(
            f"DRIVER_IMPL=cython, but these compiled modules are missing: {names}. "
            "Build them with DRIVER_BUILD=cython pip install -e ."
        )
    return "python", f"no compiled modules ({_why_pure() or 'missing: ' + names})"


IMPL, REASON = _decide()


def hand_over(namespace: dict[str, Any]) -> None:
    """Replace a module's public names by those of its compiled form, if this process is compiled.

    Args:
        namespace: ``globals()`` of the pure module, at its last line.

    Raises:
        ImportError: the compiled module defines a public name that the pure module lacks.
    """
    if IMPL != "cython":
        return
    name = namespace["__name__"]
    relative = name.removeprefix(_PACKAGE + ".")
    compiled = import_module(f"{_PACKAGE}._cython.{relative}")
    unknown = [public for public in compiled.__all__ if public not in namespace]
    if unknown:
        raise ImportError(f"{compiled.__name__} defines {unknown}, which {name} does not")
    namespace.update({public: getattr(compiled, public) for public in compiled.__all__})
    # Classes stay Python's: a compiled module may bring some of their methods.
    for path, method in getattr(compiled, "METHODS", {}).items():
        owner, _, attribute = path.partition(".")
        if isinstance(method, GetSetDescriptorType | WrapperDescriptorType):
            compiled_one: object = method
        else:
            pure = vars(namespace[owner])[attribute]
            # They tell of themselves what the pure ones tell: signature and documentation.
            update_wrapper(method, getattr(pure, "fget", pure))
            compiled_one = pure.getter(method) if isinstance(pure, property) else method
        setattr(namespace[owner], attribute, compiled_one)
    namespace["__twin__"] = compiled


def origin(module: str) -> str:
    """The file that implements a module of this driver in this process.

    Args:
        module: a name relative to the package, such as ``"wire.rows"``.

    Returns:
        Path of the compiled module (``.so``) if it has taken over, else of the ``.py`` file.
    """
    loaded = import_module(f"{_PACKAGE}.{module}")
    return str(getattr(loaded, "__twin__", loaded).__file__)
