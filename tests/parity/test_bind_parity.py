"""Binding in both implementations: the same bytes, or the same error with the same words."""

from datetime import UTC, date, datetime, timedelta, timezone
from importlib import import_module
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.cql import SCALARS

VALUES = st.one_of(
    st.none(),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.text(max_size=3),
    st.binary(max_size=4),
    st.lists(st.one_of(st.integers(), st.floats(), st.none()), min_size=1, max_size=3),
)
TYPES = ["int", "float", "double", "bigint", "tinyint", "text", "ascii", "boolean", "inet"]
TYPES += ["vector<float, 2>", "vector<int, 2>", "vector<double, 2>", "vector<text, 2>"]


UNSET = "to be left unset"


class Row:
    """A sized iterable that is no sequence."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __iter__(self):
        return iter(self.values)


def outcome(package, cql, values, version, names="ab", key=None, kind=None):
    """What binding values to two columns gives in a mounted driver."""
    module = {
        name: import_module(f"{package.__name__}.{name}")
        for name in ("types", "statements", "protocol.columns", "protocol.unset")
    }
    cqltype = module["types"].lookup_cqltype(cql)
    columns = [
        module["protocol.columns"].ColumnMetadata("ks", "t", name, cqltype) for name in names
    ]
    prepared = module["statements"].PreparedStatement(
        columns, b"id", key, "INSERT", None, version, None, None
    )
    if kind is not None:
        unset = module["protocol.unset"].UNSET_VALUE
        values = kind([unset if value is UNSET else value for value in values])
    try:
        bound = prepared.bind(values).values
    except Exception as error:  # noqa: BLE001  (any error is an outcome to compare)
        return type(error).__name__, str(error)
    return [repr(value) for value in bound]


@pytest.mark.parametrize("cql", TYPES)
@given(values=st.lists(VALUES, max_size=3), version=st.sampled_from([3, 4, 5]))
def test_any_values_are_bound_alike(pure, compiled, cql, values, version):
    assert outcome(compiled, cql, values, version) == outcome(pure, cql, values, version)


#: Without those whose values are of classes that each mount has of its own.
PLAIN = {cql: values for cql, values in SCALARS.items() if cql not in {"date", "time", "duration"}}


@pytest.mark.parametrize("cql", sorted(PLAIN))
@given(data=st.data())
def test_values_of_every_scalar_type_are_bound_alike(pure, compiled, cql, data):
    values = data.draw(st.tuples(PLAIN[cql], st.one_of(*PLAIN.values())))
    assert outcome(compiled, cql, values, 4) == outcome(pure, cql, values, 4)


class Number(int):
    """An int of an application."""


class Word(str):
    """A text of an application."""

    __slots__ = ()


class Key(UUID):
    """A UUID of an application."""

    __slots__ = ()

    @property
    def bytes(self):
        return b"its own bytes of"


class Moment(datetime):
    """A datetime of an application, with arithmetic of its own."""

    def __sub__(self, other):
        return super().__sub__(other) + timedelta(days=1)


class Truth:
    """Neither True nor False, but has a truth."""

    def __bool__(self):
        return True


INTEGERS = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63, "counter": 63}
TEXTS = ["", "é", "\ud800", "a\udfff", "\0", Word("w"), Word("é"), b"b", 7, None]
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  (the naive one that timestamps are counted from)
INDIA = timezone(timedelta(hours=5, minutes=30))
MOMENTS = [
    EPOCH,
    *(
        EPOCH + timedelta(microseconds=us)
        for us in (1, 999, 1000, -1, -999, -1000, -1001, -(10**6))
    ),
    datetime.min,  # noqa: DTZ901  (the naive ends)
    datetime.max,  # noqa: DTZ901
    *(datetime(year, 2, 28) + timedelta(1) for year in (1600, 1900, 1968, 1969, 2000, 2100)),  # noqa: DTZ001
    EPOCH.replace(tzinfo=UTC),
    EPOCH.replace(tzinfo=INDIA),
    datetime.max.replace(tzinfo=INDIA),
    EPOCH.replace(fold=1),
    Moment(1969, 12, 31, 23, 59, 59, 999_999),
    date(2026, 3, 20),
    *(0, -1, (1 << 63) - 1, 1 << 63, True, Number(7), 0.5, -1.5, float("nan"), "2026-03-20", None),
]
KEYS = [UUID(int=0), UUID(int=(1 << 128) - 1), Key(int=7), str(UUID(int=1)), 1, b"\0" * 16, None]

EDGES = {
    **{
        cql: [limit - 1, limit, -limit, -limit - 1, True, 0.5, Number(7), 1 << 70, None]
        for cql, limit in ((cql, 1 << bits) for cql, bits in INTEGERS.items())
    },
    "text": TEXTS,
    "varchar": TEXTS,
    "ascii": TEXTS,
    "blob": [b"", bytearray(b"b"), memoryview(b"b"), memoryview(b"abcd")[::2], "s", 5, None],
    "boolean": [0, 1, 0.0, Truth(), "x", [], None],
    "timestamp": MOMENTS,
    "uuid": KEYS,
    "timeuuid": KEYS,
}


@pytest.mark.parametrize(("cql", "value"), [(cql, each) for cql in EDGES for each in EDGES[cql]])
def test_what_is_at_the_edge_of_a_type_is_bound_alike(pure, compiled, cql, value):
    assert outcome(compiled, cql, (value,), 4) == outcome(pure, cql, (value,), 4)


@given(moment=st.datetimes() | st.datetimes(timezones=st.just(UTC)))
def test_every_microsecond_is_bound_alike(pure, compiled, moment):
    assert outcome(compiled, "timestamp", (moment,), 4) == outcome(pure, "timestamp", (moment,), 4)


def test_every_day_of_the_calendar_is_bound_alike(pure, compiled):
    first, every = date.min.toordinal(), range(0, date.max.toordinal() - 1, 7)
    sides = [
        import_module(f"{package.__name__}.types.serializers").find_serializer(
            import_module(f"{package.__name__}.types").lookup_cqltype("timestamp")
        )
        for package in (pure, compiled)
    ]
    days = [datetime.fromordinal(first + each) for each in every]
    found = [[side.serialize(day, 4) for day in days] for side in sides]
    assert found[0] == found[1]


def by_name(values):
    return dict(zip("abcd", values, strict=False))


@pytest.mark.parametrize("kind", [list, tuple, Row, by_name])
@given(
    values=st.lists(st.sampled_from([1, None, UNSET, "x", 1 << 40]), max_size=5),
    version=st.sampled_from([3, 4, 5]),
    key=st.sampled_from([None, [0], [2, 1]]),
)
def test_what_is_unset_is_bound_alike(pure, compiled, values, version, key, kind):
    outcomes = [
        outcome(package, "int", values, version, "abcd", key, kind) for package in (compiled, pure)
    ]
    assert outcomes[0] == outcomes[1]
    if isinstance(outcomes[0], list) and kind is not Row:
        assert len(outcomes[0]) == 4


def test_a_type_may_shorten_the_list_that_is_being_bound(pure, compiled):
    """What is bound then does not matter; that nothing is read behind the end does."""
    for package in (pure, compiled):
        types = import_module(f"{package.__name__}.types")
        serializers = import_module(f"{package.__name__}.types.serializers")
        given = [1, 2, 3]

        class Clearing(types.Int32Type, register=False):
            @classmethod
            def serialize(cls, value, protocol_version, given=given):
                given.clear()
                return super().serialize(value, protocol_version)

        values = []
        serializers.ValuesSerializer([Clearing] * 3).append(values, given, 4)
        assert values == [b"\0\0\0\1"]
