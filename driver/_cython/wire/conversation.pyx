"""Compiled form of driver/wire/conversation.py: frames that arrive whole, and requests to bytes.

As nearly all that arrives: whole segments of whole frames after the start, or whole frames. What is
left behind them goes on by the pure methods, which also say what is wrong with it.
"""

from cpython.bytes cimport (
    PyBytes_AS_STRING,
    PyBytes_CheckExact,
    PyBytes_FromStringAndSize,
    PyBytes_GET_SIZE,
)
from cpython.list cimport PyList_GET_SIZE, PyList_SetSlice
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_SET_ITEM
from libc.stdint cimport uint64_t

from driver._cython.slots cimport Bound, class_method, is_instance, put, slot_offset, taken
from driver._cython.types.marshal cimport read_int16, read_int32
from driver._cython.wire.segments cimport payload_at

from ...wire import conversation as pure
from ...wire.frame import MAX_FRAME_LENGTH, Frame
from ...wire.malformed import MalformedFrameError
from ...wire.segments import SegmentCodec

__all__ = ["take_whole_frames"]

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        pass
    object PyType_GenericAlloc(PyTypeObject *cls, Py_ssize_t items)

cdef object Conversation = pure.Conversation
cdef object frames_plainly = pure.take_whole_frames
cdef object feed_plainly = pure.Conversation.feed
cdef object _SegmentCodec = SegmentCodec
cdef Bound ENCODE
cdef Py_ssize_t STARTED = slot_offset(Conversation, b"started")
cdef Py_ssize_t VERSION = slot_offset(Conversation, b"protocol_version")
cdef Py_ssize_t VERSION_BYTE = slot_offset(Conversation, b"_version_byte")
cdef Py_ssize_t HANDLER = slot_offset(Conversation, b"_handler")
cdef Py_ssize_t COMPRESSOR = slot_offset(Conversation, b"_compressor")
cdef Py_ssize_t ALLOW_BETA = slot_offset(Conversation, b"_allow_beta")
cdef Py_ssize_t ERROR = slot_offset(Conversation, b"_error")
cdef Py_ssize_t FRAMES = slot_offset(Conversation, b"_frames")
cdef Py_ssize_t SEGMENTS = slot_offset(Conversation, b"_segments")
cdef Py_ssize_t IN_SEGMENTS = slot_offset(Conversation, b"_in_segments")
cdef Py_ssize_t CODEC = slot_offset(Conversation, b"_segment_codec")
cdef Py_ssize_t IS_KEPT = slot_offset(pure._Rest, b"is_kept")
cdef Py_ssize_t CODEC_DECOMPRESSOR = slot_offset(SegmentCodec, b"_decompressor")
cdef Py_ssize_t MOST = MAX_FRAME_LENGTH
cdef Py_ssize_t HEADER = 9


cdef inline PyObject *checked(object self) except NULL:
    """A conversation, whose slots are where they are expected."""
    if not is_instance(self, <PyObject *>Conversation):
        raise TypeError(f"a Conversation is needed, not a {type(self).__name__}")
    return <PyObject *>self


cdef inline bint has_rest(PyObject *me, Py_ssize_t offset) except -1:
    cdef object rest = taken(me, offset)
    return taken(<PyObject *>rest, IS_KEPT) is not False


def encode(self, msg, stream_id, handler=None):
    """A request as a frame; see driver/wire/conversation.py."""
    return encoded(self, msg, stream_id, handler)


cdef object encoded(object self, object msg, object stream_id, object handler):
    cdef PyObject *me = checked(self)
    if handler is None:
        handler = taken(me, HANDLER)
    return class_method(handler, "encode_message", &ENCODE)(
        msg,
        stream_id,
        taken(me, VERSION),
        taken(me, COMPRESSOR) if taken(me, STARTED) is not False else None,
        taken(me, ALLOW_BETA),
    )


cdef int reads_plain_frames(object self) except -1:
    """What comes now: 1 for frames as they are, 2 for segments that are not compressed, 0 for else.

    Else is also the rest of something that is not complete.
    """
    cdef PyObject *me = checked(self)
    cdef object codec
    if (
        taken(me, ERROR) is not None
        or taken(me, STARTED) is False
        or has_rest(me, FRAMES)
        or has_rest(me, SEGMENTS)
    ):
        return 0
    if taken(me, IN_SEGMENTS) is False:
        return 1
    codec = taken(me, CODEC)
    if type(codec) is not _SegmentCodec:
        return 0
    return 2 if taken(<PyObject *>codec, CODEC_DECOMPRESSOR) is None else 0


