"""Statements that several threads prepare at once are one to the cluster, and none is forgotten."""

import gc

import pytest
from interleaving import Schedule
from unit.threads.stepped import stepped

module = stepped("cluster.prepared")
PreparedStatements = module.PreparedStatements


class Statement:
    """As much of a prepared statement as the registry looks at."""

    known_by = None

    def __init__(self, query_id):
        self.query_id, self.keyspace, self.query_string = query_id, None, "SELECT"


@pytest.mark.parametrize("first", [0, 100])
def test_of_equal_statements_the_first_one_is_known(first):
    for seed in range(first, first + 100):
        schedule = Schedule(seed, [module])
        with schedule.locks():
            registry = PreparedStatements(core=None)
        kept = []

        def prepares(schedule=schedule, registry=registry, kept=kept):
            for number in range(4):
                statement = Statement(bytes([number % 2]))
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
