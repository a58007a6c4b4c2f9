"""A transport keeps the order of what it is given, sends all of it, and says once that it ended."""

import asyncio
import contextlib
import gc
import os
import select
import socket
import sys
import threading
import time
from sysconfig import get_config_var

import pytest
from loops import eventually

from driver.implementation import IMPL
from driver.net import after_read
from driver.net.transport import READ_SIZE, SocketTransport

compiled = pytest.mark.skipif(IMPL != "cython", reason="compiled code alone does so")


def pair(
    loop,
    on_data=lambda _: None,
    on_closed=lambda _: None,
    type=socket.SOCK_STREAM,  # noqa: A002
):
    """A started transport and the socket at its other end."""
    ours, theirs = socket.socketpair(type=type)
    ours.setblocking(False)
    theirs.setblocking(False)
    transport = SocketTransport(loop, ours)
    transport.start(on_data, on_closed)
    return transport, theirs


class CountingSocket:
    """A socket that counts what it is asked to send."""

    def __init__(self, sock):
        self.sock = sock
        self.sent = []

    def send(self, data):
        self.sent.append(bytes(data))
        return self.sock.send(data)

    def __getattr__(self, name):
        return getattr(self.sock, name)


def counted(loop):
    """The same, by a socket that counts, which comes in between."""
    transport, theirs = pair(loop)
    transport._sock = counting = CountingSocket(transport._sock)
    return transport, theirs, counting


def write_each(transport, numbers):
    """Write numbers, one by one, on this thread."""
    for number in numbers:
        transport.write(b"%d" % number)


def write_elsewhere(transport, numbers):
    """The same on another thread, while the loop stands still."""
    worker = threading.Thread(target=write_each, args=(transport, numbers))
    worker.start()
    worker.join()


def test_what_is_written_in_one_turn_of_the_loop_leaves_with_one_call(run):
    async def main():
        transport, theirs, counting = counted(asyncio.get_running_loop())
        write_each(transport, range(10))
        assert counting.sent == []
        await asyncio.sleep(0)
        assert counting.sent == [b"0123456789"]
        assert theirs.recv(100) == b"0123456789"
        transport.close()
        theirs.close()

    run(main())


def test_the_first_bytes_of_another_thread_leave_at_once_and_more_of_them_together(run):
    async def main():
        transport, theirs, counting = counted(asyncio.get_running_loop())
        write_elsewhere(transport, range(10))
        assert counting.sent == [b"0"]
        await eventually(lambda: len(counting.sent) == 2)
        assert counting.sent[1] == b"123456789"
        theirs.send(b"answer")
        await eventually(lambda: transport._was_answered)
        await asyncio.to_thread(transport.write, b"next")
        assert counting.sent[2] == b"next"
        transport.close()
        theirs.close()

    run(main())


@compiled
def test_beside_threads_that_compute_each_request_leaves_at_once(run, monkeypatch):
    async def main():
        transport, theirs, counting = counted(asyncio.get_running_loop())
        monkeypatch.setattr(after_read._read, "rest", 1)
        theirs.send(b"answers")
        transport._read_in_turn(bytes)
        write_elsewhere(transport, range(3))
        assert counting.sent == [b"0", b"1", b"2"]
        monkeypatch.setattr(after_read._read, "rest", 0)
        theirs.send(b"more")
        transport._read_in_turn(bytes)
        write_elsewhere(transport, range(3, 6))
        await eventually(lambda: len(counting.sent) == 5)
        assert counting.sent[3:] == [b"3", b"45"]
        transport.close()
        theirs.close()

    run(main())


@compiled
def test_what_others_write_while_a_read_is_handed_out_leaves_at_its_end(run):
    async def main():
        transport, theirs, counting = counted(asyncio.get_running_loop())

        def on_data(_):
            write_elsewhere(transport, range(10))
            assert counting.sent == [b"0"]

        theirs.send(b"answers")
        transport._read_in_turn(on_data)
        assert counting.sent == [b"0", b"123456789"]  # the loop had no pass in between
        await asyncio.to_thread(transport.write, b"more")
        await eventually(lambda: len(counting.sent) == 3)
        transport.close()
        theirs.close()

    run(main())


