"""After a fork: the child's copies of connections refuse to be used, for their sockets are shared.

A byte that the child wrote would reach the node as one of the parent's requests, and an answer that
it read would be missing there. Nothing asks for the process on the way of a request: the child
closes its copies once, when it begins, and what is closed is refused anyway.
"""

from __future__ import annotations

import os
from typing import Any, Final, NoReturn, Protocol
from weakref import WeakSet

from ..protocol.errors import DriverException


class ForkedError(DriverException, RuntimeError):
    """What was connected before a fork is used in the child, which has to connect anew."""

    def __init__(self) -> None:
        """Name both processes."""
        super().__init__(
            f"this was connected in process {os.getppid()}, from which process {os.getpid()} was "
            "forked: make a new Cluster in the child and connect it"
        )


class Shared(Protocol):
    """Something that a child must not use."""

    def forked(self) -> None:
        """Refuse to be used from now on, touching neither loop nor network; in the child."""


class InheritedLoop:
    """Stands for an event loop that runs in the parent: whatever is asked of it is refused."""

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse.

        Raises:
            ForkedError: always.
        """
        raise ForkedError


#: In place of the loop of whatever was connected before a fork. Any: it is none, on purpose.
INHERITED_LOOP: Final[Any] = InheritedLoop()

_shared: Final[WeakSet[Shared]] = WeakSet()


def refuse_in_child(thing: Shared) -> None:
    """Have ``forked`` called in every child that this process forks from now on."""
    _shared.add(thing)


def _in_child() -> None:
    for thing in tuple(_shared):
        thing.forked()
    _shared.clear()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_in_child)
