"""Compiled form of driver/wire/arrow/page.py: from the frame straight into Arrow's buffers.

Buffers are C's own, counted by those who use them: what takes a page may give it back on any
thread, and after the interpreter has ended. Only streams, which ask for pages, need Python.

Long, because filling, sharing and handing out work on the same C structures: the compiler puts
their small functions into each other, which it cannot do from one module to the next.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from driver._cython.types.framing cimport Cursor, take_count, take_part
from driver._cython.types.marshal cimport read_int32, read_int64

from ....types.marshal import uvint_unpack
from ....wire.arrow import fields as _f
from ....wire.malformed import check_row_count, ends_early, undecodable, value_ends_early

__all__ = ["ArrowBatch", "parse_page", "schema_capsule", "stream_capsule"]


# --- the C data interface ----------------------------------------------------------------------

cdef struct ArrowSchema:
    const char *format
    const char *name
    const char *metadata
    int64_t flags
    int64_t n_children
    ArrowSchema **children
    ArrowSchema *dictionary
    void (*release)(ArrowSchema *) noexcept nogil
    void *private_data


cdef struct ArrowArray:
    int64_t length
    int64_t null_count
    int64_t offset
    int64_t n_buffers
    int64_t n_children
    const void **buffers
    ArrowArray **children
    ArrowArray *dictionary
    void (*release)(ArrowArray *) noexcept nogil
    void *private_data


cdef struct ArrowArrayStream:
    int (*get_schema)(ArrowArrayStream *, ArrowSchema *) noexcept nogil
    int (*get_next)(ArrowArrayStream *, ArrowArray *) noexcept nogil
    const char *(*get_last_error)(ArrowArrayStream *) noexcept nogil
    void (*release)(ArrowArrayStream *) noexcept nogil
    void *private_data


cdef extern from *:
    """
    /* Counts of who uses the buffers: they are taken and given back on any thread. */
    #define driver_count_up(count) __atomic_add_fetch(count, 1, __ATOMIC_RELAXED)
    #define driver_count_down(count) __atomic_sub_fetch(count, 1, __ATOMIC_ACQ_REL)

    #if PY_VERSION_HEX >= 0x030D0000
    #define driver_is_over() (!Py_IsInitialized() || Py_IsFinalizing())
    #else
    #define driver_is_over() (!Py_IsInitialized() || _Py_IsFinalizing())
    #endif
    """
    int64_t count_up "driver_count_up"(int64_t *count) noexcept nogil
    int64_t count_down "driver_count_down"(int64_t *count) noexcept nogil
    int interpreter_is_over "driver_is_over"() noexcept nogil
    uint16_t swap16 "__builtin_bswap16"(uint16_t) noexcept nogil
    uint32_t swap32 "__builtin_bswap32"(uint32_t) noexcept nogil
    uint64_t swap64 "__builtin_bswap64"(uint64_t) noexcept nogil


cdef enum:
    EIO = 5
    ENOMEM = 12
    MOST = 0x7FFFFFFF

cdef enum Layout:
    NULL_LAYOUT
    BOOL
    NUMBER
    DATE
    TIME
    FIXED
    BYTES
    TEXT
    ASCII
    LIST
    MAP
    STRUCT
    VECTOR

assert (_f.NULL, _f.NUMBER, _f.ASCII, _f.VECTOR) == (NULL_LAYOUT, NUMBER, ASCII, VECTOR)
cdef int64_t _DAY = _f.DAY
cdef uint16_t _ONE = 1
cdef bint _IS_LITTLE = (<unsigned char *>&_ONE)[0] == 1


# --- buffers -----------------------------------------------------------------------------------

cdef struct Buffer:
    unsigned char *data
    size_t size
    size_t capacity


cdef struct Node:
    # A column, or a part of one. Objects belong to whoever fills it.
    int layout
    bint empty_ok
    bint nullable
    size_t width
    Py_ssize_t part_size
    int64_t null_size
    int64_t length
    int64_t null_count
    Buffer validity
    Buffer offsets
    Buffer values
    Py_ssize_t child_count
    Node **children
    PyObject *field
    PyObject *convert


cdef struct Block:
    # All columns of a page, and how many use them.
    int64_t users
    int64_t length
    Py_ssize_t column_count
    Node **columns


cdef inline int reserve(Buffer *buffer, size_t more) except -1:
    """Have room for so many bytes more."""
    cdef size_t wanted = buffer.size + more
    if wanted <= buffer.capacity and buffer.data is not NULL:
        return 0
    return grow(buffer, max(wanted, buffer.capacity * 2, <size_t>64))


cdef int grow(Buffer *buffer, size_t capacity) except -1:
    cdef unsigned char *data = <unsigned char *>realloc(buffer.data, capacity)
    if data is NULL:
        raise MemoryError
    buffer.data = data
    buffer.capacity = capacity
    return 0


cdef inline int add(Buffer *buffer, const void *data, size_t size) except -1:
    reserve(buffer, size)
    memcpy(buffer.data + buffer.size, data, size)
    buffer.size += size
    return 0


cdef inline int add_zeros(Buffer *buffer, size_t size) except -1:
    reserve(buffer, size)
    memset(buffer.data + buffer.size, 0, size)
    buffer.size += size
    return 0


cdef inline int add_offset(Buffer *buffer, int64_t offset) except -1:
    cdef int32_t narrow = <int32_t>offset
    if offset > MOST:
        raise OverflowError("a page of more than 2 GiB has no place in Arrow's columns")
    return add(buffer, &narrow, 4)


cdef inline void set_bits(Buffer *bits, int64_t start, int64_t end) noexcept nogil:
    """Set bits, in a buffer that has them."""
    cdef int64_t i
    for i in range(start, end):
        bits.data[i >> 3] |= <unsigned char>(1 << (i & 7))


cdef inline int need_bits(Buffer *bits, int64_t count) except -1:
    """Have so many bits, new ones as 0."""
    cdef size_t size = <size_t>((count + 7) >> 3)
    if size > bits.size:
        add_zeros(bits, size - bits.size)
    return 0


cdef inline int count_valid(Node *node, int64_t more) except -1:
    """Count values that are there."""
    if node.null_count:
        need_bits(&node.validity, node.length + more)
        set_bits(&node.validity, node.length, node.length + more)
    node.length += more
    return 0


cdef Node *new_node(object field, int64_t rows) except NULL:
    """A column to be filled. Whoever asks keeps the field."""
    cdef Node *node = <Node *>calloc(1, sizeof(Node))
    if node is NULL:
        raise MemoryError
    try:
        node.layout = field.layout
        node.width = field.width
        node.empty_ok = field.empty_ok
        node.nullable = field.nullable
        node.null_size = field.null_size
        node.part_size = field.part_size
        node.field = <PyObject *>field
        convert = field.convert
        node.convert = NULL if convert is None else <PyObject *>convert
        if BYTES <= node.layout <= MAP:
            reserve(&node.offsets, <size_t>(4 * (rows + 1)))
            add_offset(&node.offsets, 0)
        if node.layout in (NUMBER, DATE, TIME, FIXED):
            reserve(&node.values, <size_t>rows * node.width)
        elif BOOL <= node.layout <= ASCII:
            reserve(&node.values, 0)
        children = field.children
        if children:
            node.children = <Node **>calloc(len(children), sizeof(Node *))
            if node.children is NULL:
                raise MemoryError
            for child in children:
                node.children[node.child_count] = new_node(child, 0)
                node.child_count += 1
    except BaseException:
        free_node(node)
        raise
    return node


cdef void free_node(Node *node) noexcept nogil:
    cdef Py_ssize_t i
    if node is NULL:
        return
    for i in range(node.child_count):
        free_node(node.children[i])
    free(node.children)
    free(node.validity.data)
    free(node.offsets.data)
    free(node.values.data)
    free(node)


cdef void give_back(Block *block) noexcept nogil:
    """One user less; the last one frees the columns."""
    cdef Py_ssize_t i
    if block is NULL or count_down(&block.users):
        return
    for i in range(block.column_count):
        free_node(block.columns[i])
    free(block.columns)
    free(block)


cdef size_t finish(Node *node) noexcept nogil:
    """Turn numbers into this machine's order, give back spare memory; the size of all buffers."""
    cdef Py_ssize_t i
    cdef size_t size, count
    if _IS_LITTLE and node.layout in (NUMBER, DATE, TIME):
        count = node.values.size // node.width
        if node.width == 2:
            swap_2(<uint16_t *>node.values.data, count)
        elif node.width == 4:
            swap_4(<uint32_t *>node.values.data, count)
        elif node.width == 8:
            swap_8(<uint64_t *>node.values.data, count)
    if node.layout == DATE:
        shift_dates(<uint32_t *>node.values.data, node.values.size // 4)
    size = shrink(&node.validity) + shrink(&node.offsets) + shrink(&node.values)
    for i in range(node.child_count):
        size += finish(node.children[i])
    return size


cdef size_t shrink(Buffer *buffer) noexcept nogil:
    """Give back memory that is not used, if it is much; the size."""
    cdef unsigned char *data
    if buffer.capacity > buffer.size + (buffer.size >> 3) + 64:
        data = <unsigned char *>realloc(buffer.data, max(buffer.size, <size_t>64))
        if data is not NULL:
            buffer.data = data
    return buffer.size


cdef void swap_2(uint16_t *numbers, size_t count) noexcept nogil:
    cdef size_t i
    for i in range(count):
        numbers[i] = swap16(numbers[i])


cdef void swap_4(uint32_t *numbers, size_t count) noexcept nogil:
    cdef size_t i
    for i in range(count):
        numbers[i] = swap32(numbers[i])


cdef void swap_8(uint64_t *numbers, size_t count) noexcept nogil:
    cdef size_t i
    for i in range(count):
        numbers[i] = swap64(numbers[i])


cdef void shift_dates(uint32_t *numbers, size_t count) noexcept nogil:
    """From days since the epoch plus 2**31 to signed days since the epoch."""
    cdef size_t i
    for i in range(count):
        numbers[i] ^= <uint32_t>0x80000000


# --- filling -----------------------------------------------------------------------------------

cdef struct Filling:
    int protocol_version
    int64_t room  # bytes that nulls may still become


cdef int refuse(
    Filling *filling, Node *node, const unsigned char *data, Py_ssize_t size
) except -1:
    """Raise what is wrong with bytes."""
    raise _f.refuse(
        <object>node.field,
        PyBytes_FromStringAndSize(<const char *>data, size),
        filling.protocol_version,
    )


cdef int add_null(Filling *filling, Node *node) except -1:
    """A value that is not there, and what it takes in the buffers all the same."""
    cdef Py_ssize_t i, _
    cdef Node *child
    if not node.nullable:
        raise _f.null_key(<object>node.field)
    if node.layout == NULL_LAYOUT:
        node.length += 1
        node.null_count += 1
        return 0
    if not node.null_count:
        need_bits(&node.validity, node.length)
        set_bits(&node.validity, 0, node.length)
    need_bits(&node.validity, node.length + 1)
    node.length += 1
    node.null_count += 1
    if node.layout == BOOL:
        need_bits(&node.values, node.length)
    elif node.layout == DATE:
        add(&node.values, b"\x80\0\0\0", 4)
    elif node.layout in (NUMBER, TIME, FIXED):
        add_zeros(&node.values, node.width)
    elif node.layout in (LIST, MAP):
        add_offset(&node.offsets, node.children[0].length)
    elif node.layout in (STRUCT, VECTOR):
        filling.room -= node.null_size
        if filling.room < 0:
            raise _f.too_many_nulls()
        if node.layout == STRUCT:
            for i in range(node.child_count):
                add_null(filling, node.children[i])
        else:
            child = node.children[0]
            if child.layout == NUMBER:
                add_zeros(&child.values, node.width * child.width)
                count_valid(child, node.width)
            else:
                for _ in range(<Py_ssize_t>node.width):
                    add_null(filling, child)
    else:
        add_offset(&node.offsets, node.values.size)
    return 0


cdef int add_value(
    Filling *filling, Node *node, const unsigned char *data, Py_ssize_t size
) except -1:
    """The next value of a column; null has a negative size."""
    cdef bytes converted
    if size <= 0 and (size < 0 or not node.empty_ok):
        return add_null(filling, node)
    if node.convert is not NULL:
        converted = (<object>node.convert)(
            PyBytes_FromStringAndSize(<const char *>data, size), filling.protocol_version
        )
        data = <const unsigned char *>PyBytes_AS_STRING(converted)
        size = PyBytes_GET_SIZE(converted)
    if node.layout == NUMBER or node.layout == FIXED or node.layout == DATE:
        if <size_t>size != node.width:
            return refuse(filling, node, data, size)
        add(&node.values, data, <size_t>size)
    elif node.layout == TEXT or node.layout == ASCII:
        check_text(filling, node, data, size)
        add(&node.values, data, <size_t>size)
        add_offset(&node.offsets, node.values.size)
    elif node.layout == BYTES:
        add(&node.values, data, <size_t>size)
        add_offset(&node.offsets, node.values.size)
    elif node.layout == TIME:
        if size != 8 or not 0 <= read_int64(data) < _DAY:
            return refuse(filling, node, data, size)
        add(&node.values, data, 8)
    elif node.layout == BOOL:
        if size != 1:
            return refuse(filling, node, data, size)
        need_bits(&node.values, node.length + 1)
        if data[0]:
            set_bits(&node.values, node.length, node.length + 1)
    elif node.layout == LIST:
        add_list(filling, node, data, size)
    elif node.layout == MAP:
        add_map(filling, node, data, size)
    elif node.layout == STRUCT:
        add_record(filling, node, data, size)
    elif node.layout == VECTOR:
        add_vector(filling, node, data, size)
    elif size:
        return refuse(filling, node, data, size)
    else:
        return add_null(filling, node)
    return count_valid(node, 1)


cdef inline int check_text(
    Filling *filling, Node *node, const unsigned char *data, Py_ssize_t size
) except -1:
    """Refuse what is no text: eight bytes at once as long as they are ASCII."""
    cdef uint64_t eight
    cdef Py_ssize_t i = 0
    while i + 8 <= size:
        memcpy(&eight, data + i, 8)
        if eight & <uint64_t>0x8080808080808080:
            break
        i += 8
    while i < size and data[i] < 128:
        i += 1
    if i == size:
        return 0
    if node.layout == ASCII:
        return refuse(filling, node, data, size)
    try:
        PyUnicode_DecodeUTF8(<const char *>data + i, size - i, NULL)
    except UnicodeDecodeError:
        refuse(filling, node, data, size)
    return 0


cdef int add_list(
    Filling *filling, Node *node, const unsigned char *data, Py_ssize_t size
) except -1:
    cdef Cursor cursor
    cdef const unsigned char *part
    cdef Py_ssize_t count, part_size, _
    cdef Node *child = node.children[0]
    cursor.at, cursor.end = data, data + size
    count = take_count(&cursor, 4)
    if count < 0:
        return refuse(filling, node, data, size)
    for _ in range(count):
        if not take_part(&cursor, &part, &part_size):
            return refuse(filling, node, data, size)
        add_value(filling, child, part, part_size)
    if cursor.at != cursor.end:
        return refuse(filling, node, data, size)
    return add_offset(&node.offsets, child.length)


cdef int add_map(
    Filling *filling, Node *node, const unsigned char *data, Py_ssize_t size
) except -1:
    cdef Cursor cursor
    cdef const unsigned char *part
    cdef Py_ssize_t count, part_size, _, j
    cdef Node *entries = node.children[0]
    cursor.at, cursor.end = data, data + size
    count = take_count(&cursor, 8)
    if count < 0:
        return refuse(filling, node, data, size)
    for _ in range(count):
        for j in range(2):
            if not take_part(&cursor, &part, &part_size):
                return refuse(filling, node, data, size)
            add_value(filling, entries.children[j], part, part_size)
    entries.length += count
    if cursor.at != cursor.end:
        return refuse(filling, node, data, size)
    return add_offset(&node.offsets, entries.length)


cdef int add_record(
    Filling *filling, Node *node, const unsigned char *data, Py_ssize_t size
) except -1:
    cdef Cursor cursor
    cdef const unsigned char *part
    cdef Py_ssize_t part_size
    cdef Py_ssize_t i = 0
    cursor.at, cursor.end = data, data + size
    while i < node.child_count and cursor.at != cursor.end:
        if not take_part(&cursor, &part, &part_size):
            return refuse(filling, node, data, size)
        add_value(filling, node.children[i], part, part_size)
        i += 1
    if i < node.child_count:
        _f.check_missing(<object>node.field, size)
        filling.room -= node.null_size
        if filling.room < 0:
            raise _f.too_many_nulls()
        while i < node.child_count:
            add_null(filling, node.children[i])
            i += 1
    return 0


cdef int add_vector(
    Filling *filling, Node *node, const unsigned char *data, Py_ssize_t size
) except -1:
    cdef Node *child = node.children[0]
    cdef const unsigned char *at = data
    cdef const unsigned char *end = data + size
    cdef Py_ssize_t _
    cdef size_t part_size
    if node.part_size >= 0:
        if <size_t>size != <size_t>node.part_size * node.width:
            return refuse(filling, node, data, size)
        if child.layout == NUMBER and <size_t>node.part_size == child.width:
            add(&child.values, data, <size_t>size)
            return count_valid(child, node.width)
        for _ in range(<Py_ssize_t>node.width):
            add_value(filling, child, at, node.part_size)
            at += node.part_size
        return 0
    for _ in range(<Py_ssize_t>node.width):
        read, taken = uvint_unpack(
            PyBytes_FromStringAndSize(<const char *>at, min(end - at, <Py_ssize_t>9))
        )
        at += <Py_ssize_t>taken
        if read > end - at:
            return refuse(filling, node, data, size)
        part_size = read
        add_value(filling, child, at, <Py_ssize_t>part_size)
        at += part_size
    if at != end:
        return refuse(filling, node, data, size)
    return 0


cdef int check_lengths(
    const unsigned char *at, const unsigned char *end, int64_t number, columns, Py_ssize_t first
) except -1:
    """Raise if so many values do not fit; the first one is of that column."""
    cdef int64_t i
    cdef Py_ssize_t size
    for i in range(number):
        if end - at < 4:
            value_ends_early(columns[(first + i) % len(columns)], 4, end - at)
        size = read_int32(at)
        at += 4
        if size > end - at:
            value_ends_early(columns[(first + i) % len(columns)], size, end - at)
        if size > 0:
            at += size
    return 0


def parse_page(bytes body not None, Py_ssize_t offset, columns, tuple fields, decrypts,
               int protocol_version):
    """All rows of a result as Arrow's columns; see driver/wire/arrow/page.py."""
    cdef Py_ssize_t left = len(body) - offset if offset >= 0 else 0
    cdef Py_ssize_t count = len(fields)
    cdef Py_ssize_t size, _row, i
    cdef Py_ssize_t failed = -1
    cdef const unsigned char *at
    cdef const unsigned char *end
    cdef int64_t row_count
    cdef Filling filling
    cdef ArrowBatch batch = ArrowBatch.__new__(ArrowBatch)
    cdef Block *block
    cdef list decrypting = list(decrypts)
    cdef bint has_secrets = any(decrypting)
    cdef bytes plain
    if len(columns) != count or len(decrypting) != count:
        raise ValueError("as many fields as columns are needed")
    if left < 4:
        ends_early(4, left)
    at = <const unsigned char *>PyBytes_AS_STRING(body) + offset
    end = at + left
    row_count = read_int32(at)
    at += 4
    check_row_count(row_count, count, left - 4)
    filling.protocol_version = protocol_version
    filling.room = int(min(_f.room_for_nulls(len(body)), 1 << 62))
    batch.fields = fields
    batch.block = block = <Block *>calloc(1, sizeof(Block))
    if block is NULL:
        raise MemoryError
    block.users = 1
    block.length = row_count
    block.columns = <Node **>calloc(max(count, 1), sizeof(Node *))
    if block.columns is NULL:
        raise MemoryError
    for field in fields:
        block.columns[block.column_count] = new_node(field, row_count)
        block.column_count += 1
    try:
        for _row in range(row_count):
            for i in range(count):
                failed = -1
                if end - at < 4:
                    value_ends_early(columns[i], 4, end - at)
                size = read_int32(at)
                at += 4
                if size > end - at:
                    value_ends_early(columns[i], size, end - at)
                failed = i
                if has_secrets and size > 0 and decrypting[i] is not None:
                    plain = decrypting[i](PyBytes_FromStringAndSize(<const char *>at, size))
                    add_value(
                        &filling,
                        block.columns[i],
                        <const unsigned char *>PyBytes_AS_STRING(plain),
                        PyBytes_GET_SIZE(plain),
                    )
                else:
                    add_value(&filling, block.columns[i], at, size)
                if size > 0:
                    at += size
    except Exception as error:
        if failed < 0:
            raise
        # A page that ends early is that first of all, whatever else is wrong with it.
        if size > 0:
            at += size
        check_lengths(at, end, (row_count - _row) * count - failed - 1, columns, failed + 1)
        undecodable(columns[failed], error)
    for i in range(count):
        batch.nbytes += finish(block.columns[i])
    return batch


cdef class ArrowBatch:
    """The rows of a page, as Arrow's columns; see driver/wire/arrow/page.py."""

    cdef Block *block
    cdef readonly tuple fields
    cdef readonly object nbytes

    def __cinit__(self):
        self.nbytes = 0

    def __dealloc__(self):
        give_back(self.block)

    @property
    def num_rows(self):
        """How many rows."""
        return self.block.length

    @property
    def column_names(self):
        """Names of the columns."""
        return [field.name for field in self.fields]

    def __arrow_c_schema__(self):
        """A capsule of Arrow's schema."""
        return schema_capsule(self.fields)

    def __arrow_c_array__(self, requested_schema=None):
        """Capsules of Arrow's schema and array; the schema is this one's, whichever is wanted."""
        cdef ArrowArray *array = <ArrowArray *>calloc(1, sizeof(ArrowArray))
        if array is NULL:
            raise MemoryError
        array_capsule = PyCapsule_New(array, "arrow_array", destroy_array)
        if not export_page(self.block, array):
            raise MemoryError
        return schema_capsule(self.fields), array_capsule

    def __arrow_c_stream__(self, requested_schema=None):
        """A capsule of a stream of this batch alone."""
        return stream_capsule(self.fields, iter((self,)))

    def __reduce__(self):
        raise TypeError("an ArrowBatch cannot be pickled")

    def __repr__(self):
        """How large it is."""
        return f"<ArrowBatch: {self.num_rows} rows of {len(self.fields)} columns>"


# --- arrays handed out -------------------------------------------------------------------------

cdef struct Handed:
    # What an array points to, beside the columns' own buffers.
    Block *block
    const void *buffers[3]
    ArrowArray **children
    int64_t child_count


cdef void release_array(ArrowArray *array) noexcept nogil:
    cdef Handed *handed = <Handed *>array.private_data
    cdef int64_t i
    for i in range(handed.child_count):
        if handed.children[i].release is not NULL:
            handed.children[i].release(handed.children[i])
        free(handed.children[i])
    free(handed.children)
    give_back(handed.block)
    free(handed)
    array.release = NULL
    array.private_data = NULL


cdef Handed *begin_array(Block *block, int64_t child_count, ArrowArray *out) noexcept nogil:
    """An array with children that are not there yet; NULL without memory for it."""
    cdef Handed *handed = <Handed *>calloc(1, sizeof(Handed))
    cdef int64_t i
    memset(out, 0, sizeof(ArrowArray))
    if handed is NULL:
        return NULL
    if child_count:
        handed.children = <ArrowArray **>calloc(child_count, sizeof(ArrowArray *))
        if handed.children is NULL:
            free(handed)
            return NULL
    count_up(&block.users)
    handed.block = block
    out.buffers = handed.buffers
    out.children = handed.children
    out.private_data = handed
    out.release = release_array
    for i in range(child_count):
        handed.children[i] = <ArrowArray *>calloc(1, sizeof(ArrowArray))
        if handed.children[i] is NULL:
            release_array(out)
            return NULL
        handed.child_count += 1
    out.n_children = child_count
    return handed


cdef bint export_page(Block *block, ArrowArray *out) noexcept nogil:
    """A page as an array of records; False without memory for it."""
    cdef Py_ssize_t i
    if begin_array(block, block.column_count, out) is NULL:
        return False
    out.length = block.length
    out.n_buffers = 1
    for i in range(block.column_count):
        if not export_node(block, block.columns[i], out.children[i]):
            release_array(out)
            return False
    return True


cdef bint export_node(Block *block, Node *node, ArrowArray *out) noexcept nogil:
    cdef Py_ssize_t i
    cdef Handed *handed = begin_array(block, node.child_count, out)
    if handed is NULL:
        return False
    out.length = node.length
    out.null_count = node.null_count
    if node.layout == NULL_LAYOUT:
        out.n_buffers = 0
    else:
        out.n_buffers = 1
        handed.buffers[0] = node.validity.data if node.null_count else NULL
        if node.offsets.data is not NULL:
            handed.buffers[out.n_buffers] = node.offsets.data
            out.n_buffers += 1
        if node.values.data is not NULL:
            handed.buffers[out.n_buffers] = node.values.data
            out.n_buffers += 1
    for i in range(node.child_count):
        if not export_node(block, node.children[i], out.children[i]):
            release_array(out)
            return False
    return True


cdef void destroy_array(object capsule) noexcept:
    """Release what nobody took."""
    cdef ArrowArray *array = <ArrowArray *>PyCapsule_GetPointer(capsule, "arrow_array")
    if array.release is not NULL:
        array.release(array)
    free(array)


# --- schemas handed out ------------------------------------------------------------------------

cdef void release_schema(ArrowSchema *schema) noexcept nogil:
    cdef int64_t i
    for i in range(schema.n_children):
        if schema.children[i].release is not NULL:
            schema.children[i].release(schema.children[i])
        free(schema.children[i])
    free(schema.children)
    free(schema.private_data)  # format, name and metadata lie in it
    schema.release = NULL
    schema.private_data = NULL


cdef int fill_schema(
    ArrowSchema *out, bytes written, bytes name, bytes metadata, int64_t flags, tuple children
) except -1:
    """A schema with all its children; nothing of it is left if this fails."""
    cdef Py_ssize_t format_size = len(written) + 1
    cdef Py_ssize_t name_size = len(name) + 1
    cdef char *texts = <char *>malloc(format_size + name_size + len(metadata))
    memset(out, 0, sizeof(ArrowSchema))
    if texts is NULL:
        raise MemoryError
    memcpy(texts, <char *>written, format_size)
    memcpy(texts + format_size, <char *>name, name_size)
    memcpy(texts + format_size + name_size, <char *>metadata, len(metadata))
    out.format = texts
    out.name = texts + format_size
    out.metadata = texts + format_size + name_size if metadata else NULL
    out.flags = flags
    out.private_data = texts
    out.release = release_schema
    try:
        if children:
            out.children = <ArrowSchema **>calloc(len(children), sizeof(ArrowSchema *))
            if out.children is NULL:
                raise MemoryError
        for field in children:
            out.children[out.n_children] = <ArrowSchema *>calloc(1, sizeof(ArrowSchema))
            if out.children[out.n_children] is NULL:
                raise MemoryError
            out.n_children += 1
            fill_schema(
                out.children[out.n_children - 1],
                field.format.encode(),
                # A name in C ends at the first zero character.
                field.name.encode().partition(b"\0")[0],
                field.metadata,
                _f.NULLABLE if field.nullable else 0,
                field.children,
            )
    except BaseException:
        release_schema(out)
        raise
    return 0


cdef void destroy_schema(object capsule) noexcept:
    cdef ArrowSchema *schema = <ArrowSchema *>PyCapsule_GetPointer(capsule, "arrow_schema")
    if schema.release is not NULL:
        schema.release(schema)
    free(schema)


def schema_capsule(tuple fields not None):
    """A capsule of the schema of columns."""
    cdef ArrowSchema *schema = <ArrowSchema *>calloc(1, sizeof(ArrowSchema))
    if schema is NULL:
        raise MemoryError
    capsule = PyCapsule_New(schema, "arrow_schema", destroy_schema)
    fill_schema(schema, b"+s", b"", b"", 0, fields)
    return capsule


# --- streams handed out ------------------------------------------------------------------------

cdef class _Source:
    """What a stream reads: batches, and the message of what went wrong."""

    cdef tuple fields
    cdef object batches
    cdef bytes error

    cdef int next_into(self, ArrowArray *out) except -1:
        cdef ArrowBatch batch
        found = next(self.batches, None)
        if found is None:
            memset(out, 0, sizeof(ArrowArray))
            return 0
        batch = <ArrowBatch?>found
        if not export_page(batch.block, out):
            raise MemoryError
        return 0


cdef int stream_schema(ArrowArrayStream *stream, ArrowSchema *out) noexcept with gil:
    cdef _Source source = <_Source>stream.private_data
    try:
        fill_schema(out, b"+s", b"", b"", 0, source.fields)
    except BaseException as error:
        source.error = f"{type(error).__name__}: {error}".encode()
        return ENOMEM
    return 0


cdef int stream_next(ArrowArrayStream *stream, ArrowArray *out) noexcept with gil:
    cdef _Source source = <_Source>stream.private_data
    try:
        source.next_into(out)
    except BaseException as error:  # there is nobody above who could take it
        source.error = f"{type(error).__name__}: {error}".encode()
        return EIO
    return 0


cdef const char *stream_error(ArrowArrayStream *stream) noexcept with gil:
    cdef _Source source = <_Source>stream.private_data
    return NULL if source.error is None else PyBytes_AS_STRING(source.error)


cdef void drop_source(ArrowArrayStream *stream) noexcept with gil:
    Py_DECREF(<_Source>stream.private_data)


cdef void release_stream(ArrowArrayStream *stream) noexcept nogil:
    # Nothing of Python may be touched after its end: the source is lost with it.
    if not interpreter_is_over():
        drop_source(stream)
    stream.release = NULL
    stream.private_data = NULL


cdef void destroy_stream(object capsule) noexcept:
    cdef ArrowArrayStream *stream = <ArrowArrayStream *>PyCapsule_GetPointer(
        capsule, "arrow_array_stream"
    )
    if stream.release is not NULL:
        stream.release(stream)
    free(stream)


def stream_capsule(tuple fields not None, batches):
    """A capsule of a stream of batches, taken from an iterator as the consumer wants them."""
    cdef _Source source = _Source.__new__(_Source)
    cdef ArrowArrayStream *stream = <ArrowArrayStream *>calloc(1, sizeof(ArrowArrayStream))
    if stream is NULL:
        raise MemoryError
    capsule = PyCapsule_New(stream, "arrow_array_stream", destroy_stream)
    source.fields = fields
    source.batches = batches
    stream.get_schema = stream_schema
    stream.get_next = stream_next
    stream.get_last_error = stream_error
    Py_INCREF(source)
    stream.private_data = <void *>source
    stream.release = release_stream
    return capsule
