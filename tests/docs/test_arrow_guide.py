"""The table of Arrow's types in the guide is what pyarrow reads."""

import re

import pyarrow as pa
import pytest
from pages import ROOT
from wire_bodies import rows_content

from driver.protocol.columns import ColumnMetadata
from driver.types import UserType, lookup_casstype, lookup_cqltype
from driver.wire.arrow.fields import ArrowOptions, fields_of
from driver.wire.arrow.page import parse_page

POINT = UserType.make_udt_class("ks", "point", ("x",), (lookup_cqltype("int"),))
CUSTOM = lookup_casstype("com.acme.Sketch")
#: What the table writes with letters -> a type, and what pyarrow calls it.
COMPOUND = {
    "types that only the server knows": (CUSTOM, "binary"),
    "list<T>": ("list<int>", "list<item: int32>"),
    "set<T>": ("set<int>", "list<item: int32>"),
    "map<K, V>": ("map<text, int>", "map<string, int32>"),
    "tuple<...>": ("tuple<int, text>", "struct<f0: int32, f1: string>"),
    "user-defined type": (POINT, "struct<x: int32>"),
    "vector<T, n>": ("vector<float, 3>", "fixed_size_list<item: float>[3]"),
}
NAMES = {"date32": "date32[day]"}


def rows():
    """CQL name -> what the page calls the Arrow type."""
    page = (ROOT / "docs" / "guides" / "arrow.md").read_text("utf-8")
    table = page.split("| CQL | Arrow |\n|---|---|\n")[1].split("\n\n")[0]
    for line in table.splitlines():
        left, right = line.strip("| ").split(" | ")
        names = re.split(r", (?![^<]*>)", left.replace("`", ""))
        arrows = re.findall(r"`([^`]*)`", right)
        numbers = arrows if len(arrows) == len(names) else arrows[:1] * len(names)
        yield from zip(names, numbers, strict=True)


ROWS = list(rows())


@pytest.mark.parametrize(("cql", "arrow"), ROWS)
def test_a_row_of_the_table_is_so(cql, arrow):
    kind, expected = COMPOUND.get(cql, (cql, NAMES.get(arrow, arrow)))
    cqltype = lookup_cqltype(kind) if isinstance(kind, str) else kind
    columns = [ColumnMetadata("ks", "t", "c", cqltype)]
    fields, decrypts = fields_of(columns, None, ArrowOptions())
    found = pa.record_batch(parse_page(rows_content([[None]]), 0, columns, fields, decrypts, 5))
    kind = found.column(0).type
    assert str(getattr(kind, "storage_type", kind)) == expected


def test_the_table_has_every_type():
    assert len(ROWS) == 28
