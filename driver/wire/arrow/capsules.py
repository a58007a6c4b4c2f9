"""Arrow's C data interface without C: its structures by ctypes, in capsules.

Who takes a structure moves it: it copies the bytes, marks the original as released, and calls the
release callback of its copy, on any thread, maybe long after the result is gone. So what a
structure points to is not held by the structure but by a table here, under the number in its
``private_data``, until that callback comes. Callbacks are never given up: they may be called while
the interpreter ends.
"""

from __future__ import annotations

import ctypes
import sys
from collections import deque
from ctypes import CFUNCTYPE, Structure, c_char_p, c_int, c_int64, c_void_p
from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from .fields import NULL, NULLABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .fields import Field
    from .page import ArrowBatch, Column

#: What only ctypes knows the types of: structures, callbacks, capsules.
Ctypes: TypeAlias = Any

#: What structures point to, by the number in their ``private_data``.
_held: Final[dict[int, Any]] = {}
_numbers: Final = count(1)

#: Of errno, for a stream that failed.
_EIO: Final = 5


class _Schema(Structure):
    _fields_ = (
        ("format", c_char_p),
        ("name", c_char_p),
        ("metadata", c_char_p),
        ("flags", c_int64),
        ("n_children", c_int64),
        ("children", c_void_p),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    )


class _Array(Structure):
    _fields_ = (
        ("length", c_int64),
        ("null_count", c_int64),
        ("offset", c_int64),
        ("n_buffers", c_int64),
        ("n_children", c_int64),
        ("buffers", c_void_p),
        ("children", c_void_p),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    )


