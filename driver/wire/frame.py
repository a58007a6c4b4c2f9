"""A frame: a header of nine bytes with its flags, and a body (native protocol v4, section 2)."""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

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
