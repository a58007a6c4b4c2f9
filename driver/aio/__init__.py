"""The awaitable driver: clusters and sessions on the event loop of the application.

::

    async with Cluster(["10.0.0.1"]) as cluster:
        session = await cluster.connect("my_keyspace")
        async for row in await session.execute("SELECT * FROM my_table"):
            ...

It shares everything with ``driver.cluster`` but the waiting. No thread is started.
"""

from .cluster import Cluster
from .result_set import AsyncResultSet
from .session import Session

__all__ = ["AsyncResultSet", "Cluster", "Session"]
