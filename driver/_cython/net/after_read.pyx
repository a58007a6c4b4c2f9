"""Compiled form of driver/net/after_read.py: nothing is made for a read that nothing follows."""

import asyncio
import threading
from collections import deque
from contextvars import copy_context
from types import BuiltinFunctionType, MethodType

cimport cython
from cpython.object cimport PyObject
from libc.math cimport INFINITY

from ...net import after_read as pure
from ...net.loop import SLICE as LONGEST

cdef extern from *:
    """
    #ifdef _MSC_VER
    #define DRIVER_OF_THREAD __declspec(thread)
    #else
    #define DRIVER_OF_THREAD __thread
    #endif
    /* Of the read that this thread is handing out: whether there is one, and what follows it. */
    static DRIVER_OF_THREAD int read_is_open = 0;
    static DRIVER_OF_THREAD int read_takes_waiters = 0;
    static DRIVER_OF_THREAD PyObject *read_waiters = NULL;
    static DRIVER_OF_THREAD PyObject *read_functions = NULL;
    static DRIVER_OF_THREAD PyObject *read_latches = NULL;

    static int follow(PyObject **list, PyObject *what) {
        if (*list == NULL && (*list = PyList_New(0)) == NULL) return -1;
        return PyList_Append(*list, what);
    }
    static PyObject *take(PyObject **list) {
        PyObject *taken = *list;
        *list = NULL;
        if (taken == NULL) Py_RETURN_NONE;
        return taken;
    }
    #define follow_waiter(what) follow(&read_waiters, what)
    #define follow_function(what) follow(&read_functions, what)
    #define follow_latch(what) follow(&read_latches, what)
    #define take_waiters() take(&read_waiters)
    #define take_functions() take(&read_functions)
    #define take_latches() take(&read_latches)
    """
    int read_is_open
    int read_takes_waiters
    int follow_waiter(object waiter) except -1
    int follow_function(object function) except -1
    int follow_latch(object latch) except -1
    object take_waiters()
    object take_functions()
    object take_latches()

cdef extern from "Python.h":
    int PyContext_Enter(object context)
    int PyContext_Exit(object context) except -1
    void PyErr_Clear()
    PyObject *PyCFunction_GET_SELF(object function)

__all__ = ["Latch", "Waiter", "begin_read", "call_after_read", "end_read", "step_all"]

cdef object _running_loop = asyncio._get_running_loop
cdef object _current_task = asyncio.current_task
cdef object _InvalidStateError = asyncio.InvalidStateError
cdef object _CancelledError = asyncio.CancelledError
cdef object _copy_context = copy_context
cdef object _raise_soon = pure._raise_soon
cdef object _open_in_turn = pure.open_in_turn
cdef object _new_lock = threading.Lock
cdef object _popleft = deque.popleft
cdef bint _takes_turns = pure.TAKES_TURNS
cdef double SLICE = LONGEST
cdef object _Method = MethodType
cdef object _Builtin = BuiltinFunctionType
cdef object _Task = asyncio.Task


class _NoLoop:
    """As much of a loop as a future needs that is only made to be asked for its result."""

    @staticmethod
    def get_debug():
        return False


# What tasks are told that they waited for: of asyncio's own future they take the result at once,
# of any other they look up a method by a name that is made into a string each time.
cdef object _answered = asyncio.Future(loop=_NoLoop)
_answered.set_result(None)


cpdef bint begin_read() noexcept:
    """Collect what follows; False within a read. See driver/net/after_read.py."""
    global read_is_open, read_takes_waiters
    if read_is_open:
        return False
    read_is_open = read_takes_waiters = 1
    return True


cpdef int end_read(Py_ssize_t answers) except -1:
    """Step the tasks that were woken since ``begin_read``, send what they wrote, wake threads."""
    global read_is_open, read_takes_waiters
    cdef object waiters, functions, latches
    read_takes_waiters = 0
    try:
        waiters = take_waiters()
        if waiters is not None:
            step_all(<list>waiters)
    finally:
        read_is_open = 0
        try:
            functions = take_functions()
            if functions is not None:
                call_all(<list>functions, answers)
        finally:
            latches = take_latches()
            if latches is not None:
                _open_in_turn(latches)
    return 0


cdef int call_all(list functions, Py_ssize_t answers) except -1:
    for function in functions:
        try:
            if answers == 1:
                function()
            else:
                _running_loop().call_soon(function)
        except BaseException as error:
            _raise_soon(error)
    return 0


cpdef int call_after_read(object loop, object function) except -1:
    """Call after the read that this thread is handing out, or in the loop's next pass."""
    if read_is_open:
        follow_function(function)
    else:
        loop.call_soon(function)
    return 0


cpdef int step_all(list waiters) except -1:
    """Have those who wait go on: now if this is the place, else in the loop's next pass."""
    cdef object loop = _running_loop()
    cdef bint is_here = (
        loop is not None and not loop.get_debug() and _current_task(loop) is None
    )
    cdef Waiter waiter
    for waiter in waiters:
        if is_here and waiter.loop is loop:
            waiter.step()
        else:
            waiter.step_soon()
    return 0


