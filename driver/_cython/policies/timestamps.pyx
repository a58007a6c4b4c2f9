"""Compiled form of driver/policies/timestamps.py: the clock's time, where it has gone on."""

cimport cython
from cpython.object cimport PyObject

from driver._cython.slots cimport put_alone, slot_offset, taken

from ...policies import timestamps as pure

__all__ = []

cdef object Generator = pure.MonotonicTimestampGenerator
cdef object call_plainly = pure.MonotonicTimestampGenerator.__call__
cdef Py_ssize_t LAST = slot_offset(Generator, b"last")


def call(self):
    """The next timestamp; see driver/policies/timestamps.py.

    Nothing of Python's runs between reading the last one and writing the next, which needs no lock.
    """
    cdef PyObject *me = <PyObject *>self
    cdef long long now, last
    cdef object stamp
    if type(self) is not Generator:
        return call_plainly(self)
    # By way of the pure module, whose clock programs replace in their tests.
    now = <long long>(<double>pure.time.time() * 1000000.0)
    with cython.critical_section(self):
        last = taken(me, LAST)
        stamp = now if now > last else last + 1
        put_alone(me, LAST, stamp)
    if now <= last:
        self._maybe_warn(now, last)
    return stamp


METHODS = {"MonotonicTimestampGenerator.__call__": call}
