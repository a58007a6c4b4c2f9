"""A socket and nothing else: requests that were made before are sent, one by one, and answered.

No client that waits for each of its answers takes less processor time than the kernel takes for
this; what it takes more is its own. Started like `client`, in the same environment as this driver.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

from . import cases, client

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: As tables call it, and the way among whose clients it is.
NAME, WAY = "a bare socket", "threads"
#: Of the cases: those with one request in flight.
CASES = {case.name: case for case in cases.CASES if case.flying == 1}
#: Protocol v4: what a frame begins with (version, flags, stream, opcode, length), and opcodes.
_HEADER = struct.Struct(">BBhBI")
_STARTUP, _PREPARE, _EXECUTE, _RESULT = 0x01, 0x09, 0x0A, 0x08
_READY = 0x02
#: Consistency ONE; the flag that says that there are values.
_CONSISTENCY, _VALUES = 1, 1
_ROOM = 1 << 20


class Bare:
    """A connection without a driver."""

    def __init__(self, host: str, port: int) -> None:
        """Connect.

        Raises:
            SystemExit: the node wants more than this can do.
        """
        self._socket = socket.create_connection((host, port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.settimeout(None)  # which would be a system call more, each time
        version = b"".join(struct.pack(">H", len(x)) + x for x in (b"CQL_VERSION", b"3.0.0"))
        self._answer(_framed(_STARTUP, struct.pack(">H", 1) + version), _READY)

    def prepared(self, text: str) -> bytes:
        """The id of a statement."""
        query = text.encode()
        answer = self._answer(_framed(_PREPARE, struct.pack(">I", len(query)) + query), _RESULT)
        start = _HEADER.size + 4  # behind the kind of result
        (length,) = struct.unpack_from(">H", answer, start)
        return answer[start + 2 : start + 2 + length]

    def asking(self, frames: list[bytes]) -> Callable[[], list[float]]:
        """A call that sends each and waits for its answer; nobody asks what each took."""
        send, receive = self._socket.send, self._socket.recv_into
        # Made once: a megabyte for each answer is more work than the answer.
        answer = bytearray(_ROOM)

        def run() -> list[float]:
            for frame in frames:
                send(frame)
                missing = -receive(answer)
                missing += _HEADER.size + int.from_bytes(answer[5:9], "big")
                if answer[4] != _RESULT:
                    raise SystemExit(f"a bare socket got {bytes(answer[:200])!r}")
                while missing > 0:
                    missing -= receive(answer)
            return [0.0] * len(frames)

        return run

    def _answer(self, frame: bytes, opcode: int) -> bytes:
        self._socket.sendall(frame)
        answer = self._socket.recv(_ROOM)
        if answer[4] != opcode:
            raise SystemExit(f"a bare socket got {answer[:200]!r}")
        return answer


def main(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers a request of each of its cases, as `client.measure`."""
    bare, found = Bare(asked["host"], asked["port"]), {}
    for name, case in CASES.items():
        query_id = bare.prepared(cases.TEXTS[case.kind])
        number = round(case.number * asked["scale"])
        warm, frames = (
            [executing(query_id, cases.values(case.kind, n)) for n in numbers]
            for numbers in (range(round(number * client.WARM)), range(number, 2 * number))
        )
        bare.asking(warm)()
        found[name] = client.measured(bare.asking(frames), number, asked["node"])
    return {"numbers": found}


def executing(query_id: bytes, values: tuple[Any, ...]) -> bytes:
    """The frame of an EXECUTE."""
    data = b"".join(struct.pack(">i", len(x)) + x for x in map(_encoded, values))
    head = struct.pack(">H", len(query_id)) + query_id
    return _framed(_EXECUTE, head + struct.pack(">HBH", _CONSISTENCY, _VALUES, len(values)) + data)


def _framed(opcode: int, body: bytes) -> bytes:
    return _HEADER.pack(4, 0, 0, opcode, len(body)) + body


def _encoded(value: Any) -> bytes:  # noqa: ANN401  (of a column of `cases.TABLE`)
    if isinstance(value, bool):
        return b"\1" if value else b"\0"
    if isinstance(value, int):
        return struct.pack(">i", value)
    if isinstance(value, float):
        return struct.pack(">d", value)
    if isinstance(value, datetime):
        return struct.pack(">q", round(value.timestamp() * 1000))
    return str(value).encode()


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))), flush=True)
