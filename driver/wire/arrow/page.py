"""A page of rows as Arrow's columns: from the frame to buffers, and these to whoever takes them.

The values of a column are gathered first, then laid out in one go, its parts the same way. The
compiled form takes each value to its buffers as it is read, and hands these out without Python.
"""

from __future__ import annotations

import struct
from array import array
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ...implementation import hand_over
from ...types import marshal
from ...types.framing import read_count, read_part
from ..malformed import check_row_count, ends_early, undecodable, value_ends_early
from . import fields as f

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import ModuleType

    from ...protocol.columns import ColumnMetadata
    from .fields import Field

    Values = Sequence[bytes | None]

#: A PyCapsule, which no type checker knows.
Capsule: TypeAlias = Any

__all__ = ["ArrowBatch", "parse_page", "schema_capsule", "stream_capsule"]

_LENGTH: Final = struct.Struct(">i")
_SWAPPED: Final = {1: "b", 2: "h", 4: "i", 8: "q"}
#: What a date of the epoch is on the wire.
_EPOCH: Final = 1 << 31
_SMALLEST: Final = {f.LIST: 4, f.MAP: 8}
_MOST: Final = (1 << 31) - 1


class Column:
    """A column, or a part of one, in buffers.

    Attributes:
        field: what it is.
        length: how many values.
        null_count: how many of them are null.
        buffers: as Arrow orders them, without that of validity: offsets, values.
        validity: bits, the lowest first, 1 for a value; None if nothing is null.
        children: columns of its parts.
    """

    __slots__ = ("buffers", "children", "field", "length", "null_count", "validity")

    def __init__(
        self,
        field: Field,
        values: Values,
        buffers: Iterable[bytes] = (),
        children: Sequence[Column] = (),
    ) -> None:
        """Take buffers, and count nulls."""
        self.field = field
        self.length = len(values)
        self.null_count = values.count(None)
        self.buffers = tuple(buffers)
        self.validity = None
        if self.null_count and field.layout != f.NULL:
            self.validity = _bits([value is not None for value in values])
        self.children = tuple(children)

    def size(self) -> int:
        """Bytes of all buffers."""
        own = sum(map(len, self.buffers)) + len(self.validity or b"")
        return own + sum(child.size() for child in self.children)


class ArrowBatch:
    """The rows of a page, as Arrow's columns: a record batch that never changes.

    What takes Arrow's data (pyarrow, polars, pandas, DuckDB...) takes this object, as often as it
    is asked for, and keeps the buffers alive by itself.

    Attributes:
        num_rows: how many rows.
        nbytes: bytes of all buffers.
        fields: what the columns are.
        columns: the columns; in pure Python only.
    """

    __slots__ = ("columns", "fields", "nbytes", "num_rows")

    def __init__(self, fields: tuple[Field, ...], columns: Sequence[Column], num_rows: int) -> None:
        """Hold columns."""
        self.fields = fields
        self.num_rows = num_rows
        self.nbytes = sum(column.size() for column in columns)
        self.columns = columns

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return [field.name for field in self.fields]

    def __arrow_c_schema__(self) -> Capsule:
        """A capsule of Arrow's schema."""
        return schema_capsule(self.fields)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Capsule, Capsule]:
        """Capsules of Arrow's schema and array; the schema is this one's, whichever is wanted."""
        array = _capsules().array_capsule(self.columns, self.num_rows)
        return schema_capsule(self.fields), array

    def __arrow_c_stream__(self, requested_schema: object = None) -> Capsule:
        """A capsule of a stream of this batch alone."""
        return stream_capsule(self.fields, iter((self,)))

    def __repr__(self) -> str:
        """How large it is."""
        return f"<ArrowBatch: {self.num_rows} rows of {len(self.fields)} columns>"


def schema_capsule(fields: tuple[Field, ...]) -> Capsule:
    """A capsule of the schema of columns."""
    return _capsules().schema_capsule(fields)


def stream_capsule(fields: tuple[Field, ...], batches: Iterator[ArrowBatch]) -> Capsule:
    """A capsule of a stream of batches, each taken from an iterator when the consumer wants it.

    What the iterator raises becomes the stream's error.
    """
    return _capsules().stream_capsule(fields, batches)


def _capsules() -> ModuleType:
    from . import capsules  # noqa: PLC0415  (with ctypes, which the compiled form needs not)

    return capsules


