"""The notations of the protocol, read from and written to binary files.

Each pair ``read_x``/``write_x`` is one notation of section 3 of the native protocol: [byte], [int],
[string], [bytes], [value], [inet] and so on. All numbers are big-endian. Readers raise
:class:`~driver.wire.malformed.MalformedFrameError` where the frame ends before the notation does.
"""

from __future__ import annotations

import socket  # for the text form of addresses only: nothing is opened here
from typing import TYPE_CHECKING, BinaryIO
from uuid import UUID

from ..protocol.consistency import ConsistencyLevel
from ..protocol.unset import UNSET_VALUE
from ..types.marshal import (
    int32_pack,
    int32_unpack,
    int64_pack,
    uint8_pack,
    uint16_pack,
    uint16_unpack,
    uint32_pack,
)
from .malformed import MalformedFrameError, ends_early

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..protocol.unset import UnsetType

_NULL = int32_pack(-1)
_NOT_SET = int32_pack(-2)


def read_exactly(f: BinaryIO, size: int) -> bytes:
    """The next ``size`` bytes of a frame.

    Raises:
        MalformedFrameError: fewer are left.
    """
    data = f.read(size)
    if len(data) != size:
        ends_early(size, len(data))
    return data


def read_byte(f: BinaryIO) -> int:
    """Read a [byte]: 0 to 255."""
    return read_exactly(f, 1)[0]


def write_byte(f: BinaryIO, b: int) -> None:
    """Write a [byte]: 0 to 255."""
    f.write(uint8_pack(b))


def read_int(f: BinaryIO) -> int:
    """Read an [int]: four bytes, signed."""
    value: int = int32_unpack(read_exactly(f, 4))
    return value


def write_int(f: BinaryIO, i: int) -> None:
    """Write an [int]: four bytes, signed."""
    f.write(int32_pack(i))


def write_uint(f: BinaryIO, i: int) -> None:
    """Write four bytes, unsigned: the query flags of v5."""
    f.write(uint32_pack(i))


def write_long(f: BinaryIO, i: int) -> None:
    """Write a [long]: eight bytes, signed."""
    f.write(int64_pack(i))


def read_short(f: BinaryIO) -> int:
    """Read a [short]: two bytes, unsigned."""
    value: int = uint16_unpack(read_exactly(f, 2))
    return value


def write_short(f: BinaryIO, s: int) -> None:
    """Write a [short]: two bytes, unsigned."""
    f.write(uint16_pack(s))


def _text(data: bytes) -> str:
    """Decode the bytes of a [string]."""
    try:
        return data.decode("utf8")
    except UnicodeDecodeError as error:
        raise MalformedFrameError(f"a string is not UTF-8: {error}") from error


def read_string(f: BinaryIO) -> str:
    """Read a [string]: a [short] n and n bytes of UTF-8."""
    return _text(read_exactly(f, read_short(f)))


def write_string(f: BinaryIO, s: str | bytes) -> None:
    """Write a [string]; bytes pass as they are."""
    data = s.encode("utf8") if isinstance(s, str) else s
    write_short(f, len(data))
    f.write(data)


def read_longstring(f: BinaryIO) -> str:
    """Read a [long string]: an [int] n and n bytes of UTF-8."""
    size = read_int(f)
    if size < 0:
        raise MalformedFrameError(f"a long string has the length {size}")
    return _text(read_exactly(f, size))


def write_longstring(f: BinaryIO, s: str | bytes) -> None:
    """Write a [long string]; bytes pass as they are."""
    data = s.encode("utf8") if isinstance(s, str) else s
    write_int(f, len(data))
    f.write(data)


def read_binary_string(f: BinaryIO) -> bytes:
    """Read [short bytes]: a [short] n and n bytes."""
    return read_exactly(f, read_short(f))


def write_binary_string(f: BinaryIO, data: bytes) -> None:
    """Write [short bytes]."""
    write_short(f, len(data))
    f.write(data)


def read_value(f: BinaryIO) -> bytes | None:
    """Read [bytes]: an [int] n and n bytes, or None where n is negative."""
    size = read_int(f)
    return None if size < 0 else read_exactly(f, size)


def read_binary_longstring(f: BinaryIO) -> bytes:
    """Read [bytes] that are not null: an authentication token, a paging state.

    Null, which servers send for an empty token, gives ``b""``.
    """
    return read_value(f) or b""


