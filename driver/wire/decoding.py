"""Bodies of frames to messages.

The body of a response is ``[<trace id>][<warnings>][<custom payload>]<message>``; which parts are
there is in the header's flags (native protocol v4, section 2.2).

Nearly every response is a RESULT of the kind VOID or ROWS without any of those parts. It takes a
short way through here, by offsets in the body. Whatever is unusual about it, malformed bytes
included, goes the long way, which reads by the notations of the protocol: it says what is wrong.
"""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING, Any, Final

from ..implementation import hand_over
from ..protocol.kinds import RESULT_KIND_ROWS, RESULT_KIND_VOID
from ..protocol.version import ProtocolVersion
from .frame import COMPRESSED_FLAG, CUSTOM_PAYLOAD_FLAG, TRACING_FLAG, WARNING_FLAG
from .malformed import MalformedFrameError
from .primitives import read_bytesmap, read_stringlist, read_uuid
from .responses.metadata import HAS_MORE_PAGES_FLAG, METADATA_CHANGED_FLAG, NO_METADATA_FLAG
from .responses.result import LazyResultMessage, NumpyResultMessage, ResultMessage
from .row_shape import RowShape, known_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..protocol.columns import ColumnMetadata
    from .codec import ProtocolHandler
    from .compression import BodyFunction
    from .features import ProtocolFeatures
    from .messages import ColumnEncryptionPolicy, Response, UserTypeMap

# ``ProtocolVersion.has_checksumming_support`` as a comparison: a call for every frame costs more
# than what it decides.
_SEGMENTS_FROM: Final = ProtocolVersion.V5
_SEGMENTS_BEFORE: Final = ProtocolVersion.DSE_V1

#: Classes whose ``recv_body`` is the one that the short way stands for.
FREQUENT: Final = frozenset({ResultMessage, LazyResultMessage, NumpyResultMessage})

_int_at = struct.Struct(">i").unpack_from
_three_ints_at = struct.Struct(">iii").unpack_from
_BYTES_OF_INT: Final = 4
_BYTES_OF_THREE: Final = 12


def decode_message(
    handler: type[ProtocolHandler],
    protocol_version: int,
    protocol_features: ProtocolFeatures | None,
    user_type_map: UserTypeMap,
    stream_id: int,
    flags: int,
    opcode: int,
    body: bytes,
    decompressor: BodyFunction | None,
    result_metadata: Sequence[ColumnMetadata] | None,
) -> Response:
    """A response from the body of its frame.

    Args:
        handler: has the classes of messages, and the column encryption policy.
        protocol_version: of the connection.
        protocol_features: what the server announced in SUPPORTED; None for nothing.
        user_type_map: class to give values of a user-defined type, by keyspace and type name.
        stream_id: from the frame's header.
        flags: from the frame's header.
        opcode: from the frame's header.
        body: the frame without its header.
        decompressor: of bodies, for v4 and below; v5 decompresses segments instead.
        result_metadata: columns of the rows, for a result without metadata of its own.

    Raises:
        MalformedFrameError: the body ends early or breaks the protocol.
        ColumnDecodeError: a value is none of its column's type.
    """
    if not flags:
        message_type = handler.message_types_by_opcode.get(opcode)
        if message_type in FREQUENT:
            found = _frequent_result(
                message_type,
                protocol_version,
                body,
                result_metadata,
                handler.column_encryption_policy,
            )
            if found is not None:
                found.stream_id = stream_id
                return found
    return decode_any(
        handler,
        protocol_version,
        protocol_features,
        user_type_map,
        stream_id,
        flags,
        opcode,
        body,
        decompressor,
        result_metadata,
    )


def decode_any(
    handler: type[ProtocolHandler],
    protocol_version: int,
    protocol_features: ProtocolFeatures | None,
    user_type_map: UserTypeMap,
    stream_id: int,
    flags: int,
    opcode: int,
    body: bytes,
    decompressor: BodyFunction | None,
    result_metadata: Sequence[ColumnMetadata] | None,
) -> Response:
    """The long way: any response, by the notations of the protocol; as ``decode_message``."""
    if not _SEGMENTS_FROM <= protocol_version < _SEGMENTS_BEFORE and flags & COMPRESSED_FLAG:
        if decompressor is None:
            raise MalformedFrameError("a frame is compressed, and no compression was agreed on")
        # What comes out may be frequent.
        return decode_message(
            handler,
            protocol_version,
            protocol_features,
            user_type_map,
            stream_id,
            flags ^ COMPRESSED_FLAG,
            opcode,
            decompressor(body),
            None,
            result_metadata,
        )
    f = io.BytesIO(body)
    trace_id = read_uuid(f) if flags & TRACING_FLAG else None
    warnings = read_stringlist(f) if flags & WARNING_FLAG else None
    custom_payload = read_bytesmap(f) if flags & CUSTOM_PAYLOAD_FLAG else None

    message_type = handler.message_types_by_opcode.get(opcode)
    if message_type is None:
        raise MalformedFrameError(f"a response has an unknown opcode: {opcode:#04x}")
    # A result keeps what follows in slots, rarer responses in their dictionary.
    msg: Any = message_type.recv_body(
        f,
        protocol_version,
        protocol_features,
        user_type_map,
        result_metadata,
        handler.column_encryption_policy,
    )
    msg.stream_id = stream_id
    # Most responses bring none of these, and a message has None for them anyway.
    if trace_id is not None:
        msg.trace_id = trace_id
    if custom_payload is not None:
        msg.custom_payload = custom_payload
    if warnings is not None:
        msg.warnings = warnings
    return msg  # type: ignore[no-any-return]  # what recv_body gave


def _frequent_result(  # noqa: PLR0911  (each of them is a reason for the long way)
    message_type: type[ResultMessage],
    protocol_version: int,
    body: bytes,
    result_metadata: Sequence[ColumnMetadata] | None,
    policy: ColumnEncryptionPolicy | None,
) -> ResultMessage | None:
    """VOID, or ROWS of a shape that is known; None for everything else."""
    end = len(body)
    if end < _BYTES_OF_INT:
        return None
    (kind,) = _int_at(body)
    if kind == RESULT_KIND_VOID:
        return message_type(kind)
    if kind != RESULT_KIND_ROWS or end < _BYTES_OF_THREE:
        return None
    _, flags, column_count = _three_ints_at(body)
    position = _BYTES_OF_THREE
    paging_state = None
    if flags & HAS_MORE_PAGES_FLAG:
        start = position + _BYTES_OF_INT
        if start > end:
            return None
        position = start + max(_int_at(body, position)[0], 0)
        if position > end:
            return None
        paging_state = body[start:position]
    if flags & METADATA_CHANGED_FLAG:
        return None
    columns = None
    if flags & NO_METADATA_FLAG:
        shape = result_metadata
    else:
        known = known_shape(body, position, flags, column_count)
        if known is None:
            return None
        shape = columns = known.shape
        position += len(known.columns)
    if not isinstance(shape, RowShape) or len(shape) != column_count:
        return None
    found = message_type(kind)
    found.paging_state = paging_state
    found.column_metadata = columns
    found.column_names = shape.names
    found.column_types = shape.types
    found.parsed_rows = found.row_parser(
        body, position, shape, shape.deserializers, protocol_version, policy
    )
    return found


hand_over(globals())
