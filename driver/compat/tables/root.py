"""``cassandra`` itself, and the empty packages below it."""

from __future__ import annotations

from ..served import serve

ROOT = serve(
    {
        "compat.adaptors.root": "NullHandler __version__ __version_info__",
        "compat.adaptors.signatures": (
            "SignatureDescriptor UserAggregateDescriptor UserFunctionDescriptor"
        ),
        "protocol.consistency": "ConsistencyLevel consistency_value_to_name",
        "protocol.version": "ProtocolVersion",
        "protocol.kinds": "OperationType SchemaChangeType SchemaTargetType WriteType",
        "protocol.errors": """
            AlreadyExists AuthenticationFailed CASWriteUnknown CDCWriteFailure
            ConfigurationException CoordinationFailure DependencyException DriverException
            FunctionFailure InvalidRequest OperationTimedOut RateLimitReached ReadFailure
            ReadTimeout RequestExecutionException RequestValidationException Timeout Unauthorized
            Unavailable UnresolvableContactPoints UnsupportedOperation WriteFailure WriteTimeout
        """,
    },
    file=__file__,
    is_package=True,
)

PACKAGE = serve({}, file=__file__, is_package=True)
