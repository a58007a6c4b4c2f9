"""``cassandra.connection``, ``.pool`` and ``.io.*``."""

from __future__ import annotations

from ..served import serve

_COMMON = {
    "net.connection": "Connection",
    "net.errors": "ConnectionShutdown",
    "net.timers": "Timer TimerManager=Timers",
    "protocol.errors": "DependencyException",
    "compat.adaptors.connection": "NONBLOCKING",
}

#: What each module is made of.
TABLES = {
    "cassandra.connection": serve(
        {
            "net.connection": "Connection",
            "net.errors": """
                ConnectionBusy ConnectionException ConnectionShutdown ProtocolVersionUnsupported
            """,
            "net.timers": "Timer TimerManager=Timers",
            "topology.endpoint": """
                DefaultEndPoint DefaultEndPointFactory EndPoint EndPointFactory SniEndPoint
                SniEndPointFactory UnixSocketEndPoint
            """,
            "types.marshal": "int32_pack",
            "cluster.settings": "DRIVER_NAME",
            "wire.compression": "locally_supported_compressions",
            "wire.features": "ProtocolFeatures ShardingInfo",
            "wire.malformed": "CrcException=CrcMismatchException CrcMismatchException",
            "wire.handlers": "ProtocolHandler",
            "wire.requests": """
                AuthResponseMessage OptionsMessage QueryMessage RegisterMessage StartupMessage
            """,
            "wire.responses": """
                AuthChallengeMessage AuthSuccessMessage AuthenticateMessage ReadyMessage
                ResultMessage SupportedMessage
            """,
            "protocol.consistency": "ConsistencyLevel",
            "protocol.errors": (
                "AuthenticationFailed OperationTimedOut ProtocolError=ProtocolException"
            ),
            "protocol.version": "ProtocolVersion",
            "compat.adaptors.application_info": "ApplicationInfoBase",
            "compat.adaptors.connection": """
                DEFAULT_CQL_VERSION DRIVER_VERSION HEADER_DIRECTION_FROM_CLIENT
                HEADER_DIRECTION_MASK HEADER_DIRECTION_TO_CLIENT NONBLOCKING PROTOCOL_VERSION_MASK
                decompress lz4_compress lz4_decompress segment_codec_lz4
                segment_codec_no_compression
            """,
            "compat.adaptors.protocol_errors": (
                "ErrorMessage InvalidRequestException ProtocolException"
            ),
            "compat.adaptors.segment": "SegmentCodec",
        },
        behind=(
            "net.connection",
            "net.heartbeat",
            "net.open",
            "net.tls",
            "net.timers",
            "topology.endpoint.base",
            "topology.endpoint.sni",
        ),
    ),
    "cassandra.application_info": serve(
        {"compat.adaptors.application_info": "ApplicationInfo ApplicationInfoBase"}
    ),
    "cassandra.protocol_features": serve(
        {
            "wire.features": """
                LWT_ADD_METADATA_MARK ProtocolFeatures RATE_LIMIT_ERROR_EXTENSION TABLETS_ROUTING_V1
                TABLETS_ROUTING_V2 USE_METADATA_ID
            """,
        },
        behind=("wire.features",),
    ),
    "cassandra.c_shard_info": serve({"wire.features": "ShardingInfo"}),
    "cassandra.shard_info": serve({"wire.features": "ShardingInfo"}),
    "cassandra.cython_lz4": serve({"compat.adaptors.connection": "lz4_compress lz4_decompress"}),
    "cassandra.pool": serve(
        {
            "pool.host_pool": "HostConnection=HostPool HostConnectionPool=HostPool",
            "net.errors": "ConnectionException NoConnectionsAvailable",
            "topology.endpoint": "DefaultEndPoint EndPoint UnixSocketEndPoint",
            "topology.host": "Host",
            "policies.distance": "HostDistance",
            "protocol.errors": "AuthenticationFailed",
        },
        behind=("pool.host_pool", "topology.host"),
    ),
    **{
        f"cassandra.io.{module}": serve(_COMMON | {"compat.adaptors.reactors": name})
        for module, name in {
            "asyncioreactor": "AsyncioConnection",
            "asyncorereactor": "AsyncoreConnection",
            "eventletreactor": "EventletConnection",
            "geventreactor": "GeventConnection",
            "libevreactor": "LibevConnection",
            "twistedreactor": "TwistedConnection",
        }.items()
    },
}
