"""A TCP forwarder between driver and node: it counts connections, and listens where it is told."""

import contextlib
import socket
import threading
from typing import Self


class Proxy:
    """Forwards each connection to a node until it is closed.

    Attributes:
        address: where it listens.
        port: likewise.
        accepted: connections so far.
    """

    def __init__(self, target: tuple[str, int], address: str = "127.0.0.1") -> None:
        self._target = target
        self._listener = socket.create_server((address, 0))
        self.address, self.port = self._listener.getsockname()
        self.accepted = 0
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, name="proxy")]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            node = socket.create_connection(self._target)
            self._open += [client, node]
            for source, sink in ((client, node), (node, client)):
                thread = threading.Thread(target=self._forward, args=(source, sink), name="proxy")
                self._threads.append(thread)
                thread.start()

    def _forward(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def cut(self) -> None:
        """Break every connection that there is."""
        for each in self._open:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # close() alone does not wake a thread that waits in accept().
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join(10)
        for each in self._open:
            each.close()
