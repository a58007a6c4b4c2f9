"""Transports: bytes to and from one socket, written from any thread, read on the loop's."""

from __future__ import annotations

import contextlib
import select
import socket
import sys
import threading
import time
from collections import deque
from threading import get_ident
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, TypeVar

from ..implementation import hand_over
from .after_read import call_after_read
from .fork import refuse_in_child
from .loop import SLICE, call_on_loop, is_own

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    #: Takes bytes, in the order in which they came.
    DataCallback: TypeAlias = Callable[[bytes], None]
    #: Called once, with what went wrong; None after an orderly end, by either side.
    ClosedCallback: TypeAlias = Callable[[BaseException | None], None]

_T = TypeVar("_T")

#: Bytes to ask the socket for at once: many small answers, below what malloc maps anew each time.
READ_SIZE: Final = 64 * 1024
#: Whether the system can be told from any thread to which sockets a loop listens: Linux.
_CAN_HAND_OVER: Final = sys.platform == "linux"
#: Requests that a connection leaves to the loop after one that read answers of others.
_REST: Final = 100
#: Those for which threads wrote something that waits for the next answer, and the loop sleeps.
_postponed: deque[SocketTransport] = deque()


class Transport(Protocol):
    """A connected, bidirectional stream of bytes."""

    @property
    def is_closing(self) -> bool:
        """Whether nothing can be written any more."""

    def start(self, on_data: DataCallback, on_closed: ClosedCallback) -> None:
        """Begin to read; on the loop's thread, where both callbacks run as well."""

    def write(self, data: bytes) -> None:
        """Send bytes, from any thread, without waiting; nothing if the transport is closing."""

    def close(self) -> None:
        """Send what was written before and close, from any thread."""

    def abort(self) -> None:
        """Close without sending what still waits, from any thread."""


