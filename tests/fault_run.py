"""Requests in every way that the driver has, through a proxy that disturbs them; prints JSON.

  .venv/bin/python -m tests.fault_run                        a minute, against a server of the tests
  .venv/bin/python -m tests.fault_run --seconds 1200 --seed 7 --ring three    against real Cassandra

Threads that wait, callbacks, coroutines and `execute_concurrent` write and read at once. Looked at:

    every request ends, once, and within a second of its time-out
    an answer carries what its own request asked for
    every row whose write was acknowledged is there in the end
    once the proxy does nothing any more, half-open connections are noticed, and every node answers,
    as soon as heartbeats and the reconnection policy promise, and later by as long as this process
    waited for a processor; nothing that is asked after that is late
    no stream, request, connection, task, thread or socket is left; against real Cassandra, whose
    memory is its own, that of this process does not grow by more than a fifth after a tenth
    the driver logs no error of its own, only warnings

Ends with status 1 if one of them does not hold. The seed replays what happens to which answer of a
connection (see fault_proxy).
"""

import argparse
import asyncio
import contextlib
import gc
import itertools
import json
import logging
import random
import sys
import threading
import time
from array import array
from collections import Counter, deque
from pathlib import Path

from psutil import Process

import driver
from driver import aio
from driver.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from driver.execution.concurrent import execute_concurrent_with_args
from driver.execution.request import RequestExecution
from driver.net.connection import Connection
from driver.net.errors import ConnectionException
from driver.policies import (
    ConstantReconnectionPolicy,
    ConstantSpeculativeExecutionPolicy,
    RoundRobinPolicy,
)
from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.errors import DriverException, NoHostAvailable, OperationTimedOut
from driver.types import LongType
from tests.cql_cluster import CqlCluster
from tests.cql_node import VOID, rows
from tests.fault_proxy import FaultProxy
from tests.integration.leaks import Belongings, eventually, sockets, threads
from tests.integration.load import resident
from tests.integration.rings import PORT, Ring, Rings
from tests.integration.writers import number_of

TIMEOUT, HEARTBEAT, RECONNECTS = 2.0, 1.0, 0.5
#: Seconds after its time-out in which a request ends, also one whose answer is being decoded; what
#: was promised to be back has as long to connect. The longest pause of this process is added; to
#: what was promised, all the time for which its threads could run and got no processor: to come
#: back takes some ten answers, one after the other, of driver, proxy and nodes, which are all here.
GRACE = 1.0
#: Seconds after the last fault: a connection that was heard just before is looked at after an
#: interval, asked after another one, and given up after the time-out; an attempt to connect has its
#: time-out; the next attempt waits as the policy says. What is connected to then answers.
PROMISED = max(3 * HEARTBEAT, TIMEOUT) + RECONNECTS
GROWTH_ALLOWED = 1.2
#: Seconds in which what is going to end has ended, on a busy machine.
ENDS_WITHIN = 60
#: Seconds between two requests of one thread or task: the rest is for the proxy and the nodes.
PAUSE = 0.002
COLUMNS = [("k", LongType), ("v", LongType)]
WRITE = "INSERT INTO faults.rows (k, v) VALUES (?, ?)"
READ = "SELECT k, v FROM faults.rows WHERE k = ?"


class Asked:
    """One request: what it is about, and how often it ended."""

    __slots__ = ("began", "ended", "key", "reads", "way")

    def __init__(self, way: str, key: int, reads: bool) -> None:
        self.way, self.key, self.reads = way, key, reads
        self.ended, self.began = 0, time.monotonic()

    @property
    def values(self) -> tuple[int, ...]:
        return (self.key,) if self.reads else (self.key, number_of(self.key))


