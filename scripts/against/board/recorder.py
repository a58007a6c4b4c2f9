"""Record what a real node answers to every client, by standing between them.

A client connects to the recorder, which passes bytes on to the node and back, and reads along:
plain frames, and the uncompressed segments of v5. `scripts/against-peers --record` runs it.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
import threading
from typing import TYPE_CHECKING

from . import cases
from .answers import Answer, Asked, with_places
from .running import fill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .members import Member

STARTUP, READY, OPTIONS, SUPPORTED, QUERY, RESULT, PREPARE, EXECUTE = 1, 2, 5, 6, 7, 8, 9, 10
HEADER = struct.Struct(">BBhBi")
LARGEST, SEGMENT_HEADER, SEGMENT_EXTRA, SEGMENTS_SINCE = 131071, 6, 10, 5
SKIP_METADATA, PREPARED = 0x02, 4


class Reader:
    """Frames in one direction of a connection."""

    def __init__(self) -> None:
        """Begin with plain frames."""
        self.segmented = False
        self._raw, self._frames = bytearray(), bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[int, int, int, int, bytes]]:
        """Version, flags, stream, opcode and body of the frames that are whole now."""
        if self.segmented:
            self._raw += data
            self._unwrap()
        else:
            self._frames += data
        while len(self._frames) >= HEADER.size:
            version, flags, stream, opcode, size = HEADER.unpack_from(self._frames)
            end = HEADER.size + size
            if len(self._frames) < end:
                return
            body = bytes(self._frames[HEADER.size : end])
            del self._frames[:end]
            yield version, flags, stream, opcode, body

    def _unwrap(self) -> None:
        while len(self._raw) >= SEGMENT_HEADER:
            size = int.from_bytes(self._raw[:3], "little") & LARGEST
            if len(self._raw) < size + SEGMENT_EXTRA:
                return
            self._frames += self._raw[SEGMENT_HEADER : SEGMENT_HEADER + size]
            del self._raw[: size + SEGMENT_EXTRA]


def key_of(version: int, opcode: int, body: bytes) -> Asked:
    """What a request is looked up by; the same as in `node.c`."""
    if opcode in {QUERY, PREPARE}:
        return Asked(version, opcode, False, body[4 : 4 + int.from_bytes(body[:4], "big")])
    if opcode != EXECUTE:
        return Asked(version, opcode, False, b"")
    at = 2 + int.from_bytes(body[:2], "big")
    key = body[2:at]
    if version < SEGMENTS_SINCE:
        flags = body[at + 2]
    else:
        at += 2 + int.from_bytes(body[at : at + 2], "big")
        flags = int.from_bytes(body[at + 2 : at + 6], "big")
    return Asked(version, opcode, bool(flags & SKIP_METADATA), key)


class Recorder:
    """Connections of clients to a node, and what was answered on them."""

    def __init__(self, host: str, port: int) -> None:
        """Stand before a node."""
        self._node = host, port
        self._texts: dict[bytes, str] = {}
        self.found: dict[Asked, Answer] = {}

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on what a client and the node say, until one of them ends."""
        back, on = await asyncio.open_connection(*self._node)
        waiting: dict[int, Asked] = {}
        sent, answered = Reader(), Reader()

        def asks(data: bytes) -> None:
            for version, _, stream, opcode, body in sent.feed(data):
                waiting[stream] = key_of(version, opcode, body)

        def answers(data: bytes) -> None:
            for version, flags, stream, opcode, body in answered.feed(data):
                if stream >= 0:
                    self._take(waiting.pop(stream), Answer(opcode, flags, body))
                if opcode == READY and version & 0x7F >= SEGMENTS_SINCE:
                    sent.segmented = answered.segmented = True

        with contextlib.suppress(ConnectionError, asyncio.CancelledError):
            await asyncio.gather(_pass(reader, on, asks), _pass(back, writer, answers))

    def _take(self, asked: Asked, answer: Answer) -> None:
        if asked.version not in range(3, 6):
            return  # the node says that itself, of every version
        if answer.opcode == SUPPORTED:
            answer = Answer(answer.opcode, answer.flags, _without_compression(answer.body))
        if asked.opcode == PREPARE and answer.body[3] == PREPARED:
            size = int.from_bytes(answer.body[4:6], "big")
            self._texts[answer.body[6 : 6 + size]] = asked.key.decode()
        self.found[asked] = answer if asked.opcode != EXECUTE else self._placed(asked, answer)

    def _placed(self, asked: Asked, answer: Answer) -> Answer:
        """An answer to a statement of the cases, with the places of its key."""
        kinds = {text: kind for kind, text in cases.TEXTS.items()}
        kind = kinds.get(self._texts.get(asked.key, ""), "insert")
        if kind == "insert":
            return answer
        sensor, seq = divmod(cases.RECORDED, cases.ROWS)
        if kind == "select":
            return with_places(answer, [((sensor, 0), (seq, 1))])
        return with_places(answer, [((sensor, 0), (each, -1)) for each in range(cases.ROWS)])


async def _pass(
    source: asyncio.StreamReader, sink: asyncio.StreamWriter, along: Callable[[bytes], None]
) -> None:
    while data := await source.read(1 << 16):
        along(data)
        sink.write(data)
        await sink.drain()
    sink.close()


def _without_compression(body: bytes) -> bytes:
    """A [string multimap] whose COMPRESSION has no value: the load-test node has none."""
    at = body.index(b"COMPRESSION") + len(b"COMPRESSION")
    end = at + 2
    for _ in range(int.from_bytes(body[at:end], "big")):
        end += 2 + int.from_bytes(body[end : end + 2], "big")
    return body[:at] + b"\x00\x00" + body[end:]


def record(
    host: str, port: int, members: list[Member], tell: Callable[[str], None]
) -> dict[Asked, Answer]:
    """What a real node answers to everybody, on the way to the cases and in them.

    Raises:
        SideError: a client could not connect.
    """
    fill(members[0], host, port)
    recorder, between = Recorder(host, port), port + 1
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        server = await asyncio.start_server(recorder.connected, host, between)
        ready.set()
        await server.serve_forever()

    ready = threading.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    ready.wait()
    for member in members:
        tell(f"recording what {member.name} asks, {member.way}")
        member.side.run(member.command("touch", host=host, port=between))
    return recorder.found
