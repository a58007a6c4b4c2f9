"""A long load over three nodes, one of them killed and brought back in the middle; prints JSON.

  .venv/bin/python -m tests.integration.load                       200,000 requests, 256 in flight
  .venv/bin/python -m tests.integration.load --requests 20000 --concurrency 64

Starts a ring of three with scripts/cassandra and stops it, unless --ring says that one runs. Ends
with status 0 if no acknowledged write is lost, no request hangs, and the resident memory of this
process at the end is at most a tenth more than after the first tenth of the requests.
"""

import argparse
import collections
import gc
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import driver
from driver.cluster import Cluster
from driver.policies import ConstantReconnectionPolicy
from tests.integration.rings import Ring, Rings
from tests.integration.writers import TABLE, Writers

#: The node is gone from the one fraction of the requests to the other, and a server's start longer.
KILLED_AT, BACK_AT = 0.4, 0.5
GROWTH_ALLOWED = 1.10
REQUEST_TIMEOUT = 10.0


def resident() -> int:
    """Resident memory of this process in bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class Disturbance:
    """Kills a node at one request and starts it again at another; notes memory on the way."""

    def __init__(self, ring: Ring, victim: int, total: int) -> None:
        self._tenth = total // 10
        self._plan = {
            int(total * KILLED_AT): lambda: self._later(ring.kill, victim, "killed"),
            int(total * BACK_AT): lambda: self._later(ring.restart, victim, "back"),
        }
        self._began = time.monotonic()
        self._threads: list[threading.Thread] = []
        self.resident: list[int] = []
        self.happened: dict[str, float] = {}

    def at(self, sent: int) -> None:
        """Do what is due at a number of requests."""
        if sent and sent % self._tenth == 0:
            gc.collect()
            self.resident.append(resident())
        self._plan.get(sent, lambda: None)()

    def _later(self, what, victim: int, name: str) -> None:
        def run() -> None:
            for before in self._threads[:-1]:
                before.join()
            what(victim)
            self.happened[name] = round(time.monotonic() - self._began, 1)

        self._threads.append(threading.Thread(target=run, name=name))
        self._threads[-1].start()

    def wait(self) -> None:
        """Return when everything has happened."""
        for thread in self._threads:
            thread.join(120)


def run(ring: Ring, requests: int, concurrency: int, within: float) -> dict[str, object]:
    """Send the load; what became of it."""
    with Cluster(
        ring.addresses, reconnection_policy=ConstantReconnectionPolicy(1.0, None)
    ) as cluster:
        session = cluster.connect()
        session.default_timeout = REQUEST_TIMEOUT
        session.execute("DROP KEYSPACE IF EXISTS load", timeout=30)
        session.execute(
            "CREATE KEYSPACE load WITH replication = "
            "{'class': 'SimpleStrategy', 'replication_factor': 3}"
        )
        session.execute(TABLE.format("load.rows"))
        writers = Writers(session, "load.rows", concurrency, requests)
        disturbance = Disturbance(ring, 2, requests)
        writers.at = disturbance.at
        began = time.monotonic()
        writers.start().finish(within)
        seconds = time.monotonic() - began
        gc.collect()
        disturbance.resident.append(resident())
        disturbance.wait()
        lost = writers.lost()
        session.execute("DROP KEYSPACE load", timeout=30)
    errors = collections.Counter(type(failure.error).__name__ for failure in writers.failures)
    examples = {type(failure.error).__name__: str(failure.error) for failure in writers.failures}
    return {
        "implementation": driver.IMPL,
        "requests": requests,
        "concurrency": concurrency,
        "seconds": round(seconds, 1),
        "requests_per_second": round(requests / seconds),
        "acknowledged_writes": writers.writes,
        "failed": dict(errors),
        "examples": examples,
        "slowest_seconds": round(writers.slowest, 2),
        "slowest_failure_seconds": round(max((f.seconds for f in writers.failures), default=0), 2),
        "resident_by_tenth": disturbance.resident,
        "growth": round(disturbance.resident[-1] / disturbance.resident[0], 3),
        "happened_at": disturbance.happened,
        "lost": lost[:20],
        "lost_count": len(lost),
        "missed_by_reads": len(writers.missed),
    }


def is_good(result: dict[str, object]) -> bool:
    """Whether the promises were kept."""
    return (
        not result["lost_count"]
        and not result["missed_by_reads"]
        and result["growth"] <= GROWTH_ALLOWED
        and {"killed", "back"} <= set(result["happened_at"])
    )


def main() -> int:
    """Run the load as the command line says."""
    parser = argparse.ArgumentParser(
        prog="load", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=200_000)
    parser.add_argument("--concurrency", type=int, default=256)
    parser.add_argument("--within", type=int, default=900, metavar="SECONDS", help="then give up")
    parser.add_argument("--ring", action="store_true", help="the tests' ring of three runs already")
    options = parser.parse_args()
    signal.alarm(options.within + 120)  # whatever hangs, this process ends
    rings = Rings(Path())
    ring = Ring("three") if options.ring else rings.use("three")
    try:
        result = run(ring, options.requests, options.concurrency, options.within)
    finally:
        if not options.ring:
            rings.stop()
    print(json.dumps(result, indent=1))  # noqa: T201  (a script's answer)
    return 0 if is_good(result) else 1


if __name__ == "__main__":
    sys.exit(main())
