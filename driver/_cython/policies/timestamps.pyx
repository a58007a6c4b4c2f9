"""Compiled form of driver/policies/timestamps.py: the clock's time, where it has gone on."""

cimport cython
from cpython.object cimport PyObject

from driver._cython.clocks cimport HAS_CLOCKS, Name, driver_microseconds, named
from driver._cython.slots cimport has_method, put_alone, slot_offset, taken

from ...policies import timestamps as pure

__all__ = []

cdef object Generator = pure.MonotonicTimestampGenerator
cdef object call_plainly = pure.MonotonicTimestampGenerator.__call__
cdef dict _names = vars(pure)
cdef object _time = pure.time
cdef dict _clock = vars(_time)
cdef object _system_time = _time.time
cdef Name MODULE, TIME
cdef Py_ssize_t LAST = slot_offset(Generator, b"last")
cdef Py_ssize_t THRESHOLD = slot_offset(Generator, b"warning_threshold")


def call(self):
    """The next timestamp; see driver/policies/timestamps.py."""
    return next_stamp(self) if type(self) is Generator else call_plainly(self)


cdef object stamp_of(object generator):
    """What calling a generator gives, which may be any function."""
    if type(generator) is Generator and has_method(generator, "__call__", _call):
        return next_stamp(generator)
    return generator()


cdef object next_stamp(object self):
    """The next timestamp of a generator of this very class.

    Nothing of Python's runs between reading the last one and writing the next, which needs no lock.
    """
    cdef PyObject *me = <PyObject *>self
    cdef long long now, last
    cdef object stamp
    # By way of the pure module, whose clock programs replace in their tests.
    cdef object clock = named(_names, "time", &MODULE)
    clock = named(_clock, "time", &TIME) if clock is _time else clock.time
    if clock is _system_time and HAS_CLOCKS:
        now = driver_microseconds()
    else:
        now = <long long>(<double>clock() * 1000000.0)
    with cython.critical_section(self):
        last = taken(me, LAST)
        stamp = now if now > last else last + 1
        put_alone(me, LAST, stamp)
    # Not asked for each of several in a microsecond, of which no clock is to be blamed.
    if now <= last and last - now >= <double>taken(me, THRESHOLD) * 1000000.0:
        self._maybe_warn(now, last)
    return stamp


METHODS = {"MonotonicTimestampGenerator.__call__": call}
cdef object _call = call