def feed(self, data):
    """Take bytes from the server; see driver/wire/conversation.py."""
    cdef PyObject *me = checked(self)
    cdef Py_ssize_t position
    cdef list found = []
    if (
        not PyBytes_CheckExact(data)
        or taken(me, ERROR) is not None
        or taken(me, STARTED) is False
        or has_rest(me, FRAMES)
    ):
        return feed_plainly(self, data)
    if has_rest(me, SEGMENTS):
        data = taken(me, SEGMENTS).join(data)
    if taken(me, IN_SEGMENTS) is False:
        position = take_frames(
            <const unsigned char *>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data),
            taken(me, VERSION_BYTE), found,
        )
    else:
        position = take_segments(data, taken(me, CODEC), taken(me, VERSION_BYTE), found)
    if position == PyBytes_GET_SIZE(data):
        return found
    try:
        if taken(me, IN_SEGMENTS) is False:
            self._take_frames(data[position:], found)
        else:
            self._take_segments(data[position:], found)
    except MalformedFrameError as error:
        error.frames = tuple(found)
        put(me, ERROR, error)
        raise
    return found


cdef Py_ssize_t take_segments(bytes data, object codec, int version, list found) except -1:
    """Append the frames of the segments that data begins with, up to the first unusual one.

    Returns the position behind the last of them.
    """
    cdef Py_ssize_t position = 0, after = 0, known
    cdef unsigned long long bits = 0
    cdef const char *payload
    cdef Py_ssize_t size
    cdef bytes unpacked
    if type(codec) is not _SegmentCodec:
        return 0
    cdef object decompressor = taken(<PyObject *>codec, CODEC_DECOMPRESSOR)
    cdef Py_ssize_t header = 3 if decompressor is None else 5
    cdef uint64_t self_contained = <uint64_t>1 << (17 if decompressor is None else 34)
    while position < PyBytes_GET_SIZE(data):
        payload = payload_at(data, position, header, self_contained, &bits, &after)
        if payload == NULL:
            break
        size = bits & 0x1FFFF
        if decompressor is not None and bits >> 17 & 0x1FFFF:
            try:
                unpacked = <bytes?>decompressor(
                    PyBytes_FromStringAndSize(payload, size), bits >> 17 & 0x1FFFF
                )
            except Exception:
                break
            payload, size = PyBytes_AS_STRING(unpacked), PyBytes_GET_SIZE(unpacked)
        known = PyList_GET_SIZE(found)
        if size != take_frames(<const unsigned char *>payload, size, version, found):
            PyList_SetSlice(found, known, PyList_GET_SIZE(found), [])
            break
        position = after
    return position


cdef inline int _set(object frame, Py_ssize_t index, object value) except -1:
    Py_INCREF(value)
    PyTuple_SET_ITEM(frame, index, value)
    return 0


def take_whole_frames(data, version_byte, list found):
    """Append the frames that data begins with; see driver/wire/conversation.py."""
    if not PyBytes_CheckExact(data):
        return frames_plainly(data, version_byte, found)
    return take_frames(
        <const unsigned char *>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), version_byte, found
    )


cdef Py_ssize_t take_frames(
    const unsigned char *data, Py_ssize_t size, int version, list found
) except -1:
    cdef const unsigned char *bytes_ = data
    cdef Py_ssize_t left = size, length
    cdef object frame
    while left >= HEADER:
        length = read_int32(bytes_ + 5)
        if bytes_[0] != version or not 0 <= length <= MOST or left - HEADER < length:
            break
        frame = PyType_GenericAlloc(<PyTypeObject *><PyObject *>Frame, 5)
        _set(frame, 0, read_int16(bytes_ + 2))
        _set(frame, 1, version & 0x7F)
        _set(frame, 2, bytes_[1])
        _set(frame, 3, bytes_[4])
        _set(frame, 4, PyBytes_FromStringAndSize(<const char *>bytes_ + HEADER, length))
        found.append(frame)
        bytes_ += HEADER + length
        left -= HEADER + length
    return size - left


METHODS = {"Conversation.encode": encode, "Conversation.feed": feed}