class Requests:
    """Makes requests until told to stop, in each of `WAYS` at once."""

    def __init__(self, session, seed: int) -> None:
        self.session, self.stop = session, threading.Event()
        self.pause = PAUSE
        self.open: set[Asked] = set()
        self.acknowledged = array("q")  # eight bytes each: memory is watched
        self.errors: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.slowest = 0.0
        self.counts: Counter[str] = Counter()
        self._keys, self._random = itertools.count(1), random.Random(seed)
        self._lock = threading.Lock()
        self.statements = self.prepare_for(session)

    @staticmethod
    def prepare_for(session) -> dict[bool, object]:
        """Both statements, by whether they read; safe to send twice."""
        found = {reads: session.prepare(text) for reads, text in ((True, READ), (False, WRITE))}
        return Requests.described(found)

    @staticmethod
    def described(found):
        for statement in found.values():
            statement.is_idempotent, statement.consistency_level = True, ConsistencyLevel.QUORUM
        return found

    def ask(self, way: str, reads: bool | None = None) -> Asked:
        """What to ask next."""
        with self._lock:
            if reads is None:
                reads = bool(self.acknowledged) and self._random.random() < 0.5
            reads = reads and bool(self.acknowledged)
            key = self._random.choice(self.acknowledged) if reads else next(self._keys)
            asked = Asked(way, key, reads)
            self.open.add(asked)
            self.counts[way] += 1
            return asked

    def end(self, asked: Asked, found: object) -> None:
        """A request has ended, with rows or with an error."""
        with self._lock:
            asked.ended += 1
            self.open.discard(asked)
            self.slowest = max(self.slowest, time.monotonic() - asked.began)
            what = f"{asked.way} of {asked.key}"
            if asked.ended > 1:
                self.wrong.append(f"{what} ended {asked.ended} times")
            if isinstance(found, BaseException):
                self.errors[type(found).__name__] += 1
            elif asked.reads:
                got = [tuple(row) for row in found]
                if got != [(asked.key, number_of(asked.key))]:
                    self.wrong.append(f"{what} got {got}")
            elif list(found or ()):
                self.wrong.append(f"{what}, a write, got rows")
            else:
                self.acknowledged.append(asked.key)

    # --- the ways -------------------------------------------------------------------------------

    def waits(self) -> None:
        """Threads that wait for each answer."""
        while not self.stop.wait(self.pause):
            asked = self.ask("waits")
            try:
                found = self.session.execute(self.statements[asked.reads], asked.values)
            except Exception as error:  # noqa: BLE001  (every outcome is noted)
                found = error
            self.end(asked, found)

    def callbacks(self, in_flight: int = 20) -> None:
        """Callbacks, some at a time."""
        free = threading.Semaphore(in_flight)

        def done(found, asked) -> None:
            self.end(asked, found)
            free.release()

        while not self.stop.wait(self.pause):
            if not free.acquire(timeout=0.1):
                continue
            asked = self.ask("callbacks")
            try:
                future = self.session.execute_async(self.statements[asked.reads], asked.values)
            except Exception as error:  # noqa: BLE001  (see above)
                done(error, asked)
            else:
                future.add_callbacks(done, done, (asked,), errback_args=(asked,))

    def concurrently(self, count: int = 20) -> None:
        """Some at once, by execute_concurrent."""
        while not self.stop.wait(self.pause):
            reads = bool(self.acknowledged) and self._random.random() < 0.5
            every = [self.ask("concurrently", reads=reads) for _ in range(count)]

            def values(every: list[Asked] = every):
                for each in every:
                    each.began = time.monotonic()  # it is sent once another one has ended
                    yield each.values

            found = execute_concurrent_with_args(
                self.session, self.statements[reads], values(),
                concurrency=count // 2, raise_on_first_error=False, results_generator=True,
            )  # fmt: skip
            for asked, (_, outcome) in zip(every, found, strict=True):
                self.end(asked, outcome)

    async def awaits(self, session, statements, at_once: int = 10) -> None:
        """Coroutines on a loop of the application."""

        async def one() -> None:
            while not self.stop.is_set():
                asked = self.ask("awaits")
                try:
                    page = await session.execute(statements[asked.reads], asked.values)
                    found = page.current_rows
                except Exception as error:  # noqa: BLE001  (see above)
                    found = error
                self.end(asked, found)
                await asyncio.sleep(self.pause)

        await asyncio.gather(*(one() for _ in range(at_once)))


