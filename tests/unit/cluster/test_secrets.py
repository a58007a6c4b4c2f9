"""A password that is planted shows in no log, at any level, in no exception and in no repr."""

import asyncio
import contextlib
import gc
import logging
import ssl
import traceback

import pytest
import trustme
from cloud_services import write_bundle
from cql_cluster import CqlCluster
from cql_node import rows
from cryptography.hazmat.primitives import serialization

from driver import aio
from driver.auth import PlainTextAuthProvider
from driver.cluster import Cluster
from driver.net.tls import context_from_options
from driver.policies.column_encryption import (
    AES256_KEY_SIZE_BYTES,
    AES256ColumnEncryptionPolicy,
)
from driver.policies.reconnection import ConstantReconnectionPolicy
from driver.protocol.columns import ColDesc
from driver.protocol.errors import DriverException
from driver.types import Int32Type

SECRET = "planted-correct-horse"  # noqa: S105  (of nodes that live for a test)
QUICK = {"reconnection_policy": ConstantReconnectionPolicy(0.05, None), "connect_timeout": 5}


def told(error):
    """All that an exception says, and those that it came from."""
    return "".join(traceback.format_exception(error)) + repr(error)


def reprs():
    """Of every object of the driver that is alive."""
    gc.collect()
    found = []
    for each in gc.get_objects():
        if str(type(each).__module__).partition(".")[0] == "driver":
            with contextlib.suppress(Exception):
                found.append(f"{each!r} {each!s}")
    assert found
    return "\n".join(found)


@pytest.fixture
def shown(caplog):
    """What was shown; it is looked through in the end."""
    caplog.set_level(logging.DEBUG)
    texts = []
    yield texts
    every = "\n".join((caplog.text, *texts))
    assert SECRET not in every
    assert SECRET.encode().hex() not in every


@pytest.mark.parametrize("knows", [SECRET, "another one"])
def test_of_a_user(shown, knows):
    with CqlCluster(1, users={"me": knows}) as nodes:
        nodes.when("FROM t", rows([("k", Int32Type)], [(1,)]))
        options = {"auth_provider": PlainTextAuthProvider("me", SECRET), **QUICK}
        with Cluster(**nodes.options, **options) as cluster:
            try:
                session = cluster.connect()
                session.execute("SELECT k FROM t")
                shown.append(reprs())
                nodes.nodes[0].stop()
                session.execute("SELECT k FROM t", timeout=1)
            except DriverException as error:
                shown.append(told(error))
            shown.append(reprs())
    assert len(shown) >= 2


def test_of_a_user_of_an_event_loop(shown):
    async def main(nodes):
        provider = PlainTextAuthProvider("me", SECRET)
        asyncio.get_running_loop().set_debug(True)
        async with aio.Cluster(**nodes.options, auth_provider=provider) as cluster:
            await cluster.connect()
            shown.append(reprs())

    with CqlCluster(1, users={"me": SECRET}) as nodes:
        asyncio.run(main(nodes))


@pytest.mark.parametrize("knows", [SECRET, "another one"])
def test_of_the_key_of_a_certificate(shown, tmp_path, knows):
    authority = trustme.CA()
    mine = authority.issue_cert("me@example.org")
    key = serialization.load_pem_private_key(mine.private_key_pem.bytes(), None)
    (tmp_path / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(knows.encode()),
        )
    )  # fmt: skip
    mine.cert_chain_pems[0].write_to_path(tmp_path / "me.pem")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    options = {
        "ca_certs": str(tmp_path / "ca.pem"), "certfile": str(tmp_path / "me.pem"),
        "keyfile": str(tmp_path / "key.pem"), "password": SECRET,
    }  # fmt: skip
    cluster = Cluster(["127.0.0.1"], port=1, ssl_options=options, connect_timeout=2)
    with cluster, pytest.raises(Exception) as caught:  # noqa: PT011  (whatever it is)
        cluster.connect()
    shown += [told(caught.value), reprs()]
    if knows != SECRET:
        with pytest.raises((ssl.SSLError, ValueError)) as caught:
            context_from_options(options)
        shown.append(told(caught.value))


def test_of_a_bundle(shown, tmp_path):
    write_bundle(tmp_path / "b.zip", trustme.CA(), host="localhost", port=1, username="me",
                 password=SECRET)  # fmt: skip
    cluster = Cluster(cloud={"secure_connect_bundle": str(tmp_path / "b.zip")}, connect_timeout=2)
    with cluster, pytest.raises(DriverException) as caught:
        cluster.connect()
    shown += [told(caught.value), reprs()]


def test_of_encrypted_columns(shown):
    policy, column = AES256ColumnEncryptionPolicy(), ColDesc("ks", "t", "c")
    policy.add_column(column, SECRET.encode().ljust(AES256_KEY_SIZE_BYTES, b"."), "int")
    for wrong in (
        lambda: policy.decrypt(column, b"no text"),
        lambda: policy.add_column(column, SECRET.encode(), "int"),
    ):
        with pytest.raises(ValueError, match="bytes") as caught:
            wrong()
        shown.append(told(caught.value))
    Cluster(column_encryption_policy=policy)
    shown += [repr(vars(policy)), reprs()]
