"""Compiled form of driver/net/segmenting.py: a frame of another thread, in a segment of its own."""

from cpython.object cimport PyObject

from driver._cython.slots cimport is_instance, slot_offset, taken

from ...net import segmenting as pure
from ...net.coalescing import WriteCoalescer

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident()

__all__ = []

cdef object SegmentWriter = pure.SegmentWriter
cdef Py_ssize_t TRANSPORT = slot_offset(SegmentWriter, b"_transport")
cdef Py_ssize_t CODEC = slot_offset(SegmentWriter, b"_codec")
cdef Py_ssize_t FRAMES = slot_offset(SegmentWriter, b"_frames")
cdef Py_ssize_t THREAD = slot_offset(WriteCoalescer, b"_thread")


def write(self, data):
    """Send a frame, from any thread; see driver/net/segmenting.py."""
    cdef PyObject *me = <PyObject *>self
    cdef object frames
    if not is_instance(self, <PyObject *>SegmentWriter):
        raise TypeError(f"a SegmentWriter is needed, not a {type(self).__name__}")
    frames = taken(me, FRAMES)
    if <unsigned long>taken(<PyObject *>frames, THREAD) == PyThread_get_thread_ident():
        frames.add(data)
    else:
        taken(me, TRANSPORT).write(taken(me, CODEC).encode(data))


METHODS = {"SegmentWriter.write": write}
