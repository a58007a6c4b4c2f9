"""A node that asks for a password, over TLS: who gets in, and what the others are told."""

import contextlib
import re
import ssl
import time

import pytest

from driver.auth import PlainTextAuthProvider
from driver.cluster import Cluster
from driver.protocol.errors import (
    AuthenticationFailed,
    NoHostAvailable,
    OperationTimedOut,
    Unauthorized,
)
from tests.integration.leaks import eventually
from tests.integration.proxy import Proxy

#: Seconds in which an impatient driver would have tried again many times.
A_WHILE = 2.0


@pytest.fixture
def certificates(rings):
    return rings.certificates


@pytest.fixture
def trusting(certificates):
    """A context that trusts the authority of the nodes' certificate and checks addresses."""
    return ssl.create_default_context(cafile=certificates / "authority.pem")


def password(word="cassandra", name="cassandra"):
    return PlainTextAuthProvider(name, word)


def causes(error):
    """Everything that an error says: of itself, of each host, and of what caused it."""
    words = []
    while error is not None:
        words.append(f"{type(error).__name__}: {error}")
        errors = getattr(error, "errors", None)
        words += [causes(each) for each in errors.values()] if isinstance(errors, dict) else []
        error = error.__cause__
    return "\n".join(words)


@pytest.mark.since("4.0", "table of clients")
def test_the_right_password_over_tls_gets_in(guarded_node, clusters, trusting):
    cluster = clusters(guarded_node.addresses, auth_provider=password(), ssl_context=trusting)
    session = cluster.connect()
    encrypted = {
        (row.username, row.ssl_enabled, row.ssl_protocol)
        for row in session.execute("SELECT * FROM system_views.clients")
    }
    assert encrypted == {("cassandra", True, "TLSv1.3")}


def test_tls_by_options_instead_of_a_context(guarded_node, clusters, certificates):
    options = {
        "ca_certs": str(certificates / "authority.pem"),
        "cert_reqs": ssl.CERT_REQUIRED,
        "check_hostname": True,
    }
    cluster = clusters(guarded_node.addresses, auth_provider=password(), ssl_options=options)
    assert cluster.connect().execute("SELECT key FROM system.local").one()[0] == "local"


def test_large_values_in_both_directions_over_tls(guarded_node, clusters, trusting):
    cluster = clusters(guarded_node.addresses, auth_provider=password(), ssl_context=trusting)
    session = cluster.connect()
    session.execute(
        "CREATE KEYSPACE IF NOT EXISTS large WITH replication = "
        "{'class': 'SimpleStrategy', 'replication_factor': 1}"
    )
    session.execute("CREATE TABLE IF NOT EXISTS large.t (k int PRIMARY KEY, v blob)")
    insert = session.prepare("INSERT INTO large.t (k, v) VALUES (?, ?)")
    values = {k: bytes([k]) * (100_000 * k + 1) for k in range(8)}
    for future in [session.execute_async(insert, item) for item in values.items()]:
        future.result()
    assert dict(session.execute("SELECT k, v FROM large.t")) == values


def refused(guarded_node, within=30, **options):
    """What the error of connecting says; connections that it took, until then and a while after."""
    target = (guarded_node.addresses[0], 9042)
    with Proxy(target, options.pop("listen", "127.0.0.1")) as proxy:
        cluster = Cluster([proxy.address], port=proxy.port, **options)
        began = time.monotonic()
        with pytest.raises((NoHostAvailable, OperationTimedOut, AuthenticationFailed)) as caught:
            cluster.connect()
        assert time.monotonic() - began < within
        at_once = proxy.accepted
        time.sleep(A_WHILE)
        later = proxy.accepted
        cluster.shutdown()
    return causes(caught.value), at_once, later


