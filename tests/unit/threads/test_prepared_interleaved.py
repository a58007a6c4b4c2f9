"""Statements that several threads prepare at once are one to the cluster, and none is forgotten."""

import gc

import pytest
from interleaving import Schedule
from unit.threads.stepped import stepped

from driver.statements import PreparedStatement

module = stepped("cluster.prepared")
PreparedStatements = module.PreparedStatements


def statement_of(query_id):
    return PreparedStatement((), query_id, None, "SELECT", None, 4, None, None)


@pytest.mark.parametrize("first", [0, 100])
def test_of_equal_statements_the_first_one_is_known(first):
    for seed in range(first, first + 100):
        schedule = Schedule(seed, [module])
        with schedule.locks():
            registry = PreparedStatements(core=None)
        kept = []

        def prepares(schedule=schedule, registry=registry, kept=kept):
            for number in range(4):
                statement = statement_of(bytes([number % 2]))
                registry.add(statement, "ks")
                schedule.turn()
                known = registry.by_id[statement.query_id]
                assert known is statement or statement.known_by is known
                if number < 2:
                    kept.append(statement)

        schedule.run(prepares, prepares, prepares)
        assert set(registry.by_id) == {b"\0", b"\1"}, f"seed {seed}"
        kept.clear()
        gc.collect(0)
        assert not registry.by_id, f"seed {seed}"
