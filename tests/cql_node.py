"""A node that speaks CQL over real sockets: answers by table, and misbehaves on request.

It runs in a thread of its own with a loop of its own, so that synchronous and asynchronous tests
can use it alike::

    with CqlNode() as node:
        node.when("FROM t", rows([("k", Int32Type)], [(1,)]))
        ... connect to node.endpoint ...
        assert node.texts == ["SELECT k FROM t"]

A text matches if it contains the given one (or the given pattern finds something in it); of several
that match, the one that was given last wins. What matches nothing is answered with VOID, ``USE ks``
with SET_KEYSPACE.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import io
import random
import re
import struct
import threading
from dataclasses import dataclass, field
from typing import Any

import wire_bodies as wb

from driver.topology.endpoint import DefaultEndPoint, UnixSocketEndPoint
from driver.wire import primitives as p
from driver.wire.compression import (
    locally_supported_compressions,
    segment_compress,
    segment_decompress,
)
from driver.wire.frame import COMPRESSED_FLAG, FRAME_HEADER, FRAME_HEADER_LENGTH
from driver.wire.segments import SegmentCodec

ERROR, STARTUP, READY, AUTHENTICATE, OPTIONS, SUPPORTED = 0x00, 0x01, 0x02, 0x03, 0x05, 0x06
QUERY, RESULT, PREPARE, EXECUTE, REGISTER, EVENT = 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C
BATCH, AUTH_CHALLENGE, AUTH_RESPONSE, AUTH_SUCCESS = 0x0D, 0x0E, 0x0F, 0x10

#: An answer that never comes.
SILENCE = None


@dataclass
class Answer:
    """A response: opcode, body for a protocol version, flags of what the body starts with."""

    opcode: int
    body: Any  # bytes, or a function of the protocol version
    flags: int = 0

    def body_for(self, version):
        return self.body(version) if callable(self.body) else self.body


VOID = Answer(RESULT, wb.integer(1))
#: What follows the values of QUERY and EXECUTE, by flag.
_PARAMETERS = {
    0x04: p.read_int,
    0x08: p.read_binary_longstring,
    0x10: p.read_short,
    0x20: lambda f: f.read(8),
    0x80: p.read_string,
    0x100: p.read_int,
}


def rows(columns, values, **metadata):
    """A page of rows: columns (name, type of driver.types), rows of Python values.

    Further keywords are those of ``wire_bodies.rows_metadata``, such as ``paging_state``.
    """
    names = [name for name, _ in columns]
    types = [cqltype for _, cqltype in columns]

    def body(version):
        cells = [
            [
                None if value is None else cqltype.to_binary(value, version)
                for value, cqltype in zip(row, types, strict=True)
            ]
            for row in values
        ]
        return wb.rows_result(list(zip(names, types, strict=True)), cells, **metadata)

    return Answer(RESULT, body)


def error(code, message="an error", info=b""):
    """An ERROR; ``info`` is what the code adds."""
    return Answer(ERROR, wb.integer(code) + wb.string(message) + info)


def set_keyspace(keyspace):
    return Answer(RESULT, wb.integer(3) + wb.string(keyspace))


def schema_change(change="CREATED", target="KEYSPACE", keyspace="ks", name=None, arguments=None):
    """A RESULT of the kind schema_change."""
    return Answer(
        RESULT, wb.integer(5) + schema_change_body(change, target, keyspace, name, arguments)
    )


def schema_change_body(change, target, keyspace, name=None, arguments=None):
    body = wb.string(change) + wb.string(target) + wb.string(keyspace)
    if name is not None:
        body += wb.string(name)
    if arguments is not None:
        body += wb.short(len(arguments)) + b"".join(map(wb.string, arguments))
    return body


def status_change(change, address, port=9042, event_type="STATUS_CHANGE"):
    """The body of an event about a node, for ``CqlNode.send_event``."""
    return wb.string(event_type) + wb.string(change) + wb.inet_addr(address) + wb.integer(port)


def topology_change(change, address, port=9042):
    return status_change(change, address, port, "TOPOLOGY_CHANGE")


def schema_event(change, target, keyspace, name=None, arguments=None):
    return wb.string("SCHEMA_CHANGE") + schema_change_body(
        change, target, keyspace, name, arguments
    )


@dataclass
class Request:
    """What a client sent.

    ``text`` is the query of QUERY and PREPARE, the prepared query of EXECUTE, the texts of BATCH
    joined by ``; ``; ``values`` are the serialized values of QUERY (positional) and EXECUTE;
    ``rest`` is what follows the parameters of these two.
    """

    client: Client
    stream: int
    version: int
    flags: int
    opcode: int
    body: bytes
    text: str = ""
    values: list = field(default_factory=list)
    consistency: int | None = None
    query_id: bytes | None = None
    metadata_id: bytes | None = None
    skips_metadata: bool = False
    rest: bytes = b""

    @property
    def keyspace(self):
        """The keyspace that the connection uses."""
        return self.client.keyspace


class Client(asyncio.Protocol):
    """One connection, as the node sees it."""

    def __init__(self, node):
        self.node = node
        self.transport = None
        self.version = 4
        self.started = False
        self.keyspace = None
        self.startup_options = {}
        self.events = set()
        self.shard = None
        self._raw = bytearray()
        self._frames = bytearray()
        self._segments = None
        self._codec = None

    # --- the socket -------------------------------------------------------------------------

    def connection_made(self, transport):
        self.transport = transport
        self.node.accepted += 1
        self.peername = transport.get_extra_info("peername")
        self.local_port = (transport.get_extra_info("sockname") or (None, None))[1:2]
        self.node._on_connect(self)
        self.node.clients.append(self)

    def connection_lost(self, _):
        if self in self.node.clients:
            self.node.clients.remove(self)

    def data_received(self, data):
        self.node.received_bytes += len(data)
        if self._segments is None:
            self._frames += data
        else:
            self._raw += data
            self._take_segments()
        self._take_frames()

    def _take_segments(self):
        codec = self._segments
        size = codec.header_length_with_crc
        while len(self._raw) >= size:
            header = codec.decode_header(bytes(self._raw[:size]))
            end = size + header.segment_length
            if len(self._raw) < end:
                break
            self._frames += codec.decode(header, bytes(self._raw[size:end]))
            del self._raw[:end]

    def _take_frames(self):
        while len(self._frames) >= FRAME_HEADER_LENGTH:
            version, flags, stream, opcode, length = FRAME_HEADER.unpack_from(self._frames)
            if not 1 <= version <= 0x10:
                # No CQL at all, such as a TLS handshake.
                self.send(error(0x000A, f"Invalid or unsupported protocol version ({version})"), 0)
                self.transport.close()
                return
            end = FRAME_HEADER_LENGTH + length
            if len(self._frames) < end:
                break
            body = bytes(self._frames[FRAME_HEADER_LENGTH:end])
            del self._frames[:end]
            if flags & COMPRESSED_FLAG:
                body = self._codec[1](body)
            self._handle(Request(self, stream, version, flags, opcode, body))

    # --- answers ----------------------------------------------------------------------------

    def _handle(self, request):
        node = self.node
        highest = max(node.versions)
        if request.version not in node.versions:
            message = f"Invalid or unsupported protocol version ({request.version})"
            self.version = highest
            self.send(error(0x000A, message), request.stream)
            return
        self.version = request.version
        node._read(request)
        node.requests.append(request)
        answer = node._answer(request)
        if asyncio.iscoroutine(answer):
            task = asyncio.ensure_future(self._send_later(answer, request.stream))
            node._tasks.add(task)
            task.add_done_callback(node._tasks.discard)
        elif answer is not SILENCE:
            self.send(answer, request.stream)

    async def _send_later(self, coroutine, stream):
        answer = await coroutine
        if answer is not SILENCE:
            self.send(answer, stream)

    def send(self, answer, stream):
        """Send an answer; on the node's thread."""
        body, flags = answer.body_for(self.version), answer.flags
        if self.started and self._codec and self._segments is None and body:
            body = self._codec[0](body)
            flags |= COMPRESSED_FLAG
        header = FRAME_HEADER.pack(self.version | 0x80, flags, stream, answer.opcode, len(body))
        data = header + body
        self.write(data if self._segments is None else self._segments.encode(data))
        if not self.started and answer.opcode in {READY, AUTHENTICATE}:
            self.started = True
            compression = self.startup_options.get("COMPRESSION")
            if self.version >= 5:
                functions = (segment_compress, segment_decompress) if compression else ()
                self._segments = SegmentCodec(*functions)
            elif compression:
                self._codec = locally_supported_compressions[compression]

    def write(self, data):
        """Send bytes as they are, cut as the node says; on the node's thread."""
        cut = self.node.cut
        if cut is None:
            self.transport.write(data)
        else:
            self.node._send_in_pieces(self, data, cut)


