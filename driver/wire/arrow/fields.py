"""Arrow fields: which type of Arrow a CQL type becomes, and how its bytes are put into buffers.

Formats and layouts: Apache Arrow, "The Arrow C data interface" and "Arrow Columnar Format".
"""

from __future__ import annotations

import struct
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...protocol.columns import ColDesc
from ...protocol.errors import MarshalException
from ...protocol.limits import limits
from ...types import (
    AsciiType,
    DecimalType,
    DurationType,
    IntegerType,
    TupleType,
    UUIDType,
    VectorType,
    marshal,
)
from ...types.base import truncated
from ...types.record import check_growth
from ...types.wrapper import unwrapped
from ..malformed import undecodable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...protocol.columns import ColumnMetadata
    from ...types.base import CQLType
    from ..messages import ColumnEncryptionPolicy

    Convert = Callable[[bytes, int], bytes]

#: How values lie in buffers. NUMBER: big-endian on the wire; FIXED: bytes as they are. DATE and
#: TIME are numbers that differ by an offset and have a range; TEXT, ASCII and BYTES differ in what
#: is checked.
NULL: Final = 0
BOOL: Final = 1
NUMBER: Final = 2
DATE: Final = 3
TIME: Final = 4
FIXED: Final = 5
BYTES: Final = 6
TEXT: Final = 7
ASCII: Final = 8
LIST: Final = 9
MAP: Final = 10
STRUCT: Final = 11
VECTOR: Final = 12

#: Format -> layout, and bytes of a value where all have as many.
_LAYOUTS: Final[dict[str, tuple[int, int]]] = {
    "n": (NULL, 0),
    "b": (BOOL, 0),
    "c": (NUMBER, 1),
    "s": (NUMBER, 2),
    "i": (NUMBER, 4),
    "l": (NUMBER, 8),
    "f": (NUMBER, 4),
    "g": (NUMBER, 8),
    "tsm:UTC": (NUMBER, 8),
    "tdD": (DATE, 4),
    "ttn": (TIME, 8),
    "tin": (FIXED, 16),
    "w:16": (FIXED, 16),
    "z": (BYTES, 0),
    "u": (TEXT, 0),
    "+l": (LIST, 0),
    "+m": (MAP, 0),
    "+s": (STRUCT, 0),
    "+w": (VECTOR, 0),
}

#: Flags of a schema.
NULLABLE: Final = 2

#: Nanoseconds of a day: times are fewer.
DAY: Final = 86_400_000_000_000

#: Most digits of decimal128 and of decimal256.
_DIGITS_OF_128: Final = 38
_DIGITS_OF_256: Final = 76

#: Bytes that nulls of vectors and records of one page may always become: a page of 5,000 rows
#: without any of their vectors is usual.
FREE_FOR_NULLS: Final = 1 << 28


class ArrowOptions(NamedTuple):
    """What becomes of types whose values may be larger than any of Arrow's.

    Attributes:
        decimal: digits in all, and digits after the point, of all decimals; None for text.
        varint: digits of all varints; None for text.
    """

    decimal: tuple[int, int] | None = None
    varint: int | None = None


class Field(NamedTuple):
    """A column, or a part of one.

    Attributes:
        name: of the column or the part.
        format: Arrow's type, as the C data interface writes it.
        layout: one of this module's layouts.
        width: bytes of a value where all have as many; of a vector its number of elements.
        cqltype: whose bytes these are: it says what is wrong with them.
        children: elements, keys and values, or fields.
        nullable: whether there may be nulls; keys of maps are none.
        metadata: in the encoding of the C data interface; empty for none.
        convert: makes Arrow's bytes of CQL's; None where no call is needed.
        empty_ok: zero bytes are a value; else they are null.
        null_size: bytes in memory of a null.
        part_size: of elements of a vector: their bytes on the wire, -1 if they vary.
    """

    name: str
    format: str
    layout: int
    width: int
    cqltype: type[CQLType]
    children: tuple[Field, ...] = ()
    nullable: bool = True
    metadata: bytes = b""
    convert: Convert | None = None
    empty_ok: bool = False
    null_size: int = 0
    part_size: int = -1


