"""Requests on several threads over one socket: each ends once, with its own answer, none is lost.

A connection over a transport over a socket that takes as much as it likes, and a server behind it;
another thread closes it, or the server does, at any moment. Threads that wait read their answers
themselves where they can take over from the loop.
"""

import struct
from collections import Counter
from types import SimpleNamespace
from unittest import mock

import pytest
from interleaving import Loop, Schedule
from unit.threads.stepped import stepped

from asv_benchmarks.server import Answer, InMemoryServer
from driver.wire.segments import SegmentCodec

CODEC = SegmentCodec()
MODULES = [
    stepped(f"net.{name}")
    for name in ("after_read", "connection", "segmenting", "streams", "transport")
]
connection_module, transport_module = stepped("net.connection"), stepped("net.transport")
Connection = connection_module.Connection
ConnectionException = stepped("net.errors").ConnectionException
ConnectionSettings = stepped("net.settings").ConnectionSettings
SocketTransport = transport_module.SocketTransport
QueryMessage = stepped("wire.requests").QueryMessage
StartupMessage = stepped("wire.requests").StartupMessage


def echo(request):
    """SET_KEYSPACE, whose name is the text of the query."""
    (size,) = struct.unpack_from(">i", request.body)
    text = request.body[4 : 4 + size]
    return Answer(0x08, struct.pack(">iH", 3, size) + text)


class Socket:
    """A socket to a server in this process."""

    def __init__(self, chance, version):
        self.server = InMemoryServer(echo, version)
        self.chance, self.answers, self.closed = chance, bytearray(), False
        self.came, self.version, self.started = bytearray(), version, False
        self.ended = False

    def fileno(self):
        return 7

    def send(self, data):
        assert not self.closed
        if self.chance.random() < 0.2:
            raise BlockingIOError
        taken = len(data) if self.chance.random() < 0.6 else self.chance.randrange(len(data))
        self.came += data[:taken]
        while unit := self.unit():
            self.answers += self.server.receive(unit)
        return taken

    def unit(self):
        """A whole frame, or a whole segment after the first one."""
        segments = self.version >= 5 and self.started
        head = 6 if segments else 9
        if len(self.came) < head:
            return b""
        if segments:
            size = head + CODEC.decode_header(bytes(self.came[:head])).segment_length
        else:
            size = head + int.from_bytes(self.came[5:9])
        if len(self.came) < size:
            return b""
        unit = bytes(self.came[:size])
        del self.came[:size]
        self.started = True
        return unit

    def recv(self, _):
        assert not self.closed
        if not self.answers:
            if self.ended:
                return b""
            raise BlockingIOError
        size = self.chance.choice((1, 20, len(self.answers)))
        data = bytes(self.answers[:size])
        del self.answers[:size]
        return data

    def shutdown(self, _):
        assert not self.closed
        self.ended = True

    def close(self):
        self.closed = True


class Poll:
    """What a thread waits on for a socket, and a loop's set: both know when it has something."""

    def __init__(self, talk):
        self.talk, self.listens, self.closed = talk, True, False

    def register(self, fd, _):
        assert fd == self.talk.socket.fileno()

    def fileno(self):
        assert not self.closed
        return 9

    def modify(self, fd, events):
        self.register(fd, events)
        assert not self.closed
        assert not self.talk.socket.closed
        self.listens = bool(events)
        self.talk.taken_over += not events

    def poll(self, _):
        self.talk.schedule.turn(gives_way=True)
        return [1] if self.talk.socket.answers or self.talk.socket.ended else []

    def close(self):
        self.closed = True


