"""Hypothesis strategies: any CQL type, and values of it that survive a round trip.

    @given(st.data())
    def test_something(data):
        cqltype = data.draw(cql_types())
        value = data.draw(values_of(cqltype))

NaN is left out, for it equals nothing; EMPTY too, for it is decoded only where asked for.
"""

import socket

from hypothesis import strategies as st

from driver import types
from driver.types import lookup_casstype, lookup_cqltype
from driver.types.base import CQLType
from driver.values.date import Date
from driver.values.duration import Duration
from driver.values.ordered_map import OrderedMap
from driver.values.sorted_set import SortedSet
from driver.values.time import Time

#: A custom class: no driver knows it, so its values are bytes.
CUSTOM = "com.acme.Sketch"


def _integers(bits):
    return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)


def _addresses():
    # Not str(ip_address): it spells mapped IPv4 addresses in another way than inet_ntop.
    four = st.ip_addresses(v=4).map(str)
    six = st.ip_addresses(v=6).map(lambda a: socket.inet_ntop(socket.AF_INET6, a.packed))
    return four | six


#: A strategy for the values of each simple type, by its CQL name.
SCALARS = {
    "ascii": st.text(st.characters(max_codepoint=127), max_size=20),
    "bigint": _integers(64),
    "blob": st.binary(max_size=20),
    "boolean": st.booleans(),
    "counter": _integers(64),
    "date": _integers(32).map(Date),
    "decimal": st.decimals(allow_nan=False, allow_infinity=False),
    "double": st.floats(allow_nan=False),
    "duration": st.builds(Duration, _integers(32), _integers(32), _integers(64)),
    "float": st.floats(width=32, allow_nan=False),
    "inet": _addresses(),
    "int": _integers(32),
    "smallint": _integers(16),
    "text": st.text(max_size=20),
    "time": st.integers(0, Time.DAY - 1).map(Time),
    "timestamp": st.datetimes().map(lambda d: d.replace(microsecond=d.microsecond // 1000 * 1000)),
    "timeuuid": st.uuids(version=1),
    "tinyint": _integers(8),
    "uuid": st.uuids(),
    "varchar": st.text(max_size=20),
    "varint": st.integers() | st.integers(-(1 << 200), 1 << 200),
}

#: Values of a custom type. Zero bytes of it are a value here and None in the peer.
_OPAQUE = st.binary(min_size=1, max_size=20)

#: Names that a server accepts and Python does not are among these.
_FIELD_NAMES = st.lists(
    st.sampled_from(["street", "zip", "Upper", "class", "two words", "_private", "9lives", "é"]),
    min_size=1,
    max_size=4,
    unique=True,
)


def simple_types():
    """Types without subtypes, a custom one included."""
    return st.sampled_from([lookup_cqltype(name) for name in SCALARS] + [lookup_casstype(CUSTOM)])


@st.composite
def _user_types(draw, children):
    names = draw(_FIELD_NAMES)
    subtypes = [draw(children) for _ in names]
    return types.UserType.make_udt_class("ks", draw(st.sampled_from(["t", "T 1"])), names, subtypes)


def _compound_types(children):
    return st.one_of(
        st.builds(lambda t: types.ListType.apply_parameters([t]), children),
        st.builds(lambda t: types.SetType.apply_parameters([t]), children),
        st.builds(lambda k, v: types.MapType.apply_parameters([k, v]), children, children),
        st.lists(children, min_size=1, max_size=3).map(types.TupleType.apply_parameters),
        _user_types(children),
        st.builds(types.VectorType.with_size, children, st.integers(1, 4)),
        st.builds(lambda t: types.FrozenType.apply_parameters([t]), children),
        st.builds(lambda t: types.ReversedType.apply_parameters([t]), children),
    )


def cql_types(max_leaves: int = 5) -> st.SearchStrategy[type[CQLType]]:
    """Any CQL type, nested.

    Args:
        max_leaves: about how many simple types it is made of.
    """
    return st.recursive(simple_types(), _compound_types, max_leaves=max_leaves)


def _unique(cqltype, max_size=4):
    """Lists of values that differ in their bytes."""
    return st.lists(
        values_of(cqltype), max_size=max_size, unique_by=lambda value: cqltype.serialize(value, 5)
    )


def _values_of_map(cqltype):
    keys, items = cqltype.subtypes
    return _unique(keys).flatmap(
        lambda drawn: st.tuples(*(st.tuples(st.just(k), values_of(items)) for k in drawn)).map(
            OrderedMap
        )
    )


def _values_of_fields(cqltype):
    return st.tuples(*(st.none() | values_of(subtype) for subtype in cqltype.subtypes))


_COMPOUNDS = {
    types.ListType: lambda t: st.lists(values_of(t.subtypes[0]), max_size=4),
    types.SetType: lambda t: _unique(t.subtypes[0]).map(SortedSet),
    types.MapType: _values_of_map,
    types.TupleType: _values_of_fields,
    types.UserType: lambda t: _values_of_fields(t).map(lambda values: t.tuple_type(*values)),
    types.VectorType: lambda t: st.lists(
        values_of(t.subtype), min_size=t.vector_size, max_size=t.vector_size
    ),
    types.FrozenType: lambda t: values_of(t.subtypes[0]),
    types.ReversedType: lambda t: values_of(t.subtypes[0]),
}


def values_of(cqltype: type[CQLType]) -> st.SearchStrategy:
    """Values of a type, none of them None; fields of tuples and user-defined types may be."""
    compound = _COMPOUNDS.get(cqltype.generic)
    if compound is not None:
        return compound(cqltype)
    return SCALARS.get(cqltype.typename, _OPAQUE)


@st.composite
def types_with_values(draw, cqltypes=None):
    """A type and a value of it."""
    cqltype = draw(cql_types() if cqltypes is None else cqltypes)
    return cqltype, draw(values_of(cqltype))


@st.composite
def damaged(draw, data: bytes) -> bytes:
    """Bytes that were a value once: cut off, prolonged, or with some bytes replaced."""
    how = draw(st.sampled_from(["cut", "prolong", "replace", "replace and cut"]))
    if how == "prolong":
        return data + draw(st.binary(min_size=1, max_size=5))
    buffer = bytearray(data)
    if "replace" in how and buffer:
        for _ in range(draw(st.integers(1, 3))):
            buffer[draw(st.integers(0, len(buffer) - 1))] = draw(st.integers(0, 255))
    if "cut" in how and buffer:
        del buffer[draw(st.integers(0, len(buffer) - 1)) :]
    return bytes(buffer)
