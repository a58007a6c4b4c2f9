"""Compiled form of driver/topology/ring.py: the replicas of a token."""

from bisect import bisect_left

from cpython.object cimport PyObject
from cpython.list cimport PyList_GET_SIZE

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


METHODS = {"TokenMap.replicas_at": replicas_at}
