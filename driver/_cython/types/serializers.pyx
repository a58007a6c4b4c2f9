"""The compiled twin of types/serializers.py.

A class of its own encodes what it is sure of; any other value goes to the type's own
``serialize``, so that what is taken, the exception and its message are those of the pure
implementation by construction.
"""

from ...types.wrapper import FrozenType, ReversedType

__all__ = ["Serializer", "find_serializer", "make_serializers"]


cdef class Serializer:
    """Encodes the values of one CQL type, by the type's own method.

    Attributes:
        cqltype: the type; of a frozen or reversed type the one inside.
        serialize: ``serialize(value, protocol_version) -> bytes``; see the pure module.
    """

    cdef readonly object cqltype
    cdef readonly object serialize

    def __init__(self, cqltype):
        """Take the type."""
        self.cqltype = cqltype
        self.serialize = cqltype.serialize


cdef dict _CLASSES = {}

cdef dict _found = {}


cdef object _class_for(object cqltype):
    """The class for a type; Serializer for all that have none, and for types of applications."""
    return _CLASSES.get(cqltype, Serializer)


def find_serializer(cqltype):
    """The serializer of a type; the same one for the same type."""
    found = _found.get(cqltype)
    if found is None:
        inner = cqltype
        while issubclass(inner, (FrozenType, ReversedType)) and inner.subtypes:
            inner = inner.subtypes[0]
        found = _found.setdefault(cqltype, _class_for(inner)(inner))
    return found


def make_serializers(cqltypes):
    """The serializer of each type, in order."""
    return [find_serializer(cqltype) for cqltype in cqltypes]
