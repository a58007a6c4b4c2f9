"""Prepared statements: bound, and prepared anew when the server forgot them or a table changed."""

import time
from uuid import UUID

import pytest

from driver import ValueSequence
from driver.policies import PreparationPolicy
from driver.protocol.errors import DriverException, InvalidRequest
from driver.protocol.unset import UNSET_VALUE
from driver.statements import BatchStatement, BoundStatement, SimpleStatement
from tests.integration.rings import VERSIONS


@pytest.fixture
def table(session):
    session.execute("CREATE TABLE t (k int PRIMARY KEY, v text, w int)")
    return session


@pytest.mark.parametrize(
    "values", [(1, "one", 2), [1, "one", 2], {"k": 1, "v": "one", "w": 2}], ids=type
)
def test_values_are_bound_by_position_or_by_name(table, values):
    insert = table.prepare("INSERT INTO t (k, v, w) VALUES (?, ?, ?)")
    table.execute(insert, values)
    assert tuple(table.execute("SELECT k, v, w FROM t").one()) == (1, "one", 2)


def test_an_unset_value_leaves_the_column_alone_and_none_deletes_it(table):
    insert = table.prepare("INSERT INTO t (k, v, w) VALUES (?, ?, ?)")
    read = table.prepare("SELECT v, w FROM t WHERE k = ?")
    table.execute(insert, (1, "one", 2))
    table.execute(insert, (1, UNSET_VALUE, None))
    assert tuple(table.execute(read, (1,)).one()) == ("one", None)
    table.execute(insert, (1, "two"))  # too few: the rest is unset
    assert tuple(table.execute(read, (1,)).one()) == ("two", None)


def test_values_that_do_not_fit_fail_before_anything_is_sent(table):
    insert = table.prepare("INSERT INTO t (k, v) VALUES (?, ?)")
    with pytest.raises(ValueError, match=r"[Tt]oo many"):
        insert.bind((1, "one", 2))
    with pytest.raises(TypeError, match="k"):
        insert.bind(("one", "one"))


def test_the_routing_key_is_found_by_the_server_or_the_schema(table):
    assert table.prepare("SELECT v FROM t WHERE k = ?").bind((7,)).routing_key == b"\0\0\0\7"


def test_a_faulty_text_fails_when_it_is_prepared(table):
    with pytest.raises(InvalidRequest, match="missing"):
        table.prepare("SELECT missing FROM t")


@pytest.mark.since("4.0", "protocol v5")
def test_a_statement_of_another_keyspace_can_be_prepared(table, keyspace_name):
    table.execute("USE system")
    insert = table.prepare("INSERT INTO t (k, v) VALUES (?, ?)", keyspace=keyspace_name)
    table.execute(insert, (1, "one"))
    assert table.execute(f"SELECT v FROM {keyspace_name}.t").one()[0] == "one"


def test_what_the_server_forgot_is_prepared_again(table):
    insert = table.prepare("INSERT INTO t (k, v) VALUES (?, ?)")
    read = table.prepare("SELECT v FROM t WHERE k = ?")
    table.execute(insert, (1, "one"))
    # Dropping a table makes the server forget every statement on it.
    table.execute("DROP TABLE t", timeout=30)
    table.execute("CREATE TABLE t (k int PRIMARY KEY, v text, w int)")
    assert table.execute(read, (1,)).one() is None
    table.execute(insert, (1, "two"))
    assert table.execute(read, (1,)).one()[0] == "two"


def test_values_are_not_written_to_columns_of_another_type(table):
    insert = table.prepare("INSERT INTO t (k, v) VALUES (?, ?)")
    bound = insert.bind((1, "one"))
    batch = BatchStatement().add(insert, (2, "two"))
    table.execute("DROP TABLE t", timeout=30)
    table.execute("CREATE TABLE t (k int PRIMARY KEY, v blob)")
    for _ in range(2):
        for statement, values in ((bound, None), (insert, (3, "three")), (batch, None)):
            with pytest.raises(DriverException, match="v was text, is blob"):
                table.execute(statement, values)
    assert table.execute("SELECT count(*) FROM t").one()[0] == 0
    table.execute(table.prepare("INSERT INTO t (k, v) VALUES (?, ?)"), (1, b"one"))
    assert table.execute("SELECT v FROM t WHERE k = 1").one()[0] == b"one"


