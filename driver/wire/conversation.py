"""One connection as the protocol sees it: bytes in, frames out, and requests to bytes.

No socket, no thread, no clock. The rules:

* v3 and v4: frames follow each other; bodies are compressed from the answer to STARTUP on.
* v5: the same until the server answers STARTUP with READY or AUTHENTICATE. After that frame both
  sides send segments, and bodies are not compressed, segments are.
* A server that does not speak our version answers with a frame of its own version, which comes out
  like any other: its ``version`` tells.

Bytes may arrive in pieces of any size; the frames are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..vocabulary.protocol_version import ProtocolVersion
from .codec import ProtocolHandler
from .compression import locally_supported_compressions, segment_compress, segment_decompress
from .frame import FRAME_HEADER, FRAME_HEADER_LENGTH, MAX_FRAME_LENGTH, Frame
from .malformed import MalformedFrameError
from .responses import AuthenticateMessage, ReadyMessage
from .segments import SegmentCodec

if TYPE_CHECKING:
    from .compression import BodyFunction
    from .messages import Request
    from .segments import SegmentHeader

_RESPONSE_DIRECTION = 0x80
_ENDS_STARTUP = (ReadyMessage.opcode, AuthenticateMessage.opcode)


class Conversation:
    """The state of one connection.

    Args:
        protocol_version: to speak.
        compression: what STARTUP asks for: ``lz4``, ``snappy`` (not in v5) or None.
        handler: encodes the requests.
        allow_beta_protocol_version: tell the server that a beta version is meant.

    Attributes:
        started: the server has accepted STARTUP.
        decompressor: to decode the bodies of frames; None where bodies are not compressed.

    Raises:
        ValueError: the compression is not installed, or not possible in this version.
    """

    def __init__(
        self,
        protocol_version: int,
        compression: str | None = None,
        *,
        handler: type[ProtocolHandler] = ProtocolHandler,
        allow_beta_protocol_version: bool = False,
    ) -> None:
        """Start before STARTUP."""
        self.protocol_version = protocol_version
        self.started = False
        self.decompressor: BodyFunction | None = None
        self._compressor: BodyFunction | None = None
        self._handler = handler
        self._allow_beta = allow_beta_protocol_version
        self._frames = bytearray()
        self._segments: bytearray | None = None
        self._segment_header: SegmentHeader | None = None
        self._segment_codec: SegmentCodec | None = None
        self._error: MalformedFrameError | None = None
        self._choose_compression(compression)

    def _choose_compression(self, compression: str | None) -> None:
        """Set the functions up that v3 and v4 use on bodies and v5 on segments."""
        if compression is not None and compression not in locally_supported_compressions:
            raise ValueError(f"no library for the compression {compression!r} is installed")
        in_segments = ProtocolVersion.has_checksumming_support(self.protocol_version)
        if in_segments and compression not in {None, "lz4"}:
            raise ValueError(f"protocol v{self.protocol_version} compresses with lz4 only")
        if in_segments:
            self._segment_codec = (
                SegmentCodec(segment_compress, segment_decompress)
                if compression
                else SegmentCodec()
            )
        elif compression is not None:
            self._compressor, self.decompressor = locally_supported_compressions[compression]

    def send(self, msg: Request, stream_id: int) -> bytes:
        """The bytes of a request: one frame, in segments where the conversation has come to them.

        Raises:
            UnsupportedOperation: the message has something that this version cannot carry.
        """
        frame = self._handler.encode_message(
            msg,
            stream_id,
            self.protocol_version,
            self._compressor if self.started else None,
            self._allow_beta,
        )
        if self.started and self._segment_codec is not None:
            return self._segment_codec.encode(frame)
        return frame

    def feed(self, data: bytes) -> list[Frame]:
        """Take bytes from the server; give the frames that are complete by now.

        Raises:
            MalformedFrameError: the bytes break the protocol. ``error.frames`` has the frames of
                this call that were complete before. The conversation is over: every later call
                raises the same error, without frames.
        """
        if self._error is not None:
            self._error.frames = ()
            raise self._error
        found: list[Frame] = []
        try:
            if self._segments is None:
                self._frames += data
                self._take_frames(found)
            else:
                self._segments += data
            if self._segments is not None:
                self._take_segments(found)
        except MalformedFrameError as error:
            error.frames = tuple(found)
            self._error = error
            raise
        return found

    def _take_frames(self, found: list[Frame]) -> None:
        """Move complete frames out of the buffer, until the conversation turns to segments."""
        buffer = self._frames
        position = 0
        try:
            while len(buffer) - position >= FRAME_HEADER_LENGTH:
                version, flags, stream_id, opcode, length = FRAME_HEADER.unpack_from(
                    buffer, position
                )
                self._check_header(version, length)
                end = position + FRAME_HEADER_LENGTH + length
                if end > len(buffer):
                    break
                body = bytes(memoryview(buffer)[position + FRAME_HEADER_LENGTH : end])
                position = end
                found.append(Frame(stream_id, version & 0x7F, flags, opcode, body))
                if not self.started and opcode in _ENDS_STARTUP:
                    self.started = True
                    if self._segment_codec is not None:
                        self._segments = buffer[position:]
                        position = len(buffer)
        finally:
            del buffer[:position]

    @staticmethod
    def _check_header(version: int, length: int) -> None:
        """Refuse what cannot be the header of a response."""
        if not version & _RESPONSE_DIRECTION:
            raise MalformedFrameError(f"a frame from the server is a request: {version:#04x}")
        if version & 0x7F < ProtocolVersion.V3:
            # Headers of v1 and v2 have another length: nothing after this could be read.
            raise MalformedFrameError(f"the server speaks protocol v{version & 0x7F}")
        if not 0 <= length <= MAX_FRAME_LENGTH:
            raise MalformedFrameError(
                f"a frame has a body of {length} bytes; {MAX_FRAME_LENGTH} are allowed"
            )

    def _take_segments(self, found: list[Frame]) -> None:
        """Move complete segments out of the buffer, and the frames out of them."""
        buffer, codec = self._segments, self._segment_codec
        if buffer is None or codec is None:
            return
        position = 0
        try:
            while True:
                header = self._segment_header
                if header is None:
                    if len(buffer) - position < codec.header_length_with_crc:
                        break
                    end = position + codec.header_length_with_crc
                    header = codec.decode_header(bytes(memoryview(buffer)[position:end]))
                    self._segment_header = header
                    position = end
                end = position + header.segment_length
                if end > len(buffer):
                    break
                data = bytes(memoryview(buffer)[position:end])
                position = end
                self._segment_header = None
                self._take_payload(header, codec.decode(header, data), found)
        finally:
            del buffer[:position]

    def _take_payload(self, header: SegmentHeader, payload: bytes, found: list[Frame]) -> None:
        """Append a payload to the frames; a self-contained one must begin and end with frames."""
        if header.is_self_contained and self._frames:
            raise MalformedFrameError("a self-contained segment interrupts a frame")
        self._frames += payload
        self._take_frames(found)
        if header.is_self_contained and self._frames:
            raise MalformedFrameError("a self-contained segment ends inside a frame")
