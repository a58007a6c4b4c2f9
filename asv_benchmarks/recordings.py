"""The frames recorded from a real Cassandra, by name; and one neutral form for decoded values.

The recordings stand in ``inputs/`` beside their manifest; ``scripts/record-frames`` made them and
docs/recording.md tells how. Nothing here imports a driver: the bytes are read as they came.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

INPUTS = Path(__file__).resolve().parent / "inputs"
HEADER_SIZE = 9


class Recorded(NamedTuple):
    """One response frame of the server.

    Attributes:
        name: its name in the manifest, the same in every protocol version.
        version: protocol version that it was recorded with (4 or 5).
        flags: flags byte of the header (0x01 compressed, 0x02 traced, 0x04 payload, 0x08 warned).
        stream: stream id; -1 for events.
        opcode: opcode byte of the header.
        header: the nine header bytes.
        body: the body as it came; compressed if the flags say so. In v5 it is unwrapped from
            segments, checked and decompressed.
        about: the manifest's entry: ``query``, ``prepared``, ``compression``, ``sha256`` and more.
    """

    name: str
    version: int
    flags: int
    stream: int
    opcode: int
    header: bytes
    body: bytes
    about: dict[str, Any]


@cache
def manifest() -> dict[str, Any]:
    """The manifest: ``server``, ``seed``, ``frames`` and ``segments``."""
    return json.loads((INPUTS / "manifest.json").read_text(encoding="utf-8"))


@cache
def expected() -> dict[str, Any]:
    """What cassandra-driver decoded from each frame, by ``v4/name``."""
    return json.loads(lzma.decompress((INPUTS / "expected.json.xz").read_bytes()))


def read(path: str) -> bytes:
    """The content of one recorded file, decompressed if its name ends in .xz."""
    data = (INPUTS / path).read_bytes()
    return lzma.decompress(data) if path.endswith(".xz") else data


@cache
def _index() -> dict[tuple[int, str], dict[str, Any]]:
    return {(entry["version"], entry["name"]): entry for entry in manifest()["frames"]}


def names(version: int) -> list[str]:
    """Names of all frames of a protocol version, in the order of recording."""
    return [name for of_version, name in _index() if of_version == version]


@cache
def frame(name: str, version: int = 4) -> Recorded:
    """One recorded frame.

    Raises:
        KeyError: no frame of that name was recorded in that protocol version.
    """
    about = _index()[version, name]
    data = read(about["file"])
    header = data[:HEADER_SIZE]
    stream = int.from_bytes(header[2:4], "big", signed=True)
    body = data[HEADER_SIZE:]
    return Recorded(name, version, header[1], stream, header[4], header, body, about)


def segments(name: str) -> bytes:
    """Raw protocol v5 segments, as they came from the socket."""
    entry = next(entry for entry in manifest()["segments"] if entry["name"] == name)
    return read(entry["file"])


#: Value classes that any driver has, known by an attribute of theirs: (attribute, form).
_BY_ATTRIBUTE = (
    ("days_from_epoch", lambda value: {"date": value.days_from_epoch}),
    ("nanosecond_time", lambda value: {"time": value.nanosecond_time}),
    ("nanoseconds", lambda value: {"duration": [value.months, value.days, value.nanoseconds]}),
)


def plain(value: object) -> Any:  # noqa: ANN401  (JSON)
    """A decoded value as JSON, the same for equal values of different drivers and versions.

    Floats are written in hexadecimal, so that they compare bit by bit.

    Raises:
        TypeError: a value of a class that no CQL type decodes to.
    """
    form: Any
    match value:
        case None | bool() | int() | str():
            form = value
        case float():
            form = {"float": value.hex()}
        case bytes() | bytearray() | memoryview():
            form = {"blob": bytes(value).hex()}
        case Decimal():
            form = {"decimal": str(value)}
        case UUID():
            form = {"uuid": str(value)}
        case datetime():
            form = {"timestamp": value.isoformat()}
        case _:
            form = _plain_structure(value)
    return form


def _plain_structure(value: object) -> Any:  # noqa: ANN401  (JSON)
    """``plain`` for driver classes, mappings and sequences."""
    for attribute, form in _BY_ATTRIBUTE:
        if hasattr(value, attribute):
            return form(value)
    if isinstance(value, Mapping):
        return {"map": [[plain(key), plain(element)] for key, element in value.items()]}
    if isinstance(value, Iterable):
        return [plain(element) for element in value]
    raise TypeError(f"no CQL type decodes to {type(value).__name__}")


def digest(value: object) -> str:
    """SHA-256 of the neutral form of a value, in hexadecimal."""
    text = json.dumps(plain(value), separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
