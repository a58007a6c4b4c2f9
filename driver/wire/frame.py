"""A frame: a header of nine bytes with its flags, and a body (native protocol v4, section 2)."""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from ..implementation import hand_over

COMPRESSED_FLAG: Final = 0x01
TRACING_FLAG: Final = 0x02
CUSTOM_PAYLOAD_FLAG: Final = 0x04
WARNING_FLAG: Final = 0x08
USE_BETA_FLAG: Final = 0x10

#: version, flags, stream, opcode, length of the body.
FRAME_HEADER: Final = struct.Struct(">BBhBi")
FRAME_HEADER_LENGTH: Final = 9

#: Largest frame body that the protocol allows, in bytes (native protocol v4, section 2.5).
MAX_FRAME_LENGTH: Final = 256 * 1024 * 1024


class Frame(NamedTuple):
    """A response as it came: header and body, in the order that decoding wants them.

    Attributes:
        stream_id: which request it answers; -1 for events.
        version: of the protocol, without the bit for the direction.
        flags: the ``*_FLAG`` bits above.
        opcode: which response it is.
        body: compressed, if the flags say so.
    """

    stream_id: int
    version: int
    flags: int
    opcode: int
    body: bytes


def take_whole_frames(data: bytes, version_byte: int, found: list[Frame]) -> int:
    """Append the frames that data begins with, up to the first that is anything but usual.

    Args:
        data: from the server.
        version_byte: what the frames of the conversation begin with.
        found: where to append.

    Returns:
        The position behind the last of them: the end, or where a frame begins that is not all
        there, too large, or of another version.
    """
    position, end = 0, len(data)
    while end - position >= FRAME_HEADER_LENGTH:
        version, flags, stream_id, opcode, length = FRAME_HEADER.unpack_from(data, position)
        start = position + FRAME_HEADER_LENGTH
        if version != version_byte or not 0 <= length <= MAX_FRAME_LENGTH or end - start < length:
            break
        position = start + length
        found.append(Frame(stream_id, version & 0x7F, flags, opcode, data[start:position]))
    return position


hand_over(globals())