def parse_page(
    body: bytes,
    offset: int,
    columns: Sequence[ColumnMetadata],
    fields: tuple[Field, ...],
    decrypts: Sequence[Callable[[bytes], bytes] | None],
    protocol_version: int,
) -> ArrowBatch:
    """All rows of a result as Arrow's columns.

    Args:
        body: the frame's body.
        offset: of <rows_count> in it.
        columns: names and types, for messages.
        fields: of the columns, from ``fields_of``.
        decrypts: the same.
        protocol_version: of the connection.

    Raises:
        MalformedFrameError: the rows end early, or there cannot be that many.
        ColumnDecodeError: a value is none of its column's type, or has no place in Arrow's.
    """
    left = len(body) - offset if offset >= 0 else 0
    if left < 4:
        ends_early(4, left)
    (row_count,) = _LENGTH.unpack_from(body, offset)
    check_row_count(row_count, len(columns), left - 4)
    gathered = _gather(body, offset + 4, row_count, columns)
    layout = _Layout(protocol_version, f.room_for_nulls(len(body)))
    made = []
    for column, field, decrypt, values in zip(columns, fields, decrypts, gathered, strict=True):
        try:
            plain = [decrypt(value) if value else value for value in values] if decrypt else values
            made.append(layout.column(field, plain))
        except Exception as error:  # noqa: BLE001  (types and policies raise what they like)
            undecodable(column, error)
    return ArrowBatch(fields, made, row_count)


def _gather(
    body: bytes, position: int, row_count: int, columns: Sequence[ColumnMetadata]
) -> list[list[bytes | None]]:
    """The bytes of all values, column by column."""
    gathered: list[list[bytes | None]] = [[] for _ in columns]
    appends = [(column, values.append) for column, values in zip(columns, gathered, strict=True)]
    length_at, end = _LENGTH.unpack_from, len(body)
    for _ in range(row_count):
        for column, append in appends:
            if end - position < 4:
                value_ends_early(column, 4, end - position)
            (size,) = length_at(body, position)
            position += 4
            if size < 0:
                append(None)
                continue
            if size > end - position:
                value_ends_early(column, size, end - position)
            append(body[position : position + size])
            position += size
    return gathered


class _Layout:
    """Lays values out in buffers.

    Attributes:
        protocol_version: of the connection.
        room: bytes that nulls may still become.
    """

    def __init__(self, protocol_version: int, room: int) -> None:
        self.protocol_version = protocol_version
        self.room = room

    def column(self, field: Field, values: Values) -> Column:
        """The column of a field.

        Raises:
            Exception: a value is none of its type.
        """
        if not field.empty_ok and b"" in values:
            values = [value or None for value in values]
        if not field.nullable and None in values:
            raise f.null_key(field)
        if field.convert is not None:
            convert, version = field.convert, self.protocol_version
            values = [None if value is None else convert(value, version) for value in values]
        return _LAYERS[field.layout](self, field, values)

    def null(self, field: Field, values: Values) -> Column:
        for value in values:
            if value:
                raise self.refused(field, value)
        return Column(field, [None] * len(values))

    def bits(self, field: Field, values: Values) -> Column:
        self.check_sizes(field, values, 1)
        return Column(field, values, (_bits([bool(value and value[0]) for value in values]),))

    def numbers(self, field: Field, values: Values) -> Column:
        self.check_sizes(field, values, field.width)
        return Column(field, values, (_swapped(_joined(values, field.width), field.width),))

    def dates(self, field: Field, values: Values) -> Column:
        self.check_sizes(field, values, field.width)
        epoch = _EPOCH.to_bytes(field.width, "big")
        numbers = array("I", _swapped(_joined(values, field.width, epoch), field.width))
        return Column(field, values, (array("I", [n ^ _EPOCH for n in numbers]).tobytes(),))

    def times(self, field: Field, values: Values) -> Column:
        column = self.numbers(field, values)
        for value, number in zip(values, array("q", column.buffers[0]), strict=True):
            if value is not None and not 0 <= number < f.DAY:
                raise self.refused(field, value)
        return column

    def fixed(self, field: Field, values: Values) -> Column:
        self.check_sizes(field, values, field.width)
        return Column(field, values, (_joined(values, field.width),))

    def texts(self, field: Field, values: Values) -> Column:
        encoding = {f.TEXT: "utf-8", f.ASCII: "ascii"}.get(field.layout)
        data = b"".join([value or b"" for value in values])
        if encoding is not None:
            for value in values:
                try:
                    value and value.decode(encoding)
                except UnicodeDecodeError:
                    raise self.refused(field, value or b"") from None
        return Column(field, values, (_offsets([len(value or b"") for value in values]), data))

    def lists(self, field: Field, values: Values) -> Column:
        """Lists and sets; maps the same way, with keys and values in turn."""
        parts: list[bytes | None] = []
        is_map = field.layout == f.MAP
        counts = [
            0 if value is None else self.split(field, value, parts, is_map) for value in values
        ]
        if is_map:
            (entries,) = field.children
            halves = zip(entries.children, (parts[::2], parts[1::2]), strict=True)
            inner = [self.column(child, half) for child, half in halves]
            child = Column(entries, [b""] * sum(counts), (), inner)
        else:
            child = self.column(field.children[0], parts)
        return Column(field, values, (_offsets(counts),), (child,))

    def split(self, field: Field, value: bytes, parts: list[bytes | None], is_map: bool) -> int:
        """Add the parts of a collection, and count its elements or entries."""
        name = field.cqltype.typename
        count = read_count(value, _SMALLEST[field.layout], name)
        offset = 4
        for _ in range(2 * count if is_map else count):
            part, offset = read_part(value, offset, name)
            parts.append(part)
        if offset != len(value):
            raise self.refused(field, value)
        return count

    def records(self, field: Field, values: Values) -> Column:
        rows = [self.fields(field, value) for value in values]
        columns = zip(*rows, strict=True) if rows else [()] * len(field.children)
        parts = zip(field.children, columns, strict=True) if field.children else ()
        return Column(field, values, (), [self.column(child, part) for child, part in parts])

    def fields(self, field: Field, value: bytes | None) -> list[bytes | None]:
        """The parts of a record, of which the last may be missing."""
        count = len(field.children)
        if value is None:
            self.take(field.null_size)
            return [None] * count
        parts: list[bytes | None] = []
        offset = 0
        while len(parts) < count and offset != len(value):
            part, offset = read_part(value, offset, field.cqltype.typename)
            parts.append(part)
        if len(parts) < count:
            f.check_missing(field, len(value))
            self.take(field.null_size)
        return parts + [None] * (count - len(parts))

    def vectors(self, field: Field, values: Values) -> Column:
        (child,) = field.children
        count = field.width
        parts: list[bytes | None] = []
        zeros = bytes(child.width) if child.layout == f.NUMBER else None
        for value in values:
            if value is None:
                self.take(field.null_size)
                parts += [zeros] * count
            elif field.part_size < 0:
                parts += self.varying(field, value)
            elif len(value) != field.part_size * count:
                raise self.refused(field, value)
            else:
                starts = range(0, len(value), field.part_size)
                parts += [value[start : start + field.part_size] for start in starts]
        return Column(field, values, (), (self.column(child, parts),))

    def varying(self, field: Field, value: bytes) -> Iterator[bytes]:
        """Elements that have their lengths in front."""
        offset = 0
        for _ in range(field.width):
            size, taken = marshal.uvint_unpack(value[offset : offset + 9])
            offset += taken
            if size > len(value) - offset:
                raise self.refused(field, value)
            yield value[offset : offset + size]
            offset += size
        if offset != len(value):
            raise self.refused(field, value)

    def check_sizes(self, field: Field, values: Values, size: int) -> None:
        for value in values:
            if value is not None and len(value) != size:
                raise self.refused(field, value)

    def refused(self, field: Field, value: bytes) -> Exception:
        return f.refuse(field, value, self.protocol_version)

    def take(self, size: int) -> None:
        """Have nulls become so many bytes.

        Raises:
            MarshalException: that would be too many.
        """
        self.room -= size
        if self.room < 0:
            raise f.too_many_nulls()


