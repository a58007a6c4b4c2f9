"""Messages to frames, and which classes read the bodies of frames; ``decoding`` has how.

A frame is a header of nine bytes and a body. The body of a request is
``[<custom payload>]<message>``; whether the first part is there is in the header's flags (native
protocol v4, section 2.2).
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, ClassVar, Final

from ..protocol.errors import UnsupportedOperation
from ..protocol.version import ProtocolVersion
from .decoding import decode_message
from .frame import (
    COMPRESSED_FLAG,
    CUSTOM_PAYLOAD_FLAG,
    FRAME_HEADER,
    FRAME_HEADER_LENGTH,
    TRACING_FLAG,
    USE_BETA_FLAG,
)
from .primitives import write_bytesmap
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
    from collections.abc import Mapping

    from .compression import BodyFunction
    from .messages import ColumnEncryptionPolicy, Request, Response

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

    decode_message = classmethod(decode_message)
