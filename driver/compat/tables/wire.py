"""``cassandra.protocol``, ``.segment`` and the row parsers."""

from __future__ import annotations

from ..adaptors.protocol_errors import PUBLIC, error_classes
from ..served import serve
from .types import NUMBERS, TYPES_WITH_CODES

#: The message of every code, and the exceptions that some of them become, by their names.
ERROR_MESSAGES = " ".join(["ErrorMessage", *(kind.__name__ for kind in error_classes.values())])
EXCEPTIONS = " ".join(sorted(exception.__name__ for exception in PUBLIC))

#: What each module is made of.
TABLES = {
    "cassandra.protocol": serve(
        {
            "compat.adaptors.protocol_errors": f"""
                {ERROR_MESSAGES} ErrorMessageSub InternalError NotSupportedError
                RequestExecutionException RequestValidationException error_classes
            """,
            "wire.requests": """
                AuthResponseMessage BatchMessage ExecuteMessage OptionsMessage PrepareMessage
                QueryMessage RegisterMessage StartupMessage
            """,
            "wire.responses": """
                AuthChallengeMessage AuthSuccessMessage AuthenticateMessage EventMessage
                ReadyMessage ResultMessage SupportedMessage
            """,
            "wire.responses.events": "known_event_types=KNOWN_EVENT_TYPES",
            "wire.handlers": "LazyProtocolHandler NumpyProtocolHandler ProtocolHandler",
            "wire.codec": "_ProtocolHandler=ProtocolHandler",
            "wire.frame": """
                COMPRESSED_FLAG CUSTOM_PAYLOAD_FLAG TRACING_FLAG USE_BETA_FLAG WARNING_FLAG
            """,
            "wire.primitives": """
                read_binary_longstring read_binary_string read_byte read_bytesmap
                read_consistency_level read_error_code_map read_inet read_inet_addr_only read_int
                read_longstring read_short read_string read_stringlist read_stringmap
                read_stringmultimap read_value write_byte write_bytesmap write_consistency_level
                write_inet write_int write_long write_longstring write_short write_string
                write_stringlist write_stringmap write_stringmultimap write_uint write_value
            """,
            "types": f"{TYPES_WITH_CODES} lookup_casstype",
            "types.marshal": NUMBERS,
            "protocol.columns": "ColDesc ColumnMetadata",
            "protocol.errors": f"""
                {EXCEPTIONS} CDCWriteFailure DriverException RateLimitReached UnsupportedOperation
            """,
            "protocol.kinds": """
                RESULT_KIND_PREPARED RESULT_KIND_ROWS RESULT_KIND_SCHEMA_CHANGE
                RESULT_KIND_SET_KEYSPACE RESULT_KIND_VOID OperationType SchemaTargetType WriteType
            """,
            "protocol.version": "ProtocolVersion",
            "protocol.unset": "_UNSET_VALUE=UNSET_VALUE",
            "compat.adaptors.connection": """
                HEADER_DIRECTION_MASK HEADER_DIRECTION_TO_CLIENT USE_BETA_MASK
            """,
            "compat.adaptors.root": """
                HAVE_CYTHON HAVE_NUMPY UserAggregateDescriptor UserFunctionDescriptor
            """,
            "compat.adaptors.marshal": """
                header_pack read_uint_le uint32_le_pack uint32_le_unpack v3_header_pack
                write_uint_le
            """,
            "compat.adaptors.parsers": """
                LazyParser ListParser NumpyParser cython_protocol_handler
            """,
            "compat.adaptors.type_codes": "CUSTOM_TYPE",
        },
        behind=("wire.codec", "wire.handlers", "wire.primitives", "wire.responses.result"),
    ),
    "cassandra.segment": serve(
        {
            "compat.adaptors.segment": """
                Segment SegmentCodec compute_crc24 compute_crc32
            """,
            "wire.malformed": "CrcException=CrcMismatchException",
            "types.marshal": "int32_pack",
            "wire.segments": """
                CRC24_INIT CRC24_LENGTH CRC24_POLY CRC32_INITIAL CRC32_LENGTH SegmentHeader
            """,
            "protocol.errors": "DriverException",
            "compat.adaptors.marshal": "read_uint_le write_uint_le",
        },
    ),
    "cassandra.obj_parser": serve(
        {
            "compat.adaptors.parsers": "LazyParser ListParser parse_rows_lazy",
            "types.deserializers": "find_deserializer",
            "protocol.errors": "DriverException",
        },
    ),
    "cassandra.numpy_parser": serve({"compat.adaptors.parsers": "NumpyParser"}),
    "cassandra.row_parser": serve(
        {
            "compat.adaptors.parsers": "make_recv_results_rows",
            "types.deserializers": "make_deserializers",
            "protocol.columns": "ColDesc",
        },
    ),
    "cassandra.parsing": serve({"compat.adaptors.parsers": "ColumnParser ParseDesc"}),
    "cassandra.bytesio": serve({"compat.adaptors.parsers": "BytesIOReader"}),
    "cassandra.cython_deps": serve(
        {
            "compat.adaptors.root": "HAVE_CYTHON HAVE_NUMPY",
            "compat.adaptors.parsers": "make_recv_results_rows",
        },
    ),
}
