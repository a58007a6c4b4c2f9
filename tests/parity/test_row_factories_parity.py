"""Named tuples of both implementations: the same rows, fields and errors."""

import gc
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

ROWS = st.lists(st.lists(st.integers(0, 3), max_size=3), max_size=4)
KINDS = st.sampled_from([tuple, list, iter])


def outcome(package, names, rows, kind):
    module = import_module(f"{package.__name__}.results.rows")
    try:
        made = module.named_tuple_factory(names, [kind(row) for row in rows])
    except Exception as error:  # noqa: BLE001  (any error is an outcome to compare)
        return type(error).__name__, str(error)
    return [(type(row).__name__, row._fields, tuple(row), repr(row)) for row in made]


@given(
    names=st.lists(st.sampled_from(["a", "b", "_c", "class", "1"]), max_size=3),
    rows=ROWS,
    kind=KINDS,
)
def test_any_rows(pure, compiled, names, rows, kind):
    assert outcome(compiled, names, rows, kind) == outcome(pure, names, rows, kind)


class Raises:
    def __iter__(self):
        yield (1,)
        raise RuntimeError("the rest is lost")


def test_rows_that_raise(pure, compiled):
    for package in (pure, compiled):
        factory = import_module(f"{package.__name__}.results.rows").named_tuple_factory
        with pytest.raises(RuntimeError, match="the rest is lost"):
            factory(["a"], Raises())
        assert factory(["a"], iter([(1,), [2]])) == [(1,), (2,)]
        assert factory(["a"], {"a": 1}) == {"a": 1}


def test_rows_keep_their_values_and_their_class_alive_no_longer_than_they_live(compiled):
    factory = import_module(f"{compiled.__name__}.results.rows").named_tuple_factory

    class Value:
        alive = 0

        def __init__(self):
            Value.alive += 1

        def __del__(self):
            Value.alive -= 1

    rows = factory(["a", "b"], [(Value(), None), (None, Value())])
    gc.collect()
    assert Value.alive == 2
    assert gc.is_tracked(rows[0])
    assert rows[0].a is rows[0][0]
    assert hash(factory(["a"], [(1,)])[0]) == hash((1,))
    cycle = factory(["a"], [([],)])[0]
    cycle.a.append((cycle, Value()))
    del rows, cycle
    gc.collect()
    assert Value.alive == 0
