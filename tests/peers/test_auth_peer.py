"""Authenticators say the same bytes as those of cassandra-driver."""

import pytest
from cassandra import auth as peer
from hypothesis import given
from hypothesis import strategies as st

from driver import auth as ours

SIDES = (ours, peer)
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
SERVERS = [
    None,
    "org.apache.cassandra.auth.PasswordAuthenticator",
    "com.datastax.bdp.cassandra.auth.DseAuthenticator",
]


def said(authenticator, server):
    """Every token, for a server that asks once."""
    authenticator.server_authenticator_class = server
    return authenticator.initial_response(), authenticator.evaluate_challenge(b"PLAIN-START")


@pytest.mark.parametrize("server", SERVERS)
@given(username=TEXT, password=TEXT)
def test_credentials_are_written_as_by_the_peer(server, username, password):
    mine, expected = (
        said(side.PlainTextAuthProvider(username, password).new_authenticator("h"), server)
        for side in SIDES
    )
    assert mine == expected


def test_the_transitional_mode_is_written_as_by_the_peer():
    mine, expected = (
        said(side.TransitionalModePlainTextAuthProvider().new_authenticator("h"), None)
        for side in SIDES
    )
    assert mine == expected


@given(username=TEXT.filter(bool), password=TEXT.filter(bool))
def test_sasl_tokens_are_those_of_the_peer(username, password):
    arguments = {
        "service": "cassandra",
        "mechanism": "PLAIN",
        "username": username,
        "password": password,
    }
    mine, expected = (
        side.SaslAuthProvider(**arguments).new_authenticator("h").initial_response()
        for side in SIDES
    )
    assert mine == expected
