"""``cassandra`` itself, and the empty packages below it."""

from __future__ import annotations

from ..served import serve
from .wire import EXCEPTIONS

#: What each module is made of.
TABLES = {
    "cassandra": serve(
        {
            "compat.adaptors.root": """
                NullHandler SignatureDescriptor UserAggregateDescriptor UserFunctionDescriptor
                __version__ __version_info__
            """,
            "protocol.consistency": "ConsistencyLevel consistency_value_to_name",
            "protocol.version": "ProtocolVersion",
            "protocol.kinds": "OperationType SchemaChangeType SchemaTargetType WriteType",
            "protocol.errors": f"""
                {EXCEPTIONS} AuthenticationFailed CASWriteUnknown CDCWriteFailure
                ConfigurationException CoordinationFailure DependencyException DriverException
                OperationTimedOut RateLimitReached RequestExecutionException
                RequestValidationException Timeout UnresolvableContactPoints UnsupportedOperation
            """,
        },
        is_package=True,
    ),
    "cassandra.column_encryption": serve({}, is_package=True),
    "cassandra.io": serve({}, is_package=True),
}
