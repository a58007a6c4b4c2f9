"""TLS over a transport: the same bytes, sealed on the way out and opened on the way in."""

from __future__ import annotations

import contextlib
import ssl
import threading
from typing import TYPE_CHECKING

from .after_read import WriteCoalescer
from .transport import READ_SIZE

if TYPE_CHECKING:
    import asyncio

    from .transport import ClosedCallback, DataCallback, Transport


class TlsTransport:
    """A transport that encrypts what another transport carries.

    Records must leave in the order in which they were sealed, so one lock is held for both.

    Attributes:
        is_closing: nothing can be written any more.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        raw: Transport,
        context: ssl.SSLContext,
        server_hostname: str,
    ) -> None:
        """Own the transport below from now on."""
        self._raw = raw
        self._plain = WriteCoalescer(loop, self._seal)
        self._lock = threading.Lock()
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = context.wrap_bio(
            self._incoming, self._outgoing, server_side=False, server_hostname=server_hostname
        )
        self._shaken: asyncio.Future[None] | None = loop.create_future()
        self._on_data: DataCallback | None = None
        self._on_closed: ClosedCallback | None = None
        self._error: BaseException | None = None

    @property
    def is_closing(self) -> bool:
        """As the transport below."""
        return self._raw.is_closing

    async def handshake(self) -> None:
        """Agree with the server on keys; the transport is closed if that fails.

        Raises:
            ssl.SSLError: we do not trust the server, or it does not trust us.
            ConnectionResetError: the connection ended meanwhile.
        """
        shaken = self._shaken
        if shaken is None:
            return
        try:
            self._raw.start(self._on_encrypted, self._on_raw_closed)
            self._shake()
            await shaken
        except BaseException:
            self._raw.close()
            raise
        finally:
            self._shaken = None

    def _shake(self) -> None:
        """One step of the handshake, as far as it goes with what has come."""
        shaken = self._shaken
        if shaken is None or shaken.done():
            return
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            shaken.set_exception(error)
        else:
            shaken.set_result(None)
        # An alert, too: the server shall know why.
        self._send_sealed()

    def start(self, on_data: DataCallback, on_closed: ClosedCallback) -> None:
        """Begin to hand data on."""
        self._on_data = on_data
        self._on_closed = on_closed
        # What came together with the end of the handshake, the end of the connection included.
        self._on_encrypted(b"")
        if self.is_closing:
            self._on_raw_closed(self._error)

    def _on_encrypted(self, data: bytes) -> None:
        """Take records; hand on what is in them."""
        self._incoming.write(data)
        if self._shaken is not None and not self._shaken.done():
            with self._lock:
                self._shake()
            return
        on_data = self._on_data
        if on_data is None:
            return
        opened: list[bytes] = []
        is_over, error = False, None
        with self._lock:
            try:
                while piece := self._tls.read(READ_SIZE):
                    opened.append(piece)
                is_over = True
            except ssl.SSLWantReadError:
                pass
            except ssl.SSLZeroReturnError:
                is_over = True
            except ssl.SSLError as failure:
                is_over, error = True, failure
            self._send_sealed()
        if opened:
            on_data(opened[0] if len(opened) == 1 else b"".join(opened))
        if is_over:
            self._error = self._error or error
            self._raw.close()

    def _send_sealed(self) -> None:
        """Send the records that TLS made; with the lock."""
        sealed = self._outgoing.read()
        if sealed:
            self._raw.write(sealed)

    def write(self, data: bytes) -> None:
        """Seal bytes and send them; nothing if the transport is closing."""
        if self._plain.is_possible:
            self._plain.add(data)
        else:
            self._seal([data])

    def _seal(self, pieces: list[bytes]) -> None:
        """Seal bytes and send them now, in as few records as possible."""
        with self._lock:
            if self._raw.is_closing:
                return
            try:
                self._tls.write(b"".join(pieces))
            except ssl.SSLError:
                return  # the server said goodbye, which reading finds out as well
            self._send_sealed()

    def close(self) -> None:
        """Tell the server that this is the end, and close."""
        if self._plain.is_possible:
            self._plain.deliver()
        with self._lock, contextlib.suppress(ssl.SSLError):
            # Not waiting for the server's own goodbye is allowed (RFC 8446, section 6.1).
            self._tls.unwrap()
        with self._lock:
            self._send_sealed()
        self._raw.close()

    def abort(self) -> None:
        """Close at once."""
        self._raw.abort()

    def _on_raw_closed(self, error: BaseException | None) -> None:
        """The transport below is gone."""
        self._error = self._error or error
        if self._shaken is not None and not self._shaken.done():
            self._shaken.set_exception(
                self._error or ConnectionResetError("the server closed the connection")
            )
        on_closed, self._on_closed = self._on_closed, None
        if on_closed is not None:
            on_closed(self._error)
