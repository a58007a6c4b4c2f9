"""Requests as frames: a header of nine bytes, and ``[<custom payload>]<message>`` behind it."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Final, TypeAlias

from ...implementation import hand_over
from ...protocol.errors import UnsupportedOperation
from ...protocol.version import ProtocolVersion
from ..compression import BodyFunction
from ..frame import (
    COMPRESSED_FLAG,
    CUSTOM_PAYLOAD_FLAG,
    FRAME_HEADER,
    FRAME_HEADER_LENGTH,
    TRACING_FLAG,
    USE_BETA_FLAG,
)
from ..primitives import write_bytesmap

if TYPE_CHECKING:
    from ..messages import Request

#: Of bodies. Not only for type checkers: this module's compiled form needs that of compression.
Compressor: TypeAlias = BodyFunction | None

# ``ProtocolVersion.has_checksumming_support`` as a comparison: a call for every frame costs more
# than what it decides.
_SEGMENTS_FROM: Final = ProtocolVersion.V5
_SEGMENTS_BEFORE: Final = ProtocolVersion.DSE_V1
#: What the length of a [bytes map] counts.
_MOST_ENTRIES: Final = 0xFFFF


def encode_message(
    msg: Request,
    stream_id: int,
    protocol_version: int,
    compressor: Compressor,
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
        ValueError: a custom payload has too many entries.
        UnsupportedOperation: the message has something that this version cannot carry.
    """
    flags = TRACING_FLAG if msg.tracing else 0
    if allow_beta_protocol_version:
        flags |= USE_BETA_FLAG
    compresses = compressor and not _SEGMENTS_FROM <= protocol_version < _SEGMENTS_BEFORE
    f = BytesIO()
    if not compresses:
        f.seek(FRAME_HEADER_LENGTH)  # the header is written last, in front of a body that stays
    if msg.custom_payload:
        if protocol_version < ProtocolVersion.V4:
            raise UnsupportedOperation(
                "a custom payload needs protocol v4 or later; this connection has "
                f"v{protocol_version}"
            )
        if len(msg.custom_payload) > _MOST_ENTRIES:
            raise ValueError(
                f"a custom payload has {_MOST_ENTRIES} entries at most, as the protocol counts "
                f"them, not {len(msg.custom_payload)}"
            )
        flags |= CUSTOM_PAYLOAD_FLAG
        write_bytesmap(f, msg.custom_payload)
    msg.send_body(f, protocol_version)
    if compresses:
        body = f.getvalue()
        if body:
            body = compressor(body)  # type: ignore[misc]  # there is one
            flags |= COMPRESSED_FLAG
        return FRAME_HEADER.pack(protocol_version, flags, stream_id, msg.opcode, len(body)) + body
    length = f.tell() - FRAME_HEADER_LENGTH
    f.seek(0)
    f.write(FRAME_HEADER.pack(protocol_version, flags, stream_id, msg.opcode, length))
    return f.getvalue()


hand_over(globals())
