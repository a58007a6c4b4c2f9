"""TLS: whom we trust, by which name, who trusts us, and that data is the same behind it."""

import asyncio
import random
import ssl
import threading

import pytest
import trustme
from cql_node import QUERY, CqlNode, rows
from loops import eventually

from driver.net.errors import ConnectionException
from driver.net.tls import Tls, context_from_options
from driver.topology.endpoint import DefaultEndPoint
from driver.types import UTF8Type
from driver.wire.requests import QueryMessage

SELECT = QueryMessage("SELECT v FROM t", 1)


@pytest.fixture(scope="module")
def ca():
    return trustme.CA()


@pytest.fixture(scope="module")
def files(ca, tmp_path_factory):
    """Paths of the CA, and of a client's certificate and key."""
    folder = tmp_path_factory.mktemp("tls")
    client = ca.issue_cert("client@example.org")
    ca.cert_pem.write_to_path(folder / "ca.pem")
    client.cert_chain_pems[0].write_to_path(folder / "client.pem")
    client.private_key_pem.write_to_path(folder / "client.key")
    return {
        "ca_certs": str(folder / "ca.pem"),
        "certfile": str(folder / "client.pem"),
        "keyfile": str(folder / "client.key"),
    }


def server_context(ca, *names, wants_client=False):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert(*(names or ("127.0.0.1", "localhost"))).configure_cert(context)
    if wants_client:
        ca.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def client_context(ca):
    context = ssl.create_default_context()
    ca.configure_trust(context)
    return context


@pytest.fixture
def tls_node(ca):
    with CqlNode(ssl_context=server_context(ca)) as node:
        yield node


@pytest.mark.parametrize("version", [4, 5])
def test_a_context_that_trusts_the_ca_connects(run, connect, tls_node, ca, version):
    tls_node.when("FROM t", rows([("v", UTF8Type)], [("x" * 500_000,)]))

    async def main():
        connection = await connect(
            tls_node, ssl_context=client_context(ca), protocol_version=version
        )
        assert connection.is_encrypted
        assert (await connection.ask(SELECT)).parsed_rows == [("x" * 500_000,)]
        await connection.ask(QueryMessage("INSERT " + "y" * 500_000, 1))
        connection.close()

    run(main())


def test_options_do_what_a_context_does(run, connect, tls_node, files):
    async def main():
        options = {"ca_certs": files["ca_certs"], "check_hostname": True}
        connection = await connect(tls_node, ssl_options=options)
        connection.close()

    run(main())


def test_a_certificate_of_another_ca_is_refused_by_name(run, connect, tls_node):
    async def main():
        for _ in range(5):
            with pytest.raises(ConnectionException, match="certificate verify failed") as caught:
                await connect(tls_node, ssl_context=client_context(trustme.CA()))
            assert str(tls_node.endpoint) in str(caught.value)
        await eventually(lambda: not tls_node.clients)

    run(main())


def test_a_certificate_for_another_name_is_refused(run, connect, ca):
    with CqlNode(ssl_context=server_context(ca, "node.example.org")) as node:

        async def main():
            with pytest.raises(ConnectionException, match="IP address mismatch"):
                await connect(node, ssl_context=client_context(ca))

        run(main())


def test_another_name_may_be_asked_for(run, connect, ca):
    with CqlNode(ssl_context=server_context(ca, "node.example.org")) as node:

        async def main():
            connection = await connect(
                node,
                ssl_context=client_context(ca),
                ssl_options={"server_hostname": "node.example.org"},
            )
            connection.close()
            with pytest.raises(ConnectionException, match="Hostname mismatch"):
                await connect(
                    node,
                    ssl_context=client_context(ca),
                    ssl_options={"server_hostname": "other.example.org"},
                )

        run(main())


def test_names_are_checked_by_options_too_unless_they_say_not_to(run, connect, ca, files):
    with CqlNode(ssl_context=server_context(ca, "node.example.org")) as node:

        async def main():
            options = {"ca_certs": files["ca_certs"]}
            with pytest.raises(ConnectionException, match="IP address mismatch"):
                await connect(node, ssl_options=options)
            connection = await connect(node, ssl_options={**options, "check_hostname": False})
            connection.close()

        run(main())


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_client_certificate_is_shown_to_a_node_that_wants_one(run, connect, ca, files, version):
    context = server_context(ca, wants_client=True)
    context.maximum_version = version
    with CqlNode(ssl_context=context) as node:

        async def main():
            connection = await connect(node, ssl_options=files)
            await connection.ask(SELECT)
            connection.close()
            with pytest.raises(ConnectionException) as caught:
                await connect(node, ssl_options={"ca_certs": files["ca_certs"]})
            assert str(node.endpoint) in str(caught.value)

        run(main())


def test_a_node_without_tls_is_told_apart(run, connect, node, ca):
    async def main():
        with pytest.raises(ConnectionException, match=str(node.endpoint)):
            await connect(node, ssl_context=client_context(ca))

    run(main())


