"""A CQL client that keeps the raw bytes of every response: native protocol v4 and v5, blocking.

It knows just enough of the protocol to ask; it never interprets what it records.
"""

from __future__ import annotations

import socket
import struct
import time
import zlib
from typing import NamedTuple

import lz4.block

HEADER = struct.Struct(">BBhBI")
ERROR, STARTUP, READY, AUTHENTICATE, OPTIONS = 0x00, 0x01, 0x02, 0x03, 0x05
QUERY, RESULT, PREPARE, EXECUTE, REGISTER = 0x07, 0x08, 0x09, 0x0A, 0x0B
AUTH_RESPONSE = 0x0F
FLAG_COMPRESSED, FLAG_TRACING, FLAG_PAYLOAD = 0x01, 0x02, 0x04
SKIP_METADATA, PAGE_SIZE, PAGING_STATE = 0x02, 0x04, 0x08
ONE, TWO, THREE, ALL = 0x01, 0x02, 0x03, 0x05
STREAM = 1

# native_protocol_v5.spec, section 2.2: polynomial and seed of a segment's header check.
CRC24_POLYNOMIAL, CRC24_SEED = 0x1974F0B, 0x875060
CRC32_SEED = zlib.crc32(b"\xfa\x2d\x55\xca")
SELF_CONTAINED = 1 << 17
SCHEMA_CHANGED, NO_ROWS = struct.pack(">i", 5), struct.pack(">i", 0)


class Refused(Exception):  # noqa: N818  (an answer, not a fault)
    """The server answered ERROR where another answer was needed."""


class Frame(NamedTuple):
    """One response: nine header bytes and the body, as they came."""

    header: bytes
    body: bytes

    @property
    def opcode(self) -> int:
        """What kind of message it is."""
        return self.header[4]

    @property
    def flags(self) -> int:
        """Compressed, traced, custom payload, warnings."""
        return self.header[1]


def crc24(data: bytes) -> int:
    """The 24-bit check of a segment's header."""
    crc = CRC24_SEED
    for byte in data:
        crc ^= byte << 16
        for _ in range(8):
            crc <<= 1
            if crc & 0x1000000:
                crc ^= CRC24_POLYNOMIAL
    return crc


def long_string(text: str) -> bytes:
    """[long string] of the protocol."""
    data = text.encode()
    return struct.pack(">i", len(data)) + data


def string_map(pairs: dict[str, str]) -> bytes:
    """[string map] of the protocol."""
    parts = [struct.pack(">H", len(pairs))]
    for pair in pairs.items():
        parts += [struct.pack(">H", len(text)) + text.encode() for text in pair]
    return b"".join(parts)


