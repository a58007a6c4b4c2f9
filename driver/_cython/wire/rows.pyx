"""Compiled form of driver/wire/rows.py: decodes straight from the frame's buffer."""

from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.list cimport PyList_New, PyList_SET_ITEM
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_New
from libc.string cimport memcpy

from driver._cython.types.deserializers cimport (
    BIGINT,
    DOUBLE,
    INT,
    TEXT,
    Deserializer,
    from_binary,
)
from driver._cython.types.marshal cimport new_number_of_64, read_double, read_int32, read_int64
from driver._cython.types.text cimport new_text

from uuid import UUID

from ...types.deserializers import find_deserializer
from ...protocol.columns import ColDesc
from ...wire.arrays import fixed_dtype, masked_array, object_array
from ...wire.malformed import (
    check_row_count,
    ends_early,
    undecodable,
    value_ends_early,
    wrong_size,
)

cdef extern from "Python.h":
    # New values, and where one is put that nobody else has, without a reference in between.
    PyObject* new_double "PyFloat_FromDouble"(double value) except NULL
    # Whether the garbage collector looks at objects of this class.
    bint is_collected "PyObject_IS_GC"(object value) noexcept
    void PyObject_GC_UnTrack(PyObject* instance) noexcept
    void fill "PyTuple_SET_ITEM"(PyObject* row, Py_ssize_t index, PyObject* value) noexcept

cdef object _UUID = UUID

__all__ = ["LazyRows", "parse_columns", "parse_rows"]


cdef inline Py_ssize_t take_ints(
    PyObject* row, Py_ssize_t index, Py_ssize_t count, PyObject* deserializers,
    const unsigned char** position, const unsigned char* end,
) except -1:
    """Fill a row as long as ints follow, each of four bytes; the index of the next value.

    By itself, it keeps what it needs in registers: 60 instructions an int, allocated but for what
    malloc takes, where the loop of all types took 72.
    """
    cdef const unsigned char* at = position[0]
    while (
        index < count
        and (<Deserializer> PyTuple_GET_ITEM(<object> deserializers, index)).step == INT
        and end - at >= 8
        and read_int32(at) == 4
    ):
        fill(row, index, new_number_of_64(read_int32(at + 4)))
        at += 8
        index += 1
    position[0] = at
    return index


