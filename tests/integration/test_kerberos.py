"""Kerberos with a real KDC: both ends of SASL's GSSAPI, and a Cassandra that asks for it.

One server's side is written here, by the library of the client; the other one is Java's, in a node
whose authenticator is `kerberos/Kerberos.java`.
"""

import asyncio
import subprocess
from pathlib import Path

import pytest
import realm as realms
from ring.failure import Failure
from ring.java import java
from ring.place import JARS

from driver import aio
from driver.auth import SaslAuthProvider
from driver.protocol.errors import AuthenticationFailed, NoHostAvailable
from tests.integration.rings import PREFIX

gssapi = pytest.importorskip(
    "gssapi", reason="gssapi is not installed: pip install cqlpath[gssapi]"
)

SOURCE = Path(__file__).parent / "kerberos" / "Kerberos.java"
#: The first node, as the KDC knows it: the service's name, and the address that we connect to.
SERVICE, HOST = "cql", f"{PREFIX}1"
#: The first role of a node, and one that it does not have.
USER, STRANGER = "cassandra", "stranger"
LOGIN = """com.sun.security.jgss.krb5.accept {{
  com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true
  isInitiator=false doNotPrompt=true principal="{principal}" keyTab="{keys}";
}};
"""

pytestmark = pytest.mark.once


@pytest.fixture(scope="session")
def realm(rings):
    """A realm with a server and two clients, beside the certificates of the nodes.

    Not a module's: tests are sorted by ring, so that a module's end is not its last test.
    """
    if reason := realms.missing():
        pytest.skip(reason)
    folder = rings.certificates / "kerberos"
    folder.mkdir()
    with realms.Realm(folder).serving() as realm:
        keys = realm.add(f"{SERVICE}/{HOST}")
        for principal in (USER, STRANGER):
            realm.add(principal)
        principal = f"{SERVICE}/{HOST}@{realms.NAME}"
        (folder / "login.conf").write_text(LOGIN.format(principal=principal, keys=keys))
        yield realm


@pytest.fixture
def as_client(realm, monkeypatch, tmp_path):
    """Makes this process one of the realm's clients."""

    def be(principal):
        monkeypatch.setenv("KRB5_CONFIG", str(realm.configuration))
        monkeypatch.setenv("KRB5_CLIENT_KTNAME", str(realm.folder / f"{principal}.keytab"))
        monkeypatch.setenv("KRB5CCNAME", f"FILE:{tmp_path}/tickets of {principal}")

    return be


@pytest.fixture(scope="session")
def authenticator(realm):
    """The compiled class of the node's authenticator, where the node looks for it."""
    try:
        compiler = java().with_name("javac")
    except Failure as failure:
        pytest.skip(str(failure))
    if not compiler.exists():
        pytest.skip(f"{compiler} is not there: the authenticator is compiled with a JDK")
    command = [compiler, "-cp", f"{JARS}/*", "-d", realm.folder / "classes", SOURCE]
    subprocess.run(command, check=True, timeout=120)


@pytest.fixture
def node(authenticator, kerberos_node):  # noqa: ARG001  (first the class)
    return kerberos_node


def provider(**options):
    return SaslAuthProvider(service=SERVICE, mechanism="GSSAPI", **options)


class Server:
    """The server's side of RFC 4752, section 3.2, over tokens."""

    def __init__(self, realm, layers=1, buffer=b"\0\0\0"):
        store = {"keytab": str(realm.folder / f"{SERVICE}-{HOST}.keytab")}
        credentials = gssapi.Credentials(usage="accept", store=store)
        self.context = gssapi.SecurityContext(usage="accept", creds=credentials)
        self.offer = bytes((layers,)) + buffer

    def converse(self, client):
        """Ask until the client has chosen; its choice of layer, its buffer, and its identity."""
        token = client.initial_response()
        while not self.context.complete:
            token = client.evaluate_challenge(self.context.step(token))
        assert token == b""
        chosen = client.evaluate_challenge(self.context.wrap(self.offer, encrypt=False).message)
        answer = self.context.unwrap(chosen).message
        return answer[0], int.from_bytes(answer[1:4], "big"), answer[4:].decode()