class Client:
    """One connection; ``call`` returns the raw response to one request."""

    def __init__(
        self, address: str, version: int, compression: str = "", *, port: int = 9042
    ) -> None:
        """Connect; the handshake is ``start``'s."""
        self.version, self.compression = version, compression
        self.segments = False
        self.pending = b""  # v5: unwrapped bytes that are not a whole frame yet
        self.raw = bytearray()  # everything received since it was last cleared
        self.socket = socket.create_connection((address, port), timeout=30)

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()

    def take(self, count: int) -> bytes:
        """Exactly ``count`` bytes from the socket."""
        data = bytearray()
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise ConnectionError("the server closed the connection")
            data += piece
        self.raw += data
        return bytes(data)

    def take_segment(self) -> bytes:
        """The payload of one v5 segment, checked and decompressed."""
        size = 5 if self.compression else 3
        head = self.take(size + 3)
        if crc24(head[:size]) != int.from_bytes(head[size:], "little"):
            raise ConnectionError("a segment's header fails its check")
        bits = int.from_bytes(head[:size], "little")
        length, uncompressed = bits & 0x1FFFF, (bits >> 17) & 0x1FFFF
        payload = self.take(length)
        if zlib.crc32(payload, CRC32_SEED) != int.from_bytes(self.take(4), "little"):
            raise ConnectionError("a segment's payload fails its check")
        if self.compression and uncompressed:
            payload = lz4.block.decompress(payload, uncompressed_size=uncompressed)
        return payload

    def put_segment(self, payload: bytes) -> None:
        """Send one self-contained v5 segment, never compressed."""
        bits = (len(payload) | SELF_CONTAINED) if not self.compression else len(payload)
        bits |= (1 << 34) if self.compression else 0
        head = bits.to_bytes(5 if self.compression else 3, "little")
        check = zlib.crc32(payload, CRC32_SEED).to_bytes(4, "little")
        self.socket.sendall(head + crc24(head).to_bytes(3, "little") + payload + check)

    def next_frame(self) -> Frame:
        """The next response or event, unwrapped from segments but otherwise as it came."""
        if not self.segments:
            header = self.take(HEADER.size)
            return Frame(header, self.take(HEADER.unpack(header)[4]))
        while True:
            if len(self.pending) >= HEADER.size:
                end = HEADER.size + HEADER.unpack_from(self.pending)[4]
                if len(self.pending) >= end:
                    data, self.pending = self.pending[:end], self.pending[end:]
                    return Frame(data[: HEADER.size], data[HEADER.size :])
            self.pending += self.take_segment()

    def call(self, opcode: int, body: bytes, flags: int = 0) -> Frame:
        """Send one request and return the raw response."""
        data = HEADER.pack(self.version, flags, STREAM, opcode, len(body)) + body
        if self.segments:
            self.put_segment(data)
        else:
            self.socket.sendall(data)
        return self.next_frame()

    def start(self) -> Frame:
        """STARTUP; the answer is READY or AUTHENTICATE."""
        options = {"CQL_VERSION": "3.0.0"}
        if self.compression:
            options["COMPRESSION"] = self.compression
        frame = self.call(STARTUP, string_map(options))
        self.segments = self.version >= 5
        return frame

    def parameters(
        self,
        consistency: int = ONE,
        page: int = 0,
        values: tuple[bytes, ...] = (),
        skip_metadata: bool = False,
        state: bytes = b"",
    ) -> bytes:
        """<query_parameters> of QUERY and EXECUTE."""
        flags = (0x01 if values else 0) | (SKIP_METADATA if skip_metadata else 0)
        flags |= (PAGE_SIZE if page else 0) | (PAGING_STATE if state else 0)
        body = struct.pack(">HI" if self.version >= 5 else ">HB", consistency, flags)
        if values:
            body += struct.pack(">H", len(values))
            body += b"".join(struct.pack(">i", len(value)) + value for value in values)
        if page:
            body += struct.pack(">i", page)
        if state:
            body += struct.pack(">i", len(state)) + state
        return body

    def query(
        self, text: str, consistency: int = ONE, page: int = 0, flags: int = 0, prefix: bytes = b""
    ) -> Frame:
        """QUERY; ``prefix`` is what the flags put before the body (a custom payload)."""
        body = prefix + long_string(text) + self.parameters(consistency, page)
        return self.call(QUERY, body, flags)

    def must(self, text: str, consistency: int = TWO) -> Frame:
        """QUERY that has to succeed."""
        frame = self.query(text, consistency)
        if frame.opcode == ERROR:
            raise Refused(f"{text[:200]}: {frame.body[6:].decode(errors='replace')}")
        if frame.body.startswith(SCHEMA_CHANGED):
            self.settle()
        return frame

    def settle(self) -> None:
        """Wait until all nodes have the same schema: one that lags refuses writes."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            # The one value of the one row ends the body: sixteen bytes of a uuid.
            own = self.query("SELECT schema_version FROM system.local").body[-16:]
            peers = self.query("SELECT schema_version FROM system.peers_v2").body
            if peers.endswith((own, NO_ROWS)):
                return
            time.sleep(0.1)
        raise TimeoutError("the nodes do not agree on the schema")

    def prepare(self, text: str) -> Frame:
        """PREPARE."""
        body = long_string(text) + (struct.pack(">I", 0) if self.version >= 5 else b"")
        frame = self.call(PREPARE, body)
        if frame.opcode == ERROR:
            raise Refused(f"{text[:200]}: {frame.body[6:].decode(errors='replace')}")
        return frame

    def execute(
        self,
        prepared: Frame,
        values: tuple[bytes, ...],
        page: int = 0,
        skip_metadata: bool = False,
        state: bytes = b"",
    ) -> Frame:
        """EXECUTE what ``prepare`` answered."""
        return self.call(
            EXECUTE,
            self.prepared_ids(prepared) + self.parameters(ONE, page, values, skip_metadata, state),
        )

    def prepared_ids(self, prepared: Frame) -> bytes:
        """The id, and in v5 the id of the result's metadata, as EXECUTE sends them back."""
        end = 4
        for _ in range(2 if self.version >= 5 else 1):
            end += 2 + struct.unpack_from(">H", prepared.body, end)[0]
        return prepared.body[4:end]

    def register(self, events: tuple[str, ...]) -> Frame:
        """REGISTER for events."""
        body = struct.pack(">H", len(events))
        body += b"".join(struct.pack(">H", len(name)) + name.encode() for name in events)
        return self.call(REGISTER, body)

    def authenticate(self, user: str, password: str) -> Frame:
        """AUTH_RESPONSE of the password authenticator."""
        token = f"\0{user}\0{password}".encode()
        return self.call(AUTH_RESPONSE, struct.pack(">i", len(token)) + token)
