"""Where the server, its data and its addresses are; the environment may say otherwise.

CASSANDRA_FOLDER   data, logs and process ids             (.cassandra/ of the checkout)
CASSANDRA_JARS     the downloaded server                  (.cassandra/cassandra-<version>)
CASSANDRA_PREFIX   node I listens on this with I behind   (127.0.0.)
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .releases import RELEASE

DEFAULT_FOLDER = Path(__file__).resolve().parents[2] / ".cassandra"
FOLDER = Path(os.environ.get("CASSANDRA_FOLDER") or DEFAULT_FOLDER).absolute()
JARS = Path(
    os.environ.get("CASSANDRA_JARS") or DEFAULT_FOLDER / f"cassandra-{RELEASE.version}"
).absolute()
PREFIX = os.environ.get("CASSANDRA_PREFIX") or "127.0.0."
CQL_PORT, GOSSIP_PORT = 9042, 7000
MOST_NODES = 9
FETCH_SECONDS, START_SECONDS, STOP_SECONDS = 900.0, 120.0, 30.0


def say(text: str) -> None:
    """Tell the person, apart from what a program may read on stdout."""
    print(text, file=sys.stderr, flush=True)


def address(index: int) -> str:
    """Where node number ``index``, from 1, listens."""
    return f"{PREFIX}{index}"
