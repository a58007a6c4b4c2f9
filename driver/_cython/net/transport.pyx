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
cdef Py_ssize_t FLUSH_IS_DUE = slot_offset(Transport, b"_flush_is_due")
cdef Py_ssize_t WAITS = slot_offset(Transport, b"_waits_for_room")


cdef inline PyObject *checked(object self) except NULL:
    """A transport, whose slots are where they are expected."""
    if not is_instance(self, <PyObject *>Transport):
        raise TypeError(f"a SocketTransport is needed, not a {type(self).__name__}")
    return <PyObject *>self


def read(self, on_data):
    """Take what is there and hand it on; see driver/net/transport.py."""
    checked(self)
    return read_for(self, on_data)


cdef object read_for(object self, object on_data):
    cdef PyObject *me = <PyObject *>self
    cdef object data
    try:
        data = taken(me, SOCK).recv(READ_SIZE)
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
    cdef object reading = taken(checked(self), READING)
    if reading.acquire(False):
        try:
            read_for(self, on_data)
        finally:
            reading.release()


def write(self, data):
    """Send bytes; nothing if the transport is closing. See driver/net/transport.py."""
    cdef PyObject *me = checked(self)
    cdef object lock, failure = None
    cdef Py_ssize_t sent = 0
    if <unsigned long>taken(me, THREAD) == PyThread_get_thread_ident():
        return write_plainly(self, data)
    lock = taken(me, LOCK)
    lock.acquire()
    try:
        if taken(me, IS_CLOSING) is not False:
            return
        if (
            taken(me, WAITS) is not False
            or taken(me, WAS_ANSWERED) is False
            or taken(me, PENDING)
        ):
            taken(me, PENDING).append(data)
            if taken(me, FLUSH_IS_DUE) is not False or taken(me, WAITS) is not False:
                return
            put(me, FLUSH_IS_DUE, True)
        else:
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
    if failure is None:
        call_on_loop(taken(me, LOOP), taken(me, THREAD), self._flush)
    else:
        call_on_loop(taken(me, LOOP), taken(me, THREAD), self._end, failure)


METHODS = {
    "SocketTransport.write": write,
    "SocketTransport.read": read,
    "SocketTransport._read_in_turn": read_in_turn,
}
