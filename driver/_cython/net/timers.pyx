"""Compiled form of driver/net/timers.py: a timer set and cancelled, as nearly every one is."""

cimport cython
from cpython.dict cimport PyDict_SetItem
from cpython.object cimport PyObject

from driver._cython.clocks cimport HAS_CLOCKS, driver_now
from driver._cython.slots cimport has_method, is_instance, slot_offset, taken

from ...net import timers as pure

cdef extern from *:
    """
    #if PY_VERSION_HEX < 0x030D0000
    /* What 3.13 calls PyDict_Pop, without the value, and PyDict_GetItemRef. */
    static int take_out(PyObject *dict, PyObject *key) {
        int found = PyDict_Contains(dict, key);
        if (found > 0 && PyDict_DelItem(dict, key) < 0) return -1;
        return found;
    }
    static inline PyObject *found_in(PyObject *dict, PyObject *key) {
        PyObject *found = PyDict_GetItemWithError(dict, key);
        return found != NULL || PyErr_Occurred() ? Py_XNewRef(found) : Py_NewRef(Py_None);
    }
    #else
    static int take_out(PyObject *dict, PyObject *key) {
        return PyDict_Pop(dict, key, NULL);
    }
    static inline PyObject *found_in(PyObject *dict, PyObject *key) {
        PyObject *found;
        int is_there = PyDict_GetItemRef(dict, key, &found);
        return is_there ? found : Py_NewRef(Py_None);
    }
    #endif
    """
    # What a dict has for a key; None if it has nothing.
    object found_in(object dict, object key)
    # Whether the key was in the dict, in which it is no more.
    bint take_out(object dict, object key) except -1

__all__ = ["Timer"]

cdef object Timers = pure.Timers
cdef double TICK = pure.TICK
#: What fits into a number of C's.
cdef double FAR = 2.0**62
cdef object _monotonic = pure.time.monotonic
cdef Py_ssize_t CLOCK = slot_offset(Timers, b"_clock")
cdef Py_ssize_t SLOTS = slot_offset(Timers, b"_slots")
cdef Py_ssize_t PASSED = slot_offset(Timers, b"_passed")
cdef Py_ssize_t TICKS = slot_offset(Timers, b"_ticks")


@cython.freelist(64)
cdef class Timer:
    """A function that will run, unless it is cancelled; see driver/net/timers.py."""

    def __init__(self, fn, dict slot not None):
        """In a slot."""
        self.fn = fn
        self._slot = slot
        PyDict_SetItem(slot, self, None)

    cpdef bint take(self) except -1:
        """Take it out of its slot; whether it was in there."""
        return take_out(self._slot, self)

    def cancel(self):
        """Do not run it, and forget it; nothing if it ran."""
        take_out(self._slot, self)


def call_later(self, seconds, fn):
    """Run a function on the loop's thread; see driver/net/timers.py."""
    return new_timer(self, seconds, fn)


cdef object set_timer(object timers, object seconds, object fn):
    """Set a timer as these timers do it, which may be somebody's own."""
    if has_method(timers, "call_later", _call_later):
        return new_timer(timers, seconds, fn)
    return timers.call_later(seconds, fn)


cdef int cancel(object timer) except -1:
    """Cancel what ``set_timer`` gave."""
    if type(timer) is Timer:
        (<Timer>timer).take()
    else:
        timer.cancel()
    return 0


cdef Timer new_timer(object self, object seconds, object fn):
    cdef PyObject *me = <PyObject *>self
    cdef object clock, number, slot
    cdef Timer timer
    cdef double due
    if not is_instance(self, <PyObject *>Timers):
        raise TypeError(f"call_later needs Timers, not a {type(self).__name__}")
    clock = taken(me, CLOCK)
    if type(seconds) is float and clock is _monotonic and HAS_CLOCKS:
        due = (driver_now() + <double>seconds) / TICK
    else:
        # What is no number is refused in the words of Python's own addition.
        due = <double>(clock() + seconds) / TICK
    number = <long long>due + 1 if -FAR < due < FAR else int(due) + 1
    slot = found_in(taken(me, SLOTS), number)
    if slot is None:
        slot = taken(me, SLOTS).setdefault(number, {})
    timer = Timer.__new__(Timer)
    timer.fn = fn
    timer._slot = slot
    PyDict_SetItem(slot, timer, None)
    if number <= taken(me, PASSED):
        self._set_too_late(timer, number)
    elif taken(me, TICKS) is not True:
        self._start_ticking()
    return timer


METHODS = {"Timers.call_later": call_later}

cdef object _call_later = call_later
