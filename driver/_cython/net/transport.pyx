"""Compiled form of driver/net/transport.py: what a request writes, and what reads its answer.

System calls that cannot wait keep the interpreter's lock. Python gives it up around each of them:
another thread takes it, and this one sleeps until that gives it up, 5 ms later if it computes.
"""

import socket
import threading
import time
from collections import deque

from cpython.bytes cimport (
    PyBytes_AS_STRING,
    PyBytes_FromStringAndSize,
    PyBytes_GET_SIZE,
)
from cpython.exc cimport PyErr_CheckSignals, PyErr_SetFromErrno
from cpython.object cimport PyObject

from driver._cython.net.calls cimport (
    DRIVER_CALLS,
    driver_listen,
    driver_recv,
    driver_send,
    driver_wait,
)
from driver._cython.net.shared_reading cimport SharedReading
from driver._cython.slots cimport (
    FREE_THREADED,
    has_method,
    is_instance,
    put,
    self_of,
    slot_offset,
    taken,
)

from ...net import transport as pure
from ...net.after_read import others_compute
from ...net.loop import SLICE, call_on_loop

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident()

__all__ = ["send_postponed"]

cdef enum:
    READ_SIZE = 65536
    #: Bytes that are sent with the interpreter's lock: copying more takes longer than giving it up.
    AT_ONCE = 16384
assert READ_SIZE == pure.READ_SIZE

cdef object Transport = pure.SocketTransport
cdef object write_plainly = pure.SocketTransport.write
cdef object Socket = socket.socket
cdef object monotonic = time.monotonic
cdef object REST = pure._REST
#: The same after more threads waited than read in turn.
cdef object LONG_REST = 100 * REST
cdef double LONGEST = SLICE
#: What is read, for as long as it takes to make bytes of it, with the interpreter's lock.
cdef char received[READ_SIZE]
cdef Py_ssize_t IS_CLOSING = slot_offset(Transport, b"is_closing")
cdef Py_ssize_t FD = slot_offset(Transport, b"_fd")
cdef Py_ssize_t HEARD = slot_offset(Transport, b"_heard_by_loop")
cdef Py_ssize_t LOOP = slot_offset(Transport, b"_loop")
cdef Py_ssize_t THREAD = slot_offset(Transport, b"_thread")
cdef Py_ssize_t SOCK = slot_offset(Transport, b"_sock")
cdef Py_ssize_t LOCK = slot_offset(Transport, b"_lock")
cdef Py_ssize_t PENDING = slot_offset(Transport, b"_pending")
cdef Py_ssize_t READER = slot_offset(Transport, b"_reader")
cdef Py_ssize_t READING = slot_offset(Transport, b"_reading")
cdef Py_ssize_t TO_REST = slot_offset(Transport, b"_rest")
cdef Py_ssize_t WAS_ANSWERED = slot_offset(Transport, b"_was_answered")
cdef Py_ssize_t FLUSH_IS_DUE = slot_offset(Transport, b"_flush_is_due")
cdef Py_ssize_t FLUSH_FOLLOWS = slot_offset(Transport, b"_flush_follows")
cdef Py_ssize_t HANDS_OUT = slot_offset(Transport, b"_hands_out")
cdef Py_ssize_t SHARED = slot_offset(Transport, b"_shared")
cdef Py_ssize_t SENDS_AT_ONCE = slot_offset(Transport, b"_sends_at_once")
cdef Py_ssize_t WAITS = slot_offset(Transport, b"_waits_for_room")
cdef object _postponed = pure._postponed
cdef object _append = deque.append
cdef object _popleft = deque.popleft
cdef object _locked = type(threading.Lock()).locked


cdef inline PyObject *checked(object self) except NULL:
    """A transport, whose slots are where they are expected."""
    if not is_instance(self, <PyObject *>Transport):
        raise TypeError(f"a SocketTransport is needed, not a {type(self).__name__}")
    return <PyObject *>self


cdef inline bint is_here(PyObject *me) except -1:
    return <unsigned long>taken(me, THREAD) == PyThread_get_thread_ident()


cdef object recv(PyObject *me):
    """What is there; errors as those of ``socket.recv``."""
    cdef object sock = taken(me, SOCK)
    cdef Py_ssize_t size
    # A closed descriptor may be another socket's.
    if (
        DRIVER_CALLS
        and not FREE_THREADED
        and type(sock) is Socket
        and taken(me, IS_CLOSING) is False
    ):
        size = driver_recv(<int>taken(me, FD), received, READ_SIZE)
        if size < 0:
            PyErr_SetFromErrno(OSError)
        return PyBytes_FromStringAndSize(received, size)
    return sock.recv(READ_SIZE)


