"""The rows of a result: bytes to tuples, to rows decoded on demand, or to NumPy columns.

<rows_content> is <row_1>...<row_m>, a row is one [bytes] a column: a length and that many bytes, or
a negative length for null (native protocol, section 4.2.5.2). All parsers take the frame's body
as it came and the offset of <rows_count> in it.
"""

from __future__ import annotations

import struct
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any

from ..implementation import hand_over
from ..protocol.columns import ColDesc
from ..types.base import CQLType
from ..types.deserializers import Deserializer, find_deserializer
from .arrays import fixed_dtype, masked_array, object_array
from .malformed import check_row_count, ends_early, undecodable, value_ends_early, wrong_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..protocol.columns import ColumnMetadata
    from ..protocol.typing import CqlValue
    from .arrays import Array
    from .messages import ColumnEncryptionPolicy

__all__ = ["LazyRows", "parse_columns", "parse_rows"]

_LENGTH = struct.Struct(">i")
_FROM_BINARY = CQLType.from_binary.__func__  # type: ignore[attr-defined]  # of a class method


def parse_rows(
    body: bytes,
    offset: int,
    columns: Sequence[ColumnMetadata],
    deserializers: Sequence[Deserializer],
    protocol_version: int,
    column_encryption_policy: ColumnEncryptionPolicy | None = None,
) -> list[tuple[Any, ...]]:
    """All rows of a result as tuples.

    Args:
        body: the frame's body.
        offset: of <rows_count> in it.
        columns: names and types in the order of the values.
        deserializers: of ``columns``, from ``make_deserializers``.
        protocol_version: of the connection.
        column_encryption_policy: decrypts the columns that it contains before they are decoded.

    Raises:
        MalformedFrameError: the rows end early, or there cannot be that many.
        ColumnDecodeError: a value is none of its column's type.
    """
    row_count, position = _read_row_count(body, offset, columns, deserializers)
    if column_encryption_policy is not None:
        deserializers = _decrypting(columns, deserializers, column_encryption_policy)
    return list(_rows(row_count, body, position, columns, deserializers, protocol_version))


