"""Authentication: an exchange of tokens, and errors that name the node but never the password."""

import logging

import pytest
from cql_node import AUTH_CHALLENGE, AUTH_RESPONSE, AUTH_SUCCESS, Answer, CqlNode
from wire_bodies import value

from driver.auth import PlainTextAuthProvider
from driver.protocol.errors import AuthenticationFailed
from driver.wire.requests import QueryMessage

SECRET = "correct horse"  # noqa: S105  (of a node that lives for a test)


@pytest.fixture
def locked_node():
    with CqlNode(users={"user": SECRET}) as node:
        yield node


@pytest.mark.parametrize("version", [3, 4, 5])
def test_the_right_password_opens_the_connection(run, connect, locked_node, version):
    async def main():
        connection = await connect(
            locked_node,
            protocol_version=version,
            auth_provider=PlainTextAuthProvider("user", SECRET),
        )
        assert (await connection.ask(QueryMessage("SELECT", 1))).kind == 1
        connection.close()

    run(main())


def test_a_wrong_password_names_the_node_and_leaves_nothing(run, connect, locked_node, caplog):
    caplog.set_level(logging.DEBUG)

    async def main():
        for _ in range(10):
            with pytest.raises(AuthenticationFailed, match=str(locked_node.endpoint)) as caught:
                await connect(locked_node, auth_provider=PlainTextAuthProvider("user", "wrong one"))
            assert "incorrect" in str(caught.value)
            assert "wrong one" not in str(caught.value)

    run(main())
    assert "wrong one" not in caplog.text
    assert locked_node.accepted == 10


def test_a_node_that_does_not_ask_is_warned_of_without_the_password(run, connect, caplog):
    async def main(node, **options):
        (await connect(node, **options)).close()

    with CqlNode() as node:
        run(main(node))
        assert not caplog.records
        run(main(node, auth_provider=PlainTextAuthProvider("user", SECRET)))
    (record,) = caplog.records
    assert (record.levelname, record.name) == ("WARNING", "driver.net.handshake")
    assert "An authentication challenge was not sent" in record.getMessage()
    assert str(node.endpoint) in record.getMessage()
    assert SECRET not in caplog.text


def test_a_node_that_asks_is_named_if_there_is_nothing_to_answer(run, connect, locked_node):
    async def main():
        with pytest.raises(AuthenticationFailed, match="auth_provider") as caught:
            await connect(locked_node)
        assert str(locked_node.endpoint) in str(caught.value)
        assert "PasswordAuthenticator" in str(caught.value)

    run(main())
    assert locked_node.count(AUTH_RESPONSE) == 0


class Sums:
    """An authenticator of several steps: the server asks for sums."""

    server_authenticator_class = None

    def __init__(self):
        self.last_token = None

    def initial_response(self):
        return "hello"

    def evaluate_challenge(self, challenge):
        return str(sum(map(int, challenge.split(b"+")))).encode()

    def on_authentication_success(self, token):
        self.last_token = token


class Provider:
    def __init__(self):
        self.hosts = []
        self.authenticators = []

    def new_authenticator(self, host):
        self.hosts.append(host)
        self.authenticators.append(Sums())
        return self.authenticators[-1]


class AskingNode(CqlNode):
    """Asks two questions before it lets anybody in."""

    def _on_auth_response(self, request):
        questions = {
            value(b"hello"): Answer(AUTH_CHALLENGE, value(b"1+2")),
            value(b"3"): Answer(AUTH_CHALLENGE, value(b"4+5")),
            value(b"9"): Answer(AUTH_SUCCESS, value(b"welcome")),
        }
        return questions[request.body]


@pytest.mark.parametrize("version", [4, 5])
def test_challenges_are_answered_until_the_server_is_satisfied(run, connect, version):
    provider = Provider()
    with AskingNode(users={}) as node:

        async def main():
            connection = await connect(node, protocol_version=version, auth_provider=provider)
            connection.close()

        run(main())
        assert provider.hosts == [node.endpoint.address]
    (authenticator,) = provider.authenticators
    assert authenticator.last_token == b"welcome"
    assert authenticator.server_authenticator_class.endswith("PasswordAuthenticator")


def test_what_an_authenticator_raises_closes_the_connection(run, connect, locked_node):
    class Failing(Provider):
        def new_authenticator(self, host):
            raise KeyError(host)

    async def main():
        with pytest.raises(KeyError):
            await connect(locked_node, auth_provider=Failing())

    run(main())
