"""Installing and uninstalling: who answers ``import cassandra`` in this process."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .adaptors.binding import binding_as_there
from .adaptors.protocol_errors import raising_message_classes
from .finder import ROOT, CompatFinder
from .logs import LogBridge
from .resolve import Patches
from .tables import MODULES, ON_TOP, REFUSED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

_lock = threading.RLock()
_undo: list[Callable[[], None]] = []


def is_installed() -> bool:
    """Whether ``cassandra`` is served by this driver at present."""
    return bool(_undo)


def install(*, force: bool = False) -> None:
    """Serve the ``cassandra`` package from the modules of this driver, in this process.

    A second call changes nothing.

    Args:
        force: also when another ``cassandra`` package is imported already. Its modules are put
            aside until ``uninstall``; code that holds on to them goes on using them.

    Raises:
        RuntimeError: another ``cassandra`` package is imported already, and force is not given.
    """
    with _lock:
        if _undo:
            return
        imported = sys.modules.get(ROOT)
        if imported is not None and not force:
            where = getattr(imported, "__file__", None) or "somewhere without a file"
            raise RuntimeError(
                f"another package {ROOT!r} is already imported in this process, from {where}. "
                "Call driver.compat.install() before the first import of it, start the program "
                "with `python -m driver.compat`, or put it aside with install(force=True)."
            )
        aside = _take_out()
        bridge = LogBridge()
        patches = Patches(on_import=bridge.adopt)
        finder = CompatFinder(MODULES, REFUSED, ON_TOP, patches)
        sys.meta_path.insert(0, finder)
        bridge.start()
        restores = raising_message_classes(), binding_as_there()

        def undo() -> None:
            patches.restore_all()
            for restore in restores:
                restore()
            bridge.stop()
            sys.meta_path.remove(finder)
            _take_out()
            sys.modules.update(aside)

        _undo.append(undo)


def uninstall() -> None:
    """Undo ``install``: patches, loggers and imports are as they were before; else do nothing.

    Modules that were imported meanwhile keep what they have imported.
    """
    with _lock:
        if _undo:
            _undo.pop()()


@contextmanager
def installed(*, force: bool = False) -> Iterator[None]:
    """Install for the time of a ``with`` block, unless it is installed already.

    Args:
        force: as for ``install``.

    Raises:
        RuntimeError: as for ``install``.
    """
    mine = not is_installed()
    install(force=force)
    try:
        yield
    finally:
        if mine:
            uninstall()


def _take_out() -> dict[str, ModuleType]:
    """Remove every imported module of the package, and give them back."""
    names = [name for name in sys.modules if name == ROOT or name.startswith(ROOT + ".")]
    return {name: sys.modules.pop(name) for name in names}
