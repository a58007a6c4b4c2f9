"""A connection over a transport of the application's own."""

import asyncio

from asv_benchmarks.server import VOID, Answer, InMemoryServer
from driver.net.connection import Connection
from driver.net.settings import ConnectionSettings
from driver.protocol.version import ProtocolVersion
from driver.topology.endpoint import DefaultEndPoint
from driver.wire.requests import QueryMessage
from driver.wire.responses import SupportedMessage

ENDPOINT = DefaultEndPoint("node.test", 9042)
NO_OPTIONS = b"\0\0"


class Tunnel:
    """Carries bytes to a server in this process."""

    def __init__(self, loop, server):
        self.is_closing = False
        self.loop, self.server = loop, server

    def start(self, on_data, on_closed):
        self.on_data, self.on_closed = on_data, on_closed

    def write(self, data):
        self.loop.call_soon(self.on_data, self.server.receive(data))

    def close(self):
        if not self.is_closing:
            self.is_closing = True
            self.on_closed(None)

    abort = close


def test_a_subclass_carries_the_bytes_over_what_it_opens(run):
    asked = []

    class Tunnelled(Connection):
        @staticmethod
        async def open_transport(loop, endpoint, **how):
            asked.append((endpoint, how))
            return Tunnel(loop, InMemoryServer(answer))

    def answer(request):
        return Answer(SupportedMessage.opcode, NO_OPTIONS) if request.opcode == 5 else VOID

    async def main():
        settings = ConnectionSettings(
            ProtocolVersion.V4, connect_timeout=3.0, sockopts=((6, 1, 1),), compression=False
        )
        connection = await Tunnelled.connect(
            asyncio.get_running_loop(), ENDPOINT, settings, local_port=4711
        )
        assert (await connection.ask(QueryMessage("SELECT v FROM t", 1))).kind == 1
        connection.close()
        assert connection._transport.is_closing

    run(main())
    how = {"tls": None, "sockopts": ((6, 1, 1),), "timeout": 3.0, "local_port": 4711}
    assert asked == [(ENDPOINT, how)]
