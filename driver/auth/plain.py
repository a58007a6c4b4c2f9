"""User name and password, in the clear but for TLS: SASL's PLAIN (RFC 4616)."""

from __future__ import annotations

from ..protocol.errors import AuthenticationFailed
from .base import Authenticator, AuthProvider

#: This server wants the mechanism's name first, and asks for the credentials in its own word.
_NAMES_MECHANISM = "com.datastax.bdp.cassandra.auth.DseAuthenticator"
_MECHANISM = b"PLAIN"
_START = b"PLAIN-START"


class PlainTextAuthProvider(AuthProvider):
    """The same name and password for every node, for Cassandra's PasswordAuthenticator.

    Attributes:
        username: the name.
        password: the password; it appears in no representation of this object.
    """

    def __init__(self, username: str, password: str) -> None:
        """Set the credentials.

        Raises:
            ValueError: one of them has a NUL, which separates them on the wire (RFC 4616, 2).
        """
        if "\0" in username or "\0" in password:
            raise ValueError("neither the user name nor the password can have a NUL character")
        self.username = username
        self.password = password

    def new_authenticator(self, host: str) -> PlainTextAuthenticator:
        """An authenticator with these credentials."""
        return PlainTextAuthenticator(self.username, self.password)

    def __repr__(self) -> str:
        """The user name."""
        return f"<{type(self).__name__}: {self.username}>"


class PlainTextAuthenticator(Authenticator):
    """Says name and password at once.

    Attributes:
        username: the name.
        password: the password; it appears in no representation of this object.
    """

    def __init__(self, username: str, password: str) -> None:
        """Keep the credentials."""
        self.username = username
        self.password = password

    def initial_response(self) -> bytes:
        """The credentials, or the mechanism for a server that wants to hear it first."""
        if self.server_authenticator_class == _NAMES_MECHANISM:
            return _MECHANISM
        return self._credentials()

    def evaluate_challenge(self, challenge: bytes | None) -> bytes:
        """The credentials, to a server that asks for them.

        Raises:
            AuthenticationFailed: it asks something else.
        """
        if challenge != _START:
            raise AuthenticationFailed("the server asks something that a password does not answer")
        return self._credentials()

    def _credentials(self) -> bytes:
        """No authorisation identity, then name and password, as UTF-8."""
        return f"\0{self.username}\0{self.password}".encode()

    def __repr__(self) -> str:
        """The user name."""
        return f"<{type(self).__name__}: {self.username}>"


class TransitionalModePlainTextAuthProvider(AuthProvider):
    """Empty credentials, for a cluster that is being moved to authentication.

    Such a server asks who a client is and takes one that does not say as anonymous.
    """

    def new_authenticator(self, host: str) -> TransitionalModePlainTextAuthenticator:
        """An authenticator without credentials."""
        return TransitionalModePlainTextAuthenticator()


class TransitionalModePlainTextAuthenticator(PlainTextAuthenticator):
    """Says an empty name and an empty password."""

    def __init__(self) -> None:
        """Have no credentials."""
        super().__init__("", "")
