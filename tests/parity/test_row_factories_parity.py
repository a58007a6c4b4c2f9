"""Named tuples of both implementations: the same rows, fields and errors."""

import gc
import sys
from importlib import import_module
from uuid import UUID

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


def decoded(package, types, values):
    """Rows of one column each, decoded from the bytes of a result."""
    find = import_module(f"{package.__name__}.types.deserializers").find_deserializer
    parse = import_module(f"{package.__name__}.wire.rows").parse_rows
    column = import_module(f"{package.__name__}.protocol.columns").ColumnMetadata
    cells = [cqltype.serialize(value, 4) for cqltype, value in zip(types, values, strict=True)]
    body = (1).to_bytes(4) + b"".join(len(cell).to_bytes(4) + cell for cell in cells)
    columns = [column("ks", "t", f"c{at}", each) for at, each in enumerate(types)]
    return parse(body, 0, columns, [find(each) for each in types], 4)


def test_the_garbage_collector_passes_over_rows_without_other_objects(compiled):
    types = import_module(f"{compiled.__name__}.types")
    rows = import_module(f"{compiled.__name__}.results.rows")
    number, text, uuid = types.Int32Type, types.UTF8Type, types.UUIDType
    numbers = types.ListType.apply_parameters([number])
    for columns, values, is_looked_at in (
        ([number, number], [1, 2], False),
        ([number, text, uuid], [1, "x", UUID(int=7)], False),
        ([number, numbers], [1, [2]], True),
    ):
        names = [f"c{at}" for at, _ in enumerate(columns)]
        plain = decoded(compiled, columns, values)
        copied = rows.named_tuple_factory(names, plain)
        own = rows.make_rows(rows.named_tuple_factory, names, decoded(compiled, columns, values))
        assert plain == copied == own == [tuple(values)]
        assert [type(row) for row in (plain[0], copied[0], own[0])][1:] == [type(copied[0])] * 2
        assert {gc.is_tracked(made[0]) for made in (plain, copied, own)} == {is_looked_at}
    assert not gc.is_tracked(decoded(compiled, [uuid], [UUID(int=7)])[0][0])


def test_rows_made_of_decoded_ones_keep_their_class_as_long_as_they_live(compiled):
    types = import_module(f"{compiled.__name__}.types")
    rows = import_module(f"{compiled.__name__}.results.rows")
    cls = rows.named_tuple_class(("c0",))

    def make():
        return rows.make_rows(
            rows.named_tuple_factory, ["c0"], decoded(compiled, [types.Int32Type], [1])
        )

    made = make()
    before = sys.getrefcount(cls)
    more = [make() for _ in range(10)]
    assert sys.getrefcount(cls) == before + 10
    more.clear()
    assert (sys.getrefcount(cls), type(made[0])) == (before, cls)


@given(
    names=st.lists(st.sampled_from(["a", "b", "c", "[applied]"]), max_size=4),
    rows=st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=4),
    kind=KINDS,
)
def test_any_rows_as_dicts(pure, compiled, names, rows, kind):
    made = [
        import_module(f"{package.__name__}.results.rows").dict_factory(
            names, [kind(row) for row in rows]
        )
        for package in (pure, compiled)
    ]
    assert made[0] == made[1]
    assert [list(row) for row in made[0]] == [list(row) for row in made[1]]