cdef class _Reader:
    """A position in the rows of a frame, and all that decoding a value needs.

    The body is held for as long as the pointer into it.
    """

    cdef bytes body
    cdef const unsigned char* position
    cdef const unsigned char* end
    cdef object columns
    cdef tuple deserializers
    cdef Py_ssize_t column_count
    cdef Py_ssize_t row_count
    cdef Py_ssize_t index  # of the value that is being decoded; -1 where the frame is read
    cdef int protocol_version

    cdef int begin(
        self, bytes body, Py_ssize_t offset, columns, deserializers, int protocol_version, policy,
    ) except -1:
        """Read how many rows there are. No ``__init__``: that costs a tuple and a call."""
        cdef Py_ssize_t left = len(body) - offset if offset >= 0 else 0
        self.body = body
        self.columns = columns
        self.deserializers = tuple(deserializers)
        self.column_count = len(columns)
        self.protocol_version = protocol_version
        if len(self.deserializers) != self.column_count:
            raise ValueError("as many deserializers as columns are needed")
        for deserializer in self.deserializers:
            if not isinstance(deserializer, Deserializer):
                raise TypeError(f"not a compiled deserializer: {deserializer!r}")
        if policy is not None:
            self.deserializers = _decrypting(self.columns, self.deserializers, policy)
        if left < 4:
            ends_early(4, left)
        self.position = <const unsigned char*> body + offset
        self.end = self.position + left
        self.row_count = read_int32(self.position)
        self.position += 4
        # What check_row_count refuses; it is called to say so.
        if self.row_count < 0 or self.row_count > (left - 4) // (4 * max(self.column_count, 1)):
            check_row_count(self.row_count, self.column_count, left - 4)
        return 0

    cdef int next_size(self, Py_ssize_t index, Py_ssize_t* size) except -1:
        """Step over the length of a value, which is negative for null; the value is there then."""
        cdef Py_ssize_t left = self.end - self.position
        if left < 4:
            self.end_early(index, 4, left)
        size[0] = read_int32(self.position)
        self.position += 4
        if size[0] > left - 4:
            self.end_early(index, size[0], left - 4)
        return 0

    cdef int end_early(self, Py_ssize_t index, Py_ssize_t needed, Py_ssize_t left) except -1:
        """Raise that the frame ends within a value."""
        value_ends_early(self.columns[index], needed, left)
        return 0

    cdef object decode(self, Py_ssize_t index, Py_ssize_t size):
        """The value of ``size`` bytes at the position, and a step over it."""
        cdef const unsigned char* data = self.position
        if size > 0:
            self.position += size
        return from_binary(
            <Deserializer> self.deserializers[index], data, size, self.protocol_version
        )

    cdef tuple take_row(self):
        """One row, and a step over it. Whoever calls turns an exception into ``complaint``.

        ``next_size`` and ``decode`` written out, without a handler of exceptions a value: setting
        one up costs as much as most values do. The commonest types are steps of this loop.
        """
        cdef tuple row = PyTuple_New(self.column_count)
        cdef const unsigned char* at = self.position
        cdef const unsigned char* end = self.end
        cdef PyObject* deserializers = <PyObject*> self.deserializers
        cdef PyObject* deserializer
        cdef PyObject* value
        cdef object other
        cdef Py_ssize_t index = 0, size, count = self.column_count
        cdef int step
        cdef bint is_plain = True
        self.index = -1
        while True:
            index = take_ints(<PyObject*> row, index, count, deserializers, &at, end)
            if index == count:
                break
            if end - at < 4:
                self.end_early(index, 4, end - at)
            size = read_int32(at)
            at += 4
            if size > end - at:
                self.end_early(index, size, end - at)
            deserializer = PyTuple_GET_ITEM(<object> deserializers, index)
            step = (<Deserializer> deserializer).step
            # References are handed on as they are: counting them costs as much as reading an int.
            if step == TEXT and size >= 0:
                self.index = index
                value = new_text(<const char*> at, size)
                self.index = -1
            elif step == BIGINT and size == 8:
                value = new_number_of_64(read_int64(at))
            elif step == DOUBLE and size == 8:
                value = new_double(read_double(at))
            else:
                self.index = index
                other = from_binary(
                    <Deserializer> deserializer, at, size, self.protocol_version
                )
                self.index = -1
                if is_collected(other) and type(other) is not _UUID:
                    is_plain = False
                Py_INCREF(other)
                value = <PyObject*> other
            fill(<PyObject*> row, index, value)
            index += 1
            if size > 0:
                at += size
        self.position = at
        # Of what holds no other object no cycle can be made: the garbage collector need not look at
        # these rows again and again.
        if is_plain and count:
            PyObject_GC_UnTrack(<PyObject*> row)
        return row

    cdef list take_rows(self, Py_ssize_t count):
        """So many rows, and a step over them."""
        cdef list rows = PyList_New(count)
        cdef Py_ssize_t index
        cdef tuple row
        try:
            for index in range(count):
                row = self.take_row()
                Py_INCREF(row)
                PyList_SET_ITEM(rows, index, row)
        except Exception as error:
            self.complain(error)
        return rows

    cdef complain(self, error):
        """Raise what an exception of ``take_row`` means: a value's, or that of the frame.

        Raises:
            MalformedFrameError: the row ends early.
            ColumnDecodeError: a value is none of its column's type.
        """
        if self.index < 0:
            raise error
        undecodable(self.columns[self.index], error)


cdef class _Decrypting(Deserializer):
    """Decrypts the values of one column, then decodes them."""

    cdef object description
    cdef object policy
    cdef Deserializer plain

    def __init__(self, description, policy):
        super().__init__(policy.column_type(description))
        self.description = description
        self.policy = policy
        self.plain = find_deserializer(self.cqltype)

    cdef object deserialize(
        self, const unsigned char *ptr, Py_ssize_t size, int protocol_version
    ):
        encrypted = PyBytes_FromStringAndSize(<const char*> ptr, size)
        # Types take bytes; a policy may give any buffer.
        cdef bytes plain = bytes(memoryview(self.policy.decrypt(self.description, encrypted)))
        return from_binary(
            self.plain, <const unsigned char*> plain, len(plain), protocol_version
        )


cdef tuple _decrypting(columns, tuple deserializers, policy):
    """The deserializers of a result with those of encrypted columns replaced."""
    cdef list chosen = []
    for column, deserializer in zip(columns, deserializers):
        try:
            description = ColDesc(column.keyspace_name, column.table_name, column.name)
            encrypted = policy.contains_column(description)
            chosen.append(_Decrypting(description, policy) if encrypted else deserializer)
        except Exception as error:
            undecodable(column, error)
    return tuple(chosen)


