"""Every type's bytes equal those of cassandra-driver, and each decodes the other's."""

import datetime as dt

import pytest
from cassandra import cqltypes as peer
from hypothesis import given
from hypothesis import strategies as st
from strategies.cql import CUSTOM, SCALARS, types_with_values, values_of

from driver import types
from driver.types import lookup_casstype, lookup_cqltype
from driver.types.deserializers import find_deserializer
from driver.types.temporal import DATETIME_EPOC

VERSIONS = st.sampled_from([3, 4, 5])
SIMPLE = [lookup_cqltype(name) for name in SCALARS] + [lookup_casstype(CUSTOM)]


def peer_type(cqltype):
    """The peer's class of one of our types, made without its parser."""
    generic = cqltype.generic
    if generic in (types.FrozenType, types.ReversedType):
        # In the peer these two change the bytes inside of vectors (known_differences.py).
        return peer_type(cqltype.subtypes[0])
    subtypes = [peer_type(subtype) for subtype in cqltype.subtypes]
    if generic is types.UserType:
        return peer.UserType.make_udt_class(
            cqltype.keyspace, cqltype.typename, cqltype.fieldnames, tuple(subtypes)
        )
    if generic is types.VectorType:
        return peer.VectorType.apply_parameters([subtypes[0], cqltype.vector_size], None)
    if generic is not None and subtypes:
        return getattr(peer, cqltype.cassname).apply_parameters(subtypes)
    return peer.lookup_casstype(cqltype.cassname)


def _milliseconds(value):
    # The peer's floating point is some microseconds off (known_differences.py).
    return round((value - DATETIME_EPOC) / dt.timedelta(milliseconds=1))


#: What a value of a class is made of; both drivers have classes of these names.
_PARTS = {
    "Date": lambda value: value.days_from_epoch,
    "Time": lambda value: value.nanosecond_time,
    "Duration": lambda value: (value.months, value.days, value.nanoseconds),
    "datetime": _milliseconds,
    "SortedSet": lambda value: sorted(map(plain, value), key=repr),
    # Not items(): the peer does not find a timestamp again that it has decoded a little off.
    "OrderedMapSerializedKey": lambda value: [(plain(k), plain(v)) for k, v in value._items],
    "list": lambda value: [plain(item) for item in value],
}


def plain(value):
    """A value without the classes that each driver has of its own."""
    name = type(value).__name__
    if name in _PARTS:
        return name, _PARTS[name](value)
    if isinstance(value, tuple):  # a tuple, or the named tuple of a user-defined type
        return "tuple", [plain(item) for item in value]
    return name, value


def check(cqltype, value, version):
    """Both write the same bytes, and both read the same value from them."""
    other = peer_type(cqltype)
    encoded = cqltype.serialize(value, version)
    assert encoded == other.serialize(value, version)
    expected = plain(other.from_binary(encoded, version))
    assert plain(cqltype.from_binary(encoded, version)) == expected
    assert plain(find_deserializer(cqltype).deserialize_bytes(encoded, version)) == expected


@pytest.mark.parametrize("cqltype", SIMPLE, ids=repr)
@given(data=st.data(), version=VERSIONS)
def test_simple_types_agree_with_the_peer(cqltype, data, version):
    check(cqltype, data.draw(values_of(cqltype)), version)


@pytest.mark.parametrize(
    "name",
    [
        "list<text>",
        "set<int>",
        "map<text, double>",
        "tuple<int, text, boolean>",
        "vector<float, 4>",
        "vector<text, 2>",
        "vector<smallint, 2>",
        "vector<date, 2>",
        "vector<boolean, 3>",
        "vector<list<int>, 2>",
    ],
)
@given(data=st.data(), version=VERSIONS)
def test_compound_types_agree_with_the_peer(name, data, version):
    cqltype = lookup_cqltype(name)
    check(cqltype, data.draw(values_of(cqltype)), version)


@given(drawn=types_with_values(), version=VERSIONS)
def test_any_nested_type_agrees_with_the_peer(drawn, version):
    cqltype, value = drawn
    check(cqltype, value, version)


@pytest.mark.parametrize("cqltype", SIMPLE[:-1], ids=repr)
def test_null_and_empty_agree_with_the_peer(cqltype):
    other = peer_type(cqltype)
    assert cqltype.from_binary(None, 4) is None
    assert other.from_binary(None, 4) is None
    assert cqltype.from_binary(b"", 4) == other.from_binary(b"", 4)
    assert cqltype.to_binary(None, 4) == other.to_binary(None, 4)


@pytest.mark.parametrize("cqltype", SIMPLE, ids=repr)
def test_names_agree_with_the_peer(cqltype):
    other = peer_type(cqltype)
    assert cqltype.cql_parameterized_type() == other.cql_parameterized_type()
    assert cqltype.cass_parameterized_type(full=True) == other.cass_parameterized_type(full=True)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("name", ["list<int>", "map<text, set<int>>", "tuple<int, text>"])
def test_parameterised_names_agree_with_the_peer(name, full):
    cqltype = lookup_cqltype(name)
    other = peer_type(cqltype)
    assert cqltype.cql_parameterized_type() == other.cql_parameterized_type()
    assert cqltype.cass_parameterized_type(full) == other.cass_parameterized_type(full)
