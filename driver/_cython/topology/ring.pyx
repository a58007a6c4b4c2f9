"""Compiled form of driver/topology/ring.py: the replicas of a token."""

from bisect import bisect_left

from cpython.array cimport array
from cpython.list cimport PyList_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from driver._cython.slots cimport is_instance, slot_offset, taken

from ...topology import ring as pure

__all__ = []

cdef object TokenMap = pure.TokenMap
cdef object replicas_plainly = pure.TokenMap.replicas_at
cdef object values_plainly = pure.TokenMap._values_to_search
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
    cdef object placed, values
    cdef list replicas
    cdef const long long *numbers
    cdef Py_ssize_t low = 0, high, middle
    if not is_instance(ring, <PyObject *>TokenMap):
        return ring.replicas_at(keyspace, value)
    placed = (<dict?>taken(me, PLACED)).get(keyspace)
    values = taken(me, VALUES)
    if not placed or type(values) is not array:
        return replicas_plainly(ring, keyspace, value)
    replicas = taken(<PyObject *>placed, IN_ORDER)
    numbers, high = (<array>values).data.as_longlongs, len(<array>values)
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < value:
            low = middle + 1
        else:
            high = middle
    return replicas[low if low < PyList_GET_SIZE(replicas) else 0]


def values_to_search(self):
    """The values of the tokens, in an array if they fit; see driver/topology/ring.py."""
    cdef list values = values_plainly(self)
    try:
        return array("q", values)
    except (OverflowError, TypeError):  # MD5's have 128 bits, and others are bytes
        return values


METHODS = {"TokenMap._values_to_search": values_to_search, "TokenMap.replicas_at": replicas_at}
