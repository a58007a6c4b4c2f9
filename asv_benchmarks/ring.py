"""A session of the driver, connected to three nodes that live in this process.

Everything is real but the sockets: cluster, control connection, metadata, policies, pools and
connections open as they do anywhere, over transports that hand their bytes to an in-memory server.
The event loop runs while the session opens, on a thread that has ended afterwards. From then on
nothing runs but what a benchmark calls: answers come when ``Ring.deliver`` is called, no timer is
ever due, replicas are not shuffled. So the same calls count the same in each process.
"""

# ruff: noqa: ANN401  (objects of whichever driver is installed)

from __future__ import annotations

import asyncio
import atexit
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from typing import TYPE_CHECKING, Any

from . import recordings, system_rows
from .server import HEADER, Answer, InMemoryServer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: What a Cassandra of the recorded version agrees on with the driver by itself. Without a
#: compression, which would depend on what else is installed.
PROTOCOL_VERSION = 5
QUERY, PREPARE, EXECUTE, REGISTER = 0x07, 0x09, 0x0A, 0x0B
EXECUTE_BYTE = bytes([EXECUTE])
#: Where a segment with one frame has the frame's stream id and opcode (v5, sections 2.2 and 2.3).
STREAM_AND_OPCODE = slice(8, 11)
SEGMENT_HEADER_LENGTH, SEGMENT_CHECKSUM_LENGTH = 6, 4
#: Streams that a connection takes in turn, at most, while few requests are on their way.
STREAMS = 128


class Carrier:
    """A transport that keeps what is written until it is delivered."""

    def __init__(self, ring: Ring, server: Any) -> None:
        """One end of a connection to a node."""
        self.is_closing = False
        self.on_data: Callable[[bytes], None] | None = None
        self.server = server
        self._waiting = ring.waiting
        #: Answers to EXECUTE by stream: made once, since a node's work is not the driver's.
        self.known: dict[Any, bytes] = {}
        self.forgotten: dict[Any, bytes] = {}

    def start(self, on_data: Callable[[bytes], None], on_closed: Any) -> None:
        """Know who reads; it is never closed by the other end."""
        del on_closed
        self.on_data = on_data

    def write(self, data: bytes) -> None:
        """Keep bytes for ``Ring.deliver``."""
        self._waiting.append((self, data))

    def answer(self, data: bytes) -> bytes:
        """The node's answer to bytes of one or more requests."""
        which = data[STREAM_AND_OPCODE]
        answer = self.known.get(which)
        if answer is None:
            answer = self.server.receive(data)
            if which.endswith(EXECUTE_BYTE):
                self.known[which] = answer
        return answer

    def close(self) -> None:
        """Nothing has to be given back."""
        self.is_closing = True

    abort = close


class PromptCarrier(Carrier):
    """A transport whose node answers before ``write`` returns, and never the same twice."""

    def write(self, data: bytes) -> None:
        """Hand bytes to the node, and its answer back."""
        answer = self.server.receive(data)
        self.server.requests.clear()
        if answer and self.on_data is not None:
            self.on_data(answer)


class SoonCarrier(Carrier):
    """A transport whose node answers in the loop's next pass: to all that was written, in one read.

    Attributes:
        most: requests that were answered together, at most.
    """

    def __init__(self, ring: Ring, server: Any) -> None:
        """One end of a connection to a node, on the loop's thread."""
        super().__init__(ring, server)
        self._deliver = ring.deliver
        self._loop = asyncio.get_running_loop()
        self.most = 0

    def write(self, data: bytes) -> None:
        """Keep bytes for the next pass of the loop."""
        if not self._waiting:
            self._loop.call_soon(self._deliver)
        super().write(data)

    def answer(self, data: bytes) -> bytes:
        """The node's answer to a segment of EXECUTE requests, or to what else comes."""
        if data[STREAM_AND_OPCODE][2:] != EXECUTE_BYTE:
            return super().answer(data)
        answers = []
        position, end = SEGMENT_HEADER_LENGTH, len(data) - SEGMENT_CHECKSUM_LENGTH
        while position < end:
            _, _, stream, _, length = HEADER.unpack_from(data, position)
            after = position + HEADER.size + length
            answer = self.known.get(stream)
            if answer is None:
                answer = self.server.receive_frames(data[position:after])
                self.known[stream] = answer
            answers.append(answer)
            position = after
        self.most = max(self.most, len(answers))
        return b"".join(answers)


