"""A connection without a socket: real bytes out, real frames back, all in this process.

For tests and benchmarks. Only the socket is missing: requests are encoded, answers are frames that
are compressed, put into segments, taken apart, decompressed and decoded as on any connection.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from ..protocol.version import ProtocolVersion
from ..wire.codec import ProtocolHandler
from ..wire.compression import (
    locally_supported_compressions,
    segment_compress,
    segment_decompress,
)
from ..wire.conversation import Conversation
from ..wire.features import NO_FEATURES
from ..wire.frame import COMPRESSED_FLAG, FRAME_HEADER, FRAME_HEADER_LENGTH
from ..wire.malformed import MalformedFrameError
from ..wire.requests import StartupMessage
from ..wire.responses import AuthenticateMessage, ReadyMessage, ResultMessage
from ..wire.segments import SegmentCodec
from .errors import ConnectionBusy, ConnectionException, ConnectionShutdown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..protocol.columns import ColumnMetadata
    from ..wire.features import ProtocolFeatures
    from ..wire.frame import Frame
    from ..wire.messages import Request, Response, UserTypeMap
    from .connection import ResponseCallback

    _Waiting = tuple[ResponseCallback, Sequence[ColumnMetadata] | None, type[ProtocolHandler]]

_RESPONSE = 0x80
_STREAMS = 2**15


class ReceivedRequest(NamedTuple):
    """A request as the server sees it.

    Attributes:
        stream_id: which the answer has to carry.
        version: protocol version.
        flags: of the frame, compression taken away.
        opcode: which request it is.
        body: decompressed.
    """

    stream_id: int
    version: int
    flags: int
    opcode: int
    body: bytes


class Answer(NamedTuple):
    """A response to send: what is in a frame, apart from what depends on the connection.

    Attributes:
        opcode: which response it is.
        body: not compressed; it starts with what the flags announce.
        flags: tracing (0x02), custom payload (0x04), warnings (0x08).
    """

    opcode: int
    body: bytes
    flags: int = 0

    @classmethod
    def from_frame(cls, frame: bytes) -> Answer:
        """The answer in a recorded frame, header included, not compressed.

        Raises:
            ValueError: the frame is compressed, or its length is not what its header says.
        """
        _, flags, _, opcode, length = FRAME_HEADER.unpack_from(frame)
        if flags & COMPRESSED_FLAG:
            raise ValueError("a recorded frame must not be compressed")
        if length != len(frame) - FRAME_HEADER_LENGTH:
            raise ValueError(
                f"a frame of {len(frame)} bytes announces a body of {length} bytes after "
                f"{FRAME_HEADER_LENGTH} of header"
            )
        return cls(opcode, frame[FRAME_HEADER_LENGTH:], flags)


READY = Answer(ReadyMessage.opcode, b"")
VOID = Answer(ResultMessage.opcode, struct.pack(">i", 1))


def answer_void(_: ReceivedRequest) -> Answer:
    """Answer every request with a RESULT of kind VOID."""
    return VOID


class InMemoryServer:
    """The other end of the connection: bytes of requests in, bytes of answers out.

    Attributes:
        requests: every request but STARTUP, in the order of arrival.
        answer: gives the answer to a request; None leaves it without one.
    """

    def __init__(
        self,
        answer: Callable[[ReceivedRequest], Answer | None] = answer_void,
        protocol_version: int = ProtocolVersion.V4,
        compression: str | None = None,
    ) -> None:
        """Wait for STARTUP, in a protocol version and a compression that were agreed upon."""
        self.answer = answer
        self.requests: list[ReceivedRequest] = []
        self._version = protocol_version
        self._started = False
        self._segments: SegmentCodec | None = None
        self._compress: Callable[[bytes], bytes] | None = None
        self._decompress: Callable[[bytes], bytes] | None = None
        if ProtocolVersion.has_checksumming_support(protocol_version):
            self._segments = (
                SegmentCodec(segment_compress, segment_decompress)
                if compression
                else SegmentCodec()
            )
        elif compression:
            self._compress, self._decompress = locally_supported_compressions[compression]

    def receive(self, data: bytes) -> bytes:
        """Take the bytes of whole requests; give those of the answers."""
        codec = self._segments if self._started else None
        if codec is None:
            return b"".join(self._answers_to(data))
        return b"".join(map(codec.encode, self._answers_to(_payloads(codec, data))))

    def _answers_to(self, frames: bytes) -> list[bytes]:
        """One frame for each request that gets an answer."""
        answers = []
        position = 0
        while position < len(frames):
            version, flags, stream, opcode, length = FRAME_HEADER.unpack_from(frames, position)
            position += FRAME_HEADER_LENGTH
            body = frames[position : position + length]
            position += length
            if flags & COMPRESSED_FLAG and self._decompress:
                body = self._decompress(body)
                flags ^= COMPRESSED_FLAG
            answer = self._answer(ReceivedRequest(stream, version, flags, opcode, body))
            if answer is not None:
                answers.append(self._frame(stream, answer))
                self._started = self._started or answer.opcode in {
                    ReadyMessage.opcode,
                    AuthenticateMessage.opcode,
                }
        return answers

    def _answer(self, request: ReceivedRequest) -> Answer | None:
        if request.opcode == StartupMessage.opcode:
            return READY
        self.requests.append(request)
        return self.answer(request)

    def _frame(self, stream: int, answer: Answer) -> bytes:
        opcode, body, flags = answer
        if self._started and self._compress and body:
            body = self._compress(body)
            flags |= COMPRESSED_FLAG
        header = FRAME_HEADER.pack(self._version | _RESPONSE, flags, stream, opcode, len(body))
        return header + body


def _payloads(codec: SegmentCodec, data: bytes) -> bytes:
    """What is in whole segments."""
    payloads = []
    position = 0
    while position < len(data):
        header = codec.decode_header(data[position : position + codec.header_length_with_crc])
        position += codec.header_length_with_crc
        payloads.append(codec.decode(header, data[position : position + header.segment_length]))
        position += header.segment_length
    return b"".join(payloads)


class InMemoryConnection:
    """A started connection to an in-memory server; it calls back before ``send_msg`` returns.

    Attributes:
        server: the other end.
        endpoint: a name for messages.
        protocol_version: what both ends speak.
        keyspace: the keyspace in use.
        features: what the server announced, as after SUPPORTED.
        handler: encodes requests and decodes responses, unless a request brings its own.
        is_closed: whether nothing can be sent any more.
        is_defunct: it is closed because something went wrong.
        last_error: what went wrong; None if nothing did.
        max_in_flight: how many requests may wait for an answer.
        orphaned_request_ids: streams whose answer nobody waits for and which are not free yet.
    """

    def __init__(
        self,
        server: InMemoryServer | None = None,
        *,
        protocol_version: int = ProtocolVersion.V4,
        compression: str | None = None,
        features: ProtocolFeatures = NO_FEATURES,
        handler: type[ProtocolHandler] = ProtocolHandler,
        user_type_map: UserTypeMap | None = None,
        endpoint: object = "in-memory",
    ) -> None:
        """Send STARTUP and take the server's READY; without a server, all answers are VOID."""
        self.server = server or InMemoryServer(answer_void, protocol_version, compression)
        self.endpoint = endpoint
        self.protocol_version = protocol_version
        self.keyspace: str | None = None
        self.features = features
        self.handler = handler
        self.is_closed = False
        self.is_defunct = False
        self.last_error: Exception | None = None
        self.max_in_flight = _STREAMS
        self.orphaned_request_ids: set[int] = set()
        self._user_type_map: UserTypeMap = {} if user_type_map is None else user_type_map
        self._conversation = Conversation(protocol_version, compression, handler=handler)
        self._requests: dict[int, _Waiting] = {}
        self._next_stream = 0
        self._start(compression)

    def _start(self, compression: str | None) -> None:
        answers: list[Response | Exception] = []
        options = {"COMPRESSION": compression} if compression else {}
        startup = StartupMessage(cqlversion="3.4.5", options=options)
        self.send_msg(startup, self.get_request_id(), answers.append)
        if not isinstance(answers[0], ReadyMessage):
            raise ConnectionException(f"STARTUP was answered with {answers[0]!r}", self.endpoint)

    def get_request_id(self) -> int:
        """A stream that waits for no answer.

        Raises:
            ConnectionBusy: there is none.
        """
        if self.in_flight >= _STREAMS:
            raise ConnectionBusy(f"{_STREAMS} requests wait for an answer", self.endpoint)
        while self._next_stream in self._requests or self._next_stream in self.orphaned_request_ids:
            self._next_stream = (self._next_stream + 1) % _STREAMS
        return self._next_stream

    def release_request_id(self, request_id: int) -> None:
        """Nothing: a stream is taken when a request is sent on it."""

    @property
    def in_flight(self) -> int:
        """How many streams wait for an answer, orphaned ones among them."""
        return len(self._requests) + len(self.orphaned_request_ids)

    @property
    def orphaned_threshold_reached(self) -> bool:
        """Whether most streams are orphaned."""
        return len(self.orphaned_request_ids) > _STREAMS * 3 // 4

    def abandon(self, request_id: int) -> None:
        """Stop waiting for an answer; the callback is not called any more."""
        if self._requests.pop(request_id, None) is not None:
            self.orphaned_request_ids.add(request_id)

    def send_msg(
        self,
        msg: Request,
        request_id: int,
        cb: ResponseCallback,
        result_metadata: Sequence[ColumnMetadata] | None = None,
        handler: type[ProtocolHandler] | None = None,
    ) -> int:
        """Encode a request, let the server answer and call back with what is decoded.

        Returns:
            Number of bytes sent.

        Raises:
            ConnectionShutdown: the connection is closed.
            UnsupportedOperation: the protocol version cannot say this.
        """
        if self.is_closed:
            raise ConnectionShutdown(
                f"Connection to {self.endpoint} is closed", self.endpoint, was_sent=False
            )
        data = self._conversation.send(msg, request_id, handler)
        self._requests[request_id] = (cb, result_metadata, handler or self.handler)
        self.receive(self.server.receive(data))
        return len(data)

    def receive(self, data: bytes) -> None:
        """Take bytes from the server; each response goes to the request with its stream."""
        try:
            frames: Sequence[Frame] = self._conversation.feed(data)
        except MalformedFrameError as error:
            self._respond_to(error.frames)
            self.is_defunct = True
            self.close(ConnectionException(f"Connection is defunct: {error}", self.endpoint))
            return
        self._respond_to(frames)

    def _respond_to(self, frames: Sequence[Frame]) -> None:
        for frame in frames:
            waiting = self._requests.pop(frame.stream_id, None)
            if waiting is None:
                # An event, or an answer that nobody waits for.
                self.orphaned_request_ids.discard(frame.stream_id)
                continue
            callback, result_metadata, handler = waiting
            callback(self._decode(frame, result_metadata, handler))

    def _decode(
        self,
        frame: Frame,
        result_metadata: Sequence[ColumnMetadata] | None,
        handler: type[ProtocolHandler],
    ) -> Response | Exception:
        """The response of a frame; an exception if it cannot be decoded."""
        try:
            return handler.decode_message(
                frame.version,
                self.features,
                self._user_type_map,
                frame.stream_id,
                frame.flags,
                frame.opcode,
                frame.body,
                self._conversation.decompressor,
                result_metadata,
            )
        except Exception as error:  # noqa: BLE001  (whoever sent the request has to hear of it)
            return error

    def close(self, reason: Exception | None = None) -> None:
        """Close; requests without an answer get the reason."""
        self.is_closed = True
        self.last_error = reason
        why: Any = reason or ConnectionShutdown(f"Connection to {self.endpoint} was closed")
        waiting, self._requests = self._requests, {}
        for callback, _, _ in waiting.values():
            callback(why)
