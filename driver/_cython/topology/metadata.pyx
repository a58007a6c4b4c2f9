"""Compiled form of driver/topology/metadata.py: from a partition key to its replicas."""

from cpython.object cimport PyObject

from libc.stdint cimport int64_t

from driver._cython.slots cimport has_method, is_instance, slot_offset, taken
from driver._cython.topology.ring cimport replicas_of
from driver._cython.topology.token cimport hash_of_key

from ...topology import metadata as pure
from ...topology import ring, token
from ...topology.tablets import Tablets

__all__ = []

cdef object Metadata = pure.Metadata
cdef object replicas_plainly = pure.Metadata.get_replicas
cdef object _Murmur3Token = token.Murmur3Token
cdef object _TokenMap = ring.TokenMap
cdef int64_t _MIN = token.MIN_LONG
cdef Py_ssize_t TOKEN_CLASS = slot_offset(ring.TokenMap, b"token_class")
cdef Py_ssize_t TOKEN_MAP = slot_offset(Metadata, b"token_map")
cdef Py_ssize_t TABLETS = slot_offset(Metadata, b"tablets")
cdef Py_ssize_t OF_TABLES = slot_offset(Tablets, b"by_table")


def get_replicas(self, keyspace, key, table=None):
    """Hosts that hold a partition key; see driver/topology/metadata.py."""
    cdef object replicas = shared_replicas(self, keyspace, key, table)
    return replicas if type(replicas) is list else list(replicas)


cdef object replicas_for(object metadata, object keyspace, object key, object table):
    """As ``get_replicas`` of these metadata gives them, to be looked at and not changed."""
    if has_method(metadata, "get_replicas", _get_replicas):
        return shared_replicas(metadata, keyspace, key, table)
    if table is None:
        return metadata.get_replicas(keyspace, key)
    return metadata.get_replicas(keyspace, key, table)


cdef object shared_replicas(object self, object keyspace, object key, object table):
    """A list that is the caller's, or the tuple of a token range, which is the ring's."""
    cdef PyObject *me = <PyObject *>self
    cdef object token_map, tablets
    cdef int64_t value
    if not is_instance(self, <PyObject *>Metadata):
        raise TypeError(f"a Metadata is needed, not a {type(self).__name__}")
    token_map = taken(me, TOKEN_MAP)
    tablets = taken(me, TABLETS)
    if (
        type(token_map) is _TokenMap
        and taken(<PyObject *>token_map, TOKEN_CLASS) is _Murmur3Token
        and (table is None or not taken(<PyObject *>tablets, OF_TABLES))
        and type(key) is bytes
    ):
        value = hash_of_key(key)
        if value != _MIN:  # which Murmur3Token.hash_fn takes for another one
            return replicas_of(token_map, keyspace, value)
    return replicas_plainly(self, keyspace, key, table)


METHODS = {"Metadata.get_replicas": get_replicas}

cdef object _get_replicas = get_replicas
