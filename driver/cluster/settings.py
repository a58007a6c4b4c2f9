"""Settings: what the cluster's options say about one connection."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from .. import __version__
from ..net.settings import ConnectionSettings
from ..wire.codec import ProtocolHandler

if TYPE_CHECKING:
    from .core import ClusterCore

DRIVER_NAME = "cqlpath"
#: A JSON document: the version of its form, and what it tells of the configuration. Nothing yet, as
#: in scylladb/python-driver#983, scylladb/gocql#964 and scylladb/java-driver#967: the groups
#: of java-driver#968 and csharp-driver#263 differ from one another (java-driver#996).
DRIVER_CONFIG = '{"version":1}'
#: Named by every connection of this process that is not told another one.
PROCESS_CLIENT_ID = uuid4()


def connection_settings(core: ClusterCore) -> ConnectionSettings:
    """The settings of a connection that is made now."""
    options = core.options
    return ConnectionSettings(
        protocol_version=core.protocol_version,
        allow_beta_protocol_version=options.allow_beta_protocol_version,
        compression=options.compression,
        cql_version=options.cql_version,
        handler=with_encryption(ProtocolHandler, core),
        user_type_map=core.user_types,
        auth_provider=options.auth_provider,
        ssl_context=options.ssl_context,
        ssl_options=options.ssl_options,
        sockopts=tuple(options.sockopts),
        connect_timeout=options.connect_timeout,
        no_compact=options.no_compact,
        startup_options=_startup_options(core),
        control_options={"DRIVER_CONFIG": DRIVER_CONFIG}
        if options.driver_config_reporting_enabled
        else {},
        idle_heartbeat_interval=options.idle_heartbeat_interval,
        idle_heartbeat_timeout=options.idle_heartbeat_timeout,
        max_requests=options.max_requests_per_connection,
    )


def with_encryption(handler: type[ProtocolHandler], core: ClusterCore) -> type[ProtocolHandler]:
    """A protocol handler that decrypts what the cluster's policy encrypts."""
    policy = core.options.column_encryption_policy
    if policy is None:
        return handler
    return type(handler.__name__, (handler,), {"column_encryption_policy": policy})


def _startup_options(core: ClusterCore) -> dict[str, str]:
    """What STARTUP says of the client; the server shows it in ``system_views.clients``."""
    options = core.options
    named: dict[str, str | None] = {}
    if options.application_info is not None:
        options.application_info.add_startup_options(named)
        # What is the driver's own to say: no application says it in its place.
        named.pop("DRIVER_CONFIG", None)
    else:
        named["APPLICATION_NAME"] = options.application_name
        named["APPLICATION_VERSION"] = options.application_version
        named["CLIENT_ID"] = str(options.client_id or PROCESS_CLIENT_ID)
    named |= {
        "DRIVER_NAME": DRIVER_NAME,
        "DRIVER_VERSION": __version__,
        # By which an operator finds the connections of one cluster object among all of them.
        "SESSION_ID": str(core.cluster_id),
    }
    return {name: value for name, value in named.items() if value}
