"""The shape of rows: factories, NumPy arrays, rows decoded late, classes for user-defined types."""

import collections

import pytest

from driver.results import dict_factory, named_tuple_factory, ordered_dict_factory, tuple_factory
from driver.wire.handlers import LazyProtocolHandler, NumpyProtocolHandler
from tests.integration.rings import VERSIONS


@pytest.fixture
def table(session):
    session.execute("CREATE TABLE t (k int, c int, v double, w text, PRIMARY KEY (k, c))")
    insert = session.prepare("INSERT INTO t (k, c, v, w) VALUES (1, ?, ?, ?)")
    for c in range(100):
        session.execute(insert, (c, c / 2, None if c % 10 == 3 else str(c)))
    return session


@pytest.mark.parametrize(
    ("factory", "expected"),
    [
        (tuple_factory, (1, 2)),
        (named_tuple_factory, (1, 2)),
        (dict_factory, {"k": 1, "c": 2}),
        (ordered_dict_factory, collections.OrderedDict(k=1, c=2)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_rows_have_the_shape_that_the_session_wants(table, factory, expected):
    table.row_factory = factory
    row = table.execute("SELECT k, c FROM t WHERE k = 1 AND c = 2").one()
    assert row == expected
    assert type(row).__name__ == {"tuple_factory": "tuple", "dict_factory": "dict"}.get(
        factory.__name__, type(row).__name__
    )
    if factory is named_tuple_factory:
        assert (row.k, row.c) == (1, 2)


def test_names_that_are_no_python_names_are_still_rows(table):
    row = table.execute(
        'SELECT k AS "class", c AS "two words", v AS "_hidden" FROM t LIMIT 1'
    ).one()
    assert len(row) == 3
    result = table.execute('SELECT k AS "class" FROM t LIMIT 1')
    assert list(result.column_names) == ["class"]


def test_columns_become_numpy_arrays(table):
    numpy = pytest.importorskip("numpy")
    table.row_factory = tuple_factory
    table.client_protocol_handler = NumpyProtocolHandler
    table.default_fetch_size = 1000
    found = table.execute("SELECT c, v, w FROM t WHERE k = 1").one()
    assert found["c"].tolist() == list(range(100))
    assert found["c"].dtype.itemsize == 4
    numpy.testing.assert_allclose(found["v"], numpy.arange(100) / 2)
    assert found["w"][2] == "2"
    assert found["w"][3] is None


def test_numpy_pages_are_arrays_one_after_the_other(table):
    pytest.importorskip("numpy")
    table.row_factory = tuple_factory
    table.client_protocol_handler = NumpyProtocolHandler
    table.default_fetch_size = 30
    sizes = [len(page["c"]) for page in table.execute("SELECT c FROM t WHERE k = 1")]
    assert sizes == [30, 30, 30, 10]


def test_rows_can_be_decoded_as_they_are_iterated_over(table):
    table.client_protocol_handler = LazyProtocolHandler
    table.row_factory = tuple_factory
    table.default_fetch_size = 30
    assert [row[0] for row in table.execute("SELECT c FROM t WHERE k = 1")] == list(range(100))


class Address:
    """What an application would register for a user-defined type."""

    def __init__(self, street, number=None, lines=None):
        self.street, self.number, self.lines = street, number, lines

    def __eq__(self, other):
        return vars(self) == vars(other)

    __hash__ = None


@pytest.fixture
def people(session):
    session.execute("CREATE TYPE address (street text, number int, lines frozen<list<text>>)")
    session.execute(
        "CREATE TABLE people (k int PRIMARY KEY, home frozen<address>, "
        "others map<text, frozen<address>>)"
    )
    return session


def test_an_unregistered_user_type_is_a_named_tuple(people):
    people.execute("INSERT INTO people (k, home) VALUES (1, {street: 'Main', number: 7})")
    home = people.execute("SELECT home FROM people").one()[0]
    assert (home.street, home.number, home.lines) == ("Main", 7, None)
    insert = people.prepare("INSERT INTO people (k, home) VALUES (2, ?)")
    people.execute(insert, (home._replace(number=8),))
    assert people.execute("SELECT home FROM people WHERE k = 2").one()[0].number == 8


@pytest.mark.parametrize("version", VERSIONS)
def test_a_registered_class_is_written_and_read(people, clusters, one_node, version):
    cluster = clusters(one_node.addresses, protocol_version=version)
    session = cluster.connect(people.keyspace)
    cluster.register_user_type(people.keyspace, "address", Address)
    one, two = Address("Main", 7, ["a", "b"]), Address("Side")
    insert = session.prepare("INSERT INTO people (k, home, others) VALUES (1, ?, ?)")
    session.execute(insert, (one, {"work": two}))
    session.execute("INSERT INTO people (k, home) VALUES (2, %s)", (two,))
    found = {row.k: row for row in session.execute("SELECT * FROM people")}
    assert (found[1].home, dict(found[1].others)) == (one, {"work": two})
    assert found[2].home == two


def test_a_class_can_be_registered_before_the_first_connection(people, clusters, one_node):
    cluster = clusters(one_node.addresses)
    cluster.register_user_type(people.keyspace, "address", Address)
    session = cluster.connect(people.keyspace)
    session.execute("INSERT INTO people (k, home) VALUES (1, %s)", (Address("Main", 7),))
    assert session.execute("SELECT home FROM people").one()[0] == Address("Main", 7)


def test_a_type_that_is_not_there_is_an_error_that_names_it(people):
    from driver.cluster import UserTypeDoesNotExist

    with pytest.raises(UserTypeDoesNotExist, match="nothing"):
        people.cluster.register_user_type(people.keyspace, "nothing", Address)


def test_a_field_that_is_added_to_a_type_is_read_as_it_is(people):
    people.execute("INSERT INTO people (k, home) VALUES (1, {street: 'Main'})")
    people.execute("ALTER TYPE address ADD zip text")
    people.execute("INSERT INTO people (k, home) VALUES (2, {street: 'Side', zip: '1234'})")
    found = {row.k: row.home for row in people.execute("SELECT k, home FROM people")}
    assert found[2].zip == "1234"
    assert found[1].street == "Main"
    assert getattr(found[1], "zip", None) is None
