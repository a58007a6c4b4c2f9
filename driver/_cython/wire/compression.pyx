"""Compiled form of driver/wire/compression.py: lz4 by the C library's functions, into place.

They are those in the shared object of the package ``lz4``, or in what that is linked to, looked up
once. Where they cannot be had, and for whatever is not as it should be, the pure functions are
called: a package without symbols only costs time, and errors are theirs.

The package clears a table of 16 KiB for each block. Here one table is kept and told to forget,
which costs nothing: it is used under the interpreter's lock. Without that lock, each thread has the
table to itself while it compresses, and one that finds it taken has the library clear another. What
a table has forgotten may still cost or spare a byte: equal data can be compressed to other bytes
the next time. Long blocks are compressed with a table of their own, so that other threads run
meanwhile.
"""

from cpython.bytes cimport (
    PyBytes_AS_STRING,
    PyBytes_CheckExact,
    PyBytes_FromStringAndSize,
    PyBytes_GET_SIZE,
)
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF

from driver._cython.slots cimport FREE_THREADED
from driver._cython.types.marshal cimport read_uint32, write_uint32

from ...wire import compression as pure

__all__ = ["locally_supported_compressions", "segment_compress", "segment_decompress"]

cdef extern from *:
    """
    /* The table, and NULL in its place, where another thread may come meanwhile. */
    #ifdef Py_GIL_DISABLED
    #define driver_taken(place) __atomic_exchange_n(&place, NULL, __ATOMIC_ACQUIRE)
    #define driver_given_back(place, table) __atomic_store_n(&place, table, __ATOMIC_RELEASE)
    #else
    #define driver_taken(place) (place)
    #define driver_given_back(place, table)
    #endif
    """
    void *table_of "driver_taken"(void *place) noexcept
    void give_back "driver_given_back"(void *place, void *table) noexcept

ctypedef void *(*Create)() noexcept nogil
ctypedef void (*Forget)(void *table) noexcept nogil
ctypedef int (*CompressWith)(
    void *table, const char *source, char *target, int size, int room, int acceleration
) noexcept nogil
ctypedef int (*Whole)(const char *source, char *target, int size, int room) noexcept nogil

cdef enum:
    # Bytes from which on the interpreter's lock is let go.
    LONG = 1 << 16
    # LZ4_MAX_INPUT_SIZE.
    MOST = 0x7E000000
    USUAL_ACCELERATION = 1

cdef Py_ssize_t MOST_CLAIMED = pure.MAX_FRAME_LENGTH
cdef Py_ssize_t USUAL_GROWTH = pure._USUAL_GROWTH
cdef object check_claim = pure._claimed
cdef object GROWTH = pure._LZ4_GROWTH
cdef object compress_plainly = pure.locally_supported_compressions.get("lz4", (None, None))[0]
cdef object decompress_plainly = pure.locally_supported_compressions.get("lz4", (None, None))[1]
cdef object segment_compress_plainly = pure.segment_compress
cdef object segment_decompress_plainly = pure.segment_decompress

cdef Forget forget = NULL
cdef CompressWith compress_with = NULL
cdef Whole compress_whole = NULL
cdef Whole decompress_whole = NULL
cdef void *table = NULL


cdef list _addresses(object block):
    """Where the five functions are; AttributeError, ImportError or OSError if they are not."""
    import ctypes

    library = ctypes.CDLL(block._block.__file__)
    return [
        ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        for name in (
            "LZ4_createStream",
            "LZ4_resetStream_fast",
            "LZ4_compress_fast_continue",
            "LZ4_compress_default",
            "LZ4_decompress_safe",
        )
    ]


cdef bint _find(object block) except -1:
    """Look the functions up; whether they are there."""
    global forget, compress_with, compress_whole, decompress_whole, table
    cdef size_t create, address
    if block is None:
        return False
    try:
        create, forgetting, compressing, whole, decompressing = _addresses(block)
    except (AttributeError, ImportError, OSError):
        return False
    table = (<Create><void *>create)()
    if table == NULL:
        return False
    address = forgetting
    forget = <Forget><void *>address
    address = compressing
    compress_with = <CompressWith><void *>address
    address = whole
    compress_whole = <Whole><void *>address
    address = decompressing
    decompress_whole = <Whole><void *>address
    return True


