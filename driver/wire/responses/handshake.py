"""The responses that set a connection up: SUPPORTED, READY, and those of SASL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from ..messages import Response
from ..primitives import read_binary_longstring, read_string, read_stringmultimap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from io import BytesIO


class ReadyMessage(Response):
    """READY, section 4.2.2: the connection takes queries, or events are registered."""

    opcode = 0x02
    name = "READY"

    @classmethod
    def recv_body(cls, *_: object) -> Self:
        """Read nothing."""
        return cls()


class AuthenticateMessage(Response):
    """AUTHENTICATE, section 4.2.3: the client has to prove who it is.

    Attributes:
        authenticator: full class name of the server's authenticator.
    """

    opcode = 0x03
    name = "AUTHENTICATE"

    def __init__(self, authenticator: str) -> None:
        """Keep the class name."""
        self.authenticator = authenticator

    @classmethod
    def recv_body(cls, f: BytesIO, *_: object) -> Self:
        """Read a [string]."""
        return cls(read_string(f))


class SupportedMessage(Response):
    """SUPPORTED, section 4.2.4: what STARTUP may ask for.

    Attributes:
        cql_versions: the values of CQL_VERSION.
        options: everything else, such as COMPRESSION, PROTOCOL_VERSIONS and the keys that
            :class:`~driver.wire.features.ProtocolFeatures` reads.
    """

    opcode = 0x06
    name = "SUPPORTED"

    def __init__(self, cql_versions: Sequence[str], options: Mapping[str, Sequence[str]]) -> None:
        """Keep what the class describes."""
        self.cql_versions = cql_versions
        self.options = options

    @classmethod
    def recv_body(cls, f: BytesIO, *_: object) -> Self:
        """Read a [string multimap]."""
        options = read_stringmultimap(f)
        return cls(options.pop("CQL_VERSION", []), options)


class AuthChallengeMessage(Response):
    """AUTH_CHALLENGE, section 4.2.7: the server's next SASL token.

    Attributes:
        challenge: the token.
    """

    opcode = 0x0E
    name = "AUTH_CHALLENGE"

    def __init__(self, challenge: bytes) -> None:
        """Keep the token."""
        self.challenge = challenge

    @classmethod
    def recv_body(cls, f: BytesIO, *_: object) -> Self:
        """Read [bytes]."""
        return cls(read_binary_longstring(f))


class AuthSuccessMessage(Response):
    """AUTH_SUCCESS, section 4.2.8: the client is who it says.

    Attributes:
        token: the server's last SASL token.
    """

    opcode = 0x10
    name = "AUTH_SUCCESS"

    def __init__(self, token: bytes) -> None:
        """Keep the token."""
        self.token = token

    @classmethod
    def recv_body(cls, f: BytesIO, *_: object) -> Self:
        """Read [bytes]."""
        return cls(read_binary_longstring(f))