def fields_of(
    columns: Sequence[ColumnMetadata],
    policy: ColumnEncryptionPolicy | None,
    options: ArrowOptions,
) -> tuple[tuple[Field, ...], list[Callable[[bytes], bytes] | None]]:
    """The field of each column, and what decrypts its values; None for what is not encrypted.

    Raises:
        ColumnDecodeError: the policy fails.
    """
    fields: list[Field] = []
    decrypts: list[Callable[[bytes], bytes] | None] = []
    for column in columns:
        cqltype, decrypt = column.type, None
        if policy is not None:
            try:
                description = ColDesc(column.keyspace_name, column.table_name, column.name)
                if policy.contains_column(description):
                    cqltype = policy.column_type(description)
                    decrypt = partial(_decrypted, policy, description)
            except Exception as error:  # noqa: BLE001  (policies raise what they like)
                undecodable(column, error)
        fields.append(field_of(column.name, cqltype, options))
        decrypts.append(decrypt)
    return tuple(fields), decrypts


def _decrypted(policy: ColumnEncryptionPolicy, description: ColDesc, data: bytes) -> bytes:
    return bytes(memoryview(policy.decrypt(description, data)))


def field_of(
    name: str, cqltype: type[CQLType], options: ArrowOptions, *, nullable: bool = True
) -> Field:
    """The field of a type."""
    cqltype = unwrapped(cqltype)
    arrow = cqltype.arrow
    layout, width = _LAYOUTS[arrow]
    convert, metadata, part_size = None, b"", -1
    children: tuple[Field, ...] = ()
    if layout == TEXT:
        arrow, layout, width, convert = _text(cqltype, options)
    elif issubclass(cqltype, DurationType):
        convert = _interval
    elif issubclass(cqltype, UUIDType):
        metadata = _metadata({"ARROW:extension:name": "arrow.uuid", "ARROW:extension:metadata": ""})
    elif layout == LIST:
        children = (field_of("item", cqltype.subtypes[0], options),)
    elif layout == MAP:
        key, value = cqltype.subtypes
        parts = (
            field_of("key", key, options, nullable=False),
            field_of("value", value, options),
        )
        entries = _LAYOUTS["+s"]
        children = (Field("entries", "+s", *entries, cqltype, parts, nullable=False),)
    elif issubclass(cqltype, TupleType):
        names = cqltype.fieldnames or [f"f{index}" for index in range(len(cqltype.subtypes))]
        children = tuple(
            field_of(str(part), subtype, options)
            for part, subtype in zip(names, cqltype.subtypes, strict=True)
        )
    elif issubclass(cqltype, VectorType):
        width = cqltype.vector_size
        arrow = f"+w:{width}"
        size = cqltype.subtype.serial_size()
        part_size = -1 if size is None else size
        children = (field_of("item", cqltype.subtype, options),)
    null_size = sum(child.null_size for child in children) + 1
    if layout == VECTOR:
        null_size *= width
    elif layout not in {MAP, STRUCT}:
        null_size += width or 4
    return Field(
        name,
        arrow,
        layout,
        width,
        cqltype,
        children,
        nullable,
        metadata,
        convert,
        cqltype.empty_binary_ok,
        min(null_size, 1 << 60),
        part_size,
    )


def _text(cqltype: type[CQLType], options: ArrowOptions) -> tuple[str, int, int, Convert | None]:
    """Format, layout, width and conversion of what is text unless options say otherwise."""
    digits, scale = 0, 0
    if issubclass(cqltype, DecimalType):
        digits, scale = options.decimal or (0, 0)
    elif issubclass(cqltype, IntegerType):
        digits = options.varint or 0
    elif issubclass(cqltype, AsciiType):
        return "u", ASCII, 0, None
    elif cqltype.empty_binary_ok:
        return "u", TEXT, 0, None
    if not digits:
        return "u", BYTES, 0, partial(_as_text, cqltype)
    if not 0 < digits <= _DIGITS_OF_256 or not 0 <= scale <= digits:
        raise ValueError(
            f"Arrow's decimals have 1 to {_DIGITS_OF_256} digits, of which some are after the "
            f"point, not {digits} and {scale}"
        )
    width = 16 if digits <= _DIGITS_OF_128 else 32
    written = f"d:{digits},{scale}" + (",256" if width == 32 else "")
    has_scale = issubclass(cqltype, DecimalType)
    return written, FIXED, width, partial(_as_decimal, digits, scale, width, has_scale)


