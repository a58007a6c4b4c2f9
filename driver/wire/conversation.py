"""One connection as the protocol sees it: bytes in, frames out, and requests to bytes.

No socket, no thread, no clock. The rules:

* v3 and v4: frames follow each other; bodies are compressed from the answer to STARTUP on.
* v5: the same until the server answers STARTUP with READY or AUTHENTICATE. After that frame both
  sides send segments, and bodies are not compressed, segments are.
* A server that does not speak our version answers STARTUP or OPTIONS with a frame of its own
  version, which comes out like any other: its ``version`` tells. After the start it must not.

Bytes may arrive in pieces of any size; the frames are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..implementation import hand_over
from ..protocol.version import ProtocolVersion
from .codec import ProtocolHandler
from .compression import locally_supported_compressions, segment_compress, segment_decompress
from .frame import FRAME_HEADER, FRAME_HEADER_LENGTH, MAX_FRAME_LENGTH, Frame
from .malformed import MalformedFrameError
from .responses import AuthenticateMessage, ReadyMessage
from .segments import SegmentCodec

if TYPE_CHECKING:
    from .compression import BodyFunction
    from .messages import Request

_RESPONSE_DIRECTION: Final = 0x80
#: Version, flags, stream, opcode and length of the body, by data and offset.
_header_at = FRAME_HEADER.unpack_from
_ENDS_STARTUP: Final = (ReadyMessage.opcode, AuthenticateMessage.opcode)


class _Rest:
    """The beginning of something that is not complete, until it is.

    What arrives whole, as nearly everything does, passes through without a copy.

    Attributes:
        is_kept: there is a beginning.
    """

    __slots__ = ("_length", "_needed", "_parts", "is_kept")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0
        self._needed = 0
        self.is_kept = False

    def __len__(self) -> int:
        return self._length

    def join(self, data: bytes) -> bytes:
        """The rest and what follows it; nothing while that is too little to look at."""
        if not self.is_kept:
            return data
        self.keep(data, self._needed)
        if self._length < self._needed:
            return b""
        joined = b"".join(self._parts)
        self._parts.clear()
        self._length = 0
        self.is_kept = False
        return joined

    def keep(self, data: bytes, needed: int) -> None:
        """Keep the end of what ``join`` gave, until there are ``needed`` bytes."""
        self._parts.append(data)
        self._length += len(data)
        self._needed = needed
        self.is_kept = True


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
        server_version: the version that the server answered in, if that was another one.

    Raises:
        ValueError: the compression is not installed, or not possible in this version.
    """

    # Where compiled code finds them.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_allow_beta",
        "_compressor",
        "_error",
        "_frames",
        "_handler",
        "_in_segments",
        "_segment_codec",
        "_segments",
        "_version_byte",
        "decompressor",
        "protocol_version",
        "server_version",
        "started",
    )

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
        self.server_version: int | None = None
        self._compressor: BodyFunction | None = None
        self._handler = handler
        self._allow_beta = allow_beta_protocol_version
        self._version_byte = protocol_version | _RESPONSE_DIRECTION
        self._frames = _Rest()
        self._segments = _Rest()
        self._in_segments = False
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

    def send(
        self, msg: Request, stream_id: int, handler: type[ProtocolHandler] | None = None
    ) -> bytes:
        """The bytes of a request: one frame, in segments where the conversation has come to them.

        Args:
            msg: the request.
            stream_id: which the response will carry.
            handler: encodes this request; None takes the conversation's own.

        Raises:
            UnsupportedOperation: the message has something that this version cannot carry.
        """
        frame = self.encode(msg, stream_id, handler)
        if self.segment_codec is not None:
            return self.segment_codec.encode(frame)
        return frame

    def encode(
        self, msg: Request, stream_id: int, handler: type[ProtocolHandler] | None = None
    ) -> bytes:
        """A request as a frame; arguments and errors as for :meth:`send`.

        Where there is a ``segment_codec``, the frame has to be put into a segment with it, alone or
        together with others.
        """
        return (handler or self._handler).encode_message(
            msg,
            stream_id,
            self.protocol_version,
            self._compressor if self.started else None,
            self._allow_beta,
        )

    @property
    def segment_codec(self) -> SegmentCodec | None:
        """What puts frames into segments; None before the conversation has come to them."""
        return self._segment_codec if self._in_segments else None

    @property
    def kept(self) -> int:
        """Bytes of a frame that is not complete."""
        return len(self._frames) + len(self._segments)

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
            if self._in_segments:
                self._take_segments(data, found)
            else:
                self._take_frames(data, found)
        except MalformedFrameError as error:
            error.frames = tuple(found)
            self._error = error
            raise
        return found

    def _take_frames(self, data: bytes, found: list[Frame]) -> None:
        """Append the frames that are complete, until the conversation turns to segments."""
        if self._frames.is_kept:
            data = self._frames.join(data)
        # As long as nothing is remarkable, they are taken without looking at each of them here.
        position = take_whole_frames(data, self._version_byte, found) if self.started else 0
        end, needed = len(data), FRAME_HEADER_LENGTH
        while end - position >= FRAME_HEADER_LENGTH:
            version, flags, stream_id, opcode, length = _header_at(data, position)
            if version != self._version_byte or not 0 <= length <= MAX_FRAME_LENGTH:
                self._check_header(version, length)
            start = position + FRAME_HEADER_LENGTH
            after = start + length
            if after > end:
                needed = after - position
                break
            position = after
            found.append(Frame(stream_id, version & 0x7F, flags, opcode, data[start:after]))
            if not self.started and opcode in _ENDS_STARTUP:
                self.started = True
                if self._segment_codec is not None:
                    self._in_segments = True
                    self._take_segments(data[position:], found)
                    return
        if position < end:
            self._frames.keep(data[position:], needed)

    def _check_header(self, version: int, length: int) -> None:
        """Refuse what cannot be the header of a response to us."""
        if not version & _RESPONSE_DIRECTION:
            raise MalformedFrameError(f"a frame from the server is a request: {version:#04x}")
        if version & 0x7F < ProtocolVersion.V3:
            # Headers of v1 and v2 have another length: nothing after this could be read.
            raise MalformedFrameError(f"the server speaks protocol v{version & 0x7F}")
        if version != self._version_byte:
            self.server_version = version & 0x7F
            if self.started:
                raise MalformedFrameError(
                    f"a frame of v{self.server_version} in a conversation of "
                    f"v{self.protocol_version}"
                )
        if not 0 <= length <= MAX_FRAME_LENGTH:
            raise MalformedFrameError(
                f"a frame has a body of {length} bytes; {MAX_FRAME_LENGTH} are allowed"
            )

    def _take_segments(self, data: bytes, found: list[Frame]) -> None:
        """Append the frames of the segments that are complete."""
        codec = self._segment_codec
        if codec is None:
            return
        if self._segments.is_kept:
            data = self._segments.join(data)
        position, end = 0, len(data)
        while position < end:
            payload, is_self_contained, after = codec.read(data, position)
            if payload is None:
                self._segments.keep(data[position:], after)
                return
            position = after
            if is_self_contained and not self._frames.is_kept:
                # As nearly all: whole frames of which none is remarkable.
                taken = take_whole_frames(payload, self._version_byte, found)
                if taken == len(payload):
                    continue
                payload = payload[taken:]
            self._take_payload(payload, is_self_contained, found)

    def _take_payload(self, payload: bytes, is_self_contained: bool, found: list[Frame]) -> None:
        """Append the frames of a payload; a self-contained one must begin and end with frames."""
        if is_self_contained and self._frames.is_kept:
            raise MalformedFrameError("a self-contained segment interrupts a frame")
        self._take_frames(payload, found)
        if is_self_contained and self._frames.is_kept:
            raise MalformedFrameError("a self-contained segment ends inside a frame")


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
        version, flags, stream_id, opcode, length = _header_at(data, position)
        start = position + FRAME_HEADER_LENGTH
        if version != version_byte or not 0 <= length <= MAX_FRAME_LENGTH or end - start < length:
            break
        position = start + length
        found.append(Frame(stream_id, version & 0x7F, flags, opcode, data[start:position]))
    return position


hand_over(globals())
