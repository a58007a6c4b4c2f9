"""Kerberos: SASL's mechanism GSSAPI (RFC 4752), through the ``gssapi`` package.

The package calls the system's GSSAPI library. Credentials are those that it finds: a ticket that
``kinit`` got, or a keytab that KRB5_CLIENT_KTNAME names.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import gssapi
from gssapi.raw.misc import GSSError

from ..protocol.errors import AuthenticationFailed

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Names of the layers of RFC 4752, section 3.3, and their bits, the strongest first.
_LAYERS = {"auth-conf": 4, "auth-int": 2, "auth": 1}


class GssapiClient:
    """The client's side of one exchange; the server's identity is checked as well.

    CQL is not wrapped afterwards, whatever layer is agreed on: TLS protects what follows.

    Attributes:
        host: whom we talk to.
        complete: whether the exchange has ended on this side.
        qop: the name of the layer that was agreed on; None until then.
    """

    def __init__(
        self,
        host: str,
        service: str,
        *,
        authorization_id: str | None = None,
        qops: Iterable[str] = tuple(_LAYERS),
        max_buffer: int = 65536,
        principal: str | None = None,
        resolve_host_name: bool = False,
    ) -> None:
        """Find the credentials, and say whom they are for.

        Args:
            host: the host's name, or its address.
            service: the first part of the server's principal, ``service/host@REALM``.
            authorization_id: the role to act as; None for that of the credentials.
            qops: the layers that may be agreed on: auth, auth-int, auth-conf.
            max_buffer: bytes of a wrapped message, where a layer is agreed on.
            principal: whose credentials to use; None for the default ones.
            resolve_host_name: ask the name service for the name of an address. It is asked while
                a connection is opened, and nothing else is done meanwhile.

        Raises:
            AuthenticationFailed: the principal has no credentials here.
            ValueError: a layer has an unknown name.
        """
        self.host = socket.getnameinfo((host, 0), 0)[0] if resolve_host_name else host
        self.complete = False
        self.qop: str | None = None
        self._qops = set(qops)
        if unknown := self._qops - set(_LAYERS):
            raise ValueError(f"{', '.join(sorted(unknown))} is none of {', '.join(_LAYERS)}")
        self._authorization_id = authorization_id
        self._max_buffer = max_buffer
        try:
            self._context = gssapi.SecurityContext(
                name=gssapi.Name(f"{service}@{self.host}", gssapi.NameType.hostbased_service),
                creds=_credentials(principal),
                flags=gssapi.RequirementFlag.mutual_authentication
                | gssapi.RequirementFlag.integrity
                | gssapi.RequirementFlag.out_of_sequence_detection,
                usage="initiate",
            )
        except GSSError as error:
            raise AuthenticationFailed(f"GSSAPI: {error}") from error

    def process(self, challenge: bytes | None = None) -> bytes:
        """The token that answers one of the server's; the first one for None.

        Raises:
            AuthenticationFailed: there are no credentials, the server is not who it says, or it
                offers no layer that may be agreed on.
        """
        try:
            if not self._context.complete:
                token: bytes | None = self._context.step(challenge)
                return token or b""
            return self._agree(self._context.unwrap(challenge or b"").message)
        except GSSError as error:
            raise AuthenticationFailed(f"GSSAPI with {self.host}: {error}") from error

    def _agree(self, offer: bytes) -> bytes:
        """Choose the strongest layer of the server's that may be (RFC 4752, section 3.1)."""
        if len(offer) != 4:
            raise AuthenticationFailed(
                f"GSSAPI: the server offers its layers in {len(offer)} bytes, where 4 belong"
            )
        offered, most = offer[0], int.from_bytes(offer[1:], "big")
        for name, bit in _LAYERS.items():
            if name in self._qops and bit & offered:
                self.qop = name
                break
        else:
            raise AuthenticationFailed(
                f"GSSAPI: the server offers none of {', '.join(sorted(self._qops))}"
            )
        # Nothing is received wrapped without a layer, and that has to be said as zero bytes.
        buffer = 0 if self.qop == "auth" else min(self._max_buffer, most)
        answer = bytes((_LAYERS[self.qop],)) + buffer.to_bytes(3, "big")
        answer += (self._authorization_id or "").encode()
        self.complete = True
        message: bytes = self._context.wrap(answer, encrypt=False).message
        return message


def _credentials(principal: str | None) -> gssapi.Credentials | None:
    """Those of a principal; None for whichever the library finds."""
    if principal is None:
        return None
    name = gssapi.Name(principal, gssapi.NameType.kerberos_principal)
    return gssapi.Credentials(name=name, usage="initiate")
