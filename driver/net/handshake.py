"""The first messages of a connection: OPTIONS, STARTUP, and who we are (v4, section 4.1)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, TypeVar

from ..protocol.errors import AuthenticationFailed
from ..protocol.errors import ProtocolException as ProtocolError
from ..protocol.version import ProtocolVersion
from ..wire.compression import locally_supported_compressions
from ..wire.features import ProtocolFeatures
from ..wire.requests import AuthResponseMessage, OptionsMessage, StartupMessage
from ..wire.responses import (
    AuthChallengeMessage,
    AuthenticateMessage,
    AuthSuccessMessage,
    ReadyMessage,
    SupportedMessage,
)
from .errors import ConnectionException, ProtocolVersionUnsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .connection import Connection
    from .settings import ConnectionSettings

log = logging.getLogger(__name__)

_Message = TypeVar("_Message")

#: Of a server that names none.
_DEFAULT_CQL_VERSION = "3.0.0"


async def shake_hands(connection: Connection, settings: ConnectionSettings) -> None:
    """Bring a new connection to where it takes requests.

    Raises:
        AuthenticationFailed: the server does not accept who we say we are, or asks and there is no
            authentication provider.
        ProtocolVersionUnsupported: the server does not speak the connection's version.
        ConnectionException: the server answers with something else, or not at all.
    """
    try:
        supported = _expect(
            await connection.ask(OptionsMessage()), SupportedMessage, connection.endpoint
        )
        connection.features = ProtocolFeatures.parse_from_supported(
            supported.options, connection.protocol_version
        )
        startup = _startup(connection, settings, supported)
        answer = await connection.ask(startup)
        connection.use_segments()
    except ProtocolError as error:
        raise _unsupported(connection, error) from error
    if isinstance(answer, AuthenticateMessage):
        await _authenticate(connection, settings, answer)
    else:
        _expect(answer, ReadyMessage, connection.endpoint)
        if settings.auth_provider is not None:
            log.warning(
                "An authentication challenge was not sent by %s, though there is an auth_provider "
                "(%s): anybody may connect, or it is another server than was meant",
                connection.endpoint,
                type(settings.auth_provider).__name__,
            )


def _unsupported(connection: Connection, error: ProtocolError) -> ConnectionException:
    """What a protocol error before READY means: as a rule, that the version is unknown."""
    attempted = connection.protocol_version
    answered = connection.server_version
    text = str(error)
    if answered is None and "USE_BETA flag is unset" in text:
        answered = attempted - 1
    if answered is None and "protocol version" not in text.lower():
        return ConnectionException(
            f"{connection.endpoint} refused the handshake: {error}",
            connection.endpoint,
            was_sent=False,
        )
    return ProtocolVersionUnsupported(connection.endpoint, attempted, answered)


def _startup(
    connection: Connection, settings: ConnectionSettings, supported: SupportedMessage
) -> StartupMessage:
    """The STARTUP that server and settings agree on."""
    options = dict(settings.startup_options)
    if connection.hears_events:
        options.update(settings.control_options)
    compression = choose_compression(
        settings.compression,
        supported.options.get("COMPRESSION", ()),
        settings.protocol_version,
        connection.endpoint,
    )
    if compression is not None:
        options["COMPRESSION"] = compression
        connection.set_compression(compression)
    if settings.no_compact:
        options["NO_COMPACT"] = "true"
    connection.features.add_startup_options(options)
    cql_version = settings.cql_version or max(
        supported.cql_versions, key=_version_key, default=_DEFAULT_CQL_VERSION
    )
    return StartupMessage(cql_version, options)


def choose_compression(
    wanted: bool | str, remote: Sequence[str], protocol_version: int, endpoint: object
) -> str | None:
    """The compression to use; None for none.

    Args:
        wanted: True for what both sides have, a name to insist on it, False for none.
        remote: what the server has.
        protocol_version: v5 compresses with lz4 only.
        endpoint: for the error's message.

    Raises:
        ConnectionException: one side does not have what is insisted on.
    """
    if not wanted:
        return None
    possible = [
        name
        for name in locally_supported_compressions
        if name in remote
        and (name == "lz4" or not ProtocolVersion.has_checksumming_support(protocol_version))
    ]
    if wanted is True:
        return possible[0] if possible else None
    if wanted not in possible:
        raise ConnectionException(
            f"The compression {wanted!r} is not possible with {endpoint} in protocol "
            f"v{protocol_version}: the server has {list(remote)}, this side "
            f"{list(locally_supported_compressions)}",
            endpoint,
            was_sent=False,
        )
    return wanted


async def _authenticate(
    connection: Connection, settings: ConnectionSettings, asked: AuthenticateMessage
) -> None:
    """Answer the server's challenges until it is satisfied."""
    endpoint = connection.endpoint
    if settings.auth_provider is None:
        raise AuthenticationFailed(
            f"{endpoint} asks for authentication ({asked.authenticator}), and there is no "
            "auth_provider"
        )
    authenticator = settings.auth_provider.new_authenticator(endpoint.address)
    authenticator.server_authenticator_class = asked.authenticator
    token = authenticator.initial_response()
    try:
        while True:
            answer = await connection.ask(AuthResponseMessage(token))
            if not isinstance(answer, AuthChallengeMessage):
                break
            token = authenticator.evaluate_challenge(answer.challenge)
    except AuthenticationFailed as error:
        raise AuthenticationFailed(f"{endpoint} refused the authentication: {error}") from error
    success = _expect(answer, AuthSuccessMessage, endpoint)
    authenticator.on_authentication_success(success.token)


def _expect(answer: object, kind: type[_Message], endpoint: object) -> _Message:
    """The answer, if it is of the kind.

    Raises:
        ConnectionException: it is another.
    """
    if not isinstance(answer, kind):
        raise ConnectionException(
            f"{endpoint} answered the handshake with {answer!r}", endpoint, was_sent=False
        )
    return answer


def _version_key(version: str) -> tuple[int, ...]:
    """Orders version texts by their numbers."""
    return tuple(
        int(part) if part.isdecimal() and len(part) < 10 else 0 for part in version.split(".")
    )
