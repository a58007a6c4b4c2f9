"""Every CQL type, written and read back: bound and simple, in each version and compression."""

import datetime as dt
import uuid
from decimal import Decimal

import pytest

from driver.cluster import Cluster
from driver.results import tuple_factory
from driver.values.date import Date
from driver.values.duration import Duration
from driver.values.ordered_map import OrderedMapSerializedKey
from driver.values.sorted_set import SortedSet
from driver.values.time import Time
from tests.integration.rings import V5, VERSIONS, lacks

MOMENT = dt.datetime(2026, 2, 3, 4, 5, 6, 789000)  # noqa: DTZ001  (values have no zone)
IDENTITY = uuid.UUID("12345678-1234-4234-8234-123456789abc")
TIME_IDENTITY = uuid.UUID("f2b9a2d0-0000-11f1-8000-0123456789ab")
NESTED = {"one": [(1, "a"), (2, None)], "two": []}

#: CQL type -> values; each is read back equal to itself.
VALUES = {
    "ascii": ["", "plain", "it's 'quoted'"],
    "bigint": [0, -(2**63), 2**63 - 1],
    "blob": [b"", b"\x00\xff", bytes(range(256)) * 8],
    "boolean": [True, False],
    "date": [Date("2026-02-03"), Date("1969-12-31"), Date(-(2**31))],
    "decimal": [Decimal(0), Decimal("-123.456"), Decimal("1E+30"), Decimal("0.00000001")],
    "double": [0.0, -1.5, 1.7976931348623157e308, float("inf"), float("-inf")],
    "duration": [Duration(1, 2, 3), Duration(-1, -2, -3), Duration(0, 0, 0)],
    "float": [0.0, -1.5, float("inf")],
    "inet": ["127.0.0.1", "2001:db8::1", "::1"],
    "int": [0, -(2**31), 2**31 - 1],
    "smallint": [0, -(2**15), 2**15 - 1],
    "text": ["", "plain", "żółć 🙂", "line\nbreak 'and' quotes", "x" * 5000],
    "time": [Time(0), Time("12:34:56.789012345"), Time(86399999999999)],
    "timestamp": [MOMENT, dt.datetime(1960, 1, 1)],  # noqa: DTZ001
    "timeuuid": [TIME_IDENTITY],
    "tinyint": [0, -128, 127],
    "uuid": [IDENTITY, uuid.UUID(int=0)],
    "varchar": ["plain"],
    "varint": [0, -1, 127, 128, -(2**100), 2**100],
    "list<int>": [[1, 2, 1]],
    "list<text>": [["a", "", "ż"]],
    "set<text>": [SortedSet(["b", "a"])],
    "set<uuid>": [SortedSet([IDENTITY])],
    "map<text, int>": [{"a": 1, "b": -2}],
    "map<int, blob>": [{1: b"\0", -1: b""}],
    "frozen<list<int>>": [[], [1, 2]],
    "frozen<set<int>>": [SortedSet([]), SortedSet([3, 1])],
    "frozen<map<timestamp, double>>": [{}, {MOMENT: 1.5}],
    "list<frozen<list<text>>>": [[["a"], [], ["b", "c"]]],
    "map<text, frozen<list<frozen<tuple<int, text>>>>>": [NESTED],
    "set<frozen<tuple<int, text>>>": [SortedSet([(1, "a"), (2, "b")])],
    "tuple<int, text, uuid>": [(1, "a", IDENTITY), (None, "a", None)],
    "tuple<frozen<list<int>>, frozen<tuple<boolean>>>": [([1], (True,))],
    "vector<float, 3>": [[1.0, -2.5, 0.0]],
    "vector<text, 2>": [["a", "longer"]],
    "vector<int, 1>": [[7]],
    "frozen<pair>": [("left", 1), ("left", None)],
    "list<frozen<pair>>": [[("left", 1), (None, None)]],
    "pair": [("right", 2)],
}
#: What came with a later release than the oldest that is tested.
SINCE = {name: ("5.0", "vectors") for name in VALUES if name.startswith("vector")}
HAD = {
    column: name
    for column, name in enumerate(VALUES)
    if name not in SINCE or not lacks(*SINCE[name])
}


def case(column, name):
    """A type as the parameters of a test, which is skipped where the server has no such type."""
    since = [pytest.mark.since(*SINCE[name])] if name in SINCE else []
    return pytest.param(column, name, id=name, marks=since)


TYPES = [case(column, name) for column, name in enumerate(VALUES)]
#: What the server has: v5 compresses segments, and by lz4 alone.
WIRES = [
    *((version, how) for version in (3, 4) for how in (False, "lz4", "snappy")),
    *(pytest.param((5, how), marks=V5.marks) for how in (False, "lz4")),
]


