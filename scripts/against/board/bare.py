"""A socket and nothing else: requests that were made before are sent, one by one, and answered.

No client that waits for each of its answers takes less processor time than the kernel takes for
this; what it takes more is its own. Started like `client`, in the same environment as this driver.
"""

from __future__ import annotations

import json
import socket
import sys
from typing import TYPE_CHECKING, Any

from recorder.client import EXECUTE, HEADER, READY, RESULT, STREAM, Client

from driver.types import BooleanType, DoubleType, Int32Type, TimestampType, UTF8Type

from . import cases, client

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recorder.client import Frame

#: As tables call it, and the way among whose clients it is.
NAME, WAY = "a bare socket", "threads"
#: Of the cases: those with one request in flight.
CASES = {case.name: case for case in cases.CASES if case.flying == 1}
#: Of the columns of `cases.TABLE`.
TYPES = (Int32Type, Int32Type, TimestampType, DoubleType, BooleanType, UTF8Type)
VERSION = 4
_ROOM = 1 << 20


def main(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers a request of each of its cases, as `client.measure`."""
    bare, found = connected(asked["host"], asked["port"]), {}
    for name, case in CASES.items():
        prepared = bare.prepare(cases.TEXTS[case.kind])
        number = round(case.number * asked["scale"])
        warm, frames = (
            [executing(bare, prepared, cases.values(case.kind, n)) for n in numbers]
            for numbers in (range(round(number * client.WARM)), range(number, 2 * number))
        )
        asking(bare.socket, warm)()
        found[name] = client.measured(asking(bare.socket, frames), number, asked["node"])
    return {"numbers": found}


def connected(host: str, port: int) -> Client:
    """A connection whose handshake is over.

    Raises:
        SystemExit: the node wants more than this can do.
    """
    bare = Client(host, VERSION, port=port)
    bare.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    bare.socket.settimeout(None)  # which would be a system call more, each time
    ready = bare.start()
    if ready.opcode != READY:
        raise SystemExit(f"a bare socket got {ready!r}")
    return bare


def executing(bare: Client, prepared: Frame, values: tuple[Any, ...]) -> bytes:
    """The frame of an EXECUTE."""
    data = tuple(
        cqltype.serialize(value, VERSION) for cqltype, value in zip(TYPES, values, strict=False)
    )
    body = bare.prepared_ids(prepared) + bare.parameters(values=data)
    return HEADER.pack(VERSION, 0, STREAM, EXECUTE, len(body)) + body


def asking(connection: socket.socket, frames: list[bytes]) -> Callable[[], list[float]]:
    """A call that sends each and waits for its answer; nobody asks what each took."""
    send, receive = connection.send, connection.recv_into
    # Made once: a megabyte for each answer is more work than the answer.
    answer = bytearray(_ROOM)

    def run() -> list[float]:
        for frame in frames:
            send(frame)
            missing = -receive(answer)
            missing += HEADER.size + int.from_bytes(answer[5:9], "big")
            if answer[4] != RESULT:
                raise SystemExit(f"a bare socket got {bytes(answer[:200])!r}")
            while missing > 0:
                missing -= receive(answer)
        return [0.0] * len(frames)

    return run


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))), flush=True)