cdef _Reader _reader(
    bytes body, Py_ssize_t offset, columns, deserializers, int protocol_version, policy
):
    """A reader at the first row."""
    cdef _Reader reader = _Reader.__new__(_Reader)
    if body is None:
        raise TypeError("a body is needed")
    reader.begin(
        body,
        offset,
        columns if isinstance(columns, tuple) else tuple(columns),
        deserializers,
        protocol_version,
        policy,
    )
    return reader


cdef _Reader _reader_of(tuple arguments):
    """The same, of what ``LazyRows`` keeps."""
    body, offset, columns, deserializers, protocol_version, policy = arguments
    return _reader(body, offset, columns, deserializers, protocol_version, policy)


cdef list rows_of(
    bytes body, Py_ssize_t offset, object columns, object deserializers, int protocol_version,
    object policy,
):
    cdef _Reader reader = _reader(
        body, offset, columns, deserializers, protocol_version, policy
    )
    return reader.take_rows(reader.row_count)


def parse_rows(
    body, offset, columns, deserializers, protocol_version, column_encryption_policy=None
):
    """All rows of a result as tuples; see driver/wire/rows.py."""
    return rows_of(
        body, offset, columns, deserializers, protocol_version, column_encryption_policy
    )


class LazyRows:
    """The rows of a result, each decoded when iteration reaches it; see driver/wire/rows.py."""

    def __init__(
        self, body, offset, columns, deserializers, protocol_version,
        column_encryption_policy=None,
    ):
        cdef _Reader reader = _reader(
            body, offset, columns, deserializers, protocol_version, column_encryption_policy
        )
        self._row_count = reader.row_count
        # The reader has asked the policy: its deserializers need it no more.
        self._arguments = (body, offset, columns, reader.deserializers, protocol_version, None)

    def __len__(self):
        """How many rows there are."""
        return self._row_count

    def __iter__(self):
        """Decode row after row."""
        cdef _Reader reader = _reader_of(self._arguments)
        cdef Py_ssize_t _
        for _ in range(reader.row_count):
            try:
                row = reader.take_row()
            except Exception as error:
                reader.complain(error)
            yield row

    def slices(self, size):
        """The rows in lists of some; see driver/wire/rows.py."""
        cdef _Reader reader = _reader_of(self._arguments)
        cdef Py_ssize_t count = size, left = reader.row_count
        while left > 0:
            count = min(count, left)
            left -= count
            yield reader.take_rows(count)


def parse_columns(
    body, offset, columns, deserializers, protocol_version, column_encryption_policy=None
):
    """All rows of a result as one NumPy array a column; see driver/wire/rows.py."""
    cdef _Reader reader = _reader(
        body, offset, columns, deserializers, protocol_version, column_encryption_policy
    )
    cdef list filled = []
    cdef _Column target
    for column, deserializer in zip(reader.columns, reader.deserializers):
        dtype = None if isinstance(deserializer, _Decrypting) else fixed_dtype(column)
        filled.append(_Column(column, dtype, reader.row_count))
    cdef Py_ssize_t row, index
    for row in range(reader.row_count):
        for index in range(reader.column_count):
            target = <_Column> filled[index]
            target.take(reader, row, index)
    return {(<_Column> target).column.name: (<_Column> target).array() for target in filled}


cdef class _Column:
    """One column being filled: numbers as on the wire, or Python objects."""

    cdef object column
    cdef object dtype
    cdef Py_ssize_t itemsize
    cdef bytearray numbers
    cdef bytearray nulls
    cdef list objects

    def __init__(self, column, dtype, Py_ssize_t row_count):
        self.column = column
        self.dtype = dtype
        self.itemsize = 0
        if dtype is None:
            self.objects = [None] * row_count
        else:
            self.itemsize = dtype.itemsize
            self.numbers = bytearray(row_count * self.itemsize)
            self.nulls = bytearray(row_count)

    cdef int take(self, _Reader reader, Py_ssize_t row, Py_ssize_t index) except -1:
        """Move the value at the reader's position into a row."""
        cdef Py_ssize_t size
        reader.next_size(index, &size)
        if self.itemsize == 0:
            try:
                self.objects[row] = reader.decode(index, size)
            except Exception as error:
                undecodable(self.column, error)
        elif size == self.itemsize:
            memcpy(
                PyByteArray_AS_STRING(self.numbers) + row * size, reader.position, <size_t> size
            )
            reader.position += size
        elif size <= 0:
            PyByteArray_AS_STRING(self.nulls)[row] = 1
        else:
            wrong_size(self.column, size, self.itemsize)
        return 0

    cdef object array(self):
        """What has been filled, as NumPy wants it."""
        if self.dtype is None:
            return object_array(self.objects)
        return masked_array(self.numbers, self.dtype, self.nulls)
