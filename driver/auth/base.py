"""What an authenticator answers to a server, and who makes one for each connection.

Source: native_protocol_v5, sections 4.2.3 (AUTHENTICATE) and 4.2.7 (AUTH_CHALLENGE): tokens of
SASL (RFC 4422) go back and forth until the server accepts or refuses.
"""

from __future__ import annotations


class Authenticator:
    """One side of one conversation with a server; every connection has its own.

    Attributes:
        server_authenticator_class: full class name of the server's authenticator, set before the
            conversation starts; None until then.
    """

    server_authenticator_class: str | None = None

    def initial_response(self) -> bytes | None:
        """The first token; None where the server speaks first."""
        return None

    def evaluate_challenge(self, challenge: bytes | None) -> bytes | None:
        """The token that answers one of the server's.

        Raises:
            AuthenticationFailed: the server asks something that makes no sense here.
        """
        raise NotImplementedError

    def on_authentication_success(self, token: bytes | None) -> None:
        """The server accepted, maybe with a last token."""


class AuthProvider:
    """Makes authenticators. One is set for a whole cluster."""

    def new_authenticator(self, host: str) -> Authenticator:
        """An authenticator for one connection.

        Args:
            host: the address of the node.
        """
        raise NotImplementedError
