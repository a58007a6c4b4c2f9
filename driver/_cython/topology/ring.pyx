"""Compiled form of driver/topology/ring.py: the replicas of a token."""

from bisect import bisect_left

from cpython.object cimport PyObject
from cpython.list cimport PyList_GET_ITEM, PyList_GET_SIZE
from cpython.long cimport PyLong_AsLongLong
from libc.stdint cimport int64_t

from driver._cython.slots cimport is_instance, slot_offset, taken

from ...topology import ring as pure

__all__ = []

cdef object TokenMap = pure.TokenMap
cdef object replicas_plainly = pure.TokenMap.replicas_at
cdef object _bisect_left = bisect_left
cdef Py_ssize_t PLACED = slot_offset(TokenMap, b"tokens_to_hosts_by_ks")
cdef Py_ssize_t VALUES = slot_offset(TokenMap, b"_values")
cdef Py_ssize_t IN_ORDER = slot_offset(pure.PlacedReplicas, b"in_order")


def replicas_at(self, keyspace, value):
    """Hosts that hold the value of a token; see driver/topology/ring.py."""
    cdef PyObject *me = <PyObject *>self
    cdef object placed
    cdef list replicas
    cdef Py_ssize_t place
    if not is_instance(self, <PyObject *>TokenMap):
        raise TypeError(f"a TokenMap is needed, not a {type(self).__name__}")
    placed = (<dict?>taken(me, PLACED)).get(keyspace)
    if not placed:
        return replicas_plainly(self, keyspace, value)
    replicas = taken(<PyObject *>placed, IN_ORDER)
    place = _bisect_left(taken(me, VALUES), value)
    return replicas[place if place < PyList_GET_SIZE(replicas) else 0]


cdef object replicas_of(object ring, object keyspace, int64_t value):
    """The same of a ring whose tokens are integers of 64 bits, as ``replicas_at`` gives it."""
    cdef PyObject *me = <PyObject *>ring
    cdef object placed
    cdef list replicas, values
    cdef Py_ssize_t low = 0, high, middle
    if not is_instance(ring, <PyObject *>TokenMap):
        return ring.replicas_at(keyspace, value)
    placed = (<dict?>taken(me, PLACED)).get(keyspace)
    if not placed:
        return replicas_plainly(ring, keyspace, value)
    replicas, values = taken(<PyObject *>placed, IN_ORDER), taken(me, VALUES)
    high = PyList_GET_SIZE(values)
    while low < high:
        middle = (low + high) // 2
        if PyLong_AsLongLong(<object>PyList_GET_ITEM(values, middle)) < value:
            low = middle + 1
        else:
            high = middle
    return replicas[low if low < PyList_GET_SIZE(replicas) else 0]


METHODS = {"TokenMap.replicas_at": replicas_at}
