"""SASL mechanisms such as GSSAPI, through the ``pure-sasl`` package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import Authenticator, AuthProvider

if TYPE_CHECKING:
    from puresasl.client import SASLClient  # type: ignore[import-untyped]  # has no types


class SaslAuthProvider(AuthProvider):
    """Makes a SASL client for every node.

    Example:
        ``SaslAuthProvider(service="cassandra", mechanism="GSSAPI", qops=["auth"])``

    Attributes:
        sasl_kwargs: what every client is made with, but for the host.
    """

    def __init__(self, **sasl_kwargs: Any) -> None:  # noqa: ANN401  (as pure-sasl takes them)
        """Take the arguments of ``puresasl.client.SASLClient``, but for ``host``.

        Raises:
            ImportError: ``pure-sasl`` is missing.
            ValueError: there is a ``host``, which is another one for each connection.
        """
        _client_class()
        if "host" in sasl_kwargs:
            raise ValueError(
                "host is no argument here: new_authenticator is given that of each connection"
            )
        self.sasl_kwargs = sasl_kwargs

    def new_authenticator(self, host: object) -> SaslAuthenticator:
        """A client for this host."""
        return SaslAuthenticator(host, **self.sasl_kwargs)

    def __repr__(self) -> str:
        """The mechanism; other arguments can hold a password."""
        return f"<{type(self).__name__}: {self.sasl_kwargs.get('mechanism')}>"


class SaslAuthenticator(Authenticator):
    """Hands every token to a SASL client.

    Attributes:
        sasl: the client.
    """

    def __init__(
        self,
        host: object,
        service: str,
        mechanism: str = "GSSAPI",
        **sasl_kwargs: Any,  # noqa: ANN401  (the same)
    ) -> None:
        """Make a client.

        Raises:
            ImportError: ``pure-sasl`` is missing.
        """
        self.sasl: SASLClient = _client_class()(host, service, mechanism, **sasl_kwargs)

    def initial_response(self) -> bytes | None:
        """What the mechanism says first."""
        return self.evaluate_challenge(None)

    def evaluate_challenge(self, challenge: bytes | None) -> bytes | None:
        """What the mechanism answers."""
        token: bytes | None = self.sasl.process(challenge)
        return token


def _client_class() -> type[SASLClient]:
    try:
        from puresasl.client import SASLClient  # noqa: PLC0415  (an extra; only asked for)
    except ImportError as missing:
        raise ImportError(
            "SaslAuthProvider needs the pure-sasl package: pip install cqlpath[sasl]"
        ) from missing
    client_class: type[SASLClient] = SASLClient
    return client_class