class Talk:
    """One connection, and what its requests came to."""

    def __init__(self, seed, version, streams=8):
        self.schedule, self.loop, self.streams = Schedule(seed, MODULES), Loop(), streams
        self.socket = Socket(self.schedule.random, version)
        self.asked, self.ended, self.wrong, self.taken_over = 0, Counter(), [], 0
        self.failed = []
        self.version = version

    def opens(self):
        """On the thread of the loop."""
        sets = SimpleNamespace(
            epoll=lambda: Poll(self), poll=lambda: Poll(self), EPOLLIN=1, POLLIN=1
        )
        with (
            self.schedule.locks(),
            mock.patch.multiple(transport_module, select=sets, is_own=lambda _: True),
        ):
            through = SocketTransport(self.loop, self.socket)
            settings = ConnectionSettings(self.version, max_requests=self.streams)
            self.connection = Connection(self.loop, "node", settings, through)
        started = []
        stream = self.connection.get_request_id()
        self.connection.send_msg(StartupMessage("3.4.5", {}), stream, started.append)
        while not started:
            self.loop.turn()
        self.connection.use_segments()

    def asks(self, name, reads=False):
        """Requests of one thread, one after the other, whose answers it may read itself."""
        for number in range(3):
            text = f"{name}{number}"
            self.asked += 1
            stream = self.connection.get_request_id()
            taken_over = reads and self.connection.take_over_reading()
            try:
                self.connection.send_msg(
                    QueryMessage(text, 1), stream, lambda found, text=text: self.end(text, found)
                )
            except ConnectionException as refused:
                if taken_over:
                    self.connection.hand_reading_back()
                self.connection.release_request_id(stream)
                self.end(text, refused)
            else:
                if taken_over:
                    self.connection.read_answer(stream, None)
            while not self.ended[text]:
                self.schedule.turn(gives_way=True)

    def end(self, text, found):
        self.ended[text] += 1
        if isinstance(found, Exception):
            self.failed.append((text, found))
        elif found.new_keyspace != text:
            self.wrong.append((text, found.new_keyspace))

    def runs(self, end=lambda: None):
        """The loop, until nobody asks any more."""
        self.opens()
        self.is_open = True
        turns = self.schedule.random.randrange(12)
        while not self.schedule.alone:
            turns -= 1
            if turns == 0:
                end()
            self.loop.turn()
            self.schedule.turn(gives_way=not self.schedule.alone)

    def waits_and(self, does):
        """A thread that begins when the connection is open."""

        def begins():
            while not hasattr(self, "is_open"):
                self.schedule.turn(gives_way=True)
            does()

        return begins


def all_ended_once(talk, seed):
    assert talk.asked == 6
    assert talk.ended == dict.fromkeys(talk.ended, 1), f"seed {seed}"
    assert sum(talk.ended.values()) == 6, f"seed {seed}"
    assert not talk.wrong, f"seed {seed}: {talk.wrong}"


@pytest.fixture(
    params=[("", True), ("a", True), ("ab", True), ("ab", False)],
    ids=["none", "one", "both", "both, what follows is the loop's"],
)
def readers(request):
    """Which of two threads read the answers that they wait for, and may call back themselves."""
    names, final = request.param
    with mock.patch.object(connection_module, "_is_final", return_value=final):
        yield names


@pytest.mark.parametrize("version", [4, 5])
def test_every_request_gets_its_own_answer(version, readers):
    taken_over = 0
    for seed in range(100):
        talk = Talk(seed, version, streams=2)  # used again at once
        asks = [
            talk.waits_and(lambda name=name, talk=talk: talk.asks(name, name in readers))
            for name in "ab"
        ]
        talk.schedule.run(talk.runs, *asks)
        all_ended_once(talk, seed)
        assert not talk.failed, f"seed {seed}: {talk.failed}"
        assert talk.connection.in_flight == 0, f"seed {seed}"
        assert talk.connection._transport._reader is None, f"seed {seed}"
        taken_over += talk.taken_over
    assert bool(taken_over) == bool(readers)


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("how", ["close", "defunct", "the server", "on the loop"])
def test_a_connection_that_ends_ends_every_request_once(version, how, readers):
    for seed in range(40):
        talk = Talk(seed, version)
        asks = [
            talk.waits_and(lambda name=name, talk=talk: talk.asks(name, name in readers))
            for name in "ab"
        ]
        if how == "close":
            asks.append(talk.waits_and(lambda talk=talk: talk.connection.close()))
        elif how == "defunct":
            asks.append(talk.waits_and(lambda talk=talk: talk.connection.defunct(OSError("x"))))

        def end(talk=talk, how=how):
            if how == "the server":
                talk.socket.ended = True
            elif how == "on the loop":
                talk.connection.close()

        talk.schedule.run(lambda talk=talk, end=end: talk.runs(end), *asks)
        all_ended_once(talk, seed)
        assert talk.connection._transport._reader is None, f"seed {seed}"
        if talk.connection.is_closed:
            for _ in range(2):
                talk.loop.turn()
            assert talk.socket.closed, f"seed {seed}"
