"""Protocol: messages to bytes and back, segments, handlers, without a server."""
# ruff: noqa: T201  (a program prints)

import io
import struct

from cassandra import ConsistencyLevel, InvalidRequest, ProtocolVersion, ReadTimeout, WriteType
from cassandra.connection import lz4_compress, lz4_decompress
from cassandra.obj_parser import LazyParser, ListParser
from cassandra.protocol import (
    BatchMessage,
    ErrorMessage,
    ExecuteMessage,
    OptionsMessage,
    OverloadedErrorMessage,
    PrepareMessage,
    ProtocolHandler,
    QueryMessage,
    ReadTimeoutErrorMessage,
    RegisterMessage,
    RequestExecutionException,
    ServerError,
    StartupMessage,
    SyntaxException,
    UnavailableErrorMessage,
    cython_protocol_handler,
    error_classes,
    read_inet,
    read_int,
    read_stringmap,
    write_inet,
    write_int,
    write_string,
    write_stringmap,
    write_value,
)
from cassandra.query import BatchType
from cassandra.segment import Segment, SegmentCodec, compute_crc24, compute_crc32

REQUESTS = [
    OptionsMessage(),
    StartupMessage("3.4.5", {"COMPRESSION": "lz4"}),
    RegisterMessage(event_list=["STATUS_CHANGE"]),
    QueryMessage("SELECT 1", ConsistencyLevel.ONE),
    QueryMessage("SELECT 1", ConsistencyLevel.QUORUM, ConsistencyLevel.SERIAL, 100, b"ps", 12345),
    PrepareMessage("SELECT ?"),
    ExecuteMessage(b"id", [b"v", None], ConsistencyLevel.ONE, result_metadata_id=b"rid"),
    BatchMessage(
        BatchType.LOGGED, [(False, "INSERT", ()), (True, b"id", [b"v"])], ConsistencyLevel.ONE
    ),
]
for version in (3, 4, 5):
    for message in REQUESTS:
        data = ProtocolHandler.encode_message(message, 7, version, None, False)
        print(version, type(message).__name__, data.hex())
message = QueryMessage("SELECT 1" * 10, ConsistencyLevel.ONE)
message.update_custom_payload({"k": b"v"})
message.tracing = True
print(ProtocolHandler.encode_message(message, 1, 4, None, False).hex())

body = struct.pack(">iiii", 2, 1, 1, 0)
print(lz4_decompress(lz4_compress(b"abc" * 100)) == b"abc" * 100)

f = io.BytesIO()
write_int(f, -5)
write_string(f, "héllo")
write_value(f, None)
write_stringmap(f, {"a": "b"})
write_inet(f, ("127.0.0.1", 9042))
print(f.getvalue().hex())
f.seek(0)
print(read_int(f))
print(read_stringmap(io.BytesIO(bytes.fromhex("0001000161000162"))))
print(read_inet(io.BytesIO(bytes.fromhex("047f00000100002352"))))

codec = SegmentCodec()
buffer = io.BytesIO()
codec.encode(buffer, b"frame")
print(buffer.getvalue().hex(), codec.header_length, codec.header_length_with_crc)
buffer.seek(0)
header = codec.decode_header(buffer)
segment = codec.decode(buffer, header)
print(header.payload_length, segment.payload, segment.is_self_contained)
print(compute_crc24(0x123456, 3), compute_crc32(b"abc", 0), Segment.MAX_PAYLOAD_LENGTH)

for code, kind in sorted(error_classes.items()):
    if code not in (0x1700, 0x8000):
        print(hex(code), kind.__name__, kind.summary, issubclass(kind, ErrorMessage))
for error in (
    SyntaxException(0x2000, "line 1", None),
    OverloadedErrorMessage(0x1001, "busy", None),
    ServerError(0, "oops", None),
):
    print(error, error.code, error.message, error.info, error.summary_msg())
    try:
        raise error.to_exception()
    except (SyntaxException, OverloadedErrorMessage) as caught:
        print("caught", type(caught).__name__, isinstance(caught, RequestExecutionException))
    except ErrorMessage as caught:
        print("caught as", type(caught).__name__)

info = {"consistency": ConsistencyLevel.ONE, "required_replicas": 2, "alive_replicas": 1}
exception = UnavailableErrorMessage(0x1000, "few", info).to_exception()
print(type(exception).__name__, exception.alive_replicas, exception.required_replicas)
info = {
    "consistency": ConsistencyLevel.ONE,
    "received_responses": 0,
    "required_responses": 1,
    "data_retrieved": False,
}
exception = ReadTimeoutErrorMessage(0x1200, "late", info).to_exception()
print(isinstance(exception, ReadTimeout), exception.data_retrieved, exception.required_responses)
print(InvalidRequest("x"), WriteType.value_to_name[0], ConsistencyLevel.value_to_name[6])
print(ConsistencyLevel.name_to_value["QUORUM"], ProtocolVersion.MAX_SUPPORTED >= 5)

for parser in (ListParser(), LazyParser()):
    handler = cython_protocol_handler(parser)
    print(handler.__name__, issubclass(handler, object), handler.column_encryption_policy)
