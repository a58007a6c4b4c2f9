"""What a thread writes while an answer is on its way: it wakes no loop, and all of it leaves."""

import socket
import sys
import threading

import loops
import pytest
from loops import eventually_here as eventually

from driver.net import loop as loop_module
from driver.net.loop import LoopThread
from driver.net.transport import SocketTransport, _postponed, send_postponed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="loops are woken elsewhere")


@pytest.fixture(params=loops.LOOPS)
def thread(request, monkeypatch):
    monkeypatch.setattr(loop_module, "new_event_loop", loops.LOOPS[request.param])
    running = LoopThread("test-loop")
    running.start()
    yield running
    running.stop()


class Pair:
    """A transport on the loop of a thread, and the socket at its other end."""

    def __init__(self, thread):
        self.thread = thread
        ours, self.theirs = socket.socketpair()
        ours.setblocking(False)
        self.theirs.settimeout(10)
        self.ends, self.told_on, self.read = [], [], []
        self.transport = thread.run(self._start(ours))

    async def _start(self, ours):
        transport = SocketTransport(self.thread.loop, ours)
        transport.start(self.read.append, self._ended)
        return transport

    def _ended(self, error):
        self.ends.append(error)
        self.told_on.append(threading.current_thread())

    def write(self, *pieces):
        """Write what leaves at once, and then what does not."""
        for piece in pieces:
            self.transport.write(piece)

    def received(self, size):
        """As many bytes as that, as they arrive."""
        found = b""
        while len(found) < size:
            found += self.theirs.recv(size - len(found))
        return found

    def nothing_comes(self):
        """Whether nothing arrives, even after the loop has had a pass."""
        self.thread.run(self._pass())
        self.theirs.setblocking(False)
        try:
            return not self.theirs.recv(1)
        except BlockingIOError:
            return True
        finally:
            self.theirs.settimeout(10)

    async def _pass(self):
        pass


@pytest.fixture
def pair(thread):
    found = Pair(thread)
    yield found
    found.transport.abort()
    found.theirs.close()
    eventually(lambda: found.transport.is_closing)
    assert not _postponed


@pytest.mark.parametrize("on_loop", [False, True])
def test_it_leaves_in_one_piece_when_it_is_asked_for(pair, on_loop):
    pair.write(b"first", b"a", b"b", b"c")
    assert pair.received(5) == b"first"
    assert list(_postponed) == [pair.transport]
    assert pair.nothing_comes()
    send_postponed(on_loop=on_loop)
    assert not _postponed
    assert pair.received(3) == b"abc"
    pair.write(b"d")
    assert list(_postponed) == [pair.transport]
    send_postponed(on_loop=on_loop)
    assert pair.received(1) == b"d"


def test_it_leaves_with_the_next_answer(pair):
    pair.write(b"first", b"a", b"b")
    assert pair.received(5) == b"first"
    pair.theirs.send(b"answer")
    assert pair.received(2) == b"ab"
    pair.write(b"c")  # after an answer at once
    assert pair.received(1) == b"c"
    send_postponed()  # what is sent already is not sent again
    assert pair.nothing_comes()


def test_another_thread_sends_it(pair):
    pair.write(b"first", b"a")
    other = threading.Thread(target=send_postponed)
    other.start()
    other.join()
    assert pair.received(6) == b"firsta"


def test_what_the_socket_does_not_take_is_sent_by_the_loop(pair):
    pieces = [bytes([n]) * 200_000 for n in range(1, 20)]
    pair.write(b"\0", *pieces)
    send_postponed()
    pair.write(b"last")
    assert pair.received(1 + 19 * 200_000 + 4) == b"\0" + b"".join(pieces) + b"last"


def test_an_error_is_told_on_the_loops_thread(pair):
    class Broken:
        def send(self, _):
            raise ConnectionResetError("gone")

        def __getattr__(self, name):
            return getattr(self.sock, name)

    pair.write(b"first", b"a")
    broken = Broken()
    broken.sock, pair.transport._sock = pair.transport._sock, broken
    send_postponed()
    eventually(lambda: pair.ends)
    assert isinstance(pair.ends[0], ConnectionResetError)
    assert pair.told_on == [pair.thread._thread]


@pytest.mark.parametrize("end", ["close", "abort"])
def test_nothing_is_kept_of_a_transport_that_ended(pair, end):
    pair.write(b"first", b"a")
    getattr(pair.transport, end)()
    eventually(lambda: pair.ends)
    assert not _postponed
    assert pair.received(5) == b"first"
    assert pair.theirs.recv(10) == (b"a" if end == "close" else b"")
    send_postponed()


def test_each_of_several_transports_sends_its_own(thread, pair):
    other = Pair(thread)
    for each, text in ((pair, b"1"), (other, b"2")):
        each.write(b"first", text)
    send_postponed()
    assert pair.received(6) == b"first1"
    assert other.received(6) == b"first2"
    other.transport.abort()
    other.theirs.close()


def test_threads_that_write_and_send_lose_nothing(pair):
    def work(number):
        for _ in range(500):
            pair.transport.write(bytes([number]))
            send_postponed()

    workers = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for worker in workers:
        worker.start()
    found = pair.received(8 * 500)
    for worker in workers:
        worker.join()
    assert sorted(found) == sorted(bytes(range(8)) * 500)