class SocketTransport:
    """A transport over a connected, non-blocking socket.

    On the loop's thread, what is written within one iteration of the loop leaves with one system
    call at its end, or with the read that led to it: see ``after_read``. Another thread sends its
    first bytes after an answer at once, so that a request does not wait for the loop to wake up.
    What it writes before the next answer comes is postponed: it leaves in one piece with the next
    read, or when a thread waits (``send_postponed``), and the loop sleeps on. Woken, the loop would
    wait for the interpreter's lock, which that thread has, and be put to sleep and woken once more.

    A thread that waits for the only answer on its way can read it itself (``take_over_reading``):
    it is woken once, by the kernel, where else the loop's thread is woken, and wakes it. The loop
    listens to an epoll set that has the socket in it, and is taken out of it meanwhile: a set can
    be changed by any thread, whatever kind of loop listens. Only loops of the driver's own threads
    do so; those of applications are nobody's to wait for.

    Attributes:
        is_closing: nothing can be written any more.
    """

    # Where compiled code finds them.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_fd",
        "_flush_follows",
        "_flush_is_due",
        "_hands_out",
        "_heard_by_loop",
        "_incoming",
        "_lock",
        "_loop",
        "_on_closed",
        "_on_data",
        "_pending",
        "_reader",
        "_reading",
        "_rest",
        "_sends_at_once",
        "_shared",
        "_sock",
        "_thread",
        "_waits_for_room",
        "_was_answered",
        "is_closing",
    )

    #: What another thread waits on, where there is an epoll set.
    _incoming: select.poll

    def __init__(self, loop: asyncio.AbstractEventLoop, sock: socket.socket) -> None:
        """Own the socket from now on; on the loop's thread."""
        self.is_closing = False
        self._loop = loop
        self._thread = get_ident()
        self._sock = sock
        self._fd = sock.fileno()
        #: Held to send and to close: a closed descriptor may be another socket's a moment later.
        self._lock = threading.Lock()
        self._pending: deque[bytes] = deque()
        self._flush_is_due = False
        #: Other threads wrote what leaves at the end of the next read.
        self._flush_follows = False
        #: Of the compiled form: a read is handed out; the loop would come late to what it should
        #: send, as other threads compute. Here each call of the socket would give the interpreter's
        #: lock up to those.
        self._hands_out = self._sends_at_once = False
        self._was_answered = True
        self._waits_for_room = False
        self._on_data: DataCallback | None = None
        self._on_closed: ClosedCallback | None = None
        #: Held by the thread that reads, the loop's or another, until it has understood all.
        self._reading = threading.Lock()
        #: The thread that took over reading; under the lock of sending and closing.
        self._reader: int | None = None
        self._rest = 0
        #: Of the compiled form: threads that wait for answers, and read them in turn.
        self._shared: object = None
        #: The epoll set that the loop listens to; None if it listens to the socket.
        self._heard_by_loop: select.epoll | None = None
        refuse_in_child(self)

    def start(self, on_data: DataCallback, on_closed: ClosedCallback) -> None:
        """Begin to read."""
        self._on_data = on_data
        self._on_closed = on_closed
        if self._fd < 0 or self.is_closing:
            return
        if not (_CAN_HAND_OVER and is_own(self._loop)):
            self._loop.add_reader(self._fd, self.read, on_data)
            return
        self._heard_by_loop = select.epoll()
        self._heard_by_loop.register(self._fd, select.EPOLLIN)
        self._incoming = select.poll()
        self._incoming.register(self._fd, select.POLLIN)
        self._loop.add_reader(self._heard_by_loop.fileno(), self._read_in_turn, on_data)

    # --- reading, on the loop's thread ----------------------------------------------------------

    def read(self, on_data: Callable[[bytes], _T]) -> _T | None:
        """Take what is there and hand it on, for what this returns.

        None if nothing is there, or if the connection ended, which is seen to.
        """
        try:
            data = self._sock.recv(READ_SIZE)
        except (BlockingIOError, InterruptedError):
            return None
        except OSError as error:
            call_on_loop(self._loop, self._thread, self._end, error)
            return None
        if data:
            self._was_answered = True
            return on_data(data)
        call_on_loop(self._loop, self._thread, self._end, None)
        return None

    def _read_in_turn(self, on_data: DataCallback) -> None:
        """The same, unless another thread has just taken over."""
        if self._reading.acquire(blocking=False):
            try:
                self.read(on_data)
            finally:
                self._reading.release()
                if self._flush_follows:
                    self.flush()

    # --- reading, on a thread that waits ----------------------------------------------------------

    def take_over_reading(self) -> bool:
        """Have this thread read in place of the loop, until it calls ``hand_reading_back``.

        Returns:
            False if the loop goes on: it is reading, or this is its thread, or another one has
            taken over, or the loop is not one to take over from.
        """
        if self._rest:
            self._rest -= 1
            return False
        if (
            self._heard_by_loop is None
            or self._thread == get_ident()
            or not self._reading.acquire(blocking=False)
        ):
            return False
        is_mine = False
        try:
            with self._lock:
                if not (self.is_closing or self._waits_for_room):
                    self._reader = get_ident()
                    self._heard_by_loop.modify(self._fd, 0)
                    is_mine = True
        finally:
            if not is_mine:
                self._reading.release()
        return is_mine

    def wait_for_data(self, until: float | None) -> bool:
        """Wait until something is there to ``read``, having taken over.

        Args:
            until: by ``time.monotonic``; None waits for ever.

        Returns:
            False if nothing came in time, or the transport closes.
        """
        while not self.is_closing and not self._loop.is_closed():
            left = SLICE if until is None else min(SLICE, until - time.monotonic())
            if self._incoming.poll(max(left, 0) * 1000):
                return True
            if until is not None and time.monotonic() >= until:
                return False
        return False

    def hand_reading_back(self, *, is_disturbed: bool = False) -> None:
        """Have the loop read again; nothing if this thread has not taken over.

        Args:
            is_disturbed: others wait for answers of this connection, too: the loop reads for some
                time.
        """
        with self._lock:
            if self._reader != get_ident():
                return
            self._reader = None
            if is_disturbed:
                self._rest = _REST
            if self.is_closing:
                self._close_socket()
            elif self._heard_by_loop is not None:
                self._heard_by_loop.modify(self._fd, select.EPOLLIN)
        self._reading.release()

    # --- writing ----------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Send bytes; nothing if the transport is closing."""
        if get_ident() != self._thread:
            self._send_from_elsewhere(data)
            return
        self._pending.append(data)
        if not self._flush_is_due:
            self._flush_is_due = True
            call_after_read(self._loop, self.flush)

    def send_now(self, data: bytes) -> None:
        """Send bytes, and what waits before them, in this iteration of the loop; on its thread."""
        self._pending.append(data)
        self.flush()

    def _send_from_elsewhere(self, data: bytes) -> None:
        """Send at once what may be a single request, and postpone a stream of them."""
        failure: OSError | None = None
        with self._lock:
            if self.is_closing:
                return
            if self._pending or self._waits_for_room or not self._was_answered:
                self._pending.append(data)
                if self._flush_is_due or self._waits_for_room:
                    return
                self._flush_is_due = True
                if self._heard_by_loop is not None:
                    self._flush_follows = True
                    _postponed.append(self)
                    return
            else:
                self._was_answered = False
                sent = 0
                try:
                    sent = self._sock.send(data)
                except (BlockingIOError, InterruptedError):
                    pass
                except OSError as error:
                    failure = error
                if sent == len(data):
                    return
                if failure is None:
                    # In front of what the loop's thread wrote meanwhile.
                    self._pending.appendleft(data[sent:])
        # Without the lock: where the loop is closed, both are called here, and take it.
        if failure is None:
            self.flush_on_loop()
        else:
            call_on_loop(self._loop, self._thread, self._end, failure)

    def flush(self) -> None:
        """Send what waits, on any thread; the loop sends what the socket does not take."""
        with self._lock:
            self._flush_is_due = self._flush_follows = False
            if self._waits_for_room or self.is_closing:
                return
            error = self._send_pending()
            is_left = self._pending and get_ident() != self._thread
        if error is not None:
            call_on_loop(self._loop, self._thread, self._end, error)
        elif is_left and not self._loop.is_closed():
            self.flush_on_loop()

    def flush_on_loop(self) -> None:
        """The same on the loop's thread, soon."""
        call_on_loop(self._loop, self._thread, self.flush)

    def _send_pending(self) -> OSError | None:
        """Send what waits; on the loop's thread, the rest waits for room. With the lock."""
        pending = self._pending
        if not pending:
            return None
        data = pending[0] if len(pending) == 1 else b"".join(pending)
        pending.clear()
        try:
            sent = self._sock.send(data)
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError as error:
            return error
        if sent < len(data):
            pending.appendleft(data[sent:])
            if not self._waits_for_room and get_ident() == self._thread:
                self._waits_for_room = True
                self._loop.add_writer(self._fd, self._room)
        return None

    def _room(self) -> None:
        """The socket takes bytes again."""
        with self._lock:
            if self.is_closing:
                return
            error = self._send_pending()
            if not self._pending and self._waits_for_room:
                self._waits_for_room = False
                self._loop.remove_writer(self._fd)
        if error is not None:
            self._end(error)

    # --- the end ------------------------------------------------------------------------------

    def close(self) -> None:
        """Send what was written before, as far as the socket takes it at once, and close."""
        call_on_loop(self._loop, self._thread, self._end, None)

    def abort(self) -> None:
        """Close without sending what still waits."""
        with self._lock:
            self._pending.clear()
        call_on_loop(self._loop, self._thread, self._end, None)

    def _end(self, error: BaseException | None) -> None:
        """Close the socket and say so, once."""
        with self._lock:
            if self.is_closing:
                return
            if error is None and self._pending:
                # The last words, such as those of TLS; nobody is left to hear that they failed.
                with contextlib.suppress(OSError):
                    self._sock.send(b"".join(self._pending))
            self.is_closing = True
            self._pending.clear()
            with contextlib.suppress(ValueError):
                _postponed.remove(self)
            if not self._loop.is_closed():
                self._loop.remove_reader(
                    self._fd if self._heard_by_loop is None else self._heard_by_loop.fileno()
                )
                self._loop.remove_writer(self._fd)
            if self._reader is None:
                self._close_socket()
            else:
                # Wakes the thread that reads, which closes it: its descriptor may be another
                # socket's a moment later, which that thread would read from.
                with contextlib.suppress(OSError):
                    self._sock.shutdown(socket.SHUT_RDWR)
        on_closed, self._on_closed = self._on_closed, None
        if on_closed is not None:
            on_closed(error)

    def _close_socket(self) -> None:
        self._sock.close()
        if self._heard_by_loop is not None:
            self._heard_by_loop.close()

    def forked(self) -> None:
        """Close the child's descriptor: the node sees an end only when the parent closes too."""
        self._lock = threading.Lock()  # a thread that is not here may have held it
        self.is_closing = True
        self._pending.clear()
        self._close_socket()


def send_postponed(*, on_loop: bool = False) -> None:
    """Send what was postponed: before this thread waits, and with each tick of timers.

    Args:
        on_loop: have the loops send it, where no thread waits, or many do.
    """
    while _postponed:
        try:
            transport = _postponed.popleft()
        except IndexError:  # another thread took the last one
            return
        if on_loop:
            transport.flush_on_loop()
        else:
            transport.flush()


hand_over(globals())
