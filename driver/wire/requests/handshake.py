"""The requests that set a connection up: OPTIONS, STARTUP, AUTH_RESPONSE, REGISTER."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..messages import Request
from ..primitives import write_longstring, write_stringlist, write_stringmap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from io import BytesIO


class StartupMessage(Request):
    """STARTUP, section 4.1.1: the first request of a connection but for OPTIONS.

    Args:
        cqlversion: sent as the option CQL_VERSION, which is mandatory.
        options: further options, such as COMPRESSION and the extensions of
            :meth:`~driver.wire.features.ProtocolFeatures.add_startup_options`.
    """

    opcode = 0x01
    name = "STARTUP"

    def __init__(self, cqlversion: str, options: Mapping[str, str]) -> None:
        """Keep what the class describes."""
        self.cqlversion = cqlversion
        self.options = options

    def send_body(self, f: BytesIO, protocol_version: int) -> None:
        """Write a [string map]."""
        write_stringmap(f, {**self.options, "CQL_VERSION": self.cqlversion})


class AuthResponseMessage(Request):
    """AUTH_RESPONSE, section 4.1.2: the client's next SASL token.

    Args:
        response: the token; text is sent as UTF-8, None as an empty token.
    """

    opcode = 0x0F
    name = "AUTH_RESPONSE"

    def __init__(self, response: bytes | str | None) -> None:
        """Keep the token."""
        self.response = response

    def send_body(self, f: BytesIO, protocol_version: int) -> None:
        """Write [bytes]."""
        write_longstring(f, self.response or b"")

    def __repr__(self) -> str:
        """Without the token, which holds a password more often than not."""
        return f"<{type(self).__name__}(response=...)>"


class OptionsMessage(Request):
    """OPTIONS, section 4.1.3: ask what the server supports. The body is empty."""

    opcode = 0x05
    name = "OPTIONS"

    def send_body(self, f: BytesIO, protocol_version: int) -> None:
        """Write nothing."""


class RegisterMessage(Request):
    """REGISTER, section 4.1.8: ask for events of some types.

    Args:
        event_list: among TOPOLOGY_CHANGE, STATUS_CHANGE, SCHEMA_CHANGE.
    """

    opcode = 0x0B
    name = "REGISTER"

    def __init__(self, event_list: Sequence[str]) -> None:
        """Keep the types."""
        self.event_list = event_list

    def send_body(self, f: BytesIO, protocol_version: int) -> None:
        """Write a [string list]."""
        write_stringlist(f, self.event_list)