cdef class Latch:
    """What threads wait for; see driver/net/after_read.py."""

    def __init__(self):
        """Closed."""
        self.lock = _new_lock()
        self.lock.acquire()

    cpdef bint wait(self, object timeout) except -1:
        """Wait until it is open, then have the next thread go on; False if it was not in time."""
        cdef bint is_open = False
        cdef double left = INFINITY if timeout is None else timeout
        try:
            # In slices: see there.
            while True:
                is_open = self.lock.acquire(True, min(left, SLICE))
                if is_open or left <= SLICE:
                    break
                left -= SLICE
            if is_open:
                self.lock.release()
            return is_open
        finally:
            if self.turns is not None:
                open_next(self.turns)

    cpdef int open(self) except -1:
        """Have those who wait go on, after the read that brings the outcome."""
        if _takes_turns and read_is_open:
            follow_latch(self)
        else:
            self.lock.release()
        return 0


cdef int open_next(object turns) except -1:
    """Have the next one go on, if there is one; under the interpreter's lock."""
    if turns:
        (<Latch>_popleft(turns)).lock.release()
    return 0


@cython.freelist(64)
cdef class Waiter:
    """What tasks wait for; see driver/net/after_read.py."""

    def __init__(self, loop):
        """Nobody waits yet; on the loop's thread, as everything here."""
        self.loop = loop
        self._asyncio_future_blocking = False

    cpdef void blocks(self) noexcept:
        """Say that a task which gets this from ``__await__`` has to wait for it."""
        self._asyncio_future_blocking = True

    def __await__(self):
        """What a compiled coroutine that awaits it yields to its task: this, until it has ended."""
        return self

    def __next__(self):
        if self._state != WAITS:
            raise StopIteration
        self.blocks()
        return self

    def get_loop(self):
        """The loop, as tasks ask for it."""
        return self.loop

    def add_done_callback(self, fn, *, context=None):
        """Have a task woken, in its context."""
        if context is None:
            context = _copy_context()
        if self._fn is None:
            self._fn, self._context = fn, context
        elif self._others is None:
            self._others = [(fn, context)]
        else:
            self._others.append((fn, context))
        if self._state != WAITS:
            self.step_soon()

    cpdef bint done(self) noexcept:
        """Whether nobody has to wait any more."""
        return self._state != WAITS

    cpdef bint cancelled(self) noexcept:
        """Whether it ended by ``cancel``."""
        return self._state == CANCELLED

    cpdef object result(self):
        """Nothing, where a task asks whether it is to go on."""
        if self._state == CANCELLED:
            raise _CancelledError() if self._message is None else _CancelledError(self._message)
        if self._state == WAITS:
            raise _InvalidStateError("the answer is not here yet")

    cpdef bint cancel(self, msg=None) except -1:
        """End without an answer; those who wait are cancelled. False if it had ended."""
        if self._state != WAITS:
            return False
        self._state, self._message = CANCELLED, msg
        self.step_soon()
        return True

    cpdef int wake(self) except -1:
        """End: have those who wait go on, after the read that brings the answer."""
        if self._state != WAITS:
            return 0
        self._state = ANSWERED
        if read_takes_waiters:
            follow_waiter(self)
        else:
            self.step_soon()
        return 0

    cpdef int step(self) except -1:
        """Have those who wait go on now."""
        cdef object fn = self._fn, context = self._context, others = self._others
        self._fn = self._context = self._others = None
        if fn is not None:
            self.step_one(fn, context)
        if others is not None:
            for fn, context in <list>others:
                self.step_one(fn, context)
        return 0

    cdef int step_one(self, object fn, object context) except -1:
        if type(fn) is _Method:  # of a task that is written in Python
            self.loop.call_soon(fn, self, context=context)
            return 0
        if PyContext_Enter(context) < 0:
            PyErr_Clear()  # whoever called has entered the context of the task
            self.loop.call_soon(fn, self, context=context)
            return 0
        try:
            if (
                self._state == ANSWERED
                and type(fn) is _Builtin
                and PyCFunction_GET_SELF(fn) != NULL
                and isinstance(<object>PyCFunction_GET_SELF(fn), _Task)
            ):
                fn(_answered)
            else:
                fn(self)
        except BaseException as error:
            _raise_soon(error)
        PyContext_Exit(context)
        return 0

    cpdef int step_soon(self) except -1:
        """Have those who wait go on in the loop's next pass."""
        cdef object fn = self._fn, context = self._context, others = self._others
        self._fn = self._context = self._others = None
        if fn is not None:
            self.loop.call_soon(fn, self, context=context)
        if others is not None:
            for fn, context in <list>others:
                self.loop.call_soon(fn, self, context=context)
        return 0
