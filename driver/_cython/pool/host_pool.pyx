"""Compiled form of driver/pool/host_pool.py: the one connection to a host, lent and given back."""

from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE

from driver._cython.net.streams cimport taken_by
from driver._cython.slots cimport is_instance, slot_offset, taken

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
    if (
        not is_instance(connection, <PyObject *>_Connection)
        or taken(<PyObject *>connection, ORPHANS)
    ):
        return_plainly(self, connection)


METHODS = {
    "HostPool.borrow_connection": borrow_connection,
    "HostPool.return_connection": return_connection,
}
