"""Both implementations make the same Arrow columns of the same bytes, and refuse the same ones."""

import importlib

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from strategies.cql import cql_types, damaged, values_of
from wire_bodies import rows_content


def page(driver, names, body, options):
    """What one implementation makes of a page: what pyarrow reads of it, or an error's class."""

    def module(name):
        return importlib.import_module(f"{driver.__name__}.{name}")

    lookup = module("types.registry").lookup_casstype
    columns = [
        module("protocol.columns").ColumnMetadata("ks", "t", f"c{i}", lookup(name))
        for i, name in enumerate(names)
    ]
    fields = module("wire.arrow.fields")
    found, decrypts = fields.fields_of(columns, None, fields.ArrowOptions(*options))
    try:
        made = module("wire.arrow.page").parse_page(body, 0, columns, found, decrypts, 5)
    except Exception as error:  # noqa: BLE001  (whatever it is, it must be the same)
        return type(error).__name__
    read = pa.record_batch(made)
    read.validate(full=True)
    # Written by Arrow: not every date of its is one of Python's.
    written = [column.to_string(window=10**6, container_window=10**6, element_size_limit=10**6)
               for column in read.columns]  # fmt: skip
    return made.num_rows, made.column_names, read.schema, written, repr(made)


@st.composite
def pages(draw):
    cqltypes = draw(st.lists(cql_types(), min_size=1, max_size=3))
    row = st.tuples(*(st.none() | values_of(cqltype) for cqltype in cqltypes))
    rows = [
        [None if v is None else t.serialize(v, 5) for t, v in zip(cqltypes, values, strict=True)]
        for values in draw(st.lists(row, max_size=3))
    ]
    return [cqltype.cass_parameterized_type(full=True) for cqltype in cqltypes], rows


OPTIONS = st.sampled_from([(), ((38, 10), 38), ((76, 20), 76)])


@given(pages(), OPTIONS)
def test_columns_are_the_same(compiled, pure, drawn, options):
    names, rows = drawn
    body = rows_content(rows)
    assert str(page(compiled, names, body, options)) == str(page(pure, names, body, options))


@given(pages().filter(lambda drawn: drawn[1]), st.data())
def test_damaged_values_are_refused_by_both_or_by_none(compiled, pure, drawn, data):
    names, rows = drawn
    row = data.draw(st.integers(0, len(rows) - 1))
    cell = data.draw(st.integers(0, len(names) - 1))
    rows[row][cell] = data.draw(damaged(rows[row][cell] or b"\0\0\0\1"))
    body = rows_content(rows)
    assert str(page(compiled, names, body, ())) == str(page(pure, names, body, ()))


@given(pages(), st.data())
def test_damaged_frames_are_refused_by_both_or_by_none(compiled, pure, drawn, data):
    names, rows = drawn
    body = data.draw(damaged(rows_content(rows)))
    assert str(page(compiled, names, body, ())) == str(page(pure, names, body, ()))
