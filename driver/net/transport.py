"""Transports: bytes to and from one socket, written from any thread, read on the loop's."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from threading import get_ident
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from ..implementation import hand_over
from .after_read import call_after_read
from .fork import refuse_in_child
from .loop import call_on_loop

if TYPE_CHECKING:
    import asyncio
    import socket
    from collections.abc import Callable

    #: Takes bytes, in the order in which they came.
    DataCallback: TypeAlias = Callable[[bytes], None]
    #: Called once, with what went wrong; None after an orderly end, by either side.
    ClosedCallback: TypeAlias = Callable[[BaseException | None], None]

#: Bytes to ask the socket for at once: many small answers, below what malloc maps anew each time.
READ_SIZE: Final = 64 * 1024


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
    first bytes after an answer at once, so that a request does not wait for the loop to wake up;
    what it writes before the next answer comes is collected by the loop, which is awake anyway
    then.

    Attributes:
        is_closing: nothing can be written any more.
    """

    # Where compiled code finds them.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_fd",
        "_flush_is_due",
        "_lock",
        "_loop",
        "_on_closed",
        "_on_data",
        "_pending",
        "_sock",
        "_thread",
        "_waits_for_room",
        "_was_answered",
        "is_closing",
    )

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
        self._was_answered = True
        self._waits_for_room = False
        self._on_data: DataCallback | None = None
        self._on_closed: ClosedCallback | None = None
        refuse_in_child(self)

    def start(self, on_data: DataCallback, on_closed: ClosedCallback) -> None:
        """Begin to read."""
        self._on_data = on_data
        self._on_closed = on_closed
        if self._fd >= 0 and not self.is_closing:
            self._loop.add_reader(self._fd, self._read, on_data)

    # --- reading, on the loop's thread ----------------------------------------------------------

    def _read(self, on_data: DataCallback) -> None:
        """Take what is there and hand it on."""
        try:
            data = self._sock.recv(READ_SIZE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._end(error)
            return
        if data:
            self._was_answered = True
            on_data(data)
        else:
            self._end(None)

    # --- writing ----------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Send bytes; nothing if the transport is closing."""
        if get_ident() != self._thread:
            self._send_from_elsewhere(data)
            return
        self._pending.append(data)
        if not self._flush_is_due:
            self._flush_is_due = True
            call_after_read(self._loop, self._flush)

    def send_now(self, data: bytes) -> None:
        """Send bytes, and what waits before them, in this iteration of the loop; on its thread."""
        self._pending.append(data)
        self._flush()

    def _send_from_elsewhere(self, data: bytes) -> None:
        """Send at once what may be a single request, and have the loop send a stream of them."""
        failure: OSError | None = None
        with self._lock:
            if self.is_closing:
                return
            if self._pending or self._waits_for_room or not self._was_answered:
                self._pending.append(data)
                if self._flush_is_due or self._waits_for_room:
                    return
                self._flush_is_due = True
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
            call_on_loop(self._loop, self._thread, self._flush)
        else:
            call_on_loop(self._loop, self._thread, self._end, failure)

    def _flush(self) -> None:
        """Send what waits; on the loop's thread."""
        self._flush_is_due = False
        error = None
        with self._lock:
            if self._waits_for_room or self.is_closing:
                return
            error = self._send_pending()
        if error is not None:
            self._end(error)

    def _send_pending(self) -> OSError | None:
        """Send what waits; what the socket does not take waits for room. With the lock."""
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
            if not self._waits_for_room:
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
            if not self._loop.is_closed():
                self._loop.remove_reader(self._fd)
                self._loop.remove_writer(self._fd)
            self._sock.close()
        on_closed, self._on_closed = self._on_closed, None
        if on_closed is not None:
            on_closed(error)

    def forked(self) -> None:
        """Close the child's descriptor: the node sees an end only when the parent closes too."""
        self._lock = threading.Lock()  # a thread that is not here may have held it
        self.is_closing = True
        self._pending.clear()
        self._sock.close()


hand_over(globals())
