"""Requests that never pause: many in flight, every outcome noted, every acknowledged row checked.

Row ``id`` of the table holds a value that follows from ``id``, so that a row that is lost and a row
that is another's are both found.
"""

import itertools
import threading
import time
from typing import NamedTuple

from driver.protocol.consistency import ConsistencyLevel
from driver.statements import SimpleStatement

TABLE = "CREATE TABLE {} (id bigint PRIMARY KEY, number bigint, words text)"
#: Every fourth request reads what was acknowledged before.
READS_EVERY = 4


def number_of(identity: int) -> int:
    return identity * 2654435761 % 2**62


def words_of(identity: int) -> str:
    return f"row {identity} ".ljust(100, "-")


class Failure(NamedTuple):
    """A request that ended in an error."""

    error: BaseException
    seconds: float


class Writers:
    """Sends requests from one thread, ``concurrency`` of them in flight.

    Attributes:
        acknowledged: a byte for each request; 1 where a write was acknowledged.
        failures: requests that ended in an error.
        missed: ids that a read in between did not find, or found with another value.
        slowest: seconds of the slowest request.
    """

    def __init__(self, session, table, concurrency, total=None, *, idempotent=False):
        self._session = session
        self._table = table
        self._write = session.prepare(f"INSERT INTO {table} (id, number, words) VALUES (?, ?, ?)")
        self._read = session.prepare(f"SELECT id, number FROM {table} WHERE id = ?")
        for statement in (self._write, self._read):
            statement.consistency_level = ConsistencyLevel.QUORUM
            statement.is_idempotent = idempotent
        self._concurrency, self._total = concurrency, total
        self._free = threading.Semaphore(concurrency)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="writers", daemon=True)
        self.acknowledged = bytearray()
        self.failures: list[Failure] = []
        self.missed: list[int] = []
        self.slowest = 0.0
        self.writes = self.done = 0
        self._last_written = 0
        #: Called with the number of requests sent so far, from the sending thread.
        self.at = lambda sent: None  # noqa: ARG005  (replaced by who wants to know)

    def start(self):
        self._thread.start()
        return self

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self._stop.set()

    def wait_for_more(self, count, within):
        """Return when so many more writes were acknowledged; fail if they are not."""
        goal, end = self.writes + count, time.monotonic() + within
        while self.writes < goal:
            assert time.monotonic() < end, (
                f"{goal - self.writes} of {count} writes not acknowledged"
            )
            assert self._thread.is_alive(), "the writers ended"
            time.sleep(0.02)

    def finish(self, within):
        """Send no more unless a total was asked for; return when every request has ended."""
        if self._total is None:
            self._stop.set()
        end = time.monotonic() + within
        self._thread.join(within)
        assert not self._thread.is_alive(), "still sending"
        for _ in range(self._concurrency):
            assert self._free.acquire(timeout=max(0.0, end - time.monotonic())), "a request hangs"

    def _run(self):
        for identity in itertools.count() if self._total is None else range(self._total):
            self._free.acquire()
            if self._stop.is_set():
                self._free.release()
                return
            self.at(identity)
            self.acknowledged.append(0)
            self._send(identity)

    def _send(self, identity):
        reads = identity % READS_EVERY == READS_EVERY - 1 and self.writes
        if reads:
            identity = self._last_written
            bound = self._read.bind((identity,))
        else:
            bound = self._write.bind((identity, number_of(identity), words_of(identity)))
        note = self._note_read if reads else self._note_write
        began = time.monotonic()
        try:
            future = self._session.execute_async(bound)
        except Exception as error:  # noqa: BLE001  (every outcome is noted)
            self._note_failure(error, began)
            return
        future.add_callbacks(note, self._note_failure, (identity, began), errback_args=(began,))

    def _note_write(self, _, identity, began):
        self.acknowledged[identity] = 1
        self.writes += 1
        self._last_written = identity
        self._end(began)

    def _note_read(self, rows, identity, began):
        found = [tuple(row) for row in rows]
        if found != [(identity, number_of(identity))]:
            self.missed.append(identity)
        self._end(began)

    def _note_failure(self, error, began):
        self.failures.append(Failure(error, time.monotonic() - began))
        self._end(began)

    def _end(self, began):
        self.slowest = max(self.slowest, time.monotonic() - began)
        self.done += 1
        self._free.release()

    def lost(self):
        """Acknowledged ids that the table does not hold with their value, read at QUORUM."""
        missing = bytearray(self.acknowledged)
        everything = SimpleStatement(
            f"SELECT id, number, words FROM {self._table}",
            fetch_size=1000,
            consistency_level=ConsistencyLevel.QUORUM,
        )
        for identity, number, words in self._session.execute(everything, timeout=60):
            if (number, words) == (number_of(identity), words_of(identity)):
                missing[identity] = 0
        return [identity for identity, flag in enumerate(missing) if flag]
