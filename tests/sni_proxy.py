"""A proxy that leads TLS connections to nodes by the server name of their handshake, for tests.

It reads the name out of the ClientHello and passes all bytes on as they are: TLS is spoken between
client and node.
"""

import asyncio
import contextlib
import threading


class SniProxy:
    """Listens on a loopback port; ``routes`` maps server names to ports of 127.0.0.1."""

    def __init__(self, routes):
        self.routes = routes
        self.names = []
        self.port = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._tasks = set()

    def __enter__(self):
        self._thread.start()
        self._server = self._call(self._listen())
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_):
        self._call(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(30)

    async def _listen(self):
        return await asyncio.start_server(self._serve, "127.0.0.1", 0)

    async def _end(self):
        self._server.close()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _serve(self, reader, writer):
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            header = await reader.readexactly(5)
            hello = header + await reader.readexactly(int.from_bytes(header[3:5], "big"))
            name = server_name(hello)
            self.names.append(name)
            port = self.routes.get(name)
            if port is not None:
                node_reader, node_writer = await asyncio.open_connection("127.0.0.1", port)
                node_writer.write(hello)
                await asyncio.gather(_pump(reader, node_writer), _pump(node_reader, writer))
        writer.close()


async def _pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


def server_name(hello):
    """The host name of a TLS record with a ClientHello (RFC 8446, 4.1.2; RFC 6066, 3)."""
    at = 5 + 4 + 2 + 32  # record, handshake header, version, random
    at += 1 + hello[at]  # session id
    at += 2 + int.from_bytes(hello[at : at + 2], "big")  # cipher suites
    at += 1 + hello[at]  # compression methods
    end = at + 2 + int.from_bytes(hello[at : at + 2], "big")
    at += 2
    while at < end:
        kind, size = hello[at : at + 2], int.from_bytes(hello[at + 2 : at + 4], "big")
        if kind == b"\0\0":
            return hello[at + 9 : at + 4 + size].decode()
        at += 4 + size
    return None
