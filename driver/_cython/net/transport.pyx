"""Compiled form of driver/net/transport.py: a read, and a write of another thread."""

from cpython.object cimport PyObject

from driver._cython.slots cimport is_instance, put, slot_offset, taken

from ...net import transport as pure
from ...net.loop import call_on_loop

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident()

__all__ = []

cdef object Transport = pure.SocketTransport
cdef object write_plainly = pure.SocketTransport.write
cdef object READ_SIZE = pure.READ_SIZE
cdef Py_ssize_t IS_CLOSING = slot_offset(Transport, b"is_closing")
cdef Py_ssize_t LOOP = slot_offset(Transport, b"_loop")
cdef Py_ssize_t THREAD = slot_offset(Transport, b"_thread")
cdef Py_ssize_t SOCK = slot_offset(Transport, b"_sock")
cdef Py_ssize_t LOCK = slot_offset(Transport, b"_lock")
cdef Py_ssize_t PENDING = slot_offset(Transport, b"_pending")
cdef Py_ssize_t READING = slot_offset(Transport, b"_reading")
cdef Py_ssize_t WAS_ANSWERED = slot_offset(Transport, b"_was_answered")
cdef Py_ssize_t WAITS = slot_offset(Transport, b"_waits_for_room")


cdef inline PyObject *checked(object self) except NULL:
    """A transport, whose slots are where they are expected."""
    if not is_instance(self, <PyObject *>Transport):
        raise TypeError(f"a SocketTransport is needed, not a {type(self).__name__}")
    return <PyObject *>self


def read(self, on_data):
    """Take what is there and hand it on."""
    cdef object reading = taken(checked(self), READING)
    cdef object data
    if not reading.acquire(False):
        return  # another thread has just taken over
    try:
        data = received(self)
        if data:
            on_data(data)
    finally:
        reading.release()


def receive(self):
    """What is there; see driver/net/transport.py."""
    checked(self)
    return received(self)


cdef object received(object self):
    cdef PyObject *me = <PyObject *>self
    cdef object data
    try:
        data = taken(me, SOCK).recv(READ_SIZE)
    except (BlockingIOError, InterruptedError):
        return b""
    except OSError as error:
        call_on_loop(taken(me, LOOP), taken(me, THREAD), self._end, error)
        return b""
    if data:
        put(me, WAS_ANSWERED, True)
    else:
        call_on_loop(taken(me, LOOP), taken(me, THREAD), self._end, None)
    return data


def write(self, data):
    """Send bytes; nothing if the transport is closing. See driver/net/transport.py."""
    cdef PyObject *me = checked(self)
    cdef object lock, failure = None
    cdef Py_ssize_t sent = 0
    cdef bint is_alone
    if <unsigned long>taken(me, THREAD) == PyThread_get_thread_ident():
        return write_plainly(self, data)
    lock = taken(me, LOCK)
    lock.acquire()
    try:
        is_alone = (
            taken(me, IS_CLOSING) is False
            and taken(me, WAITS) is False
            and taken(me, WAS_ANSWERED) is not False
            and not taken(me, PENDING)
        )
        if is_alone:
            put(me, WAS_ANSWERED, False)
            try:
                sent = taken(me, SOCK).send(data)
            except (BlockingIOError, InterruptedError):
                pass
            except OSError as error:
                failure = error
            if sent == len(data):
                return
            if failure is None:
                # In front of what the loop's thread wrote meanwhile.
                taken(me, PENDING).appendleft(data[sent:])
    finally:
        lock.release()
    # Without the lock: where the loop is closed, both are called here, and take it.
    if not is_alone:
        self._send_from_elsewhere(data)
    elif failure is None:
        call_on_loop(taken(me, LOOP), taken(me, THREAD), self._flush)
    else:
        call_on_loop(taken(me, LOOP), taken(me, THREAD), self._end, failure)


METHODS = {
    "SocketTransport.write": write,
    "SocketTransport._read": read,
    "SocketTransport.receive": receive,
}