def test_many_requests_from_many_threads_arrive_whole(run, connect, tls_node, ca):
    async def main():
        connection = await connect(tls_node, ssl_context=client_context(ca), protocol_version=5)
        answers = []

        def work(me):
            for number in range(100):
                message = QueryMessage(f"INSERT {me}-{number} {'z' * 300}", 1)
                connection.send_msg(message, connection.get_request_id(), answers.append)

        workers = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for worker in workers:
            worker.start()
        work(4)
        await eventually(lambda: len(answers) == 500)
        for worker in workers:
            worker.join()
        assert all(answer.kind == 1 for answer in answers)
        connection.close()

    run(main())
    assert tls_node.count(QUERY) == len(set(tls_node.texts)) == 500


def test_requests_of_one_turn_of_the_loop_share_a_record(run, connect, tls_node, ca):
    async def main():
        connection = await connect(tls_node, ssl_context=client_context(ca), protocol_version=4)
        transport = connection._transport
        sealed = []
        seal = transport._raw.write

        def count(data):
            sealed.append(data)
            seal(data)

        transport._raw.write = count
        await asyncio.gather(*(connection.ask(SELECT) for _ in range(20)))
        assert len(sealed) == 1
        connection.close()

    run(main())


def test_a_name_that_cannot_be_leaves_no_socket(run, connect, tls_node, ca):
    async def main():
        with pytest.raises(ConnectionException, match=str(tls_node.endpoint)):
            await connect(
                tls_node,
                ssl_context=client_context(ca),
                ssl_options={"server_hostname": "." + "x" * 300},
            )

    run(main())


def test_encrypted_data_may_come_in_pieces_of_any_size(run, connect, tls_node, ca):
    tls_node.when("FROM t", rows([("v", UTF8Type)], [("x" * 60_000,)]))

    async def main():
        connection = await connect(tls_node, ssl_context=client_context(ca), protocol_version=5)
        transport = connection._transport
        dice = random.Random(7)
        whole = transport._on_encrypted

        def in_pieces(data):
            while data:
                size = dice.choice([1, 2, 3, 50, 5000])
                whole(data[:size])
                data = data[size:]

        # As if the network cut it so: records, frames and pieces begin and end where they like.
        raw = transport._raw
        raw._loop.remove_reader(raw._fd)
        raw.start(in_pieces, raw._on_closed)
        for _ in range(5):
            assert (await connection.ask(SELECT)).parsed_rows == [("x" * 60_000,)]
        connection.close()

    run(main())


def test_the_goodbye_of_the_node_closes_the_connection(run, connect, tls_node, ca):
    async def main():
        closed = []
        connection = await connect(
            tls_node,
            ssl_context=client_context(ca),
            on_closed=lambda _, error: closed.append(error),
        )
        tls_node.do(lambda: [client.transport.close() for client in tls_node.clients])
        await eventually(lambda: closed)
        assert connection.is_defunct
        assert str(tls_node.endpoint) in str(closed[0])

    run(main())


def test_a_broken_record_closes_this_connection_and_says_why(run, connect, tls_node, ca):
    async def main():
        closed = []
        connection = await connect(
            tls_node,
            ssl_context=client_context(ca),
            on_closed=lambda _, error: closed.append(error),
        )
        other = await connect(tls_node, ssl_context=client_context(ca))
        connection._transport._on_encrypted(b"\x17\x03\x03\x00\x20" + bytes(32))
        await eventually(lambda: closed)
        assert connection.is_defunct
        assert "SSL" in str(closed[0])
        await other.ask(SELECT)
        other.close()

    run(main())


# --- settings ------------------------------------------------------------------------------------


def test_options_become_a_context(files):
    context = context_from_options({**files, "check_hostname": True, "ciphers": "HIGH"})
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    context = context_from_options({"cert_reqs": ssl.CERT_NONE})
    assert context.verify_mode is ssl.CERT_NONE
    context = context_from_options({})
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cafile": "x"}, "unknown TLS options: cafile"),
        ({"cert_reqs": ssl.CERT_NONE, "check_hostname": True}, "check_hostname"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        context_from_options(options)


def test_a_file_that_is_missing_is_an_error_before_anything_connects():
    with pytest.raises(FileNotFoundError):
        context_from_options({"ca_certs": "/nowhere/ca.pem"})


def test_the_name_is_the_endpoints_own_or_the_clusters_or_the_address():
    context = ssl.create_default_context()
    endpoint = DefaultEndPoint("10.0.0.1")
    assert Tls(context).name_for(endpoint.address, None) == "10.0.0.1"
    assert Tls(context, "all").name_for(endpoint.address, None) == "all"
    assert Tls(context, "all").name_for("x", {"server_hostname": "own"}) == "own"
    assert Tls.from_settings(None, None) is None
    assert Tls.from_settings(context, {"server_hostname": "n"}) == (context, "n")