def test_both_ends_know_one_another(realm, as_client):
    as_client(USER)
    server, client = Server(realm), provider().new_authenticator(HOST)
    assert server.converse(client) == (1, 0, "")
    assert str(server.context.initiator_name) == f"{USER}@{realms.NAME}"
    assert (client.sasl.complete, client.sasl.qop) == (True, "auth")


def test_a_role_to_act_as_is_said(realm, as_client):
    as_client(USER)
    client = provider(authorization_id="other").new_authenticator(HOST)
    assert Server(realm).converse(client) == (1, 0, "other")


@pytest.mark.parametrize(
    ("offered", "allowed", "chosen"),
    [
        (7, ("auth", "auth-int", "auth-conf"), (4, 1024)),
        (7, ("auth", "auth-int"), (2, 1024)),
        (7, ("auth",), (1, 0)),
        (3, ("auth-conf", "auth-int"), (2, 1024)),
    ],
)
def test_the_strongest_layer_of_both_is_chosen(realm, as_client, offered, allowed, chosen):
    as_client(USER)
    client = provider(qops=allowed).new_authenticator(HOST)
    server = Server(realm, layers=offered, buffer=(1024).to_bytes(3, "big"))
    assert server.converse(client) == (*chosen, "")


def test_a_server_without_an_allowed_layer_is_refused(realm, as_client):
    as_client(USER)
    client = provider(qops=["auth-conf"]).new_authenticator(HOST)
    with pytest.raises(AuthenticationFailed, match="offers none of auth-conf"):
        Server(realm).converse(client)


def test_a_layer_of_an_unknown_name_is_refused(as_client):
    as_client(USER)
    with pytest.raises(ValueError, match="auth-strong is none of auth-conf, auth-int, auth"):
        provider(qops=["auth-strong"]).new_authenticator(HOST)


def test_an_offer_that_is_none_is_refused(realm, as_client):
    as_client(USER)
    with pytest.raises(AuthenticationFailed, match="its layers in 5 bytes"):
        Server(realm, buffer=b"\0\0\0\0").converse(provider().new_authenticator(HOST))


def test_credentials_of_a_principal_can_be_asked_for(realm, as_client):
    as_client(USER)
    client = provider(principal=f"{USER}@{realms.NAME}").new_authenticator(HOST)
    Server(realm).converse(client)
    with pytest.raises(AuthenticationFailed, match="nobody"):
        provider(principal=f"nobody@{realms.NAME}").new_authenticator(HOST)


def test_who_has_no_credentials_is_told(as_client):
    as_client("nobody")
    with pytest.raises(AuthenticationFailed, match="GSSAPI"):
        provider().new_authenticator(HOST).initial_response()


def test_a_server_that_the_realm_does_not_know_is_not_talked_to(as_client):
    as_client(USER)
    with pytest.raises(AuthenticationFailed, match="GSSAPI"):
        provider().new_authenticator("127.0.0.99").initial_response()


def test_a_forged_answer_is_refused(as_client):
    as_client(USER)
    client = provider().new_authenticator(HOST)
    client.initial_response()
    with pytest.raises(AuthenticationFailed, match="GSSAPI"):
        client.evaluate_challenge(b"\x60\x03\x06\x01\x00")


@pytest.mark.parametrize("version", [3, 4, 5])
def test_a_real_node_lets_the_principal_in(node, as_client, clusters, version):
    as_client(USER)
    cluster = clusters(node.addresses, auth_provider=provider(), protocol_version=version)
    session = cluster.connect()
    assert session.execute("LIST ROLES").one().role == USER
    if version == 5:
        clients = session.execute("SELECT username FROM system_views.clients")
        assert {row.username for row in clients} == {USER}


def test_a_real_node_lets_the_principal_in_where_answers_are_awaited(node, as_client):
    as_client(USER)

    async def main():
        async with aio.Cluster(node.addresses, auth_provider=provider()) as cluster:
            session = await cluster.connect()
            return (await session.execute("SELECT key FROM system.local")).one().key

    assert asyncio.run(main()) == "local"


def test_a_real_node_refuses_a_principal_without_a_role(node, as_client, clusters):
    as_client(STRANGER)
    cluster = clusters(node.addresses, auth_provider=provider())
    with pytest.raises((AuthenticationFailed, NoHostAvailable)) as refused:
        cluster.connect()
    assert STRANGER in repr(refused.value)
