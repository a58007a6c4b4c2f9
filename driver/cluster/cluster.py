"""The cluster for threads: an event loop in a thread of its own, and the way into it."""

from __future__ import annotations

import atexit
import logging
import threading
from typing import TYPE_CHECKING, Any, Self, TypeVar
from weakref import WeakSet

from ..net.fork import refuse_in_child
from ..net.loop import LoopThread
from ..protocol.errors import DriverException
from .base import BaseCluster
from .session import Session

if TYPE_CHECKING:
    from collections.abc import Coroutine, Hashable

    from .options import ClusterOptions
    from .profiles import ExecutionProfile

log = logging.getLogger(__name__)

_Value = TypeVar("_Value")

#: Clusters that were connected. What a program forgot to shut down is shut down when it ends.
_connected: WeakSet[Cluster] = WeakSet()


@atexit.register
def _shut_down_what_is_left() -> None:
    for cluster in tuple(_connected):
        try:
            cluster.shutdown()
        except Exception:
            log.exception("Cannot shut down %r", cluster)


class Cluster(BaseCluster[None, "Session"]):
    """A cluster, and the sessions with it.

    ::

        with Cluster(["10.0.0.1", "10.0.0.2"]) as cluster:
            session = cluster.connect("my_keyspace")
            for row in session.execute("SELECT * FROM my_table"):
                ...

    One object is enough for a process, and one session for most: both can be used by any number of
    threads. Arguments are described in ``ClusterOptions``.
    """

    _listeners_may_wait = True

    def _describe(self, options: ClusterOptions) -> None:
        super()._describe(options)
        self._thread: LoopThread | None = None
        self._lock = threading.RLock()
        self._is_ending = False
        refuse_in_child(self)

    def forked(self) -> None:
        """Leave everything to the parent; in a child process."""
        self._lock = threading.RLock()  # a thread that is not here may have held it
        _connected.discard(self)

    def run(self, work: Coroutine[Any, Any, _Value]) -> _Value:
        """Run a coroutine of the core on the loop, and wait for it.

        Raises:
            DriverException: the cluster was shut down.
            RuntimeError: called on the loop's own thread, by a callback; or there is no loop yet.
        """
        thread = self._thread
        if thread is None:
            work.close()
            if self.is_shutdown:
                raise DriverException("this cluster was shut down")
            raise RuntimeError("the cluster is not connected")
        return thread.run(work)

    def _perform(self, work: Coroutine[Any, Any, None]) -> None:
        self.run(work)

    def connect(self, keyspace: str | None = None, wait_for_all_pools: bool = False) -> Session:
        """Find the cluster, if that was not done, and open a session.

        If the cluster cannot be found, it is shut down.

        Args:
            keyspace: used on all connections of the session.
            wait_for_all_pools: wait for a connection to each host instead of to one.

        Raises:
            NoHostAvailable: no contact point could be used, or no host got a pool; the reason of
                each is in ``errors``, an AuthenticationFailed for instance.
            UnresolvableContactPoints: no contact point has an address.
            InvalidRequest: there is no such keyspace.
            DriverException: the cluster is shut down, maybe meanwhile.
            RuntimeError: called by a callback, on the loop's own thread.
        """
        self._check_thread()
        with self._lock:
            if self._thread is None and not self.is_shutdown:
                self._thread = LoopThread("driver-loop")
                self._thread.start()
                _connected.add(self)
        if self._thread is None:
            raise DriverException("this cluster was shut down")
        try:
            core = self.run(self.core.connect_session(keyspace, wait_for_all_pools))
        except BaseException as error:
            if self._is_ending and isinstance(error, RuntimeError):
                # Another thread took the loop away.
                raise DriverException("this cluster was shut down while it connected") from error
            if self.is_shutdown:
                self.shutdown()
            raise
        session = Session(self, core)
        self._remember(session)
        return session

    def shutdown(self) -> None:
        """Close all sessions and connections and end the thread; again, it does nothing.

        Raises:
            RuntimeError: called by a callback, on the loop's own thread.
        """
        self._check_thread()
        self._is_ending = True
        with self._lock:
            if self._thread is None or self._thread.is_inherited:
                self.core.is_shutdown = True
                return
            try:
                self.run(self.core.close())
            finally:
                self._thread.stop()
                self._thread = None

    def _check_thread(self) -> None:
        """Refuse a callback here, before it waits for a lock whose owner waits for it.

        Raises:
            RuntimeError: this is the loop's own thread.
        """
        if self._thread is not None and self._thread.is_current:
            raise RuntimeError(
                "a callback on the event loop of the driver must not wait: it would wait for itself"
            )

    def __enter__(self) -> Self:
        """This cluster."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Shut down."""
        self.shutdown()

    def add_execution_profile(
        self, name: Hashable, profile: ExecutionProfile, pool_wait_timeout: float = 5
    ) -> None:
        """Add an execution profile; on a connected cluster, wait for pools that it needs.

        Raises:
            TypeError: it is no profile.
            ValueError: the name is taken, or the cluster is configured without profiles.
            OperationTimedOut: not all pools are open after ``pool_wait_timeout`` seconds; they
                still may be later.
        """
        if self.core.is_open:
            self.run(self.core.add_execution_profile(name, profile, pool_wait_timeout))
        else:
            self.core.profile_manager.add(name, profile)