def write_value(f: BinaryIO, v: bytes | UnsetType | None) -> None:
    """Write a [value]: bytes with their length, -1 for None, -2 for UNSET_VALUE (v4 and later)."""
    if v is None:
        f.write(_NULL)
    elif v is UNSET_VALUE:
        f.write(_NOT_SET)
    else:
        # The checker does not narrow by identity, and isinstance would cost more than the test.
        write_int(f, len(v))  # type: ignore[arg-type]
        f.write(v)  # type: ignore[arg-type]


def read_stringlist(f: BinaryIO) -> list[str]:
    """Read a [string list]: a [short] n and n [string]."""
    return [read_string(f) for _ in range(read_short(f))]


def write_stringlist(f: BinaryIO, strings: Sequence[str]) -> None:
    """Write a [string list]."""
    write_short(f, len(strings))
    for s in strings:
        write_string(f, s)


def read_stringmap(f: BinaryIO) -> dict[str, str]:
    """Read a [string map]: a [short] n and n pairs of [string]."""
    return {read_string(f): read_string(f) for _ in range(read_short(f))}


def write_stringmap(f: BinaryIO, strings: Mapping[str, str]) -> None:
    """Write a [string map], in the mapping's order."""
    write_short(f, len(strings))
    for key, value in strings.items():
        write_string(f, key)
        write_string(f, value)


def read_stringmultimap(f: BinaryIO) -> dict[str, list[str]]:
    """Read a [string multimap]: a [short] n and n pairs of [string] and [string list]."""
    return {read_string(f): read_stringlist(f) for _ in range(read_short(f))}


def write_stringmultimap(f: BinaryIO, strings: Mapping[str, Sequence[str]]) -> None:
    """Write a [string multimap], in the mapping's order."""
    write_short(f, len(strings))
    for key, values in strings.items():
        write_string(f, key)
        write_stringlist(f, values)


def read_bytesmap(f: BinaryIO) -> dict[str, bytes | None]:
    """Read a [bytes map]: a [short] n and n pairs of [string] and [bytes]."""
    return {read_string(f): read_value(f) for _ in range(read_short(f))}


def write_bytesmap(f: BinaryIO, values: Mapping[str, bytes | None]) -> None:
    """Write a [bytes map], in the mapping's order."""
    write_short(f, len(values))
    for key, value in values.items():
        write_string(f, key)
        write_value(f, value)


def read_uuid(f: BinaryIO) -> UUID:
    """Read a [uuid]: sixteen bytes."""
    return UUID(bytes=read_exactly(f, 16))


_ADDRESS_FAMILIES = {4: socket.AF_INET, 16: socket.AF_INET6}


def read_inet_addr_only(f: BinaryIO) -> str:
    """Read an [inetaddr]: a [byte] n, 4 or 16, and n bytes; gives the address as text."""
    size = read_byte(f)
    family = _ADDRESS_FAMILIES.get(size)
    if family is None:
        raise MalformedFrameError(f"an address has {size} bytes; 4 or 16 are possible")
    return socket.inet_ntop(family, read_exactly(f, size))


def read_inet(f: BinaryIO) -> tuple[str, int]:
    """Read an [inet]: an [inetaddr] and a port as [int]."""
    return read_inet_addr_only(f), read_int(f)


def write_inet(f: BinaryIO, addrtuple: tuple[str, int]) -> None:
    """Write an [inet]; an address with a colon is IPv6."""
    address, port = addrtuple
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    packed = socket.inet_pton(family, address)
    write_byte(f, len(packed))
    f.write(packed)
    write_int(f, port)


def read_consistency_level(f: BinaryIO) -> ConsistencyLevel:
    """Read a [consistency]: a [short].

    Raises:
        MalformedFrameError: the protocol has no such level.
    """
    code = read_short(f)
    try:
        return ConsistencyLevel(code)
    except ValueError as error:
        raise MalformedFrameError(f"there is no consistency level {code}") from error


def write_consistency_level(f: BinaryIO, cl: int) -> None:
    """Write a [consistency]: a [short]."""
    write_short(f, cl)


def read_error_code_map(f: BinaryIO) -> dict[str, int]:
    """Read the <reasonmap> of v5 failures: an [int] n and n pairs of [inetaddr] and [short]."""
    return {read_inet_addr_only(f): read_short(f) for _ in range(read_int(f))}
