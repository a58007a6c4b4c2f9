"""``cassandra.io.*``: connection classes of the event loops, accepted and all the same.

The ``cassandra`` package has one connection class for each event loop that it can run on. This
driver has one event loop, asyncio's, in a thread of its own (uvloop's, if that is installed), and
one connection class. ``Cluster(connection_class=LibevConnection)`` is a connection of that one, and
nothing that a program could observe depends on the choice. Not tested: gevent and eventlet, which
replace threads and sockets of the whole process.

A class also opens a connection without a cluster, over a loop that all of them share.
"""

from __future__ import annotations

import threading
from typing import Any, Self

from ...net.connection import Connection
from ...net.loop import LoopThread
from ...net.settings import ConnectionSettings
from ...topology.endpoint import DefaultEndPoint, EndPoint

_starting = threading.Lock()
_shared: list[LoopThread] = []


def _thread() -> LoopThread:
    """The thread of connections without a cluster, in this process."""
    with _starting:
        if not _shared or _shared[-1].is_inherited:
            _shared[:] = [LoopThread("driver-connections")]
            _shared[-1].start()
        return _shared[-1]


class _Connection(Connection):
    """The driver's connection.

    Attributes:
        lock: for callers that take streams under a lock; the connection needs none.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """As of the driver's connection."""
        super().__init__(*arguments, **options)
        self.lock = threading.RLock()

    @classmethod
    def initialize_reactor(cls) -> None:
        """Start the loop of connections without a cluster, if it does not run."""
        _thread()

    @classmethod
    def factory(
        cls,
        endpoint: EndPoint | str,
        timeout: float | None,
        host_conn: object = None,
        **settings: Any,
    ) -> Self:
        """A connection that is ready for requests.

        Args:
            endpoint: which node; an address stands for its port 9042.
            timeout: seconds for all of it; None waits for ever.
            host_conn: without effect.
            settings: fields of ``ConnectionSettings``.

        Raises:
            ConnectionException: the node cannot be reached.
            OperationTimedOut: it took longer.
            TypeError: no such setting.
        """
        del host_conn  # a pool of the other driver
        node = DefaultEndPoint(endpoint) if isinstance(endpoint, str) else endpoint
        thread = _thread()
        return thread.run(
            cls.connect(thread.loop, node, ConnectionSettings(connect_timeout=timeout, **settings))
        )


class AsyncioConnection(_Connection):
    """The driver's connection."""


class AsyncoreConnection(_Connection):
    """The driver's connection."""


class LibevConnection(_Connection):
    """The driver's connection."""


class EventletConnection(_Connection):
    """The driver's connection."""


class GeventConnection(_Connection):
    """The driver's connection."""


class TwistedConnection(_Connection):
    """The driver's connection."""