cdef Py_ssize_t room_for(Py_ssize_t size) noexcept:
    # LZ4_COMPRESSBOUND.
    return size + size // 255 + 16 if compress_with != NULL and size <= MOST else 0


cdef Py_ssize_t compress_into(
    const char *source, Py_ssize_t size, char *target, Py_ssize_t room
) noexcept:
    cdef int packed
    cdef void *mine
    if size < LONG:
        mine = table_of(table)
        if not FREE_THREADED or mine != NULL:
            forget(mine)
            packed = compress_with(mine, source, target, <int>size, <int>room, USUAL_ACCELERATION)
            give_back(table, mine)
            return packed
    with nogil:
        packed = compress_whole(source, target, <int>size, <int>room)
    return packed


cdef object _block_after(object data, Py_ssize_t head):
    """A block behind ``head`` bytes that are not filled; None where that is left to others."""
    cdef Py_ssize_t size, room, packed
    cdef PyObject *made
    if not PyBytes_CheckExact(data):
        return None
    size = PyBytes_GET_SIZE(data)
    room = room_for(size)
    if room == 0:
        return None
    made = new_bytes(NULL, head + room)
    packed = compress_into(
        PyBytes_AS_STRING(data), size, PyBytes_AS_STRING(<object>made) + head, room
    )
    if packed == 0:
        Py_DECREF(<object>made)
        return None
    return shortened(made, head + packed)


cdef object _decompressed(const char *data, Py_ssize_t size, Py_ssize_t claimed):
    """What a block holds; None if that is not what it claims."""
    cdef object made = PyBytes_FromStringAndSize(NULL, claimed)
    cdef char *target = PyBytes_AS_STRING(made)
    cdef int found
    if claimed < LONG:
        found = decompress_whole(data, target, <int>size, <int>claimed)
    else:
        with nogil:
            found = decompress_whole(data, target, <int>size, <int>claimed)
    return made if found == claimed else None


def compress(body):
    """Compress a frame body."""
    cdef object made = _block_after(body, 4)
    if made is None:
        return compress_plainly(body)
    write_uint32(
        <unsigned char *>PyBytes_AS_STRING(made), <unsigned int>PyBytes_GET_SIZE(body)
    )
    return made


def decompress(body):
    """Decompress a frame body."""
    cdef object made = None
    cdef Py_ssize_t size, claimed
    if PyBytes_CheckExact(body) and 4 < PyBytes_GET_SIZE(body) <= MOST:
        size = PyBytes_GET_SIZE(body)
        claimed = read_uint32(<const unsigned char *>PyBytes_AS_STRING(body))
        if claimed > MOST_CLAIMED or claimed > size * USUAL_GROWTH:
            check_claim(claimed, size, GROWTH)
        if claimed:
            made = _decompressed(PyBytes_AS_STRING(body) + 4, size - 4, claimed)
    return decompress_plainly(body) if made is None else made


def compress_segment(payload):
    """Compress the payload of a v5 segment; see driver/wire/compression.py."""
    cdef object made = _block_after(payload, 0)
    return segment_compress_plainly(payload) if made is None else made


def decompress_segment(payload, size):
    """Decompress the payload of a v5 segment; see driver/wire/compression.py."""
    cdef object made = None
    cdef Py_ssize_t claimed
    if (
        PyBytes_CheckExact(payload)
        and PyBytes_GET_SIZE(payload) <= MOST
        and PyLong_CheckExact(size)
        and 0 < size <= MOST_CLAIMED
    ):
        claimed = size
        made = _decompressed(PyBytes_AS_STRING(payload), PyBytes_GET_SIZE(payload), claimed)
    return segment_decompress_plainly(payload, size) if made is None else made


locally_supported_compressions = dict(pure.locally_supported_compressions)
segment_compress = segment_compress_plainly
segment_decompress = segment_decompress_plainly
if _find(pure._BLOCK):
    locally_supported_compressions["lz4"] = compress, decompress
    segment_compress = compress_segment
    segment_decompress = decompress_segment
