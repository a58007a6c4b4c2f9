"""One request: its parameters, its callbacks, its keyspace, its time, its errors."""

import threading
import time

import pytest

from driver.protocol.errors import (
    AlreadyExists,
    InvalidRequest,
    NoHostAvailable,
    OperationTimedOut,
    SyntaxException,
    Unavailable,
)
from driver.statements import BatchStatement, SimpleStatement
from tests.integration.rings import lacks


@pytest.fixture
def table(session):
    session.execute("CREATE TABLE t (k int PRIMARY KEY, v text)")
    return session


def rows(session, where=""):
    return sorted(tuple(row) for row in session.execute(f"SELECT k, v FROM t {where}"))


def test_a_row_that_was_written_is_read_back(table):
    table.execute("INSERT INTO t (k, v) VALUES (1, 'one')")
    assert rows(table) == [(1, "one")]


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("INSERT INTO t (k, v) VALUES (%s, %s)", (1, "it's")),
        ("INSERT INTO t (k, v) VALUES (%s, %s)", [1, "it's"]),
        ("INSERT INTO t (k, v) VALUES (%(key)s, %(value)s)", {"key": 1, "value": "it's"}),
    ],
    ids=["tuple", "list", "mapping"],
)
def test_parameters_of_a_simple_statement_are_written_as_literals(table, text, parameters):
    table.execute(text, parameters)
    assert rows(table) == [(1, "it's")]


@pytest.mark.since("4.0", "protocol v5")
def test_a_request_can_name_its_keyspace(table):
    table.execute("INSERT INTO t (k, v) VALUES (1, 'one')")
    elsewhere = table.cluster.connect()
    found = elsewhere.execute("SELECT v FROM t WHERE k = 1", keyspace=table.keyspace)
    assert found.one().v == "one"
    batch = BatchStatement()
    batch.add("INSERT INTO t (k, v) VALUES (2, 'two')")
    elsewhere.execute(batch, keyspace=table.keyspace)
    prepared = table.prepare("SELECT v FROM t WHERE k = ?")
    assert elsewhere.execute(prepared, (2,), keyspace=table.keyspace).one().v == "two"
    with pytest.raises(InvalidRequest):
        elsewhere.execute("SELECT v FROM t WHERE k = 1")


@pytest.mark.since("4.0", "protocol v5")
def test_a_request_can_say_what_time_it_is(table):
    now = int(time.time())
    table.execute("INSERT INTO t (k, v) VALUES (1, 'one') USING TTL 60", now_in_seconds=now)
    prepared = table.prepare("SELECT v, TTL(v) AS left FROM t WHERE k = ?")
    for statement, values in ((prepared, (1,)), ("SELECT v, TTL(v) AS left FROM t", None)):
        assert table.execute(statement, values, now_in_seconds=now + 50).one() == ("one", 10)
        assert table.execute(statement, values, now_in_seconds=now + 70).one() is None


def test_callbacks_get_the_rows_and_their_arguments(table):
    table.execute("INSERT INTO t (k, v) VALUES (1, 'one')")
    heard, done = [], threading.Event()

    def hear(found, *more, **named):
        heard.append((found, more, named))
        done.set()

    future = table.execute_async("SELECT k, v FROM t")
    future.add_callback(hear, "more", name="named")
    assert done.wait(10)
    ((found, more, named),) = heard
    assert [tuple(row) for row in found] == [(1, "one")]
    assert (more, named) == (("more",), {"name": "named"})
    assert [tuple(row) for row in future.result()] == [(1, "one")]


def test_a_callback_that_comes_late_is_called_at_once(table):
    future = table.execute_async("SELECT k, v FROM t")
    future.result()
    heard = []
    future.add_callbacks(heard.append, pytest.fail)
    assert [list(found) for found in heard] == [[]]


def test_errbacks_get_the_error_that_result_raises(table):
    heard, done = [], threading.Event()

    def hear(error):
        heard.append(error)
        done.set()

    future = table.execute_async("SELECT nothing FROM t")
    future.add_callbacks(lambda _: pytest.fail("called back"), hear)
    assert done.wait(10)
    assert isinstance(heard[0], InvalidRequest)
    with pytest.raises(InvalidRequest, match="nothing"):
        future.result()


def test_errors_of_the_server_are_told_apart(table, keyspace_name):
    with pytest.raises(SyntaxException, match="SELEKT"):
        table.execute("SELEKT 1")
    with pytest.raises(InvalidRequest, match="missing"):
        table.execute("SELECT * FROM missing")
    with pytest.raises(AlreadyExists) as caught:
        table.execute("CREATE TABLE t (k int PRIMARY KEY)")
    assert (caught.value.keyspace, caught.value.table) == (keyspace_name, "t")


def test_a_level_that_cannot_be_had_says_what_was_missing(session):
    session.execute(
        "CREATE KEYSPACE IF NOT EXISTS three_copies WITH replication = "
        "{'class': 'SimpleStrategy', 'replication_factor': 3}"
    )
    session.execute("CREATE TABLE IF NOT EXISTS three_copies.t (k int PRIMARY KEY)")
    from driver.protocol.consistency import ConsistencyLevel

    statement = SimpleStatement(
        "SELECT * FROM three_copies.t WHERE k = 1", consistency_level=ConsistencyLevel.ALL
    )
    with pytest.raises((Unavailable, NoHostAvailable)) as caught:
        session.execute(statement)
    error = caught.value
    if isinstance(error, NoHostAvailable):  # the default policy tries the next host
        ((_, error),) = error.errors.items()
    assert (error.required_replicas, error.alive_replicas) == (3, 1)
    session.execute("DROP KEYSPACE three_copies", timeout=30)