_LAYERS: Final[dict[int, Callable[[_Layout, Field, Values], Column]]] = {
    f.NULL: _Layout.null,
    f.BOOL: _Layout.bits,
    f.NUMBER: _Layout.numbers,
    f.DATE: _Layout.dates,
    f.TIME: _Layout.times,
    f.FIXED: _Layout.fixed,
    f.BYTES: _Layout.texts,
    f.TEXT: _Layout.texts,
    f.ASCII: _Layout.texts,
    f.LIST: _Layout.lists,
    f.MAP: _Layout.lists,
    f.STRUCT: _Layout.records,
    f.VECTOR: _Layout.vectors,
}


def _joined(values: Values, width: int, null: bytes | None = None) -> bytes:
    """Values one after the other; nulls as zeros unless said otherwise."""
    null = bytes(width) if null is None else null
    return b"".join([null if value is None else value for value in values])


def _swapped(data: bytes, width: int) -> bytes:
    """Numbers from the order of the wire to that of this machine."""
    numbers = array(_SWAPPED[width], data)
    if width > 1 and struct.pack("=H", 1) != struct.pack(">H", 1):
        numbers.byteswap()
    return numbers.tobytes()


def _offsets(sizes: Sequence[int]) -> bytes:
    """Where each value begins, and where the last one ends.

    Raises:
        OverflowError: beyond the 31 bits that Arrow has for it.
    """
    offsets = list(accumulate(sizes, initial=0))
    if offsets[-1] > _MOST:
        raise OverflowError("a page of more than 2 GiB has no place in Arrow's columns")
    return array("i", offsets).tobytes()


def _bits(flags: Sequence[bool]) -> bytes:
    """One bit a flag, the lowest first."""
    digits = "".join(["1" if flag else "0" for flag in reversed(flags)])
    return int(digits or "0", 2).to_bytes((len(flags) + 7) // 8, "little")


hand_over(globals())
