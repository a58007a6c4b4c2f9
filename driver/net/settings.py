"""What all connections of a cluster have in common, decided before the first one is opened."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ..protocol.version import ProtocolVersion
from ..wire.codec import ProtocolHandler
from .streams import MOST_STREAMS
from .tls import Tls

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping, Sequence

    from ..auth import AuthProvider
    from ..wire.messages import UserTypeMap

#: Level, name and value, as ``socket.setsockopt`` takes them.
SocketOption = tuple[int, int, int | bytes]


@dataclass(frozen=True)
class ConnectionSettings:
    """How connections are opened and kept.

    Attributes:
        protocol_version: to speak.
        allow_beta_protocol_version: tell the server that a beta version is meant.
        compression: True takes the first algorithm that both sides have (lz4, then snappy), a
            name insists on one, False wants none.
        cql_version: sent in STARTUP; None takes the server's highest.
        handler: encodes requests and decodes responses.
        user_type_map: class to give values of a user-defined type, by keyspace and type name.
        auth_provider: makes authenticators; None cannot answer a server that asks for one.
        ssl_context: turns TLS on, and decides all of it.
        ssl_options: turns TLS on; see :func:`driver.net.tls.context_from_options`.
        sockopts: options for every socket.
        connect_timeout: seconds for a whole connection, handshake included; None waits for ever.
        no_compact: ask for tables with COMPACT STORAGE to be shown as they are stored.
        startup_options: further options of STARTUP, such as DRIVER_NAME or APPLICATION_NAME.
        control_options: those of the connection that hears of events, beside them.
        idle_heartbeat_interval: seconds without data before a heartbeat; 0 turns heartbeats off.
        idle_heartbeat_timeout: seconds that a heartbeat's answer may take.
        max_requests: requests in flight on one connection.
    """

    protocol_version: int = ProtocolVersion.MAX_SUPPORTED
    allow_beta_protocol_version: bool = False
    compression: bool | str = True
    cql_version: str | None = None
    handler: type[ProtocolHandler] = ProtocolHandler
    user_type_map: UserTypeMap = field(default_factory=dict)
    auth_provider: AuthProvider | None = None
    ssl_context: ssl.SSLContext | None = None
    # It may hold a password.
    ssl_options: Mapping[str, object] | None = field(default=None, repr=False)
    sockopts: Sequence[SocketOption] = ()
    connect_timeout: float | None = 5.0
    no_compact: bool = False
    startup_options: Mapping[str, str] = field(default_factory=dict)
    control_options: Mapping[str, str] = field(default_factory=dict)
    idle_heartbeat_interval: float = 30.0
    idle_heartbeat_timeout: float = 30.0
    max_requests: int = MOST_STREAMS

    @cached_property
    def tls(self) -> Tls | None:
        """The TLS of these settings, made once; None without TLS.

        Raises:
            OSError: a file that the options name cannot be read.
        """
        return Tls.from_settings(self.ssl_context, self.ssl_options)
