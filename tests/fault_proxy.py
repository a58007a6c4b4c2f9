"""A TCP proxy between driver and nodes that does to answers what networks and machines do.

    with FaultProxy([("127.0.0.1", 9042)], seed=7) as proxy:
        Cluster(..., connection_class=proxy.connection_class)

Connections go through it by `connection_class`, whatever address a node announces. What happens to
which answer of which connection follows from the seed, the node and the number of the connection to
it; how many answers a connection carries until then, and when, follows from the machine.
"""

import asyncio
import contextlib
import random
import socket
import struct
import threading
from collections import Counter
from typing import Self

from driver.net.connection import Connection
from driver.net.open import open_transport
from driver.topology.endpoint import DefaultEndPoint
from driver.wire.compression import segment_compress, segment_decompress
from driver.wire.frame import FRAME_HEADER, FRAME_HEADER_LENGTH
from driver.wire.segments import SegmentCodec

_STARTED = {0x02, 0x03}  # READY, AUTHENTICATE
#: Seconds, at most.
DELAY, STALL = 0.3, 2.0


class Units:
    """Cuts what a node sends into what may be doubled or exchanged: frames, in v5 segments."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._codec: SegmentCodec | None = None
        self.compresses = False

    def feed(self, data: bytes) -> list[tuple[bytes, bool]]:
        """Whole units, and whether each stands for itself."""
        self._data += data
        found = []
        while (unit := self._next()) is not None:
            found.append(unit)
            del self._data[: len(unit[0])]
        return found

    def _next(self) -> tuple[bytes, bool] | None:
        if self._codec is not None:
            size = self._codec.header_length_with_crc
            if len(self._data) < size:
                return None
            header = self._codec.decode_header(bytes(self._data[:size]))
            return self._taken(size + header.segment_length, header.is_self_contained)
        if len(self._data) < FRAME_HEADER_LENGTH:
            return None
        version, _, _, opcode, length = FRAME_HEADER.unpack_from(self._data)
        unit = self._taken(FRAME_HEADER_LENGTH + length, whole=True)
        if unit and opcode in _STARTED and version & 0x7F >= 5:
            functions = (segment_compress, segment_decompress) if self.compresses else ()
            self._codec = SegmentCodec(*functions)
        return unit

    def _taken(self, length: int, whole: bool) -> tuple[bytes, bool] | None:
        return (bytes(self._data[:length]), whole) if len(self._data) >= length else None


class Link:
    """One connection through the proxy; the methods of `FAULTS` are what may happen to it."""

    def __init__(self, proxy, chance: random.Random, client, node, *, astray: bool) -> None:
        self.proxy, self.random, self.astray = proxy, chance, astray
        self.from_client, self.to_client = client
        self.from_node, self.to_node = node
        self.units, self.held = Units(), b""
        self.reads, self.carries = asyncio.Event(), True
        self.reads.set()

    async def requests(self) -> None:
        """Carry what the driver sends."""
        while data := await self.from_client.read(65536):
            self.units.compresses |= b"COMPRESSION" in data
            await self.reads.wait()
            if self.carries:
                self.to_node.write(data)
                await self.to_node.drain()

    async def answers(self) -> None:
        """Carry what the node sends, with a fault now and then."""
        while data := await self.from_node.read(65536):
            for unit, whole in self.units.feed(data):
                name = self.proxy.choose(self.random)
                if self.to_client.transport.is_closing():
                    return
                if not self.carries:
                    continue
                if name is None or (name in {"duplicate", "reorder"} and not whole):
                    self.send(unit)
                    continue
                self.proxy.happened[name] += 1
                await getattr(self, name)(unit)
            await self.to_client.drain()

    async def carry(self) -> None:
        """Until either side ends."""
        both = [asyncio.ensure_future(each) for each in (self.requests(), self.answers())]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not self.carries:  # half open: no side hears of the other's end
                await both[0]
        finally:
            for writer in (self.to_client, self.to_node):  # first: this may be cancelled again
                writer.transport.abort()
            for each in both:
                each.cancel()
            await asyncio.gather(*both, return_exceptions=True)

    def send(self, unit: bytes) -> None:
        """Send a unit, and one that was held back behind it."""
        held, self.held = self.held, b""
        self.to_client.write(unit + held)

    async def delay(self, unit: bytes) -> None:
        """It, and all behind it, comes later."""
        await asyncio.sleep(self.random.uniform(0, DELAY))
        if not self.to_client.transport.is_closing():
            self.send(unit)

    async def drop(self, _unit: bytes) -> None:
        """It never comes."""

    async def duplicate(self, unit: bytes) -> None:
        """It comes twice."""
        self.send(unit + unit)

    async def reorder(self, unit: bytes) -> None:
        """It comes behind the next one, if there is one soon."""
        if self.held:
            self.send(unit)
            return
        self.held = unit

        def give_up() -> None:
            if self.held is unit and not self.to_client.transport.is_closing():
                self.send(b"")

        asyncio.get_running_loop().call_later(DELAY, give_up)

    async def truncate(self, unit: bytes) -> None:
        """The connection ends in an orderly way within it."""
        self.to_client.write(unit[: self.random.randrange(len(unit))])
        self.to_client.write_eof()
        await asyncio.sleep(DELAY)
        self.to_client.transport.abort()

    async def reset(self, unit: bytes) -> None:
        """The connection is reset within it."""
        self.to_client.write(unit[: self.random.randrange(len(unit))])
        await self.to_client.drain()
        await asyncio.sleep(0)
        sock = self.to_client.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.to_client.transport.abort()

    async def half_open(self, _unit: bytes) -> None:
        """Neither side hears anything any more, and the connection stays."""
        self.carries = False

    async def slow_read(self, unit: bytes) -> None:
        """What the driver sends is not read for a while."""
        self.reads.clear()
        stall = self.random.uniform(0, STALL)
        asyncio.get_running_loop().call_later(stall, self.reads.set)
        self.send(unit)

    async def trickle(self, unit: bytes) -> None:
        """It comes byte by byte, or in about a hundred pieces."""
        step = 1 + len(unit) // 100
        for start in range(0, len(unit), step):
            if self.to_client.transport.is_closing():
                return
            self.to_client.write(unit[start : start + step])
            await asyncio.sleep(0.001)

    async def swap(self, _unit: bytes) -> None:
        """The addresses of two nodes lead to each other for a while; this connection ends."""
        self.proxy.swap(self.random)
        self.to_client.transport.abort()


#: How often each happens, of all.
FAULTS = {
    "delay": 20, "drop": 10, "duplicate": 20, "reorder": 20, "truncate": 3, "reset": 3,
    "half_open": 2, "slow_read": 5, "trickle": 15, "swap": 2,
}  # fmt: skip


class FaultProxy:
    """A proxy before each of some nodes, in a thread of its own.

    Args:
        nodes: address and port of each.
        seed: of what happens.
        share: of the answers to which something happens.

    Attributes:
        happened: how often each fault did.
        connection_class: for ``Cluster``: its connections go through the proxy.
    """

    def __init__(self, nodes, seed=1, share=0.01) -> None:
        self._nodes, self._seed, self.share = list(nodes), seed, share
        self._leads = list(self._nodes)
        self._count: Counter[int] = Counter()
        self.happened: Counter[str] = Counter()
        self._ports: dict[tuple[str, int], int] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fault-proxy")
        self._links: dict[asyncio.Task, Link] = {}
        self._servers: list[asyncio.Server] = []

        async def through_proxy(loop, endpoint, **options):
            port = self._ports[endpoint.address, endpoint.port]
            return await open_transport(loop, DefaultEndPoint("127.0.0.1", port), **options)

        self.connection_class = type(
            "ProxiedConnection", (Connection,), {"open_transport": staticmethod(through_proxy)}
        )

    def choose(self, chance: random.Random) -> str | None:
        """What happens to the next answer of a connection; None for nothing."""
        if chance.random() >= self.share:
            return None
        return chance.choices(list(FAULTS), list(FAULTS.values()))[0]

    def swap(self, chance: random.Random) -> None:
        """Let the addresses of two nodes lead to each other for a while."""
        one, other = (chance.randrange(len(self._leads)) for _ in range(2))
        self._leads[one], self._leads[other] = self._leads[other], self._leads[one]
        self._loop.call_later(chance.uniform(STALL, 2 * STALL), self._straighten)

    def _straighten(self) -> None:
        """Let each address lead to its own node again; what leads elsewhere ends."""
        self._leads[:] = self._nodes
        for task, link in self._links.items():
            if link.astray:
                task.cancel()

    def heal(self, *, cut: bool = False) -> None:
        """Do nothing to what comes from now on. What is half open stays so; all that is, if cut."""
        self.share = 0
        for link in tuple(self._links.values()):
            link.carries &= not cut
        self._loop.call_soon_threadsafe(self._straighten)

    @property
    def half_open(self) -> int:
        """How many connections neither side hears anything of, and neither has ended."""
        return sum(not link.carries for link in tuple(self._links.values()))

    async def _accept(self, index: int, *client) -> None:
        self._count[index] += 1
        chance = random.Random(f"{self._seed}/{index}/{self._count[index]}")
        target = self._leads[index]
        try:
            node = await asyncio.open_connection(*target)
        except OSError:
            client[1].transport.abort()
            return
        if target != self._leads[index]:  # it led elsewhere only until now
            for _, writer in (client, node):
                writer.transport.abort()
            return
        # In this task: one of its own, cancelled before it began, would end neither side.
        task = asyncio.current_task()
        self._links[task] = Link(self, chance, client, node, astray=target != self._nodes[index])
        try:
            await self._links[task].carry()
        finally:
            del self._links[task]

    async def _listen(self) -> None:
        for index, node in enumerate(self._nodes):
            server = await asyncio.start_server(
                lambda *client, index=index: self._accept(index, *client), "127.0.0.1", 0
            )
            self._servers.append(server)
            self._ports[node] = server.sockets[0].getsockname()[1]

    async def _end(self) -> None:
        for server in self._servers:
            server.close()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await asyncio.sleep(0)

    def _call(self, work) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def __enter__(self) -> Self:
        self._thread.start()
        self._call(self._listen())
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(TimeoutError):
            self._call(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