@dataclass
class Ring:
    """Three nodes.

    Attributes:
        prepared: name of the recorded answer to PREPARE.
        rows: name of the recorded answer to EXECUTE.
        version: protocol version of its nodes.
        announced: options of SUPPORTED beyond those of Cassandra.
        carrier: what carries bytes to them and back.
        waiting: carrier and bytes of what was written and is not answered yet.
        carriers: one for each connection.
    """

    prepared: str
    rows: str
    version: int = PROTOCOL_VERSION
    carrier: type[Carrier] = Carrier
    announced: Mapping[str, str] = field(default_factory=dict)
    waiting: deque[tuple[Carrier, bytes]] = field(default_factory=deque)
    carriers: list[Carrier] = field(default_factory=list)

    def deliver(self) -> None:
        """Answer what was written, on this thread, and what is written meanwhile."""
        waiting = self.waiting
        while waiting:
            carrier, data = waiting.popleft()
            carrier.on_data(carrier.answer(data))

    def forget_answers(self) -> None:
        """Have the servers look at the next requests again."""
        for carrier in self.carriers:
            carrier.known, carrier.forgotten = {}, carrier.known

    def remember_answers(self) -> None:
        """End what ``forget_answers`` began."""
        for carrier in self.carriers:
            carrier.known = {**carrier.forgotten, **carrier.known}

    def executed(self) -> list[bytes]:
        """Bodies of the EXECUTE requests that servers have looked at."""
        requests = (request for carrier in self.carriers for request in carrier.server.requests)
        return [request.body for request in requests if request.opcode == EXECUTE]

    async def open_transport(self, loop: Any, endpoint: Any, **how: Any) -> Carrier:
        """Connect to a node, as ``driver.net.connection.Connection`` asks for it."""
        del loop, how
        node = system_rows.ADDRESSES.index(endpoint.address)
        server = InMemoryServer(
            lambda request: self._answer(node, request), self.version, announced=self.announced
        )
        self.carriers.append(self.carrier(self, server))
        return self.carriers[-1]

    def _answer(self, node: int, request: Any) -> Any:
        """What a node says: recorded frames, and the few system tables that make a ring."""
        if request.opcode == QUERY:
            length = int.from_bytes(request.body[:4])
            rows = system_rows.answer(request.body[4 : 4 + length].decode(), node)
            if rows is not None:
                return Answer(*rows)
        frame = recordings.frame(self._recorded(request.opcode), self.version)
        return Answer(frame.opcode, frame.body, frame.flags)

    def _recorded(self, opcode: int) -> str:
        named = {
            QUERY: "error_invalid",  # there is no such table
            PREPARE: self.prepared,
            EXECUTE: self.rows,
            REGISTER: "ready_registered",
        }
        return named[opcode]


@dataclass(frozen=True)
class Opened:
    """A session that is ready for requests.

    Attributes:
        session: the ``driver.cluster`` session for threads, or that of ``driver.aio``.
        ring: its nodes.
        statement: what was prepared.
        loop: where it was opened, which does not run.
    """

    session: Any
    ring: Ring
    statement: Any
    loop: asyncio.AbstractEventLoop


def open_session(ring: Ring) -> Opened:
    """A session for threads with a ring, which has one statement, with one answer.

    Raises:
        ImportError: this commit has no sessions.
        NotImplementedError: it has, but their connections need sockets.
    """
    from driver.cluster.cluster import Cluster
    from driver.cluster.session import Session

    # Another thread than the caller's, as with any Cluster: what the loop's own thread writes
    # would wait for the end of an iteration.
    with ThreadPoolExecutor(1) as another:
        return another.submit(_open, Cluster, Session, ring).result()


def open_awaitable_session(ring: Ring) -> Opened:
    """A session for coroutines on a loop of this thread; as ``open_session``."""
    from driver.aio.cluster import Cluster
    from driver.aio.session import Session

    return _open(Cluster, Session, ring)


def _open(cluster_class: Any, session_class: Any, ring: Ring) -> Opened:
    from driver.net.connection import Connection
    from driver.policies.load_balancing import DCAwareRoundRobinPolicy, TokenAwarePolicy
    from driver.topology.endpoint import DefaultEndPoint

    if not hasattr(Connection, "open_transport"):
        raise NotImplementedError("connections of this commit cannot do without a socket")
    cluster = cluster_class(
        [DefaultEndPoint(system_rows.ADDRESSES[0], system_rows.PORT)],
        protocol_version=ring.version,
        compression=False,
        idle_heartbeat_interval=0,
        connection_class=type(
            "InMemoryConnection",
            (Connection,),
            {"open_transport": staticmethod(ring.open_transport)},
        ),
        load_balancing_policy=TokenAwarePolicy(
            DCAwareRoundRobinPolicy(system_rows.DATACENTER), shuffle_replicas=False
        ),
    )
    loop = asyncio.new_event_loop()
    atexit.register(loop.close)
    core, statement = loop.run_until_complete(_connect(loop, cluster.core, ring))
    return Opened(session_class(cluster, core), ring, statement, loop)


async def _connect(loop: Any, core: Any, ring: Ring) -> tuple[Any, Any]:
    """Connect, prepare, and leave nothing to do for the loop."""
    from driver.net.timers import Timers

    delivering = loop.create_task(_deliver_always(ring))
    await core.open()
    # A clock that stands still: timers are set and cancelled as ever, always in the same slot, and
    # no tick is due, of which a slow machine, or one that counts instructions, has more a request.
    loop.time = repeat(0.0).__next__
    core.timers = Timers(loop, loop.time)
    session_core = await core.connect_session(wait_for_all_pools=True)
    text = recordings.frame(ring.prepared, ring.version).about["query"]
    statement = await session_core.prepare(text)
    delivering.cancel()
    await asyncio.gather(delivering, return_exceptions=True)
    return session_core, statement


async def _deliver_always(ring: Ring) -> None:
    """Answer whatever is written while the loop runs."""
    while True:
        ring.deliver()
        await asyncio.sleep(0)