@pytest.fixture(scope="module", params=WIRES, ids=lambda wire: f"v{wire[0]}-{wire[1] or 'plain'}")
def wire(request):
    return request.param


@pytest.fixture
def talk(one_node, wire, types_session):
    """A session that speaks one version, with one compression."""
    assert one_node
    return types_session(*wire)


@pytest.fixture(scope="module")
def types_session(rings):
    """Sessions by version and compression, in one keyspace with a column for each type."""
    addresses = rings.use("one").addresses
    made = {}
    with Cluster(addresses) as cluster:
        admin = cluster.connect()
        admin.execute("DROP KEYSPACE IF EXISTS all_types", timeout=30)
        admin.execute(
            "CREATE KEYSPACE all_types WITH replication = "
            "{'class': 'SimpleStrategy', 'replication_factor': 1}"
        )
        admin.execute("CREATE TYPE all_types.pair (a text, b int)")
        columns = ", ".join(f"c{column} {name}" for column, name in HAD.items())
        admin.execute(f"CREATE TABLE all_types.t (k text PRIMARY KEY, {columns})")

        def session(version, compression):
            if (version, compression) not in made:
                for other, _ in made.values():
                    other.shutdown()
                made.clear()
                other = Cluster(addresses, protocol_version=version, compression=compression)
                other_session = other.connect("all_types")
                other_session.row_factory = tuple_factory
                statements = {
                    column: (
                        other_session.prepare(f"INSERT INTO t (k, c{column}) VALUES (?, ?)"),
                        other_session.prepare(f"SELECT c{column} FROM t WHERE k = ?"),
                    )
                    for column in HAD
                }
                made[version, compression] = other, (other_session, statements)
            return made[version, compression][1]

        yield session
        for other, _ in made.values():
            other.shutdown()
        admin.execute("DROP KEYSPACE all_types", timeout=30)


def same(found, value):
    """Equal, and of the same kind: 1 is not True, a tuple is not a list."""
    kinds = {dict: OrderedMapSerializedKey}
    expected = kinds.get(type(value), type(value))
    if expected is tuple:  # a user-defined type is a named tuple
        return found == value and isinstance(found, tuple)
    return found == value and type(found) is expected


@pytest.mark.since("4.1", "options of clients in its table of them")
def test_the_server_speaks_the_version_and_the_compression_that_was_asked_for(talk, wire):
    session, _ = talk
    version, compression = wire
    asked = session.execute("SELECT protocol_version, client_options FROM system_views.clients")
    mine = {(number, (options or {}).get("COMPRESSION")) for number, options in asked}
    assert (version, compression or None) in mine


@pytest.mark.parametrize(("column", "name"), TYPES)
def test_a_bound_value_comes_back(talk, column, name):
    session, statements = talk
    insert, read = statements[column]
    for value in VALUES[name]:
        session.execute(insert, ("bound", value))
        assert same(session.execute(read, ("bound",)).one()[0], value)
        (simple,) = session.execute(f"SELECT c{column} FROM t WHERE k = 'bound'").one()
        assert same(simple, value)


# What literal stands for an object of a user-defined type is said by registering its class.
@pytest.mark.parametrize(("column", "name"), [one for one in TYPES if "pair" not in one.id])
def test_a_literal_comes_back(talk, column, name):
    session, statements = talk
    session.encoder.mapping[tuple] = session.encoder.cql_encode_tuple
    for value in VALUES[name]:
        session.execute(f"INSERT INTO t (k, c{column}) VALUES ('simple', %s)", (value,))
        assert same(session.execute(statements[column][1], ("simple",)).one()[0], value)


def test_null_comes_back_as_none_for_every_type(talk):
    session, statements = talk
    for insert, read in statements.values():
        session.execute(insert, ("null", None))
        assert session.execute(read, ("null",)).one() == (None,)


def test_a_large_value_comes_back(talk):
    """Larger than a v5 segment (128 KiB), so that it is split."""
    session, statements = talk
    column = list(VALUES).index("blob")
    value = bytes(range(256)) * 4096
    session.execute(statements[column][0], ("large", value))
    assert session.execute(statements[column][1], ("large",)).one()[0] == value
    session.execute("DELETE FROM t WHERE k = 'large'")


@pytest.mark.parametrize("version", VERSIONS)
def test_counters_count(types_session, version):
    session, _ = types_session(version, False)
    session.execute("CREATE TABLE IF NOT EXISTS counts (k int PRIMARY KEY, n counter)")
    count = session.prepare("UPDATE counts SET n = n + ? WHERE k = ?")
    for step in (2**40, -1):
        session.execute(count, (step, version))
    session.execute("UPDATE counts SET n = n + 1 WHERE k = %s", (version,))
    assert session.execute("SELECT n FROM counts WHERE k = %s", (version,)).one()[0] == 2**40