class CqlNode:
    """A server on a loopback address.

    Args:
        versions: of the protocol.
        compressions: offered in SUPPORTED.
        users: password by name; None asks for no authentication.
        supported: further entries of SUPPORTED, or a function of the client that gives them.
        host, port: where to listen; port 0 takes a free one.
        path: a unix socket to listen on instead.
        ssl_context: turns TLS on.

    Attributes:
        requests: every request, in order of arrival.
        clients: the connections that are open now.
        accepted: how many connections there have been.
        cut: None, or how many bytes to send at a time: a number, or "random".
    """

    def __init__(
        self,
        *,
        versions=(3, 4, 5),
        compressions=("lz4", "snappy"),
        users=None,
        supported=None,
        host="127.0.0.1",
        port=0,
        path=None,
        ssl_context=None,
    ):
        self.versions = versions
        self.compressions = compressions
        self.users = users
        self.supported = supported or {}
        self.host, self.port, self.path = host, port, path
        self.ssl_context = ssl_context
        self.requests = []
        self.clients = []
        self.accepted = 0
        self.received_bytes = 0
        self.cut = None
        self.prepared = {}
        self.statements = {}
        self._answers = []
        self._paused = False
        self._silent = False
        self._tasks = set()
        self._outboxes = {}
        self._random = random.Random(1)
        self._servers = []
        self._loop = None
        self._thread = None

    # --- life -------------------------------------------------------------------------------

    def start(self):
        """Listen."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="cql-node", daemon=True)
        self._thread.start()
        self.call(self._listen())
        return self

    async def _listen(self):
        make = lambda: Client(self)  # noqa: E731
        loop = self._loop
        if self.path is not None:
            server = await loop.create_unix_server(make, self.path, ssl=self.ssl_context)
        else:
            server = await loop.create_server(make, self.host, self.port, ssl=self.ssl_context)
            self.port = server.sockets[0].getsockname()[1]
        self._servers.append(server)

    def listen_again(self):
        """Accept connections on the same port after ``stop_listening``."""
        self.call(self._listen())

    def listen_too(self, port=0):
        """Accept connections on one more port; which."""

        async def listen():
            server = await self._loop.create_server(
                lambda: Client(self), self.host, port, ssl=self.ssl_context
            )
            self._servers.append(server)
            return server.sockets[0].getsockname()[1]

        return self.call(listen())

    def stop_listening(self):
        """Refuse new connections; those that are open stay."""

        self.call(self._stop_listening())

    async def _stop_listening(self):
        for server in self._servers:
            for sock in server.sockets:
                self._loop.remove_reader(sock.fileno())
        # Connections that are being accepted need their server a moment longer.
        for _ in range(4):
            await asyncio.sleep(0)
        for server in self._servers:
            server.close()
        self._servers.clear()

    def stop(self):
        """Close everything."""
        if self._loop is None:
            return

        async def end():
            await self._stop_listening()
            for client in list(self.clients):
                client.transport.abort()
            for task in list(self._tasks):
                task.cancel()
            await asyncio.sleep(0)
            left = asyncio.all_tasks() - {asyncio.current_task()}
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
            await asyncio.sleep(0)

        self.call(end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._loop = None

    __enter__ = start

    def __exit__(self, *_):
        self.stop()

    def call(self, coroutine):
        """Run a coroutine on the node's thread; its value."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(30)

    def do(self, fn, *args):
        """Call a function on the node's thread; its value."""

        async def call():
            return fn(*args)

        return self.call(call())

    @property
    def endpoint(self):
        """Where clients reach it."""
        if self.path is not None:
            return UnixSocketEndPoint(self.path)
        return DefaultEndPoint(self.host, self.port)

    # --- what it answers ----------------------------------------------------------------------

    def when(self, text, answer):
        """Answer requests whose text contains ``text`` (or in which a compiled pattern is found).

        The answer is an ``Answer``, SILENCE, or a function of the request that gives one of them;
        the function may be a coroutine function.
        """
        self._answers.append((text, answer))

    def prepare(self, text, markers=(), results=(), pk=()):
        """What PREPARE of a text gives: columns (name, type) of its markers and of its rows."""
        self.statements[text] = (list(markers), list(results), list(pk))

    def forget_prepared(self):
        """Know no prepared statement any more."""
        self.prepared.clear()

    @property
    def texts(self):
        """The texts of all queries, executions and batches so far."""
        return [r.text for r in self.requests if r.opcode in {QUERY, EXECUTE, BATCH}]

    def count(self, opcode):
        """How many requests had an opcode."""
        return sum(request.opcode == opcode for request in self.requests)

    def _read(self, request):
        """Fill in what the body of a request says."""
        f = io.BytesIO(request.body)
        if request.flags & 0x04:
            p.read_bytesmap(f)
        if request.opcode in {QUERY, PREPARE}:
            request.text = p.read_longstring(f)
        elif request.opcode == EXECUTE:
            request.query_id = p.read_binary_string(f)
            request.text = self.prepared.get(request.query_id, "")
            if self._has_metadata_ids(request):
                request.metadata_id = p.read_binary_string(f)
        elif request.opcode == BATCH:
            request.text = self._read_batch(request, f)
            return
        if request.opcode in {QUERY, EXECUTE}:
            request.consistency = p.read_short(f)
            flags = p.read_int(f) if request.version >= 5 else p.read_byte(f)
            if flags & 0x01 and not flags & 0x40:
                request.values = [p.read_value(f) for _ in range(p.read_short(f))]
            elif flags & 0x40:
                return
            request.skips_metadata = bool(flags & 0x02)
            for flag, read in _PARAMETERS.items():
                if flags & flag:
                    read(f)
            request.rest = f.read()

    def _has_metadata_ids(self, request):
        return request.version >= 5

    def _read_batch(self, request, f):
        p.read_byte(f)
        texts = []
        for _ in range(p.read_short(f)):
            if p.read_byte(f):
                query_id = p.read_binary_string(f)
                texts.append(self.prepared.get(query_id, ""))
                if query_id not in self.prepared:
                    request.query_id = query_id
            else:
                texts.append(p.read_longstring(f))
            for _ in range(p.read_short(f)):
                p.read_value(f)
        return "; ".join(texts)

    def _answer(self, request):
        if self._silent:
            return SILENCE
        fixed = {
            OPTIONS: self._on_options,
            STARTUP: self._on_startup,
            AUTH_RESPONSE: self._on_auth_response,
            REGISTER: self._on_register,
            PREPARE: self._on_prepare,
        }.get(request.opcode)
        if request.query_id is not None and request.query_id not in self.prepared:
            return error(0x2500, "unknown", wb.short(len(request.query_id)) + request.query_id)
        return fixed(request) if fixed else self._by_table(request)

    def _by_table(self, request):
        for text, answer in reversed(self._answers):
            found = text in request.text if isinstance(text, str) else text.search(request.text)
            if found:
                return answer(request) if callable(answer) else answer
        use = re.match(r'USE "?(\w+)"?$', request.text)
        if use:
            request.client.keyspace = use[1]
            return set_keyspace(use[1])
        return VOID

    def _on_connect(self, client):
        """For subclasses: a client has connected."""

    def _on_options(self, request):
        extra = self.supported(request.client) if callable(self.supported) else self.supported
        options = {
            "CQL_VERSION": ["3.4.7"],
            "COMPRESSION": list(self.compressions),
            "PROTOCOL_VERSIONS": [f"{v}/v{v}" for v in self.versions],
            **extra,
        }
        return Answer(SUPPORTED, wb.parts((p.write_stringmultimap, options)))

    def _on_startup(self, request):
        request.client.startup_options = p.read_stringmap(io.BytesIO(request.body))
        if self.users is None:
            return Answer(READY, b"")
        return Answer(AUTHENTICATE, wb.string("org.apache.cassandra.auth.PasswordAuthenticator"))

    def _on_auth_response(self, request):
        token = p.read_value(io.BytesIO(request.body)) or b""
        _, user, password = token.split(b"\0") if token.count(b"\0") == 2 else (b"", b"", b"")
        if self.users.get(user.decode()) == password.decode():
            return Answer(AUTH_SUCCESS, wb.value(b""))
        return error(0x0100, f"Provided username {user.decode()} and/or password are incorrect")

    def _on_register(self, request):
        request.client.events.update(p.read_stringlist(io.BytesIO(request.body)))
        return Answer(READY, b"")

    def _on_prepare(self, request):
        query_id = hashlib.md5(request.text.encode()).digest()  # noqa: S324
        self.prepared[query_id] = request.text
        markers, results, pk = self.statements.get(request.text, ([], [], []))
        has_id = self._has_metadata_ids(request)
        return Answer(
            RESULT,
            lambda version: wb.prepared_result(
                query_id, markers, results, version, pk=pk, has_metadata_id=has_id
            ),
        )

    # --- how it misbehaves --------------------------------------------------------------------

    def pause(self):
        """Read nothing any more, as a stopped process does."""
        self.do(lambda: [c.transport.pause_reading() for c in self.clients])

    def resume(self):
        """Read again, and answer what came meanwhile."""
        self.do(lambda: [c.transport.resume_reading() for c in self.clients])

    def fall_silent(self, silent=True):
        """Read, and answer nothing."""
        self._silent = silent

    def drop_connections(self):
        """Close all connections without a word."""
        self.do(lambda: [c.transport.abort() for c in list(self.clients)])

    def send_raw(self, data):
        """Send bytes to all clients, as they are."""
        self.do(lambda: [c.write(data) for c in self.clients])

    def send_event(self, body):
        """Send an event to all clients that registered for its type."""
        event_type = p.read_string(io.BytesIO(body))

        def send():
            for client in self.clients:
                if event_type in client.events:
                    client.send(Answer(EVENT, body), -1)

        self.do(send)

    def answer_later(self, request, answer):
        """Answer a request that was left without an answer."""
        self.do(lambda: request.client.send(answer, request.stream))

    def _send_in_pieces(self, client, data, cut):
        """Send bytes in small pieces, each with a system call and a moment of its own."""
        outbox = self._outboxes.get(client)
        if outbox is None:
            outbox = self._outboxes[client] = asyncio.Queue()
            task = asyncio.ensure_future(self._post(client, outbox))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        outbox.put_nowait((data, cut))

    async def _post(self, client, outbox):
        while True:
            data, cut = await outbox.get()
            while data and not client.transport.is_closing():
                size = self._random.randrange(1, 200) if cut == "random" else cut
                client.transport.write(data[:size])
                data = data[size:]
                await asyncio.sleep(0)


@contextlib.contextmanager
def cql_nodes(count, **options):
    """Several nodes at once."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(CqlNode(**options)) for _ in range(count)]


def frame(opcode, body=b"", stream=0, version=4, flags=0):
    """The bytes of a frame from a server."""
    return struct.pack(">BBhBi", version | 0x80, flags, stream, opcode, len(body)) + body
