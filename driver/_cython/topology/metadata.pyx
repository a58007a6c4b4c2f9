"""Compiled form of driver/topology/metadata.py: from a partition key to its replicas."""

from cpython.object cimport PyObject

from driver._cython.slots cimport is_instance, slot_offset, taken

from ...topology import metadata as pure
from ...topology import token
from ...topology.tablets import Tablets

__all__ = []

cdef object Metadata = pure.Metadata
cdef object replicas_plainly = pure.Metadata.get_replicas
cdef object _Murmur3Token = token.Murmur3Token
cdef object _token = token
cdef object _MIN = token.MIN_LONG
cdef Py_ssize_t TOKEN_MAP = slot_offset(Metadata, b"token_map")
cdef Py_ssize_t TABLETS = slot_offset(Metadata, b"tablets")
cdef Py_ssize_t OF_TABLES = slot_offset(Tablets, b"_tablets")


def get_replicas(self, keyspace, key, table=None):
    """Hosts that hold a partition key; see driver/topology/metadata.py."""
    cdef PyObject *me = <PyObject *>self
    cdef object ring, tablets, value
    if not is_instance(self, <PyObject *>Metadata):
        raise TypeError(f"a Metadata is needed, not a {type(self).__name__}")
    ring = taken(me, TOKEN_MAP)
    tablets = taken(me, TABLETS)
    if (
        ring is not None
        and ring.token_class is _Murmur3Token
        and (table is None or not taken(<PyObject *>tablets, OF_TABLES))
    ):
        value = _token.murmur3(key)
        if value != _MIN:  # which Murmur3Token.hash_fn takes for another one
            return list(ring.replicas_at(keyspace, value))
    return replicas_plainly(self, keyspace, key, table)


METHODS = {"Metadata.get_replicas": get_replicas}
