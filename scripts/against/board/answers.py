"""The recorded answers of a real node: kept compressed, and packed for `node.c` to look up.

An entry is a request (protocol version, opcode, whether it wants no metadata, its key: the text, or
the id of the statement) and its answer (opcode, flags, body), with the places in the body where
values of the request go: an offset, and which of the bound values.
"""

from __future__ import annotations

import lzma
import struct
from dataclasses import dataclass, field
from pathlib import Path

FILE = Path(__file__).with_name("answers.xz")
HEAD = struct.Struct(">BBBBBIII")
PLACE = struct.Struct(">IB")


@dataclass(frozen=True)
class Asked:
    """What an answer is looked up by."""

    version: int
    opcode: int
    skips_metadata: bool
    key: bytes


@dataclass(frozen=True)
class Answer:
    """What is answered.

    Attributes:
        opcode: of the response.
        flags: of its frame.
        body: as it was recorded.
        places: offsets in the body, each with the index of the bound value that goes there.
    """

    opcode: int
    flags: int
    body: bytes
    places: tuple[tuple[int, int], ...] = field(default=())


def pack(found: dict[Asked, Answer]) -> bytes:
    """What `node.c` reads."""
    parts = []
    for asked, answer in found.items():
        parts += [
            HEAD.pack(asked.version, asked.opcode, asked.skips_metadata, answer.opcode,
                      answer.flags, len(asked.key), len(answer.body), len(answer.places)),
            asked.key, answer.body, *(PLACE.pack(*place) for place in answer.places),
        ]  # fmt: skip
    return b"".join(parts)


def unpack(data: bytes) -> dict[Asked, Answer]:
    """The entries of packed ones."""
    found, at = {}, 0
    while at < len(data):
        version, opcode, skips, reply, flags, key, body, places = HEAD.unpack_from(data, at)
        at += HEAD.size
        asked = Asked(version, opcode, bool(skips), data[at : at + key])
        at += key + body
        end = at + places * PLACE.size
        told = tuple(PLACE.iter_unpack(data[at:end]))
        found[asked] = Answer(reply, flags, data[at - body : at], told)
        at = end
    return found


def keep(found: dict[Asked, Answer], file: Path = FILE) -> None:
    """Write them down, compressed."""
    file.write_bytes(lzma.compress(pack(found), preset=9))


def kept(file: Path = FILE) -> bytes:
    """What was written down, packed."""
    return lzma.decompress(file.read_bytes())


def with_places(answer: Answer, cells: list[tuple[tuple[int, int], ...]]) -> Answer:
    """An answer that says where values go.

    Args:
        answer: a page of rows.
        cells: of each row, its first cells, which are ints: their value, and which bound value
            replaces it (or -1).

    Raises:
        ValueError: a row is not in the body.
    """
    places, at = [], 0
    for row in cells:
        pattern = b"".join(struct.pack(">ii", 4, value) for value, _ in row)
        at = answer.body.index(pattern, at)
        places += [(at + 8 * n + 4, index) for n, (_, index) in enumerate(row) if index >= 0]
        at += len(pattern)
    return Answer(answer.opcode, answer.flags, answer.body, tuple(places))
