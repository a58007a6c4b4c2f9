"""``cassandra.io.*``: connection classes of the event loops, accepted and all the same.

The ``cassandra`` package has one connection class for each event loop that it can run on. This
driver has one event loop, asyncio's, in a thread of its own (uvloop's, if that is installed), and
one connection class. ``Cluster(connection_class=LibevConnection)`` is a connection of that one, and
nothing that a program could observe depends on the choice. Not tested: gevent and eventlet, which
replace threads and sockets of the whole process.
"""

from __future__ import annotations

from ...net.connection import Connection


class AsyncioConnection(Connection):
    """The driver's connection."""


class AsyncoreConnection(Connection):
    """The driver's connection."""


class LibevConnection(Connection):
    """The driver's connection."""


class EventletConnection(Connection):
    """The driver's connection."""


class GeventConnection(Connection):
    """The driver's connection."""


class TwistedConnection(Connection):
    """The driver's connection."""
