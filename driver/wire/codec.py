"""Messages to frames, and bodies of frames to messages; the hot path of both directions.

A frame is a header of nine bytes and a body. The body of a request is
``[<custom payload>]<message>``, that of a response ``[<trace id>][<warnings>][<custom payload>]
<message>``; which parts are there is in the header's flags (native protocol v4, section 2.2).
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ..protocol.errors import UnsupportedOperation
from ..protocol.version import ProtocolVersion
from .frame import (
    COMPRESSED_FLAG,
    CUSTOM_PAYLOAD_FLAG,
    FRAME_HEADER,
    FRAME_HEADER_LENGTH,
    TRACING_FLAG,
    USE_BETA_FLAG,
    WARNING_FLAG,
)
from .malformed import MalformedFrameError
from .primitives import read_bytesmap, read_stringlist, read_uuid, write_bytesmap
from .responses import (
    AuthChallengeMessage,
    AuthenticateMessage,
    AuthSuccessMessage,
    ErrorMessage,
    EventMessage,
    ReadyMessage,
    ResultMessage,
    SupportedMessage,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..protocol.columns import ColumnMetadata
    from .compression import BodyFunction
    from .features import ProtocolFeatures
    from .messages import ColumnEncryptionPolicy, Request, Response, UserTypeMap

# ``ProtocolVersion.has_checksumming_support`` as a comparison: a call for every frame costs more
# than what it decides.
_SEGMENTS_FROM: Final = ProtocolVersion.V5
_SEGMENTS_BEFORE: Final = ProtocolVersion.DSE_V1

#: The responses that a server may send.
RESPONSES_BY_OPCODE: Final[Mapping[int, type[Response]]] = {
    response.opcode: response
    for response in (
        AuthChallengeMessage,
        AuthSuccessMessage,
        AuthenticateMessage,
        ErrorMessage,
        EventMessage,
        ReadyMessage,
        ResultMessage,
        SupportedMessage,
    )
}


class ProtocolHandler:
    """Encodes requests and decodes responses; rows become lists of tuples.

    Subclasses choose other responses or a column encryption policy through the class attributes.

    Attributes:
        message_types_by_opcode: the class that reads the body of each response.
        column_encryption_policy: decrypts values of encrypted columns; None decrypts nothing.
    """

    message_types_by_opcode: ClassVar[Mapping[int, type[Response]]] = RESPONSES_BY_OPCODE
    column_encryption_policy: ClassVar[ColumnEncryptionPolicy | None] = None

    @classmethod
    def encode_message(
        cls,
        msg: Request,
        stream_id: int,
        protocol_version: int,
        compressor: BodyFunction | None,
        allow_beta_protocol_version: bool,
    ) -> bytes:
        """A request as one frame.

        Args:
            msg: the request.
            stream_id: which the response will carry.
            protocol_version: of the connection.
            compressor: of bodies, for v4 and below; v5 compresses segments instead. None for
                STARTUP and OPTIONS, which come before there is an agreement.
            allow_beta_protocol_version: tell the server that a beta version is meant.

        Raises:
            UnsupportedOperation: the message has something that this version cannot carry.
        """
        flags = 0
        if msg.custom_payload:
            if protocol_version < ProtocolVersion.V4:
                raise UnsupportedOperation(
                    "a custom payload needs protocol v4 or later; this connection has "
                    f"v{protocol_version}"
                )
            flags |= CUSTOM_PAYLOAD_FLAG
        if msg.tracing:
            flags |= TRACING_FLAG
        if allow_beta_protocol_version:
            flags |= USE_BETA_FLAG

        buff = io.BytesIO()
        if compressor and not _SEGMENTS_FROM <= protocol_version < _SEGMENTS_BEFORE:
            if msg.custom_payload:
                write_bytesmap(buff, msg.custom_payload)
            msg.send_body(buff, protocol_version)
            body = buff.getvalue()
            if body:
                body = compressor(body)
                flags |= COMPRESSED_FLAG
            header = FRAME_HEADER.pack(protocol_version, flags, stream_id, msg.opcode, len(body))
            return header + body
        buff.seek(FRAME_HEADER_LENGTH)
        if msg.custom_payload:
            write_bytesmap(buff, msg.custom_payload)
        msg.send_body(buff, protocol_version)
        length = buff.tell() - FRAME_HEADER_LENGTH
        buff.seek(0)
        cls._write_header(buff, protocol_version, flags, stream_id, msg.opcode, length)
        return buff.getvalue()

    @staticmethod
    def _write_header(
        f: io.BytesIO, version: int, flags: int, stream_id: int, opcode: int, length: int
    ) -> None:
        """Write the nine bytes before a body."""
        f.write(FRAME_HEADER.pack(version, flags, stream_id, opcode, length))

    @classmethod
    def decode_message(
        cls,
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
        if not _SEGMENTS_FROM <= protocol_version < _SEGMENTS_BEFORE and flags & COMPRESSED_FLAG:
            if decompressor is None:
                raise MalformedFrameError("a frame is compressed, and no compression was agreed on")
            body = decompressor(body)
            flags ^= COMPRESSED_FLAG

        f = io.BytesIO(body)
        trace_id = read_uuid(f) if flags & TRACING_FLAG else None
        warnings = read_stringlist(f) if flags & WARNING_FLAG else None
        custom_payload = read_bytesmap(f) if flags & CUSTOM_PAYLOAD_FLAG else None

        message_type = cls.message_types_by_opcode.get(opcode)
        if message_type is None:
            raise MalformedFrameError(f"a response has an unknown opcode: {opcode:#04x}")
        # A result keeps what follows in slots, rarer responses in their dictionary.
        msg: Any = message_type.recv_body(
            f,
            protocol_version,
            protocol_features,
            user_type_map,
            result_metadata,
            cls.column_encryption_policy,
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