class LazyRows:
    """The rows of a result, each decoded when iteration reaches it; can be iterated again.

    ``len()`` is known at once. Arguments as for :func:`parse_rows`.

    Raises:
        MalformedFrameError: there cannot be that many rows; at iteration: they end early.
        ColumnDecodeError: at iteration: a value is none of its column's type.
    """

    def __init__(
        self,
        body: bytes,
        offset: int,
        columns: Sequence[ColumnMetadata],
        deserializers: Sequence[Deserializer],
        protocol_version: int,
        column_encryption_policy: ColumnEncryptionPolicy | None = None,
    ) -> None:
        """Read how many rows there are."""
        self._row_count, self._start = _read_row_count(body, offset, columns, deserializers)
        if column_encryption_policy is not None:
            deserializers = _decrypting(columns, deserializers, column_encryption_policy)
        self._body = body
        self._columns = columns
        self._deserializers = deserializers
        self._protocol_version = protocol_version

    def __len__(self) -> int:
        """How many rows there are."""
        return self._row_count

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Decode row after row."""
        return _rows(
            self._row_count,
            self._body,
            self._start,
            self._columns,
            self._deserializers,
            self._protocol_version,
        )

    def slices(self, size: int) -> Iterator[list[tuple[Any, ...]]]:
        """The rows in lists of so many, the last one of what is left; raises as iteration does."""
        rest = iter(self)
        while some := list(islice(rest, size)):
            yield some


def parse_columns(
    body: bytes,
    offset: int,
    columns: Sequence[ColumnMetadata],
    deserializers: Sequence[Deserializer],
    protocol_version: int,
    column_encryption_policy: ColumnEncryptionPolicy | None = None,
) -> dict[str, Any]:
    """All rows of a result as one NumPy array a column.

    Columns of types with a ``dtype`` become masked arrays of native numbers, in
    which null and empty values are masked (and 0); all others, and encrypted ones, become arrays
    of objects. Arguments and errors as for :func:`parse_rows`.

    Raises:
        DependencyException: NumPy is not installed.
    """
    row_count, position = _read_row_count(body, offset, columns, deserializers)
    if column_encryption_policy is not None:
        deserializers = _decrypting(columns, deserializers, column_encryption_policy)
    dtypes = [
        None if isinstance(deserializer, _Decrypting) else fixed_dtype(column)
        for column, deserializer in zip(columns, deserializers, strict=True)
    ]
    values: list[list[Any]] = [[] for _ in columns]
    for _ in range(row_count):
        for column, deserializer, dtype, found in zip(
            columns, deserializers, dtypes, values, strict=True
        ):
            data, position = _read_data(body, position, column)
            if dtype is None:
                value = _decode(data, column, deserializer, protocol_version)
            elif not data:
                value = None
            elif len(data) == dtype.itemsize:
                value = data
            else:
                wrong_size(column, len(data), dtype.itemsize)
            found.append(value)
    return {
        column.name: object_array(found) if dtype is None else _fixed_array(found, dtype)
        for column, dtype, found in zip(columns, dtypes, values, strict=True)
    }


def _read_row_count(
    body: bytes,
    offset: int,
    columns: Sequence[ColumnMetadata],
    deserializers: Sequence[Deserializer],
) -> tuple[int, int]:
    """<rows_count>, checked against the size of the frame, and the offset behind it."""
    if len(deserializers) != len(columns):
        raise ValueError("as many deserializers as columns are needed")
    left = len(body) - offset if offset >= 0 else 0
    if left < 4:
        ends_early(4, left)
    (row_count,) = _LENGTH.unpack_from(body, offset)
    # What check_row_count refuses; it is called to say so.
    if not 0 <= row_count * (len(columns) or 1) * 4 <= left - 4:
        check_row_count(row_count, len(columns), left - 4)
    return row_count, offset + 4


def _read_data(body: bytes, position: int, column: ColumnMetadata) -> tuple[bytes | None, int]:
    """One [bytes] of a row, None for null, and the offset behind it."""
    left = len(body) - position
    if left < 4:
        value_ends_early(column, 4, left)
    (size,) = _LENGTH.unpack_from(body, position)
    position += 4
    if size < 0:
        return None, position
    if size > left - 4:
        value_ends_early(column, size, left - 4)
    return body[position : position + size], position + size


def _rows(
    row_count: int,
    body: bytes,
    position: int,
    columns: Sequence[ColumnMetadata],
    deserializers: Sequence[Deserializer],
    protocol_version: int,
) -> Iterator[tuple[Any, ...]]:
    """Row after row, each made by ``zip`` of as many values as there are columns."""
    if not row_count:
        return iter(())
    if not columns:
        return repeat((), row_count)
    values = _values(row_count, body, position, columns, deserializers, protocol_version)
    return zip(*[values] * len(columns), strict=False)


def _values(
    row_count: int,
    body: bytes,
    position: int,
    columns: Sequence[ColumnMetadata],
    deserializers: Sequence[Deserializer],
    protocol_version: int,
) -> Iterator[Any]:
    """The values of all rows, one after the other.

    ``_read_data`` and ``_decode`` written out: nothing runs more often than this. A number is
    taken together with its length, by one call.
    """
    unpack_length = _LENGTH.unpack_from
    end = len(body)
    decoders: list[tuple[Any, ...]] = []
    for column, deserializer in zip(columns, deserializers, strict=True):
        of_any: Callable[..., Any] = deserializer.deserialize_bytes
        of_bytes = of_any
        number_at, size_of_number, is_utf8 = None, 0, False
        # Bytes that are there go to the type itself, or not even there, if nothing of somebody's
        # own comes in between.
        if (
            type(deserializer) is Deserializer
            and getattr(deserializer.cqltype.from_binary, "__func__", None) is _FROM_BINARY
        ):
            of_bytes = deserializer.cqltype.deserialize
            number_at, size_of_number = deserializer.number_at, deserializer.number_size
            is_utf8 = deserializer.is_utf8
        decoders.append((column, of_any, of_bytes, is_utf8, number_at, size_of_number))
    for _ in range(row_count):
        for column, of_any, of_bytes, is_utf8, number_at, step in decoders:
            if step and end - position >= step:
                size, value = number_at(body, position)
                if size == step - 4:
                    position += step
                    yield value
                    continue
            if end - position < 4:
                value_ends_early(column, 4, end - position)
            (size,) = unpack_length(body, position)
            position += 4
            data = None
            if size >= 0:
                start, position = position, position + size
                if position > end:
                    value_ends_early(column, size, end - start)
                data = body[start:position]
            try:
                if data:
                    value = data.decode() if is_utf8 else of_bytes(data, protocol_version)
                else:
                    value = of_any(data, protocol_version)
            except Exception as error:  # noqa: BLE001  (classes of users raise what they like)
                undecodable(column, error)
            yield value


def _decode(
    data: bytes | None, column: ColumnMetadata, deserializer: Deserializer, protocol_version: int
) -> CqlValue:
    """One value."""
    try:
        return deserializer.deserialize_bytes(data, protocol_version)
    except Exception as error:  # noqa: BLE001  (classes of users and policies raise what they like)
        undecodable(column, error)


class _Decrypting(Deserializer):
    """Decrypts the values of one column, then decodes them."""

    __slots__ = ("_description", "_plain", "_policy")

    def __init__(self, description: ColDesc, policy: ColumnEncryptionPolicy) -> None:
        super().__init__(policy.column_type(description))
        self._description = description
        self._policy = policy
        self._plain = find_deserializer(self.cqltype)

    def deserialize_bytes(self, data: bytes | None, protocol_version: int) -> CqlValue:
        if data is not None:
            # Types take bytes; a policy may give any buffer.
            data = bytes(memoryview(self._policy.decrypt(self._description, data)))
        return self._plain.deserialize_bytes(data, protocol_version)


def _decrypting(
    columns: Sequence[ColumnMetadata],
    deserializers: Sequence[Deserializer],
    policy: ColumnEncryptionPolicy,
) -> list[Deserializer]:
    """The deserializers of a result with those of encrypted columns replaced.

    The policy is asked once for a column of a result, not once for each of its values.
    """
    chosen: list[Deserializer] = []
    for column, deserializer in zip(columns, deserializers, strict=True):
        try:
            description = ColDesc(column.keyspace_name, column.table_name, column.name)
            encrypted = policy.contains_column(description)
            chosen.append(_Decrypting(description, policy) if encrypted else deserializer)
        except Exception as error:  # noqa: BLE001  (policies raise what they like)
            undecodable(column, error)
    return chosen


def _fixed_array(values: list[bytes | None], dtype: Array) -> Array:
    """Values as on the wire, None for null, to a masked array."""
    zeros = bytes(dtype.itemsize)
    data = b"".join([zeros if value is None else value for value in values])
    return masked_array(data, dtype, bytes([value is None for value in values]))


hand_over(globals())
