"""Batches: all or nothing, of every kind, of every statement, too large ones."""

import pytest

from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.errors import InvalidRequest
from driver.protocol.kinds import BatchType
from driver.statements import BatchStatement, SimpleStatement


@pytest.fixture
def table(session):
    session.execute("CREATE TABLE t (k int, c int, v text, PRIMARY KEY (k, c))")
    return session


def rows(session):
    return sorted(tuple(row) for row in session.execute("SELECT k, c, v FROM t"))


@pytest.mark.parametrize("kind", [BatchType.LOGGED, BatchType.UNLOGGED], ids=str)
def test_statements_of_every_kind_go_into_one_batch(table, kind):
    insert = table.prepare("INSERT INTO t (k, c, v) VALUES (1, ?, ?)")
    batch = BatchStatement(kind, consistency_level=ConsistencyLevel.QUORUM)
    batch.add("INSERT INTO t (k, c, v) VALUES (1, 1, 'text')")
    batch.add("INSERT INTO t (k, c, v) VALUES (1, %s, %s)", (2, "parameters"))
    batch.add(SimpleStatement("INSERT INTO t (k, c, v) VALUES (1, 3, 'simple')"))
    batch.add(insert, (4, "prepared"))
    batch.add(insert.bind((5, "bound")))
    table.execute(batch)
    words = ["text", "parameters", "simple", "prepared", "bound"]
    assert rows(table) == [(1, c, word) for c, word in enumerate(words, 1)]


def test_an_error_in_one_statement_applies_none(table):
    batch = BatchStatement()
    batch.add("INSERT INTO t (k, c, v) VALUES (1, 1, 'one')")
    batch.add("INSERT INTO t (k, nothing) VALUES (1, 2)")
    with pytest.raises(InvalidRequest, match="nothing"):
        table.execute(batch)
    assert rows(table) == []


def test_counters_are_counted_in_batches_of_their_own(table):
    table.execute("CREATE TABLE counts (k int PRIMARY KEY, n counter)")
    count = table.prepare("UPDATE counts SET n = n + ? WHERE k = 1")
    batch = BatchStatement(BatchType.COUNTER)
    batch.add_all([count] * 3, [(1,), (10,), (100,)])
    table.execute(batch)
    assert table.execute("SELECT n FROM counts WHERE k = 1").one()[0] == 111


def test_a_conditional_batch_is_applied_whole_or_not(table):
    def batch(*clusterings):
        made = BatchStatement()
        for c in clusterings:
            made.add(f"INSERT INTO t (k, c, v) VALUES (1, {c}, 'v') IF NOT EXISTS")
        return made

    assert table.execute(batch(1, 2)).was_applied
    assert not table.execute(batch(2, 3)).was_applied
    assert rows(table) == [(1, 1, "v"), (1, 2, "v")]


def test_statements_that_were_forgotten_are_prepared_again_for_a_batch(table):
    insert = table.prepare("INSERT INTO t (k, c, v) VALUES (1, ?, 'v')")
    again = table.prepare("INSERT INTO t (k, c, v) VALUES (2, ?, 'w')")
    table.execute("DROP TABLE t", timeout=30)
    table.execute("CREATE TABLE t (k int, c int, v text, PRIMARY KEY (k, c))")
    batch = BatchStatement()
    batch.add_all([insert, again], [(1,), (2,)])
    table.execute(batch)
    assert rows(table) == [(1, 1, "v"), (2, 2, "w")]


def test_a_large_batch_is_warned_of_and_a_huge_one_refused(table):
    def batch(size):
        made = BatchStatement(BatchType.UNLOGGED)
        made.add("INSERT INTO t (k, c, v) VALUES (1, 1, %s)", ("x" * size,))
        made.add("INSERT INTO t (k, c, v) VALUES (2, 2, 'y')")
        return made

    future = table.execute_async(batch(6 << 10))
    future.result()
    assert any("exceed" in warning for warning in future.warnings)
    with pytest.raises(InvalidRequest, match=r"[Bb]atch too large"):
        table.execute(batch(60 << 10))