def options(contact_points, port, proxy, version) -> dict[str, object]:
    """Of both clusters."""
    return {
        "contact_points": contact_points, "port": port, "protocol_version": version,
        "connection_class": proxy.connection_class,
        "connect_timeout": TIMEOUT, "control_connection_timeout": TIMEOUT,
        "idle_heartbeat_interval": HEARTBEAT, "idle_heartbeat_timeout": HEARTBEAT,
        "reconnection_policy": ConstantReconnectionPolicy(RECONNECTS, None),
        "execution_profiles": {EXEC_PROFILE_DEFAULT: ExecutionProfile(
            load_balancing_policy=RoundRobinPolicy(), request_timeout=TIMEOUT,
            speculative_execution_policy=ConstantSpeculativeExecutionPolicy(0.2, 2),
        )},
    }  # fmt: skip


def answers(session, hosts: int) -> bool:
    """Whether every host is known, and answers with its own id what it alone is asked, at once."""
    futures = {
        each: session.execute_async(
            "SELECT host_id FROM system.local", timeout=RECONNECTS, host=each
        )
        for each in session.cluster.metadata.all_hosts()
    }
    try:
        right = [each.host_id == asked.result().one().host_id for each, asked in futures.items()]
    except (DriverException, ConnectionException):
        return False
    return sum(right) == hosts


class Pauses(threading.Thread):
    """How long this process was not run at all, at the longest: no fault of the driver."""

    def __init__(self) -> None:
        super().__init__(name="pauses", daemon=True)
        self.longest, self.ends = 0.0, threading.Event()

    def run(self) -> None:
        while not self.ends.is_set():
            began = time.monotonic()
            self.ends.wait(0.05)
            self.longest = max(self.longest, time.monotonic() - began - 0.05)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.join()


def waited_for_processor() -> dict[str, int]:
    """By thread of this process, nanoseconds for which it could have run and did not."""
    found = {}
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # it has ended
            found[thread.name] = int((thread / "schedstat").read_text("ascii").split()[1])
    return found


def seconds_since(before: dict[str, int]) -> float:
    """What all threads that live have waited since then."""
    now = waited_for_processor()
    return sum(now[each] - before.get(each, 0) for each in now) / 1e9


def streams(session) -> int:
    """Streams that are taken."""
    return sum(sum(state["in_flights"]) for state in session.get_pool_state().values())


def in_every_way(requests: Requests, make) -> tuple[list[threading.Thread], list[str]]:
    """Threads that make requests until told to stop; the last one runs, its cluster is connected.

    Also the tasks that are left on its loop, once it has ended.
    """
    ready, tasks_left = threading.Event(), []

    async def coroutines() -> None:
        async with make() as another:
            own = await another.connect(wait_for_all_pools=True)
            prepared = {True: await own.prepare(READ), False: await own.prepare(WRITE)}
            ready.set()
            await requests.awaits(own, requests.described(prepared))
        tasks_left.extend(map(repr, asyncio.all_tasks() - {asyncio.current_task()}))

    work = [requests.waits] * 4 + [requests.callbacks, requests.concurrently]
    every = [threading.Thread(target=each, daemon=True) for each in work]
    every.append(threading.Thread(target=lambda: asyncio.run(coroutines()), daemon=True))
    every[-1].start()
    if not ready.wait(ENDS_WITHIN):
        requests.wrong.append("no coroutine began")
    return every, tasks_left


