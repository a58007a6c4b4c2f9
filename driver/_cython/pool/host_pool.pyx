"""Compiled form of driver/pool/host_pool.py: the one connection to a host, lent and given back."""

from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE

from driver._cython.net.streams cimport taken_by
from driver._cython.slots cimport has_method, is_instance, slot_offset, taken

from ...net.connection import Connection
from ...pool import host_pool as pure

__all__ = []

cdef object HostPool = pure.HostPool
cdef object borrow_plainly = pure.HostPool.borrow_connection
cdef object return_plainly = pure.HostPool.return_connection
cdef object _Connection = Connection
cdef Py_ssize_t CONNECTIONS = slot_offset(HostPool, b"_connections")
cdef Py_ssize_t IS_CLOSED = slot_offset(Connection, b"is_closed")
cdef Py_ssize_t ORPHANS = slot_offset(Connection, b"orphaned_request_ids")
cdef Py_ssize_t TAKE = slot_offset(Connection, b"get_request_id")


cdef inline PyObject *checked(object self) except NULL:
    """A pool, whose slots are where they are expected."""
    if not is_instance(self, <PyObject *>HostPool):
        raise TypeError(f"a HostPool is needed, not a {type(self).__name__}")
    return <PyObject *>self


def borrow_connection(self, routing_token=None, shard=None):
    """A connection with a free stream, and that stream; see driver/pool/host_pool.py."""
    return borrowed(self, routing_token, shard)


cdef object borrow(object pool):
    """Borrow as the pool lends, which may be one of somebody's own."""
    if has_method(pool, "borrow_connection", _borrow_connection):
        return borrowed(pool, None, None)
    return pool.borrow_connection()


cdef object borrowed(object self, object routing_token, object shard):
    cdef object connections = <tuple?>taken(checked(self), CONNECTIONS)
    cdef PyObject *connection
    if PyTuple_GET_SIZE(connections) == 1:
        # Whatever shard is asked for, it is the only one.
        connection = PyTuple_GET_ITEM(connections, 0)
        if (
            is_instance(<object>connection, <PyObject *>_Connection)
            and taken(connection, IS_CLOSED) is False
        ):
            return <object>connection, taken_by(taken(connection, TAKE))
    return borrow_plainly(self, routing_token, shard)


def return_connection(self, connection):
    """Take a connection back, whatever became of its request."""
    checked(self)
    take_back(self, connection)


cdef int give_back(object pool, object connection) except -1:
    """Give a connection back as the pool takes it."""
    if has_method(pool, "return_connection", _return_connection):
        take_back(pool, connection)
    else:
        pool.return_connection(connection)
    return 0


cdef int take_back(object self, object connection) except -1:
    if (
        not is_instance(connection, <PyObject *>_Connection)
        or taken(<PyObject *>connection, ORPHANS)
    ):
        return_plainly(self, connection)
    return 0


METHODS = {
    "HostPool.borrow_connection": borrow_connection,
    "HostPool.return_connection": return_connection,
}

cdef object _borrow_connection = borrow_connection
cdef object _return_connection = return_connection
