"""The other end of a connection, in this process: real bytes in, real frames back.

Only the socket is missing: answers are frames that are compressed and put into segments as a node
does it, for connections of the driver that take them apart again.
"""

# ruff: noqa: ANN401  (objects of whichever driver is installed)

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Version, flags, stream id, opcode and length of the body (CQL binary protocol, section 2).
HEADER = struct.Struct(">BBhBi")
COMPRESSED_FLAG, RESPONSE = 0x01, 0x80
STARTUP, READY_OPCODE, OPTIONS, SUPPORTED, RESULT = 0x01, 0x02, 0x05, 0x06, 0x08


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
        _, flags, _, opcode, length = HEADER.unpack_from(frame)
        if flags & COMPRESSED_FLAG:
            raise ValueError("a recorded frame must not be compressed")
        if length != len(frame) - HEADER.size:
            raise ValueError(
                f"a frame of {len(frame)} bytes announces a body of {length} bytes after "
                f"{HEADER.size} of header"
            )
        return cls(opcode, frame[HEADER.size :], flags)


READY = Answer(READY_OPCODE, b"")
VOID = Answer(RESULT, struct.pack(">i", 1))


def answer_void(_: ReceivedRequest) -> Answer:
    """Answer every request with a RESULT of kind VOID."""
    return VOID


class InMemoryServer:
    """The other end of the connection: bytes of requests in, bytes of answers out.

    Attributes:
        requests: every request but OPTIONS and STARTUP, in the order of arrival.
        answer: gives the answer to a request; None leaves it without one.
    """

    def __init__(
        self,
        answer: Callable[[ReceivedRequest], Answer | None] = answer_void,
        protocol_version: int = 4,
        compression: str | None = None,
        announced: Mapping[str, str] | None = None,
    ) -> None:
        """Wait for STARTUP, in a protocol version and a compression that were agreed upon.

        What is announced goes into SUPPORTED, as ScyllaDB does it with its extensions.
        """
        from driver.wire.compression import (
            locally_supported_compressions,
            segment_compress,
            segment_decompress,
        )
        from driver.wire.segments import SegmentCodec

        self.answer = answer
        self.requests: list[ReceivedRequest] = []
        self._version = protocol_version
        self._supported = {"CQL_VERSION": "3.4.7", "COMPRESSION": compression, **(announced or {})}
        self._started = False
        self._segments: Any = None
        self._compress: Callable[[bytes], bytes] | None = None
        self._decompress: Callable[[bytes], bytes] | None = None
        if protocol_version >= 5:
            self._segments = (
                SegmentCodec(segment_compress, segment_decompress)
                if compression
                else SegmentCodec()
            )
        elif compression:
            self._compress, self._decompress = locally_supported_compressions[compression]

    def receive(self, data: bytes) -> bytes:
        """Take the bytes of whole requests; give those of the answers."""
        if self._started and self._segments is not None:
            data = _payloads(self._segments, data)
        return self.receive_frames(data)

    def receive_frames(self, frames: bytes) -> bytes:
        """As ``receive``, of frames that were taken out of their segments."""
        # The answer to STARTUP is the last that comes without a segment.
        return b"".join(self._answers_to(frames))

    def send(self, stream: int, answer: Answer) -> bytes:
        """The bytes of an answer on a stream, to a request that got none, or of an event."""
        frame = self._frame(stream, answer)
        return self._segments.encode(frame) if self._started and self._segments else frame

    def _answers_to(self, frames: bytes) -> list[bytes]:
        """One frame for each request that gets an answer."""
        answers = []
        position = 0
        while position < len(frames):
            version, flags, stream, opcode, length = HEADER.unpack_from(frames, position)
            position += HEADER.size
            body = frames[position : position + length]
            position += length
            if flags & COMPRESSED_FLAG and self._decompress:
                body = self._decompress(body)
                flags ^= COMPRESSED_FLAG
            answer = self._answer(ReceivedRequest(stream, version, flags, opcode, body))
            if answer is not None:
                answers.append(self.send(stream, answer))
                self._started = self._started or opcode == STARTUP
        return answers

    def _answer(self, request: ReceivedRequest) -> Answer | None:
        if request.opcode == STARTUP:
            return READY
        if request.opcode == OPTIONS:
            return Answer(SUPPORTED, _multimap(self._supported))
        self.requests.append(request)
        return self.answer(request)

    def _frame(self, stream: int, answer: Answer) -> bytes:
        """A frame, compressed if bodies are."""
        opcode, body, flags = answer
        if self._started and self._compress and body:
            body = self._compress(body)
            flags |= COMPRESSED_FLAG
        header = HEADER.pack(self._version | RESPONSE, flags, stream, opcode, len(body))
        return header + body


def _payloads(codec: Any, data: bytes) -> bytes:
    """What is in whole segments."""
    payloads = []
    position = 0
    while position < len(data):
        header = codec.decode_header(data[position : position + codec.header_length_with_crc])
        position += codec.header_length_with_crc
        payloads.append(codec.decode(header, data[position : position + header.segment_length]))
        position += header.segment_length
    return b"".join(payloads)


def _multimap(values: Mapping[str, str | None]) -> bytes:
    """A [string multimap] of keys with one value each, or none."""
    pairs = [
        _string(key) + (struct.pack(">H", 0) if value is None else b"\0\1" + _string(value))
        for key, value in values.items()
    ]
    return struct.pack(">H", len(pairs)) + b"".join(pairs)


def _string(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()
