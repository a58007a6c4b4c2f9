"""Compiled form of driver/net/segmenting.py: frames that wait for others, or leave at once."""

from cpython.list cimport PyList_GET_SIZE
from cpython.object cimport PyObject

from driver._cython.net.after_read cimport call_after_read
from driver._cython.net.transport cimport write_by
from driver._cython.slots cimport is_instance, self_of, slot_offset, taken
from driver._cython.wire.segments cimport encoded_by

from ...net import segmenting as pure
from ...net.after_read import WriteCoalescer

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident()

__all__ = []

cdef object SegmentWriter = pure.SegmentWriter
cdef Py_ssize_t TRANSPORT = slot_offset(SegmentWriter, b"_transport")
cdef Py_ssize_t CODEC = slot_offset(SegmentWriter, b"_codec")
cdef Py_ssize_t FRAMES = slot_offset(SegmentWriter, b"_frames")
cdef Py_ssize_t WAITING = slot_offset(WriteCoalescer, b"_waiting")
cdef Py_ssize_t LOOP = slot_offset(WriteCoalescer, b"_loop")
cdef Py_ssize_t THREAD = slot_offset(WriteCoalescer, b"_thread")


def write(self, data):
    """Send a frame, from any thread; see driver/net/segmenting.py."""
    write_frame(self, data)


cdef int write_frame(object self, object data) except -1:
    cdef PyObject *me = <PyObject *>self
    cdef object frames
    cdef list waiting
    if not is_instance(self, <PyObject *>SegmentWriter):
        raise TypeError(f"a SegmentWriter is needed, not a {type(self).__name__}")
    frames = taken(me, FRAMES)
    if <unsigned long>taken(<PyObject *>frames, THREAD) == PyThread_get_thread_ident():
        # As WriteCoalescer.add does.
        waiting = taken(<PyObject *>frames, WAITING)
        waiting.append(data)
        if PyList_GET_SIZE(waiting) == 1:
            call_after_read(taken(<PyObject *>frames, LOOP), frames.deliver)
    else:
        write_by(taken(me, TRANSPORT), encoded_by(taken(me, CODEC), data))
    return 0


METHODS = {"SegmentWriter.write": write}
cdef object _write = write


cdef object segment_by(object method, object data):
    """What the method sends for a frame, if it is one of these here; None if it is another."""
    cdef object writer = self_of(method, _write)
    return None if writer is None else encoded_by(taken(<PyObject *>writer, CODEC), data)


cdef int send_by(object method, object data) except -1:
    """Call the method that a connection writes by."""
    cdef object writer = self_of(method, _write)
    if writer is None:
        method(data)
    else:
        write_frame(writer, data)
    return 0
