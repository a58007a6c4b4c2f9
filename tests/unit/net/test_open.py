"""Opening transports: every kind of endpoint, every address of a name, and no socket left over."""

import asyncio
import errno
import socket
import ssl

import pytest
import trustme
from cql_node import CqlNode
from loops import eventually
from sni_proxy import SniProxy

from driver.net.connection import Connection
from driver.net.errors import ConnectionException
from driver.net.open import open_transport
from driver.net.settings import ConnectionSettings
from driver.protocol.errors import OperationTimedOut
from driver.topology.endpoint import DefaultEndPoint, SniEndPoint
from driver.wire.requests import QueryMessage

SELECT = QueryMessage("SELECT v FROM t", 1)


def test_a_unix_socket_is_an_endpoint_like_any_other(run, connect, tmp_path):
    with CqlNode(path=str(tmp_path / "node.sock")) as node:

        async def main():
            connection = await connect(node)
            assert (await connection.ask(SELECT)).kind == 1
            connection.close()

        run(main())


def test_a_unix_socket_that_is_not_there_is_named(run, connect, tmp_path):
    node = CqlNode(path=str(tmp_path / "nobody.sock"))

    async def main():
        with pytest.raises(ConnectionException, match=r"nobody\.sock"):
            await connect(node)

    run(main())


def test_a_name_is_resolved_and_all_its_addresses_are_tried(run, node, monkeypatch):
    async def main():
        loop = asyncio.get_running_loop()
        nobody = socket.socket()
        nobody.bind(("127.0.0.1", 0))  # bound, and not listening
        closed_port = nobody.getsockname()[1]

        async def resolve(host, port, **kwargs):
            if host != "node.test":
                return await ask(host, port, **kwargs)
            return [
                (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))
                for port in (closed_port, node.port)
            ]

        endpoint = DefaultEndPoint("node.test", 9042)
        ask = loop.getaddrinfo
        with monkeypatch.context() as patch:
            patch.setattr(loop, "getaddrinfo", resolve)
            transport = await open_transport(loop, endpoint)
            transport.close()
            node.stop_listening()
            with pytest.raises(ConnectionException) as caught:
                await open_transport(loop, endpoint)
            assert str(closed_port) in str(caught.value)
            assert str(node.port) in str(caught.value)
        nobody.close()

    run(main())


def test_localhost_is_a_name(run, node):
    async def main():
        loop = asyncio.get_running_loop()
        endpoint = DefaultEndPoint("localhost", node.port)
        transport = await open_transport(loop, endpoint)
        transport.close()

    run(main())


def test_a_name_without_an_address_is_named(run):
    async def main():
        endpoint = DefaultEndPoint("no-such-host.invalid", 9042)
        with pytest.raises(ConnectionException, match=r"no-such-host\.invalid"):
            await open_transport(asyncio.get_running_loop(), endpoint)

    run(main())


def test_a_full_backlog_times_out(run):
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    waiting = []
    for _ in range(4):
        # The kernel takes a few, then answers nobody any more.
        other = socket.socket()
        other.setblocking(False)
        assert other.connect_ex(listener.getsockname()) in {0, errno.EINPROGRESS}
        waiting.append(other)

    async def main():
        loop = asyncio.get_running_loop()
        endpoint = DefaultEndPoint(*listener.getsockname())
        with pytest.raises(OperationTimedOut, match=str(endpoint)):
            await open_transport(loop, endpoint, timeout=0.05)
        cancelled = asyncio.ensure_future(open_transport(loop, endpoint, timeout=None))
        await asyncio.sleep(0.02)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled

    try:
        run(main())
    finally:
        for other in [listener, *waiting]:
            other.close()


def test_socket_options_and_the_source_port_are_set(run, node):
    free = socket.socket()
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
    free.close()

    async def main():
        settings = ConnectionSettings(
            sockopts=[(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)], idle_heartbeat_interval=0
        )
        loop = asyncio.get_running_loop()
        connection = await Connection.connect(loop, node.endpoint, settings, local_port=port)
        sock = connection._transport._sock
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert node.clients[0].peername[1] == port
        with pytest.raises(ConnectionException) as caught:
            await Connection.connect(loop, node.endpoint, settings, local_port=port)
        assert caught.value.__cause__.errno in {errno.EADDRINUSE, errno.EADDRNOTAVAIL}
        connection.close()

    run(main())


# --- behind a proxy ------------------------------------------------------------------------------


def test_a_proxy_leads_to_the_node_that_the_handshake_names(run):
    ca = trustme.CA()
    names = ["node-1.cluster.test", "node-2.cluster.test"]
    nodes = []
    for name in names:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        ca.issue_cert(name).configure_cert(context)
        nodes.append(CqlNode(ssl_context=context).start())
    trusting = ssl.create_default_context()
    ca.configure_trust(trusting)
    routes = dict(zip(names, (node.port for node in nodes), strict=True))

    async def main(port):
        loop = asyncio.get_running_loop()
        settings = ConnectionSettings(ssl_context=trusting, idle_heartbeat_interval=0)
        for name in names:
            endpoint = SniEndPoint("127.0.0.1", name, port)
            connection = await Connection.connect(loop, endpoint, settings)
            await connection.ask(QueryMessage(f"SELECT {name}", 1))
            connection.close()
        endpoint = SniEndPoint("127.0.0.1", "node-3.cluster.test", port)
        with pytest.raises(ConnectionException, match="node-3"):
            await Connection.connect(loop, endpoint, settings)
        await eventually(lambda: not nodes[0].clients and not nodes[1].clients)

    try:
        with SniProxy(routes) as proxy:
            run(main(proxy.port))
            assert proxy.names == [*names, "node-3.cluster.test"]
        assert [node.texts for node in nodes] == [[f"SELECT {name}"] for name in names]
    finally:
        for node in nodes:
            node.stop()
