"""Requests on several threads over one socket: each ends once, with its own answer, none is lost.

A connection over a transport over a socket that takes as much as it likes, and a server behind it;
another thread closes it, or the server does, at any moment.
"""

import struct
from collections import Counter

import pytest
from interleaving import Loop, Schedule
from unit.threads.stepped import stepped

from asv_benchmarks.server import Answer, InMemoryServer
from driver.wire.segments import SegmentCodec

CODEC = SegmentCodec()
MODULES = [
    stepped(f"net.{name}")
    for name in ("coalescing", "connection", "segmenting", "streams", "transport")
]
Connection = stepped("net.connection").Connection
ConnectionException = stepped("net.errors").ConnectionException
ConnectionSettings = stepped("net.settings").ConnectionSettings
SocketTransport = stepped("net.transport").SocketTransport
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

    def close(self):
        self.closed = True


class Talk:
    """One connection, and what its requests came to."""

    def __init__(self, seed, version):
        self.schedule, self.loop = Schedule(seed, MODULES), Loop()
        self.socket = Socket(self.schedule.random, version)
        self.asked, self.ended, self.wrong = 0, Counter(), []
        self.version = version

    def opens(self):
        """On the thread of the loop."""
        with self.schedule.locks():
            through = SocketTransport(self.loop, self.socket)
            settings = ConnectionSettings(self.version, max_requests=8)
            self.connection = Connection(self.loop, "node", settings, through)
        started = []
        stream = self.connection.get_request_id()
        self.connection.send_msg(StartupMessage("3.4.5", {}), stream, started.append)
        while not started:
            self.loop.turn()
        self.connection.use_segments()

    def asks(self, name):
        """Requests of one thread, one after the other."""
        for number in range(3):
            text = f"{name}{number}"
            self.asked += 1
            stream = self.connection.get_request_id()
            try:
                self.connection.send_msg(
                    QueryMessage(text, 1), stream, lambda found, text=text: self.end(text, found)
                )
            except ConnectionException as refused:
                self.connection.release_request_id(stream)
                self.end(text, refused)
            while not self.ended[text]:
                self.schedule.turn(gives_way=True)

    def end(self, text, found):
        self.ended[text] += 1
        if not isinstance(found, Exception) and found.new_keyspace != text:
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


@pytest.mark.parametrize("version", [4, 5])
def test_every_request_gets_its_own_answer(version):
    for seed in range(150):
        talk = Talk(seed, version)
        asks = [talk.waits_and(lambda name=name, talk=talk: talk.asks(name)) for name in "ab"]
        talk.schedule.run(talk.runs, *asks)
        all_ended_once(talk, seed)
        assert talk.connection.in_flight == 0, f"seed {seed}"


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("how", ["close", "defunct", "the server", "on the loop"])
def test_a_connection_that_ends_ends_every_request_once(version, how):
    for seed in range(100):
        talk = Talk(seed, version)
        asks = [talk.waits_and(lambda name=name, talk=talk: talk.asks(name)) for name in "ab"]
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
