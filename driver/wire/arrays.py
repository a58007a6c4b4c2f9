"""NumPy arrays from the values of a column; both implementations of the column parser end here."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from ..protocol.errors import DependencyException

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from ..protocol.columns import ColumnMetadata

#: NumPy's dtypes and arrays; NumPy is optional.
Array: TypeAlias = Any


def import_numpy() -> ModuleType:
    """NumPy, which is optional.

    Raises:
        DependencyException: it is not installed.
    """
    try:
        return import_module("numpy")
    except ImportError as error:
        raise DependencyException(
            "results as NumPy arrays need numpy: pip install cqlpath[numpy]", [error]
        ) from error


def fixed_dtype(column: ColumnMetadata) -> Array:
    """The dtype of a column's values on the wire; None if they become objects."""
    name = column.type.dtype
    return import_numpy().dtype(name) if name else None


def masked_array(data: bytes | bytearray, dtype: Array, nulls: bytes | bytearray) -> Array:
    """Native numbers from their bytes on the wire.

    Args:
        data: one value after the other, as on the wire; null as zeros.
        dtype: of ``data``, big-endian.
        nulls: one byte a value, 1 where it is null.
    """
    numpy = import_numpy()
    numbers = numpy.frombuffer(data, dtype=dtype).astype(dtype.newbyteorder("="))
    mask = numpy.frombuffer(nulls, dtype=bool).copy()
    return numpy.ma.masked_array(numbers, mask=mask)


def object_array(values: Sequence[Any]) -> Array:
    """Any Python objects; filled one by one, since NumPy would take lists for dimensions."""
    array = import_numpy().empty(len(values), dtype=object)
    for index, value in enumerate(values):
        array[index] = value
    return array