def test_many_requests_at_once_have_the_server_prepare_once(table, caplog):
    insert = table.prepare("INSERT INTO t (k, v) VALUES (?, 'v')")
    table.execute("DROP TABLE t", timeout=30)
    table.execute("CREATE TABLE t (k int PRIMARY KEY, v text)")
    with caplog.at_level("DEBUG", logger="driver.execution.request"):
        futures = [table.execute_async(insert, (k,)) for k in range(100)]
        for future in futures:
            future.result()
    again = [text for text in caplog.messages if text.startswith("Re-preparing")]
    # An answer may be late enough to find the PREPARE of the others answered.
    assert 1 <= len(again) < 10
    assert table.execute("SELECT count(*) FROM t").one()[0] == 100


def test_preparing_again_fails_with_the_servers_error_if_it_cannot_be(table):
    read = table.prepare("SELECT v FROM t WHERE k = ?")
    table.execute("DROP TABLE t", timeout=30)
    with pytest.raises(InvalidRequest):
        table.execute(read, (1,))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_column_that_is_added_shows_or_stays_away_but_never_shifts(
    table, clusters, one_node, keyspace_name, version
):
    """v5: the server sends new metadata (CASSANDRA-10786). v3, v4: it forgets the statement."""
    session = clusters(one_node.addresses, protocol_version=version).connect(keyspace_name)
    session.execute("INSERT INTO t (k, v, w) VALUES (1, 'one', 2)")
    everything = session.prepare("SELECT * FROM t")
    assert session.execute(everything).one()._asdict() == {"k": 1, "v": "one", "w": 2}
    table.execute("ALTER TABLE t ADD a text")
    table.execute("INSERT INTO t (k, a) VALUES (1, 'added')")
    for _ in range(3):
        row = session.execute(everything).one()._asdict()
        assert row | {"a": "added"} == {"k": 1, "a": "added", "v": "one", "w": 2}
        assert row.get("a", "added") == "added"
    if version == 5:
        assert "a" in row
    table.execute("ALTER TABLE t DROP a")
    for _ in range(3):
        row = session.execute(everything).one()._asdict()
        assert {key: row[key] for key in ("k", "v", "w")} == {"k": 1, "v": "one", "w": 2}


def test_preparing_a_text_twice_gives_the_same_statement_id(table):
    first, second = (table.prepare("SELECT v FROM t WHERE k = ?") for _ in range(2))
    assert first.query_id == second.query_id
    table.execute("INSERT INTO t (k, v) VALUES (1, 'one')")
    assert table.execute(first, (1,)).one() == table.execute(second, (1,)).one() == ("one",)


@pytest.mark.parametrize("version", VERSIONS)
def test_texts_with_parameters_mean_the_same_when_they_are_prepared(
    table, clusters, one_node, keyspace_name, version
):
    """As literals first, then bound: each text gives the same rows at every execution."""
    table.execute(
        "CREATE TABLE u (k int, c uuid, v text, w double, t timestamp, PRIMARY KEY (k, c))"
    )
    session = clusters(
        one_node.addresses,
        protocol_version=version,
        preparation_policy=PreparationPolicy(after=1),
    ).connect(keyspace_name)
    key = UUID(int=7)
    texts = [
        ("INSERT INTO u (k, c, v, w) VALUES (%s, %s, %s, %s)", (1, key, "it's 5 %s?", 0.1)),
        ("UPDATE u SET v = %(v)s WHERE k = %(k)s AND c = %(c)s", {"k": 1, "c": key, "v": "100%"}),
        (
            "SELECT k, c, v, w FROM u WHERE k = %s AND c IN %s -- one?\n LIMIT %s",
            (1, ValueSequence([key]), 5),
        ),
        ("UPDATE u SET t = %s WHERE k = 2 AND c = %s", ("2020-01-02T03:04:05Z", key)),
        ("SELECT v FROM u WHERE v = %s LIMIT 5 ALLOW FILTERING", ("100%",)),
        (SimpleStatement(f"SELECT w FROM {keyspace_name}.u WHERE k = %s", fetch_size=1), (1,)),
    ]
    found = []
    for _ in range(3):
        results = [session.execute(text, values) for text, values in texts]
        found.append([[tuple(row) for row in result] for result in results])
        waiting = session.core.prepared_cache.texts._values.values()
        until = time.monotonic() + 10
        while any(text.is_asked for text in list(waiting)) and time.monotonic() < until:
            time.sleep(0.01)
    bound = [isinstance(result.response_future.query, BoundStatement) for result in results]
    assert bound == [True, True, True, False, True, True], "text for a timestamp cannot be bound"
    assert found[1] == found[2] == [[], [], [(1, key, "100%", 0.1)], [], [("100%",)], [(0.1,)]]