cdef Py_ssize_t send(PyObject *me, object data, bint is_rest) except -1:
    """Send what the socket takes; errors as those of ``socket.send``. With the lock, and open."""
    cdef object sock = taken(me, SOCK)
    cdef object shared = taken(me, SHARED)
    cdef Py_ssize_t size
    if shared is not None:
        return send_between(<SharedReading>shared, bytes(data), is_rest)
    if (
        DRIVER_CALLS
        and type(sock) is Socket
        and type(data) is bytes
        and PyBytes_GET_SIZE(data) <= AT_ONCE
    ):
        size = driver_send(<int>taken(me, FD), PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
        if size < 0:
            PyErr_SetFromErrno(OSError)
        return size
    return sock.send(data)


cdef Py_ssize_t send_between(SharedReading shared, bytes data, bint is_rest) except -1:
    """The same beside threads that send without the interpreter's lock."""
    cdef const char *start = PyBytes_AS_STRING(data)
    cdef Py_ssize_t size = PyBytes_GET_SIZE(data), sent
    if size <= AT_ONCE:
        sent = shared.send(start, size, is_rest)
    else:
        with nogil:
            sent = shared.send(start, size, is_rest)
    if sent < 0:
        PyErr_SetFromErrno(OSError)
    return sent


cdef int keep_rest(PyObject *me, object data, Py_ssize_t sent) except -1:
    """Keep what was not sent, in front of what the loop's thread wrote meanwhile; with the lock."""
    cdef object shared = taken(me, SHARED)
    taken(me, PENDING).appendleft(data[sent:])
    if shared is not None and sent:
        (<SharedReading>shared).own.rest_is_pending = True
    return 0


def read(self, on_data):
    """Take what is there and hand it on; see driver/net/transport.py."""
    checked(self)
    return read_for(self, on_data)


cdef object read_for(object self, object on_data):
    cdef PyObject *me = <PyObject *>self
    cdef object data
    try:
        data = recv(me)
    except (BlockingIOError, InterruptedError):
        return None
    except OSError as error:
        call_on_loop(taken(me, LOOP), taken(me, THREAD), self._end, error)
        return None
    if data:
        put(me, WAS_ANSWERED, True)
        return on_data(data)
    call_on_loop(taken(me, LOOP), taken(me, THREAD), self._end, None)
    return None


def read_in_turn(self, on_data):
    """The same, unless another thread has just taken over."""
    cdef PyObject *me = checked(self)
    cdef object reading = taken(me, READING)
    if reading.acquire(False):
        put(me, HANDS_OUT, True)
        try:
            read_for(self, on_data)
        finally:
            reading.release()
            put(me, SENDS_AT_ONCE, others_compute())
            put(me, HANDS_OUT, False)
            if taken(me, FLUSH_FOLLOWS) is not False:
                self.flush()


def take_over_reading(self):
    """Have this thread read in place of the loop; see driver/net/transport.py."""
    cdef PyObject *me = checked(self)
    cdef object rest = taken(me, TO_REST), lock
    cdef bint is_mine = False
    if rest:
        put(me, TO_REST, rest - 1)
        return False
    if taken(me, HEARD) is None or is_here(me) or not taken(me, READING).acquire(False):
        return False
    lock = taken(me, LOCK)
    try:
        lock.acquire()
        try:
            if taken(me, IS_CLOSING) is False and taken(me, WAITS) is False:
                put(me, READER, PyThread_get_thread_ident())
                listen(me, False)
                is_mine = True
        finally:
            lock.release()
    finally:
        if not is_mine:
            taken(me, READING).release()
    return is_mine


cdef int listen(PyObject *me, bint listens) except -1:
    """Have the loop hear of what comes, or not; with the lock."""
    if driver_listen(<int>taken(me, HEARD).fileno(), <int>taken(me, FD), listens) < 0:
        PyErr_SetFromErrno(OSError)
    return 0


def wait_for_data(self, until):
    """Wait until something is there to read; see driver/net/transport.py."""
    cdef PyObject *me = checked(self)
    cdef object loop = taken(me, LOOP)
    cdef int fd = <int>taken(me, FD)
    cdef int found
    cdef double left = LONGEST
    while taken(me, IS_CLOSING) is False and not loop.is_closed():
        if until is not None:
            left = min(LONGEST, max(<double>until - <double>monotonic(), 0))
        with nogil:
            found = driver_wait(fd, left)
        if found > 0:
            return True
        if found < 0:
            PyErr_SetFromErrno(OSError)
        PyErr_CheckSignals()
        if until is not None and monotonic() >= until:
            return False
    return False


def hand_reading_back(self, *, is_disturbed=False):
    """Have the loop read again; see driver/net/transport.py."""
    cdef PyObject *me = checked(self)
    cdef object lock = taken(me, LOCK)
    lock.acquire()
    try:
        if taken(me, READER) != PyThread_get_thread_ident():
            return
        put(me, READER, None)
        if is_disturbed:
            put(me, TO_REST, REST)
        if taken(me, IS_CLOSING) is not False:
            self._close_socket()
        elif taken(me, HEARD) is not None:
            listen(me, True)
    finally:
        lock.release()
    taken(me, READING).release()


cdef SharedReading shared_of(object self):
    """The threads that read in turn, or did; None if none ever have."""
    if not is_instance(self, <PyObject *>Transport):
        return None
    return <SharedReading>taken(<PyObject *>self, SHARED)


cdef SharedReading begin_sharing(
    object self, int version, bint in_segments, Py_ssize_t strays
):
    """Have this thread, which has taken over, share reading with others; None if it cannot."""
    cdef PyObject *me = <PyObject *>self
    cdef object shared
    if FREE_THREADED or not is_instance(self, <PyObject *>Transport):
        return None
    if type(taken(me, SOCK)) is not Socket:
        return None
    shared = taken(me, SHARED)
    if shared is None:
        shared = SharedReading()
        put(me, SHARED, shared)
    if (<SharedReading>shared).begin(
        <int>taken(me, FD), version, in_segments, strays
    ):
        put(me, READER, 0)  # no thread's own: the last one that leaves hands it back
        return <SharedReading>shared
    return None


cdef int leave_to_loop(object self, bint is_disturbed) except -1:
    """Have the loop read again, once; the socket stays open until the last thread has left."""
    cdef PyObject *me = <PyObject *>self
    cdef SharedReading shared = <SharedReading>taken(me, SHARED)
    cdef object lock = taken(me, LOCK)
    lock.acquire()
    try:
        if not shared.is_loops:
            have_loop_read(me, shared, is_disturbed)
    finally:
        lock.release()
    return 0


cdef int have_loop_read(PyObject *me, SharedReading shared, bint is_disturbed) except -1:
    """The same with the lock, where the loop does not read."""
    put(me, WAS_ANSWERED, True)
    if shared.is_crowded:
        put(me, TO_REST, LONG_REST)
    elif is_disturbed:
        put(me, TO_REST, REST)
    shared.is_loops = True
    if taken(me, IS_CLOSING) is False and taken(me, HEARD) is not None:
        listen(me, True)
    taken(me, READING).release()
    return 0


cdef int end_sharing(object self) except -1:
    """The same, after the last thread has left; whoever takes over next finds all at rest."""
    cdef PyObject *me = <PyObject *>self
    cdef SharedReading shared = <SharedReading>taken(me, SHARED)
    cdef object lock = taken(me, LOCK)
    lock.acquire()
    try:
        put(me, READER, None)
        shared.own.number = 0
        if not shared.is_loops:
            have_loop_read(me, shared, False)
        if taken(me, IS_CLOSING) is not False:
            self._close_socket()
    finally:
        lock.release()
    return 0


cdef int read_alone(object self) except -1:
    """Have this thread, the last one of those who shared, read as if it had taken over."""
    cdef PyObject *me = <PyObject *>self
    put(me, READER, PyThread_get_thread_ident())
    (<SharedReading>taken(me, SHARED)).own.number = 0
    return 0


cdef int send_rest(object self) except -1:
    """Have the loop send what threads that read in turn could not send."""
    cdef PyObject *me = <PyObject *>self
    cdef object lock = taken(me, LOCK), rest, more
    cdef SharedReading shared = shared_of(self)
    lock.acquire()
    try:
        rest, more = shared.unsent()
        if rest:
            taken(me, PENDING).appendleft(rest)
            shared.own.rest_is_pending = True
        if more:
            taken(me, PENDING).append(more)
    finally:
        lock.release()
    self.flush_on_loop()
    return 0


def write(self, data):
    """Send bytes; nothing if the transport is closing. See driver/net/transport.py."""
    write_to(self, data)


cdef int write_by(object transport, object data) except -1:
    """Have a transport send bytes, which may be somebody's own."""
    if has_method(transport, "write", _write):
        write_to(transport, data)
    else:
        transport.write(data)
    return 0


cdef int write_to(object self, object data) except -1:
    cdef PyObject *me = checked(self)
    cdef object lock, failure = None
    cdef Py_ssize_t sent = 0
    if is_here(me):
        write_plainly(self, data)
        return 0
    lock = taken(me, LOCK)
    if (
        not FREE_THREADED
        and taken(me, FLUSH_IS_DUE) is not False
        and taken(me, IS_CLOSING) is False
        and not _locked(lock)
    ):
        # As below: no other thread runs until it is with the others, which leave soon.
        _append(taken(me, PENDING), data)
        return 0
    lock.acquire()
    try:
        if taken(me, IS_CLOSING) is not False:
            return 0
        if (
            taken(me, WAITS) is not False
            or (taken(me, WAS_ANSWERED) is False and taken(me, SENDS_AT_ONCE) is False)
            or taken(me, PENDING)
        ):
            taken(me, PENDING).append(data)
            if taken(me, FLUSH_IS_DUE) is not False or taken(me, WAITS) is not False:
                return 0
            put(me, FLUSH_IS_DUE, True)
            put(me, FLUSH_FOLLOWS, True)  # before the look at whether somebody will look at it
            if taken(me, HANDS_OUT) is not False:
                return 0
            if taken(me, HEARD) is not None:
                _postponed.append(self)
                return 0
        else:
            put(me, WAS_ANSWERED, False)
            try:
                sent = send(me, data, False)
            except (BlockingIOError, InterruptedError):
                pass
            except OSError as error:
                failure = error
            if sent == len(data):
                return 0
            if failure is None:
                keep_rest(me, data, sent)
    finally:
        lock.release()
    # Without the lock: where the loop is closed, both are called here, and take it.
    if failure is None:
        self.flush_on_loop()
    else:
        call_on_loop(taken(me, LOOP), taken(me, THREAD), self._end, failure)
    return 0


def flush(self):
    """Send what waits, on any thread; see driver/net/transport.py."""
    cdef PyObject *me = checked(self)
    cdef object lock = taken(me, LOCK), error
    cdef bint is_left
    lock.acquire()
    try:
        put(me, FLUSH_IS_DUE, False)
        put(me, FLUSH_FOLLOWS, False)
        if taken(me, WAITS) is not False or taken(me, IS_CLOSING) is not False:
            return
        error = send_all(self)
        is_left = taken(me, PENDING) and not is_here(me)
    finally:
        lock.release()
    if error is not None:
        call_on_loop(taken(me, LOOP), taken(me, THREAD), self._end, error)
    elif is_left and not taken(me, LOOP).is_closed():
        self.flush_on_loop()


def send_pending(self):
    """Send what waits; see driver/net/transport.py."""
    checked(self)
    return send_all(self)


cdef object send_all(object self):
    cdef PyObject *me = <PyObject *>self
    cdef object pending = taken(me, PENDING), data
    cdef Py_ssize_t sent = 0
    cdef object shared = taken(me, SHARED)
    if not pending or (
        shared is not None
        and (<SharedReading>shared).own.is_torn
        and not (<SharedReading>shared).own.rest_is_pending
    ):
        return None
    data = pending[0] if len(pending) == 1 else b"".join(pending)
    pending.clear()
    try:
        sent = send(me, data, True)
    except (BlockingIOError, InterruptedError):
        pass
    except OSError as error:
        return error
    if sent < len(data):
        keep_rest(me, data, sent)
        if taken(me, WAITS) is False and is_here(me):
            put(me, WAITS, True)
            taken(me, LOOP).add_writer(taken(me, FD), self._room)
    return None


cpdef int send_postponed(bint on_loop=False) except -1:
    """Send what was postponed; see driver/net/transport.py."""
    cdef object transport
    while _postponed:
        try:
            transport = _popleft(_postponed)
        except IndexError:  # without the interpreter's lock another thread may have taken it
            return 0
        if on_loop:
            transport.flush_on_loop()
        else:
            transport.flush()
    return 0


METHODS = {
    "SocketTransport.write": write,
    "SocketTransport.read": read,
    "SocketTransport._read_in_turn": read_in_turn,
    "SocketTransport.flush": flush,
    "SocketTransport._send_pending": send_pending,
    "SocketTransport.hand_reading_back": hand_reading_back,
    "SocketTransport.take_over_reading": take_over_reading,
    "SocketTransport.wait_for_data": wait_for_data,
}

cdef object _write = write


cdef bint writes(object method) except -1:
    """Whether a method is the one by which a transport sends."""
    return self_of(method, _write) is not None
