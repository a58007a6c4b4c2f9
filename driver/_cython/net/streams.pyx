"""Compiled form of driver/net/streams.py: a stream id that is free."""

from collections import deque

from cpython.object cimport PyObject

from driver._cython.slots cimport is_instance, self_of, slot_offset, taken

from ...net import streams as pure

__all__ = []

cdef object _popleft = deque.popleft
cdef object StreamIds = pure.StreamIds
cdef Py_ssize_t FREE = slot_offset(StreamIds, b"free")


def take(self):
    """An id that nobody uses; see driver/net/streams.py."""
    return take_id(self)


cdef object take_id(object self):
    if not is_instance(self, <PyObject *>StreamIds):
        raise TypeError(f"StreamIds are needed, not a {type(self).__name__}")
    try:
        return _popleft(taken(<PyObject *>self, FREE))
    except IndexError:
        return self._take_new()


METHODS = {"StreamIds.take": take}
cdef object _take = take


cdef object taken_by(object method):
    """What calling the method gives that a connection takes streams by."""
    cdef object streams = self_of(method, _take)
    return method() if streams is None else take_id(streams)