def disturb(  # noqa: C901, PLR0912, PLR0915  (one run, told from its beginning to its end)
    make,
    seconds: float,
    seed: int,
    proxy: FaultProxy,
    hosts: int,
    *,
    grows: bool,
    cut: bool,
    grace: float,
) -> dict[str, object]:
    """Make requests for some seconds, heal the proxy, look what is left."""
    gc.collect()
    before, share = Belongings(), proxy.share
    proxy.share = 0  # a cluster is found first
    waited = {}
    with (
        Pauses() as pauses, errors_logged() as logged,
        Cluster(**make(), schema_metadata_enabled=False) as cluster,
    ):  # fmt: skip
        session = cluster.connect(wait_for_all_pools=True)
        requests = Requests(session, seed)
        every, tasks_left = in_every_way(
            requests, lambda: aio.Cluster(**make(), schema_metadata_enabled=False)
        )
        proxy.share = share
        for each in every[:-1]:
            each.start()
        early = None
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, seconds / 10))
            early = early or resident()
        at_the_end = resident()
        proxy.heal(cut=cut)
        healed, half_open, delayed = time.monotonic(), proxy.half_open, waited_for_processor()
        recovered: list[float] = []

        def recovers() -> None:
            if eventually(lambda: not proxy.half_open and answers(session, hosts), ENDS_WITHIN):
                recovered.extend((time.monotonic() - healed, seconds_since(delayed)))

        recovery = threading.Thread(target=recovers, daemon=True)
        recovery.start()
        requests.stop.set()
        began = time.monotonic()
        for each in every:
            each.join(ENDS_WITHIN)
        ended = eventually(lambda: not requests.open, ENDS_WITHIN)
        if not ended or any(each.is_alive() for each in every):
            left_over = Counter(each.way for each in requests.open)
            requests.wrong.append(f"requests that do not end: {dict(left_over)}")
        requests.wrong += [f"a task is left: {each}" for each in tasks_left]
        # What never answers keeps its stream: another answer may still come on it.
        if not eventually(lambda: streams(session) <= proxy.happened["drop"], ENDS_WITHIN):
            requests.wrong.append(f"streams stay taken: {session.get_pool_state()}")
        waited["until every request had ended"] = round(time.monotonic() - began, 2)
        began = time.monotonic()
        acknowledged = requests.acknowledged[:]
        asked_at: list[float] = []

        def each_key():
            for key in acknowledged:
                asked_at.append(time.monotonic() - healed)
                yield (key,)

        table = execute_concurrent_with_args(
            session, requests.statements[True], each_key(),
            concurrency=50, raise_on_first_error=False, results_generator=True,
        )  # fmt: skip
        late = {}
        for number, (key, (success, found)) in enumerate(zip(acknowledged, table, strict=True)):
            if isinstance(found, OperationTimedOut | NoHostAvailable):  # what is late is not lost
                late[key] = (round(asked_at[number], 2), str(found))
            elif not success or [tuple(row) for row in found] != [(key, number_of(key))]:
                requests.wrong.append(f"acknowledged and not there: {key}: {found}")
        del table, found
        waited["until all was read again"] = round(time.monotonic() - began, 2)
        recovery.join()
        for key in late:
            found = session.execute(requests.statements[True], (key,), timeout=30).all()
            if [tuple(row) for row in found] != [(key, number_of(key))]:
                requests.wrong.append(f"acknowledged and not there when asked again: {key}")
        grace += pauses.longest
        allowed = PROMISED + grace + sum(recovered[1:])
        if not recovered or recovered[0] > allowed:
            requests.wrong.append(
                f"not every node is back: {recovered}, {proxy.half_open} half open, "
                f"{session.get_pool_state()}"
            )
        waited["until every node answered"] = [round(each, 2) for each in recovered[:1]]
        waited["for a processor until then"] = [round(each, 2) for each in recovered[1:]]
        requests.wrong += [f"late {asked} s after the end: {why}" for asked, why in late.values()
                           if asked > allowed]  # fmt: skip
        if requests.slowest > TIMEOUT + grace:
            requests.wrong.append(f"a request took {requests.slowest:.2f} s")
        if not grows and at_the_end > early * GROWTH_ALLOWED:
            requests.wrong.append(f"memory grew from {early} to {at_the_end} bytes")
        began = time.monotonic()
    requests.wrong += [f"logged: {each}" for each in logged]
    given_back = eventually(
        lambda: sockets() <= before.sockets and len(threads()) <= len(before.threads), ENDS_WITHIN
    )
    if not given_back:
        ends = [
            (*each.laddr, *each.raddr, each.status) for each in Process().net_connections("tcp")
        ]
        requests.wrong.append(
            f"left: {sockets()} sockets, {threads()}; before: {vars(before)}; {sorted(ends)}"
        )
    waited["until nothing was left"] = round(time.monotonic() - began, 2)
    requests.session = session = cluster = None
    gc.collect()
    left = [each for each in gc.get_objects() if isinstance(each, RequestExecution | Connection)]
    if left:
        requests.wrong.append(f"{len(left)} requests or connections stay in memory: {left[0]!r}")
    return {
        "implementation": driver.IMPL, "seed": seed, "seconds": seconds,
        "requests": dict(requests.counts), "acknowledged": len(acknowledged),
        "faults": dict(proxy.happened), "errors": dict(requests.errors),
        "timeout": TIMEOUT, "slowest_seconds": round(requests.slowest, 2), "waited": waited,
        "half_open_at_the_end": half_open, "read_late": len(late), "late": list(late.values())[:5],
        "longest_pause": round(pauses.longest, 2),
        "resident_after_a_tenth": early, "resident_at_the_end": at_the_end,
        "wrong_count": len(requests.wrong), "wrong": requests.wrong[:20],
    }  # fmt: skip


