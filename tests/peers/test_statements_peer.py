"""Bound values, routing keys and batches equal those of cassandra-driver."""

import pytest
from cassandra import cqltypes as peer_types
from cassandra import query as peer
from cassandra.protocol import ColumnMetadata as PeerColumn
from hypothesis import given
from hypothesis import strategies as st

from driver import types
from driver.protocol.columns import ColumnMetadata
from driver.protocol.unset import UNSET_VALUE
from driver.statements import BatchStatement, PreparedStatement, SimpleStatement, Statement

INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
VALUES = {
    "Int32Type": INT32,
    "LongType": INT64,
    "ShortType": st.integers(-(2**15), 2**15 - 1),
    "IntegerType": st.integers(-(2**100), 2**100),
    "UTF8Type": st.text(max_size=50),
    "BytesType": st.binary(max_size=50),
    "BooleanType": st.booleans(),
    "DoubleType": st.floats(allow_nan=False),
    "UUIDType": st.uuids(),
}
TYPE_NAMES = sorted(VALUES)


def prepare(type_names, key, version=4):
    """The same statement prepared for both drivers."""
    names = [f"c{i}" for i in range(len(type_names))]
    ours = [
        ColumnMetadata("ks", "t", name, getattr(types, type_name))
        for name, type_name in zip(names, type_names, strict=True)
    ]
    theirs = [
        PeerColumn("ks", "t", name, getattr(peer_types, type_name))
        for name, type_name in zip(names, type_names, strict=True)
    ]
    return (
        PreparedStatement(ours, b"id", key, "q", None, version, None, None),
        peer.PreparedStatement(theirs, b"id", key, "q", None, version, None, None),
    )


@st.composite
def statements(draw):
    """Types of the markers, which of them make the key, and values for all of them."""
    type_names = draw(st.lists(st.sampled_from(TYPE_NAMES), min_size=1, max_size=6))
    markers = st.integers(0, len(type_names) - 1)
    key = draw(st.lists(markers, max_size=4, unique=True))
    values = []
    for index, type_name in enumerate(type_names):
        strategy = VALUES[type_name]
        values.append(draw(strategy if index in key else st.none() | strategy))
    return type_names, key, values


def plain(values):
    """Values with the one word for unset."""
    return [UNSET_VALUE if value is peer.UNSET_VALUE else value for value in values]


@given(statement=statements(), version=st.sampled_from([3, 4, 5]), as_dict=st.booleans())
def test_bound_values_and_routing_keys_are_the_peer_s(statement, version, as_dict):
    type_names, key, values = statement
    ours, theirs = prepare(type_names, key, version)
    given_values = {f"c{i}": value for i, value in enumerate(values)} if as_dict else values
    bound, expected = ours.bind(given_values), theirs.bind(given_values)
    assert bound.values == expected.values
    assert bound.routing_key == expected.routing_key


@given(statement=statements(), left=st.integers(0, 6))
def test_missing_values_are_treated_as_the_peer_does(statement, left):
    type_names, key, values = statement
    ours, theirs = prepare(type_names, key)
    outcomes = []
    for prepared in (ours, theirs):
        try:
            outcomes.append(plain(prepared.bind(values[:left]).values))
        except ValueError:
            outcomes.append(ValueError)
    assert outcomes[0] == outcomes[1]


WRONG = [
    ("Int32Type", "text"),
    ("LongType", 1.5),
    ("DoubleType", "1"),
    ("UUIDType", 5),
]


@pytest.mark.parametrize(("type_name", "value"), WRONG)
def test_values_of_the_wrong_type_raise_what_the_peer_raises(type_name, value):
    for prepared in prepare([type_name], None):
        with pytest.raises(TypeError, match='invalid type for column "c0"'):
            prepared.bind([value])


@given(parts=st.lists(st.binary(max_size=100), min_size=1, max_size=5))
def test_a_routing_key_of_parts_is_the_peer_s(parts):
    # The peer packs parts that are assigned, and keeps as a list those given to the constructor.
    expected = peer.Statement()
    expected.routing_key = parts
    assert Statement(routing_key=parts).routing_key == expected.routing_key


@given(numbers=st.lists(INT32, min_size=1, max_size=5), text=st.text(max_size=20))
def test_a_batch_holds_what_the_peer_s_holds(numbers, text):
    ours, theirs = prepare(["Int32Type", "UTF8Type"], [0])
    batches = []
    for batch, prepared, simple in (
        (BatchStatement(), ours, SimpleStatement),
        (peer.BatchStatement(), theirs, peer.SimpleStatement),
    ):
        for number in numbers:
            batch.add(prepared, (number, text))
            batch.add("INSERT %s", (number,))
            batch.add(simple("INSERT %(x)s"), {"x": text})
        batches.append(batch)
    mine, expected = batches
    assert mine._statements_and_parameters == expected._statements_and_parameters
    assert (mine.routing_key, mine.keyspace) == (expected.routing_key, expected.keyspace)