def test_a_request_gives_up_after_its_own_timeout_and_names_the_host(one_node, table):
    table.execute("INSERT INTO t (k, v) VALUES (1, 'one')")
    one_node.pause(1)
    try:
        began = time.monotonic()
        with pytest.raises(OperationTimedOut, match=one_node.addresses[0].replace(".", r"\.")):
            table.execute("SELECT * FROM t", timeout=0.5)
        assert time.monotonic() - began < 10  # the session's default; not a measurement
    finally:
        one_node.resume(1)
    # The late answer goes to nobody, and the connection goes on.
    for _ in range(20):
        assert rows(table) == [(1, "one")]


def test_the_keyspace_of_a_session_can_be_switched(session, keyspace_name):
    other = f"{keyspace_name}_b"
    session.execute(
        f"CREATE KEYSPACE {other} WITH replication = "
        "{'class': 'SimpleStrategy', 'replication_factor': 1}"
    )
    try:
        for name, value in ((keyspace_name, "here"), (other, "there")):
            session.execute(f"CREATE TABLE {name}.t (k int PRIMARY KEY, v text)")
            session.execute(f"INSERT INTO {name}.t (k, v) VALUES (1, '{value}')")
        assert rows(session) == [(1, "here")]
        session.set_keyspace(other)
        assert (session.keyspace, rows(session)) == (other, [(1, "there")])
        session.execute(f"USE {keyspace_name}")
        assert (session.keyspace, rows(session)) == (keyspace_name, [(1, "here")])
        if not lacks("4.0", "protocol v5"):  # which sends it along
            one = SimpleStatement("SELECT v FROM t", keyspace=other)
            assert session.execute(one).one()[0] == "there"
            assert rows(session) == [(1, "here")]
    finally:
        session.execute(f"DROP KEYSPACE {other}", timeout=30)


def test_a_keyspace_that_is_not_there_is_an_error_and_changes_nothing(session, keyspace_name):
    with pytest.raises(InvalidRequest, match="nowhere"):
        session.set_keyspace("nowhere")
    session.execute("CREATE TABLE t (k int PRIMARY KEY, v text)")
    assert (session.keyspace, rows(session)) == (keyspace_name, [])


def test_a_keyspace_with_capitals_is_used_as_it_is_written(session, clusters, one_node):
    session.execute(
        'CREATE KEYSPACE "MixedCase" WITH replication = '
        "{'class': 'SimpleStrategy', 'replication_factor': 1}"
    )
    try:
        other = clusters(one_node.addresses).connect("MixedCase")
        other.execute("CREATE TABLE t (k int PRIMARY KEY, v text)")
        assert rows(other) == []
    finally:
        session.execute('DROP KEYSPACE "MixedCase"', timeout=30)


def test_a_conditional_write_tells_whether_it_was_applied(table):
    insert = "INSERT INTO t (k, v) VALUES (1, %s) IF NOT EXISTS"
    assert table.execute(insert, ("one",)).was_applied
    second = table.execute(insert, ("two",))
    assert not second.was_applied
    assert rows(table) == [(1, "one")]
    assert table.execute("UPDATE t SET v = 'three' WHERE k = 1 IF v = 'one'").was_applied
    assert rows(table) == [(1, "three")]


def test_writes_have_the_clients_timestamp_unless_it_is_switched_off(
    table, clusters, one_node, keyspace_name
):
    cluster = clusters(one_node.addresses, timestamp_generator=lambda: 1234567)
    session = cluster.connect(keyspace_name)

    def stamp():
        return session.execute("SELECT writetime(v) FROM t WHERE k = 1").one()[0]

    session.execute("INSERT INTO t (k, v) VALUES (1, 'client')")
    assert stamp() == 1234567
    session.use_client_timestamp = False
    session.execute("INSERT INTO t (k, v) VALUES (1, 'server')")
    assert stamp() > 1_600_000_000_000_000
    assert rows(table) == [(1, "server")]


def test_timestamps_of_one_client_never_repeat(table):
    insert = table.prepare("INSERT INTO t (k, v) VALUES (1, ?)")
    for number in range(50):  # equal timestamps: the greater value would win, not the later
        table.execute(insert, (str(99 - number),))
    assert rows(table) == [(1, "50")]


def test_a_request_can_be_sent_to_a_host_of_choice(table, one_node):
    (host,) = table.cluster.metadata.all_hosts()
    future = table.execute_async("SELECT * FROM t", host=host)
    future.result()
    assert future.coordinator_host.address == one_node.addresses[0]


def test_a_session_that_was_shut_down_refuses_requests(table, clusters, one_node):
    other = clusters(one_node.addresses).connect()
    other.cluster.shutdown()
    assert other.is_shutdown
    with pytest.raises(Exception, match=r"(?i)shut ?down"):
        other.execute("SELECT * FROM system.local")
    assert rows(table) == []