@contextlib.contextmanager
def errors_logged():
    """What the driver logs as an error, which no fault of a network is; the rest is left out."""
    log, found = logging.getLogger("driver"), []
    handler = logging.Handler(logging.ERROR)
    handler.emit = lambda record: found.append(handler.format(record))
    before = log.propagate
    log.propagate = False
    log.addHandler(handler)
    try:
        yield found
    finally:
        log.removeHandler(handler)
        log.propagate = before


@contextlib.contextmanager
def own_server(size: int = 3):
    """Nodes of the tests that share one table."""
    table: dict[bytes, bytes] = {}

    def insert(request):
        table[request.values[0]] = request.values[1]
        return VOID

    def select(request):
        key = request.values[0]
        found = [] if key not in table else [(key, table[key])]
        return rows(
            COLUMNS, [tuple(int.from_bytes(x, "big", signed=True) for x in r) for r in found]
        )

    with CqlCluster(size) as cluster:
        for node in cluster.nodes:
            node.requests = deque(maxlen=100)
        cluster.prepare(WRITE, markers=COLUMNS)
        cluster.prepare(READ, markers=COLUMNS[:1], results=COLUMNS)
        cluster.when(WRITE, insert)
        cluster.when(READ, select)
        yield cluster


def against_own(
    seconds: float,
    seed: int,
    share: float,
    version: int,
    *,
    cut: bool = False,
    grace: float = GRACE,
) -> dict[str, object]:
    """A run against a server of the tests, the same process."""
    with own_server() as server:
        nodes = [(node.host, node.port) for node in server.nodes]
        with FaultProxy(nodes, seed, share) as proxy:
            return disturb(
                lambda: options([nodes[0][0]], nodes[0][1], proxy, version),
                seconds, seed, proxy, len(nodes), grows=True, cut=cut, grace=grace,
            )  # fmt: skip


def make_table(addresses: list[str]) -> None:
    """The table that requests write and read, on every node."""
    with Cluster(addresses) as cluster:
        session = cluster.connect()
        session.execute("DROP KEYSPACE IF EXISTS faults", timeout=60)
        session.execute(
            "CREATE KEYSPACE faults WITH replication = {'class': 'SimpleStrategy', "
            f"'replication_factor': {len(addresses)}}}", timeout=60,
        )  # fmt: skip
        session.execute("CREATE TABLE faults.rows (k bigint PRIMARY KEY, v bigint)", timeout=60)


def against_ring(
    kind: str, seconds: float, seed: int, share: float, version: int, *, cut: bool = False
) -> dict[str, object]:
    """A run against real Cassandra, which is started and stopped."""
    rings = Rings(Path())
    try:
        ring: Ring = rings.use(kind)
        make_table(ring.addresses)
        with FaultProxy([(each, PORT) for each in ring.addresses], seed, share) as proxy:
            return disturb(
                lambda: options(ring.addresses, PORT, proxy, version),
                seconds, seed, proxy, len(ring.addresses), grows=False, cut=cut, grace=GRACE,
            )  # fmt: skip
    finally:
        rings.stop()


def main() -> int:
    """Run as the command line says."""
    parser = argparse.ArgumentParser(
        prog="fault_run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--share", type=float, default=0.01, help="of the answers that meet a fault"
    )
    parser.add_argument("--protocol", type=int, choices=(3, 4, 5), default=5)
    parser.add_argument("--ring", choices=("one", "three"), help="real Cassandra of so many nodes")
    parser.add_argument(
        "--cut", action="store_true", help="let every connection be half open when faults end"
    )
    asked = parser.parse_args()
    common = (asked.seconds, asked.seed, asked.share, asked.protocol)
    result = (
        against_ring(asked.ring, *common, cut=asked.cut)
        if asked.ring
        else against_own(*common, cut=asked.cut)
    )
    print(json.dumps(result, indent=1))  # noqa: T201  (a script's answer)
    return bool(result["wrong_count"])


if __name__ == "__main__":
    sys.exit(main())
