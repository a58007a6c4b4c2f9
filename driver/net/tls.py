"""TLS: which context, and which name the certificate must carry."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

_OPTIONS = frozenset(
    {
        "ca_certs",
        "certfile",
        "keyfile",
        "password",
        "cert_reqs",
        "check_hostname",
        "server_hostname",
        "ssl_version",
        "ciphers",
    }
)


class Tls(NamedTuple):
    """The TLS of a cluster.

    Attributes:
        context: what verifies and what is presented.
        server_hostname: the name to ask for and to check instead of each node's address; None
            takes the address.
    """

    context: ssl.SSLContext
    server_hostname: str | None = None

    @classmethod
    def from_settings(
        cls, context: ssl.SSLContext | None, options: Mapping[str, Any] | None
    ) -> Self | None:
        """TLS if there is a context or a mapping of options; a context wins over the options.

        Raises:
            OSError: a file that the options name cannot be read.
            ValueError: there is an unknown option.
        """
        if context is None and options is None:
            return None
        options = options or {}
        return cls(context or context_from_options(options), options.get("server_hostname"))

    def name_for(self, address: str, own_options: Mapping[str, Any] | None) -> str:
        """The name for one endpoint: its own option, else the cluster's, else its address."""
        own = (own_options or {}).get("server_hostname")
        return str(own or self.server_hostname or address)


def context_from_options(options: Mapping[str, Any]) -> ssl.SSLContext:
    """A client's context from the keywords that ``ssl.wrap_socket`` had.

    Args:
        options: ``ca_certs``, ``certfile``, ``keyfile`` (paths), ``password`` (of the key),
            ``cert_reqs`` (an ``ssl.VerifyMode``; the default is ``CERT_REQUIRED``),
            ``check_hostname`` (the default is True where a certificate is required: without it,
            whoever has any certificate of these authorities may pretend to be a node),
            ``server_hostname``, ``ssl_version``, ``ciphers``.

    Raises:
        OSError: a file cannot be read.
        ValueError: there is an unknown option, or a host name to check without a certificate.
    """
    unknown = set(options) - _OPTIONS
    if unknown:
        raise ValueError(f"unknown TLS options: {', '.join(sorted(unknown))}")
    verify_mode = options.get("cert_reqs", ssl.CERT_REQUIRED)
    checks_name = bool(options.get("check_hostname", verify_mode == ssl.CERT_REQUIRED))
    if checks_name and verify_mode == ssl.CERT_NONE:
        raise ValueError("check_hostname needs a certificate, and cert_reqs is CERT_NONE")
    context = ssl.SSLContext(options.get("ssl_version") or ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = verify_mode
    context.check_hostname = checks_name
    if options.get("ca_certs"):
        context.load_verify_locations(options["ca_certs"])
    elif context.verify_mode is not ssl.CERT_NONE:
        context.load_default_certs()
    if options.get("certfile"):
        context.load_cert_chain(
            options["certfile"], options.get("keyfile"), options.get("password")
        )
    if options.get("ciphers"):
        context.set_ciphers(options["ciphers"])
    return context
