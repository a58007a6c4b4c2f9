"""Listeners: whoever the application registered to hear of hosts that come and go."""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import TYPE_CHECKING

from ..net.loop import outlive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..policies.load_balancing import HostStateListener
    from ..topology.host import Host

log = logging.getLogger(__name__)


class InOrder:
    """Runs functions on threads that may wait: one after the other, in the order they came in."""

    def __init__(self, submit: Callable[[Callable[[], None]], object]) -> None:
        """Have ``submit`` run a function soon, on whichever thread; RuntimeError: it cannot."""
        self._submit = submit
        self._waiting: deque[Callable[[], None]] = deque()
        self._is_running = False
        self._lock = threading.Lock()

    def __call__(self, fn: Callable[[], None]) -> None:
        """Run a function after those before it. It must not raise."""
        with self._lock:
            self._waiting.append(fn)
            if self._is_running:
                return
            self._is_running = True
        try:
            self._submit(self._run)
        except RuntimeError as error:
            # The cluster is shut down: there is nothing to hear of any more.
            log.debug("Listeners are not told: %s", error)
            self._waiting.clear()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._is_running = False
                    return
                fn = self._waiting.popleft()
            fn()


def at_once(fn: Callable[[], None]) -> None:
    """Run a function here and now."""
    fn()


class Listeners:
    """Registered listeners, each at most once, in the order in which they came.

    Registering replaces the tuple, so that whoever tells them can do so while one comes or goes.
    """

    def __init__(self, run: Callable[[Callable[[], None]], None] = at_once) -> None:
        """Nobody listens yet; ``run`` decides where those that do are told."""
        self._listeners: tuple[HostStateListener, ...] = ()
        self._run = run

    def register(self, listener: HostStateListener) -> None:
        """Tell a listener from now on."""
        if listener not in self._listeners:
            self._listeners = (*self._listeners, listener)

    def unregister(self, listener: HostStateListener) -> None:
        """Tell a listener no more.

        Raises:
            KeyError: it is not registered.
        """
        if listener not in self._listeners:
            raise KeyError(listener)
        self._listeners = tuple(known for known in self._listeners if known != listener)

    def tell(self, what: str, host: Host) -> None:
        """Call a method of every listener, such as ``on_up``; what one raises is logged."""
        if self._listeners:
            self._run(lambda: self._tell_each(what, host))

    def _tell_each(self, what: str, host: Host) -> None:
        for listener in self._listeners:
            try:
                getattr(listener, what)(host)
            except BaseException as error:
                log.exception("%s of %r raised an exception for %s", what, listener, host)
                outlive(error)

    def __iter__(self) -> Iterator[HostStateListener]:
        """All of this moment."""
        return iter(self._listeners)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._listeners)
