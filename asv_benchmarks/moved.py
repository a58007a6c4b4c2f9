"""Where the driver had a name before it moved: suites measure commits from before, too.

A suite says where a name is today; older commits are looked through by the table.
"""

# ruff: noqa: ANN401  (objects of whichever driver is installed)

from __future__ import annotations

from importlib import import_module
from typing import Any

PACKAGE = "driver"

#: Where a module, a class or a function is, and where it was before.
MOVED = {
    "protocol.columns": "vocabulary.columns",
    "protocol.kinds": "vocabulary.kinds",
    "wire.decoding:decode_message": "wire.codec:ProtocolHandler.decode_message",
    "statements.bound:bind_prepared": "statements.prepared:PreparedStatement.bind",
    "wire.requests.frames:encode_message": "wire.codec:ProtocolHandler.encode_message",
    "execution.request:RequestExecution._set_result": (
        "execution.dispatch:ResponseDispatch._set_result"
    ),
}


def where(name: str) -> str:
    """A name, as ``"module"`` or ``"module:qualified.name"``, as the installed driver has it.

    What is nowhere keeps the name of today.
    """
    for known in (name, before(name)):
        if known is not None and _is_there(known):
            return known
    return name


def load(name: str) -> Any:
    """The object that a name stands for.

    Raises:
        ImportError: the installed driver has no such module.
        AttributeError: it has, but nothing of that name in it.
    """
    module, _, path = where(name).partition(":")
    found: Any = import_module(f"{PACKAGE}.{module}")
    for part in filter(None, path.split(".")):
        found = getattr(found, part)
    return found


def before(name: str) -> str | None:
    """Where a name was; None if it has always been where it is."""
    for now, then in MOVED.items():
        if name == now or name.startswith((f"{now}.", f"{now}:")):
            return then + name.removeprefix(now)
        if now.startswith(f"{name}:"):  # a module whose only content moved
            return then.partition(":")[0]
    return None


def _is_there(name: str) -> bool:
    """Whether a module defines a name; what a class inherits is elsewhere."""
    module, _, path = name.partition(":")
    try:
        found: Any = import_module(f"{PACKAGE}.{module}")
    except ModuleNotFoundError as missing:
        if not f"{PACKAGE}.{module}".startswith(missing.name or ""):
            raise
        return False
    for part in filter(None, path.split(".")):
        if part not in vars(found):
            return False
        found = vars(found)[part]
    return True
