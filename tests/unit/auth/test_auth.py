"""Authenticators: which bytes they say, and what they keep to themselves."""

import logging
import pickle
import sys

import pytest
from puresasl import SASLError

from driver.auth import (
    Authenticator,
    AuthProvider,
    PlainTextAuthProvider,
    SaslAuthProvider,
    TransitionalModePlainTextAuthProvider,
)
from driver.protocol.errors import AuthenticationFailed

DSE = "com.datastax.bdp.cassandra.auth.DseAuthenticator"


def test_name_and_password_follow_an_empty_identity():
    authenticator = PlainTextAuthProvider("jürgen", "pässword").new_authenticator("10.0.0.1")
    assert authenticator.initial_response() == "\0jürgen\0pässword".encode()
    authenticator.on_authentication_success(b"")


def test_a_server_that_wants_the_mechanism_hears_it_first():
    authenticator = PlainTextAuthProvider("u", "p").new_authenticator("10.0.0.1")
    authenticator.server_authenticator_class = DSE
    assert authenticator.initial_response() == b"PLAIN"
    assert authenticator.evaluate_challenge(b"PLAIN-START") == b"\0u\0p"


def test_another_challenge_is_refused():
    authenticator = PlainTextAuthProvider("u", "p").new_authenticator("10.0.0.1")
    with pytest.raises(AuthenticationFailed):
        authenticator.evaluate_challenge(b"who?")


@pytest.mark.parametrize("credentials", [("a\0b", "p"), ("a", "p\0")])
def test_a_nul_cannot_be_smuggled_in(credentials):
    with pytest.raises(ValueError, match="NUL"):
        PlainTextAuthProvider(*credentials)


def test_the_password_is_in_no_representation_and_no_log(caplog):
    caplog.set_level(logging.DEBUG)
    provider = PlainTextAuthProvider("user", "s3cret")
    secret = {"username": "user", "password": "s3cret"}
    sasl = SaslAuthProvider(service="c", mechanism="PLAIN", **secret)
    plain = provider.new_authenticator("h")
    plain.initial_response()
    with pytest.raises(AuthenticationFailed) as failure:
        plain.evaluate_challenge(b"who?")
    shown = [provider, plain, sasl, sasl.new_authenticator("h"), failure.value, caplog.text]
    assert "s3cret" not in "".join(f"{thing!r}{thing}" for thing in shown)
    assert "user" in repr(provider)


def test_a_provider_can_be_sent_to_another_process():
    copy = pickle.loads(pickle.dumps(PlainTextAuthProvider("u", "p")))  # noqa: S301  (our own bytes)
    assert copy.new_authenticator("h").initial_response() == b"\0u\0p"


def test_the_transitional_mode_says_nothing():
    authenticator = TransitionalModePlainTextAuthProvider().new_authenticator("10.0.0.1")
    assert authenticator.initial_response() == b"\0\0"


def test_an_authenticator_may_have_nothing_to_say_first():
    assert Authenticator().initial_response() is None
    Authenticator().on_authentication_success(None)
    with pytest.raises(NotImplementedError):
        Authenticator().evaluate_challenge(b"")
    with pytest.raises(NotImplementedError):
        AuthProvider().new_authenticator("h")


def test_sasl_tokens_come_from_the_mechanism():
    credentials = {"username": "u", "password": "p"}
    provider = SaslAuthProvider(service="c", mechanism="PLAIN", **credentials)
    assert provider.new_authenticator("h").initial_response() == b"\0u\0p"


def test_every_sasl_client_knows_its_host():
    provider = SaslAuthProvider(service="cassandra", mechanism="ANONYMOUS")
    one, other = provider.new_authenticator("one"), provider.new_authenticator("other")
    assert (one.sasl.host, other.sasl.host) == ("one", "other")
    assert one.sasl is not provider.new_authenticator("one").sasl


def test_the_host_of_sasl_is_not_the_user_s_to_set():
    with pytest.raises(ValueError, match="host"):
        SaslAuthProvider(host="h", service="c", mechanism="PLAIN")


@pytest.mark.parametrize(
    ("mechanism", "package", "extra"),
    [("PLAIN", "puresasl.client", "sasl"), ("GSSAPI", "gssapi", "gssapi")],
)
def test_sasl_without_its_package_says_how_to_get_it(monkeypatch, mechanism, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "driver.auth.gssapi", raising=False)
    with pytest.raises(ImportError, match=rf"cqlpath\[{extra}\]"):
        SaslAuthProvider(service="c", mechanism=mechanism)


def test_where_only_the_older_package_for_kerberos_is_installed_it_is_used(monkeypatch):
    found = {"kerberos": True}
    monkeypatch.setattr("driver.auth.sasl.find_spec", found.get)
    provider = SaslAuthProvider(service="c")
    with pytest.raises(SASLError, match="kerberos module not installed"):  # says pure-sasl
        provider.new_authenticator("h")