@compiled
def test_what_others_wrote_leaves_whatever_ends_the_read_in_which_they_did(run):
    async def main(ends):
        loop = asyncio.get_running_loop()
        transport, theirs = pair(loop)

        def on_data(_):
            write_elsewhere(transport, range(10))
            ends(transport)

        theirs.send(b"answers")
        with contextlib.suppress(ArithmeticError):
            transport._read_in_turn(on_data)
        assert await loop.sock_recv(theirs, 100) == b"0123456789"
        transport.close()
        theirs.close()

    run(main(lambda transport: transport.close()))
    run(main(lambda _: 1 // 0))


@pytest.mark.parametrize("size", [1, 16 * 1024, 16 * 1024 + 1, READ_SIZE, READ_SIZE + 1])
def test_bytes_of_any_size_go_both_ways(run, size):
    async def main():
        loop, got = asyncio.get_running_loop(), []
        transport, theirs = pair(loop, got.append)
        wanted = bytes(each % 251 for each in range(size))
        await asyncio.to_thread(transport.write, wanted)
        echo = bytearray()
        while len(echo) < size:
            echo += await loop.sock_recv(theirs, size)
        assert echo == wanted
        await loop.sock_sendall(theirs, wanted)
        await eventually(lambda: sum(map(len, got)) == size)
        assert b"".join(got) == wanted
        assert all(type(each) is bytes and len(each) <= READ_SIZE for each in got)
        transport.close()
        theirs.close()

    run(main())


def test_nothing_is_read_from_another_socket_that_got_the_descriptor_of_a_closed_one(run):
    async def main():
        transport, theirs = pair(asyncio.get_running_loop())
        number, (other, far) = transport._fd, socket.socketpair()
        transport.close()
        os.dup2(other.fileno(), number)
        far.send(b"for somebody else")
        assert transport.read(lambda data: pytest.fail(str(data))) is None
        await asyncio.to_thread(transport.write, b"nobody hears this")
        assert other.recv(100) == b"for somebody else"
        far.setblocking(False)
        with pytest.raises(BlockingIOError):
            far.recv(100)
        os.close(number)
        for each in (theirs, other, far):
            each.close()

    run(main())


@pytest.mark.skipif(
    IMPL != "cython" or sys.platform != "linux" or bool(get_config_var("Py_GIL_DISABLED")),
    reason="compiled code alone can keep the interpreter's lock around a system call",
)
def test_no_other_thread_runs_while_requests_are_sent_and_answers_read():
    loop, rounds = asyncio.new_event_loop(), 100
    transport, theirs = pair(loop, type=socket.SOCK_SEQPACKET)
    transport._thread = 0  # as on a thread that is not the loop's
    transport._heard_by_loop = select.epoll()
    transport._heard_by_loop.register(transport._fd, select.EPOLLIN)
    for _ in range(rounds):
        theirs.send(b"answer")
    ran, goes, interval = [], threading.Lock(), sys.getswitchinterval()
    goes.acquire()
    other = threading.Thread(target=lambda: (goes.acquire(), ran.append(True)))
    other.start()
    gc.disable()  # finalizers may give up the lock
    sys.setswitchinterval(1000)  # who waits for the interpreter's lock gets it when it is given up
    try:
        goes.release()
        until = time.monotonic() + 0.1
        while time.monotonic() < until:
            pass  # by then the other thread waits
        for _ in range(rounds):
            assert transport.take_over_reading()
            transport.write(b"request")
            assert transport.read(bytes) == b"answer"
            transport.hand_reading_back()
        assert not ran
    finally:
        sys.setswitchinterval(interval)
        gc.enable()
        other.join()
    assert theirs.recv(100) == b"request"
    loop.close()
    transport.abort()  # here, as there is no loop any more
    theirs.close()


def test_an_error_that_the_system_tells_once_is_told(run):
    async def main():
        ends = []
        transport, theirs = pair(asyncio.get_running_loop(), on_closed=ends.append)
        await asyncio.to_thread(transport.write, b"never read")
        theirs.close()  # which resets the connection
        await eventually(lambda: ends)
        assert isinstance(ends[0], ConnectionResetError)

    run(main())


def test_more_than_the_socket_takes_arrives_whole_and_in_order(run):
    async def main():
        loop = asyncio.get_running_loop()
        transport, theirs = pair(loop)
        wanted = b"".join(b"%07d" % number for number in range(200_000))
        for start in range(0, len(wanted), 70_000):
            transport.write(wanted[start : start + 70_000])
        got = bytearray()
        while len(got) < len(wanted):
            got += await loop.sock_recv(theirs, 100_000)
        assert got == wanted
        assert not transport._waits_for_room
        transport.close()
        theirs.close()

    run(main())


def test_pieces_of_many_threads_arrive_unbroken_while_the_other_end_is_slow(run):
    async def main():
        loop = asyncio.get_running_loop()
        transport, theirs = pair(loop)
        threads = 4

        def work(me):
            for _ in range(100):
                transport.write(bytes([me]) * 9973)

        workers = [threading.Thread(target=work, args=(me,)) for me in range(1, threads + 1)]
        for worker in workers:
            worker.start()
        work(0)
        size = (threads + 1) * 100 * 9973
        got = bytearray()
        while len(got) < size:
            got += await loop.sock_recv(theirs, 65536)
        for worker in workers:
            worker.join()
        pieces = [got[at : at + 9973] for at in range(0, size, 9973)]
        assert all(len(set(piece)) == 1 for piece in pieces)
        transport.close()
        theirs.close()

    run(main())


def test_it_ends_once_when_the_other_end_closes(run):
    async def main():
        ends, received = [], []
        transport, theirs = pair(asyncio.get_running_loop(), received.append, ends.append)
        theirs.send(b"last words")
        theirs.close()
        await eventually(lambda: ends)
        transport.close()
        transport.abort()
        transport.write(b"nobody hears this")
        await asyncio.sleep(0)
        assert received == [b"last words"]
        assert ends == [None]
        assert transport.is_closing

    run(main())


def test_what_was_written_before_the_close_is_sent_and_not_after_an_abort(run):
    async def main():
        loop = asyncio.get_running_loop()
        transport, theirs = pair(loop)
        transport.write(b"goodbye")
        transport.close()
        assert await loop.sock_recv(theirs, 100) == b"goodbye"
        theirs.close()
        transport, theirs = pair(loop)
        transport.write(b"goodbye")
        transport.abort()
        assert await loop.sock_recv(theirs, 100) == b""
        theirs.close()

    run(main())


def test_other_threads_may_close_and_the_end_is_told_on_the_loops(run):
    async def main():
        ends = []
        transport, theirs = pair(
            asyncio.get_running_loop(), on_closed=lambda _: ends.append(threading.get_ident())
        )
        await asyncio.to_thread(transport.close)
        await eventually(lambda: ends)
        assert ends == [threading.get_ident()]
        theirs.close()

    run(main())


def test_an_error_of_the_socket_is_told_to_whoever_reads(run):
    async def main():
        ends = []
        transport, theirs = pair(asyncio.get_running_loop(), on_closed=ends.append)
        theirs.close()
        transport._loop.remove_reader(transport._fd)  # so that writing finds out
        for _ in range(3):
            await asyncio.to_thread(transport.write, b"x" * 1000)
        await eventually(lambda: ends)
        assert isinstance(ends[0], OSError)

    run(main())


def test_a_loop_that_is_gone_does_not_keep_the_socket_open():
    ends = []
    loop = asyncio.new_event_loop()

    async def make():
        return pair(loop, on_closed=ends.append)

    transport, theirs = loop.run_until_complete(make())
    loop.close()
    worker = threading.Thread(target=transport.close)
    worker.start()
    worker.join()
    assert transport._sock.fileno() == -1
    assert ends == [None]
    theirs.close()


def test_a_write_after_the_loop_was_closed_does_not_wait_for_its_own_lock():
    loop = asyncio.new_event_loop()
    transport, theirs = pair(loop)
    transport._thread = 0  # a loop's thread that has ended
    transport._was_answered = False  # so that the loop is asked to send it
    loop.close()
    writer = threading.Thread(target=transport.write, args=(b"late",), daemon=True)
    writer.start()
    writer.join(10)
    assert not writer.is_alive()
    transport.abort()
    theirs.close()


def test_aborting_waits_for_a_thread_that_sends(run):
    async def main():
        transport, theirs = pair(asyncio.get_running_loop())
        transport._pending.append(b"not sent yet")
        with transport._lock:  # as a thread does that joins what waits
            aborting = threading.Thread(target=transport.abort)
            aborting.start()
            aborting.join(0.05)
            assert list(transport._pending) == [b"not sent yet"]
        await asyncio.to_thread(aborting.join)
        assert not transport._pending
        await eventually(lambda: transport.is_closing)
        theirs.close()

    run(main())
