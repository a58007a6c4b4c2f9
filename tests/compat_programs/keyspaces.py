"""What the programs share: a session in a keyspace of its own, dropped at the end.

Usage of each: ``python program.py contact_point keyspace``.
"""

import contextlib
import sys

from cassandra.cluster import Cluster

CONTACT_POINT, KEYSPACE = sys.argv[1:3]


@contextlib.contextmanager
def connected(**options):
    """A cluster and a session in a new keyspace."""
    cluster = Cluster([CONTACT_POINT], **options)
    try:
        session = cluster.connect()
        session.execute(f"DROP KEYSPACE IF EXISTS {KEYSPACE}", timeout=60)
        session.execute(
            f"CREATE KEYSPACE {KEYSPACE} WITH replication = "
            "{'class': 'SimpleStrategy', 'replication_factor': 1}",
            timeout=60,
        )
        session.set_keyspace(KEYSPACE)
        yield cluster, session
        session.execute(f"DROP KEYSPACE {KEYSPACE}", timeout=60)
    finally:
        cluster.shutdown()
