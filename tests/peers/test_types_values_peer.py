"""Values, marshal, constants and literals agree with cassandra-driver's."""

import datetime as dt
import ipaddress
from decimal import Decimal
from uuid import UUID

import cassandra
import pytest
from cassandra import encoder as peer_encoder
from cassandra import marshal as peer_marshal
from cassandra import util as peer
from hypothesis import given
from hypothesis import strategies as st
from names import plain

from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.kinds import WriteType
from driver.types import identity, marshal
from driver.types.literals import Encoder, ValueSequence
from driver.values.date import Date
from driver.values.duration import Duration
from driver.values.ordered_map import OrderedMap
from driver.values.sorted_set import SortedSet
from driver.values.time import Time


@given(value=st.integers(-(1 << 300), 1 << 300))
def test_varints_have_the_peer_s_bytes(value):
    assert marshal.varint_pack(value) == peer_marshal.varint_pack(value)


@given(value=st.integers(0, (1 << 64) - 1) | st.integers(0, 63).map(lambda bits: 1 << bits))
def test_unsigned_vints_have_the_peer_s_bytes(value):
    packed = marshal.uvint_pack(value)
    assert packed == peer_marshal.uvint_pack(value)
    assert marshal.uvint_unpack(packed) == peer_marshal.uvint_unpack(packed)


@given(values=st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=4))
def test_vints_have_the_peer_s_bytes(values):
    packed = marshal.vints_pack(values)
    assert packed == peer_marshal.vints_pack(values)
    assert marshal.vints_unpack(packed) == peer_marshal.vints_unpack(packed)


@given(days=st.integers(-719_162, 2_932_896))
def test_dates_read_as_the_peer_s(days):
    assert str(Date(days)) == str(peer.Date(days))
    assert Date(str(Date(days))) == days


@given(nanoseconds=st.integers(0, Time.DAY - 1))
def test_times_read_as_the_peer_s(nanoseconds):
    assert str(Time(nanoseconds)) == str(peer.Time(nanoseconds))
    assert Time(nanoseconds).time() == peer.Time(nanoseconds).time()


@given(sign=st.sampled_from([1, -1]), parts=st.tuples(*[st.integers(0, 2**31 - 1)] * 3))
def test_durations_read_as_the_peer_s(sign, parts):
    signed = [sign * part for part in parts]
    assert str(Duration(*signed)) == str(peer.Duration(*signed))


@given(
    seconds=st.integers(-10_000_000_000, 10_000_000_000),
    node=st.integers(0, 2**48 - 1),
    clock=st.integers(0, 2**14 - 1),
)
def test_timeuuids_of_times_are_the_peer_s(seconds, node, clock):
    made = identity.uuid_from_time(seconds, node, clock)
    assert made == peer.uuid_from_time(seconds, node, clock)
    assert identity.unix_time_from_uuid1(made) == peer.unix_time_from_uuid1(made)
    assert identity.min_uuid_from_time(seconds) == peer.min_uuid_from_time(seconds)
    assert identity.max_uuid_from_time(seconds) == peer.max_uuid_from_time(seconds)


@given(values=st.lists(st.integers(-5, 5)), others=st.lists(st.integers(-5, 5)))
def test_sorted_sets_behave_as_the_peer_s(values, others):
    ours, theirs = SortedSet(values), peer.SortedSet(values)
    assert list(ours) == list(theirs)
    for method in ("union", "intersection", "difference", "symmetric_difference"):
        assert list(getattr(ours, method)(others)) == list(
            getattr(theirs, method)(peer.SortedSet(others))
        )
    assert ours.issubset(others) == theirs.issubset(peer.SortedSet(others))
    assert ours.issuperset(others) == theirs.issuperset(peer.SortedSet(others))


def test_consistency_levels_are_the_peer_s():
    assert ConsistencyLevel.value_to_name == cassandra.ConsistencyLevel.value_to_name
    assert ConsistencyLevel.name_to_value == cassandra.ConsistencyLevel.name_to_value


def test_write_types_are_the_peer_s():
    assert WriteType.name_to_value == cassandra.WriteType.name_to_value


#: Values of Python's own classes.
LITERALS = [
    None,
    True,
    -5,
    10**30,
    1.5,
    1e300,
    float("nan"),
    float("inf"),
    float("-inf"),
    "it's",
    b"\xca\xfe",
    bytearray(b"a"),
    memoryview(b"a"),
    UUID(int=5),
    dt.datetime(2020, 1, 1, 1, 2, 3, 4567),  # noqa: DTZ001  (naive is UTC)
    dt.datetime(2020, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1))),
    dt.date(2020, 2, 29),
    [1, "a", [b"\0"]],
    (1, "a"),
    {"a": [1, 2]},
    {1},
    frozenset([1]),
    ipaddress.ip_address("1.2.3.4"),
    ipaddress.ip_address("::1"),
]


@pytest.mark.parametrize("value", LITERALS, ids=plain)
def test_literals_are_the_peer_s(value):
    expected = peer_encoder.Encoder().cql_encode_all_types(value)
    assert Encoder().cql_encode_all_types(value) == expected


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (Date(5), peer.Date(5)),
        (Time(5), peer.Time(5)),
        (Duration(1, 2, 3), peer.Duration(1, 2, 3)),
        (SortedSet([2, 1]), peer.SortedSet([2, 1])),
        (OrderedMap([("a", 1)]), peer.OrderedMap([("a", 1)])),
        (ValueSequence([1, 2]), peer_encoder.ValueSequence([1, 2])),
    ],
    ids=plain,
)
def test_literals_of_our_values_are_those_of_the_peer_s(ours, theirs):
    expected = peer_encoder.Encoder().cql_encode_all_types(theirs)
    assert Encoder().cql_encode_all_types(ours) == expected


def test_a_decimal_keeps_its_scale_where_the_peer_drops_it():
    assert Encoder().cql_encode_all_types(Decimal("1.50")) == "1.50"
    assert peer_encoder.Encoder().cql_encode_all_types(Decimal("1.50")) == "1.5"
