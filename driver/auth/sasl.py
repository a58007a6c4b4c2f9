"""SASL mechanisms: GSSAPI by the ``gssapi`` package, others through ``pure-sasl``.

pure-sasl's own GSSAPI, which stands on the package ``kerberos``, is used where that is installed
and ``gssapi`` is not.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

from .base import Authenticator, AuthProvider

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

#: Kerberos (RFC 4752).
GSSAPI = "GSSAPI"


class SaslClient(Protocol):
    """The client's side of one exchange, as pure-sasl has it."""

    complete: bool

    def process(self, challenge: bytes | None = None) -> bytes | None:
        """The token that answers one of the server's; the first one for None."""


class SaslAuthProvider(AuthProvider):
    """Makes a SASL client for every node.

    Example:
        ``SaslAuthProvider(service="cassandra", mechanism="GSSAPI", qops=["auth"])`` takes the
        arguments of :class:`~driver.auth.gssapi.GssapiClient`.

    Attributes:
        sasl_kwargs: what every client is made with, but for the host.
    """

    def __init__(self, **sasl_kwargs: Any) -> None:  # noqa: ANN401  (as pure-sasl takes them)
        """Take the arguments of ``puresasl.client.SASLClient``, but for ``host``.

        Raises:
            ImportError: the package of the mechanism is missing.
            ValueError: there is a ``host``, which is another one for each connection.
        """
        _makes(sasl_kwargs.get("mechanism", GSSAPI))
        if "host" in sasl_kwargs:
            raise ValueError(
                "host is no argument here: new_authenticator is given that of each connection"
            )
        self.sasl_kwargs = sasl_kwargs

    def new_authenticator(self, host: str) -> SaslAuthenticator:
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
        host: str,
        service: str,
        mechanism: str = GSSAPI,
        **sasl_kwargs: object,
    ) -> None:
        """Make a client.

        Raises:
            ImportError: the package of the mechanism is missing.
        """
        self.sasl = _makes(mechanism)(host, service, **sasl_kwargs)

    def initial_response(self) -> bytes | None:
        """What the mechanism says first."""
        return self.evaluate_challenge(None)

    def evaluate_challenge(self, challenge: bytes | None) -> bytes | None:
        """What the mechanism answers."""
        return self.sasl.process(challenge)


def _makes(mechanism: str) -> Callable[..., SaslClient]:
    """What makes the clients of a mechanism, from host, service and its own arguments."""
    if mechanism == GSSAPI and (find_spec("gssapi") or not find_spec("kerberos")):
        client: Callable[..., SaslClient] = _extra(".gssapi", "gssapi").GssapiClient
        return client
    return partial(_extra("puresasl.client", "pure-sasl", "sasl").SASLClient, mechanism=mechanism)


def _extra(module: str, package: str, extra: str = "") -> ModuleType:
    """A module that needs a package, or ImportError that says how to get it."""
    try:
        return import_module(module, __package__)
    except ImportError as missing:
        raise ImportError(
            f"SaslAuthProvider needs the {package} package: pip install cqlpath[{extra or package}]"
        ) from missing