class _Stream(Structure):
    _fields_ = (
        ("get_schema", c_void_p),
        ("get_next", c_void_p),
        ("get_last_error", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    )


def _callback(prototype: Ctypes) -> Callable[[Callable[..., Any]], Any]:
    """What makes a callback of a function, for type checkers."""
    return prototype  # type: ignore[no-any-return]  # as they do not know it


_RELEASE: Final = CFUNCTYPE(None, c_void_p)


def _hold(structure: Ctypes, *kept: object) -> None:
    """Keep what a structure points to until it is released."""
    number = next(_numbers)
    _held[number] = kept
    structure.private_data = number


def _release_parent(kind: type[Any]) -> Ctypes:
    """The release callback of schemas or arrays: children that nobody moved away, then itself."""

    @_callback(_RELEASE)
    def release(address: int) -> None:
        structure = kind.from_address(address)
        children = (
            (c_void_p * structure.n_children).from_address(structure.children or 0)
            if (structure.n_children)
            else ()
        )
        for child in children:
            _call_release(kind, child)
        structure.release = None
        _held.pop(structure.private_data, None)

    return release


def _call_release(kind: type[Any], address: int) -> None:
    """Release a structure, unless that was done or it was moved away."""
    release = kind.from_address(address).release
    if release:
        _RELEASE(release)(address)


_release_schema = _release_parent(_Schema)
_release_array = _release_parent(_Array)


# --- capsules ------------------------------------------------------------------------------------

_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
#: By structure: its capsule's name, which has to live as long as any capsule.
_NAMES: Final[dict[type[Any], bytes]] = {
    _Schema: b"arrow_schema",
    _Array: b"arrow_array",
    _Stream: b"arrow_array_stream",
}
#: Capsules that were handed out, with their structures. They have no destructor: it would run
#: Python while an exception is on its way. Whoever makes the next one looks for those that nobody
#: else has any more.
_capsules: Final[deque[tuple[Any, Any]]] = deque()
#: References to a capsule that is only here: a variable's, and that of the argument.
_ONLY_HERE: Final = 2


def _capsule(structure: Ctypes) -> Ctypes:
    """A capsule of a structure, which is released later if nobody moved it away."""
    for _ in range(len(_capsules)):
        try:
            capsule, old = _capsules.popleft()
        except IndexError:  # another thread was quicker
            break
        if sys.getrefcount(capsule) > _ONLY_HERE:
            _capsules.append((capsule, old))
        else:
            _call_release(type(old), ctypes.addressof(old))
    capsule = _new_capsule(ctypes.addressof(structure), _NAMES[type(structure)], None)
    _capsules.append((capsule, structure))
    return capsule


def _pointers(structures: Sequence[Any]) -> Ctypes:
    return (c_void_p * len(structures))(*map(ctypes.addressof, structures))


# --- schemas -------------------------------------------------------------------------------------


def schema_capsule(fields: tuple[Field, ...]) -> Ctypes:
    """A capsule of the schema of columns: a record with a child a column."""
    schema = _Schema()
    _fill_root(schema, fields)
    return _capsule(schema)


def _fill_root(schema: _Schema, fields: tuple[Field, ...]) -> None:
    _fill_schema(schema, b"+s", b"", b"", 0, fields)


def _fill_schema(
    schema: _Schema,
    written: bytes,
    name: bytes,
    metadata: bytes,
    flags: int,
    fields: tuple[Field, ...],
) -> None:
    ctypes.memset(ctypes.addressof(schema), 0, ctypes.sizeof(schema))
    children = [_Schema() for _ in fields]
    pointers = _pointers(children)
    schema.format, schema.name, schema.metadata = written, name, metadata or None
    schema.flags = flags
    schema.n_children = len(children)
    schema.children = ctypes.addressof(pointers)
    _hold(schema, written, name, metadata, children, pointers)
    for child, field in zip(children, fields, strict=True):
        # A name in C ends at the first zero character.
        text = field.name.encode().partition(b"\0")[0]
        nullable = NULLABLE if field.nullable else 0
        _fill_schema(child, field.format.encode(), text, field.metadata, nullable, field.children)
    schema.release = ctypes.cast(_release_schema, c_void_p)


# --- arrays --------------------------------------------------------------------------------------


def array_capsule(columns: Sequence[Column], length: int) -> Ctypes:
    """A capsule of the array of columns: a record with a child a column."""
    array = _Array()
    _fill_root_array(array, columns, length)
    return _capsule(array)


def _fill_root_array(array: _Array, columns: Sequence[Column], length: int) -> None:
    _fill_array(array, length, 0, [None], columns)


def _fill_array(
    array: _Array,
    length: int,
    null_count: int,
    buffers: Sequence[bytes | None],
    columns: Sequence[Column],
) -> None:
    ctypes.memset(ctypes.addressof(array), 0, ctypes.sizeof(array))
    children = [_Array() for _ in columns]
    pointers = _pointers(children)
    addresses = (c_void_p * len(buffers))(
        *(None if each is None else ctypes.cast(c_char_p(each), c_void_p).value for each in buffers)
    )
    array.length, array.null_count, array.offset = length, null_count, 0
    array.n_buffers, array.buffers = len(buffers), ctypes.addressof(addresses)
    array.n_children, array.children = len(children), ctypes.addressof(pointers)
    _hold(array, addresses, buffers, children, pointers)
    for child, column in zip(children, columns, strict=True):
        own = () if column.field.layout == NULL else (column.validity, *column.buffers)
        _fill_array(child, column.length, column.null_count, own, column.children)
    array.release = ctypes.cast(_release_array, c_void_p)


# --- streams -------------------------------------------------------------------------------------


class _Source:
    """What a stream reads: batches, and the message of what went wrong."""

    def __init__(self, fields: tuple[Field, ...], batches: Iterator[ArrowBatch]) -> None:
        self.fields = fields
        self.batches = batches
        self.error = b""


def _source(address: int) -> _Source:
    (source,) = _held[_Stream.from_address(address).private_data]
    return source  # type: ignore[no-any-return]  # a stream holds nothing else


@_callback(CFUNCTYPE(c_int, c_void_p, c_void_p))
def _get_schema(stream: int, out: int) -> int:
    _fill_root(_Schema.from_address(out), _source(stream).fields)
    return 0


@_callback(CFUNCTYPE(c_int, c_void_p, c_void_p))
def _get_next(stream: int, out: int) -> int:
    source = _source(stream)
    array = _Array.from_address(out)
    try:
        batch = next(source.batches, None)
        if batch is None:
            array.release = None
        else:
            _fill_root_array(array, batch.columns, batch.num_rows)
    except BaseException as error:  # noqa: BLE001  (there is nobody above who could take it)
        source.error = f"{type(error).__name__}: {error}".encode()
        return _EIO
    return 0


@_callback(CFUNCTYPE(c_void_p, c_void_p))
def _get_last_error(stream: int) -> int | None:
    error = _source(stream).error
    return ctypes.cast(c_char_p(error), c_void_p).value if error else None


@_callback(_RELEASE)
def _release_stream(address: int) -> None:
    stream = _Stream.from_address(address)
    stream.release = None
    _held.pop(stream.private_data, None)


def stream_capsule(fields: tuple[Field, ...], batches: Iterator[ArrowBatch]) -> Ctypes:
    """A capsule of a stream of batches."""
    stream = _Stream()
    stream.get_schema = ctypes.cast(_get_schema, c_void_p)
    stream.get_next = ctypes.cast(_get_next, c_void_p)
    stream.get_last_error = ctypes.cast(_get_last_error, c_void_p)
    stream.release = ctypes.cast(_release_stream, c_void_p)
    _hold(stream, _Source(fields, batches))
    return _capsule(stream)


#: One reference more than anybody gives back: structures point to these until the process ends.
for _callback in (
    _release_schema,
    _release_array,
    _release_stream,
    _get_schema,
    _get_next,
    _get_last_error,
):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_callback))