@pytest.mark.parametrize(
    ("provider", "says"),
    [
        (password("wrong"), "AuthenticationFailed.*[Pp]assword|credentials|incorrect"),
        (password(name="nobody"), "AuthenticationFailed.*[Pp]assword|credentials|incorrect"),
        (None, "AuthenticationFailed.*(?i:auth)"),
    ],
    ids=["wrong password", "unknown user", "no password"],
)
def test_who_lacks_the_password_is_told_so_and_does_not_try_again_and_again(
    guarded_node, belongings, trusting, provider, says
):
    assert belongings
    said, at_once, later = refused(guarded_node, auth_provider=provider, ssl_context=trusting)
    assert re.search(says, said), said
    assert "127.0.0.1" in said
    assert "wrong" not in said.replace("wrong_password", "")  # the password itself
    # One for each protocol version at most; then no more.
    assert (at_once <= 4, later - at_once) == (True, 0)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"trust": "stranger.pem"}, "(?i)certificate.verify.failed"),
        ({"listen": "127.0.0.9"}, "(?i)IP address mismatch|hostname|127.0.0.9"),
        ({"plain": True}, "127.0.0.1"),
    ],
    ids=["other authority", "other address", "no TLS"],
)
def test_what_is_wrong_with_tls_is_told(guarded_node, belongings, certificates, options, says):
    assert belongings
    trust = certificates / options.get("trust", "authority.pem")
    context = None if "plain" in options else ssl.create_default_context(cafile=trust)
    said, at_once, later = refused(
        guarded_node,
        auth_provider=password(),
        ssl_context=context,
        listen=options.get("listen", "127.0.0.1"),
        connect_timeout=5,
    )
    assert re.search(says, said), said
    assert (at_once <= 4, later - at_once) == (True, 0)


def test_the_name_to_check_can_be_another_than_the_address(guarded_node, belongings, trusting):
    """The certificate is for "localhost" too; the proxy's address is not on it."""
    assert belongings
    target = (guarded_node.addresses[0], 9042)
    with Proxy(target, "127.0.0.9") as proxy:
        cluster = Cluster(
            [proxy.address],
            port=proxy.port,
            auth_provider=password(),
            ssl_context=trusting,
            ssl_options={"server_hostname": "localhost"},
        )
        # The session would go to the node's own address with the proxy's port.
        with contextlib.suppress(NoHostAvailable):
            cluster.connect()
        assert cluster.metadata.cluster_name == "cqlpath"
        cluster.shutdown()


def test_a_role_may_do_what_it_was_granted(guarded_node, clusters, trusting):
    admin = clusters(
        guarded_node.addresses, auth_provider=password(), ssl_context=trusting
    ).connect()
    admin.execute("CREATE ROLE IF NOT EXISTS guest WITH PASSWORD = 'visitor' AND LOGIN = true")
    admin.execute(
        "CREATE KEYSPACE IF NOT EXISTS closed WITH replication = "
        "{'class': 'SimpleStrategy', 'replication_factor': 1}"
    )
    admin.execute("CREATE TABLE IF NOT EXISTS closed.t (k int PRIMARY KEY)")
    guest = clusters(
        guarded_node.addresses,
        auth_provider=password("visitor", "guest"),
        ssl_context=trusting,
    ).connect()
    with pytest.raises(Unauthorized, match="guest"):
        guest.execute("SELECT * FROM closed.t")
    admin.execute("GRANT SELECT ON KEYSPACE closed TO guest")

    def allowed():
        with contextlib.suppress(Unauthorized):
            return guest.execute("SELECT * FROM closed.t").all() == []

    assert eventually(allowed)


def test_the_password_is_in_no_text_of_the_provider():
    provider = PlainTextAuthProvider("someone", "secret word")
    assert "secret word" not in repr(provider) + str(provider)


def test_clients_with_a_certificate_get_in_and_others_do_not(
    mutual_node, clusters, certificates, trusting
):
    trusting.load_cert_chain(certificates / "client.pem")
    session = clusters(mutual_node.addresses, ssl_context=trusting).connect()
    assert session.execute("SELECT key FROM system.local").one()[0] == "local"


@pytest.mark.parametrize("shows", [None, "impostor.pem"])
def test_a_client_without_a_good_certificate_is_told_so(
    mutual_node, belongings, certificates, trusting, shows
):
    assert belongings
    if shows:
        trusting.load_cert_chain(certificates / shows)
    said, at_once, later = refused(mutual_node, ssl_context=trusting)
    assert re.search("(?i)certificate|alert|unknown.ca|closed|reset", said), said
    assert (at_once <= 4, later - at_once) == (True, 0)


def test_certificates_by_options(mutual_node, clusters, certificates):
    options = {
        "ca_certs": str(certificates / "authority.pem"),
        "certfile": str(certificates / "client.pem"),
        "keyfile": str(certificates / "client.pem"),
        "cert_reqs": ssl.CERT_REQUIRED,
    }
    session = clusters(mutual_node.addresses, ssl_options=options).connect()
    assert session.execute("SELECT key FROM system.local").one()[0] == "local"