def _as_text(cqltype: type[CQLType], data: bytes, protocol_version: int) -> bytes:
    """As Python writes the value; varints by way of Decimal, which knows no longest text."""
    if issubclass(cqltype, IntegerType):
        return str(DecimalType.deserialize(bytes(4) + data, protocol_version)).encode()
    return str(cqltype.deserialize(data, protocol_version)).encode()


def _as_decimal(
    digits: int, scale: int, width: int, has_scale: bool, data: bytes, _protocol_version: int
) -> bytes:
    """An unscaled number of a scale, in native order.

    Raises:
        MarshalException: it has more digits, before or after the point.
    """
    own_scale = 0
    if has_scale:
        if len(data) < 4:
            raise truncated(DecimalType.typename, 4, len(data))
        own_scale, data = marshal.int32_unpack(data[:4]), data[4:]
    unscaled = marshal.varint_unpack(data)
    # What is beyond the digits of any decimal is refused before it is multiplied.
    by = scale - own_scale
    rest = 0
    if unscaled and by > _DIGITS_OF_256:
        rest = 1
    elif unscaled and by > 0:
        unscaled *= 10**by
    elif unscaled and by < 0:
        shift = min(-by, len(data) * 3 + 1)
        unscaled, rest = divmod(unscaled, 10**shift)
    if rest or abs(unscaled) >= 10**digits:
        raise MarshalException(
            f"a value does not fit {digits} digits, {scale} of them after the point"
        )
    return _native(unscaled, width)


def _native(number: int, width: int) -> bytes:
    return number.to_bytes(width, _ORDER, signed=True)


_INTERVAL: Final = struct.Struct("=iiq")
_ORDER: Final[Any] = "little" if struct.pack("=H", 1)[0] else "big"


def _interval(data: bytes, protocol_version: int) -> bytes:
    """Months, days and nanoseconds, in native order.

    Raises:
        MarshalException: no duration, or one that needs more bits than the server allows.
    """
    value = DurationType.deserialize(data, protocol_version)
    try:
        return _INTERVAL.pack(value.months, value.days, value.nanoseconds)
    except struct.error:
        raise MarshalException(f"duration: {value!r} has more than 32, 32 and 64 bits") from None


def refuse(field: Field, data: bytes, protocol_version: int) -> Exception:
    """The error of bytes that are no value of a field: that of its CQL type, if it has one."""
    try:
        field.cqltype.deserialize(data, protocol_version)
    except Exception as error:  # noqa: BLE001  (whatever the type has against it)
        return error
    return MarshalException(f"{field.cqltype.typename}: no value for Arrow's type {field.format}")


def null_key(field: Field) -> Exception:
    """The error of a map with a key that is null."""
    return MarshalException(
        f"{field.cqltype.typename}: a key is null, which Arrow has no place for"
    )


def too_many_nulls() -> Exception:
    """The error of a page whose nulls would take more memory than a page may."""
    return MarshalException(
        "nulls of vectors, tuples or user-defined types would take more memory than "
        f"driver.protocol.limits allows: its growth is {limits.growth}"
    )


def room_for_nulls(size: int) -> int:
    """Bytes that nulls of a page may become.

    Args:
        size: bytes of the frame.
    """
    return FREE_FOR_NULLS + limits.growth * size


def check_missing(field: Field, size: int) -> None:
    """Refuse a record that leaves out more fields than ``limits`` allows."""
    check_growth(field.cqltype, size)  # type: ignore[arg-type]  # the layout is that of records


def _metadata(pairs: dict[str, str]) -> bytes:
    """Pairs in the encoding of the C data interface: native 32-bit numbers, then bytes."""
    out = [struct.pack("=i", len(pairs))]
    for text in (text for pair in pairs.items() for text in pair):
        data = text.encode()
        out += [struct.pack("=i", len(data)), data]
    return b"".join(out)
