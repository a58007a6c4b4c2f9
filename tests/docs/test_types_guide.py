"""The table of the types guide: each Python type is taken, and what comes back is as it says."""

import datetime as dt
import decimal
import ipaddress
import re
import uuid

import pytest
from pages import ROOT

from driver import ValueSequence
from driver.types import UserType, lookup_cqltype
from driver.types.literals import Encoder
from driver.values.date import Date
from driver.values.duration import Duration
from driver.values.time import Time

NOON = dt.datetime(2026, 11, 20, 12, 0)  # noqa: DTZ001  (naive is UTC, as the table says)
ID = uuid.UUID("5f7a0a7e-c5f1-11f0-8b3c-325096b39f47")
INTEGER = {"int": 7}
TEXT = {"str": "seven"}
#: CQL type -> what the table calls it -> a value of it.
TAKEN = {
    "ascii": TEXT,
    "text": TEXT,
    "varchar": TEXT,
    **dict.fromkeys(("bigint", "int", "smallint", "tinyint", "varint", "counter"), INTEGER),
    "blob": {"bytes": b"7", "bytearray": bytearray(b"7"), "memoryview": memoryview(b"7")},
    "boolean": {"bool": True, "a number (0 is false)": 2},
    "date": {
        "datetime.date": NOON.date(),
        "values.date.Date": Date(20000),
        "ISO text": "2026-11-20",
        "days (2³¹ is 1970-01-01)": 2**31,
    },
    "decimal": {
        "decimal.Decimal": decimal.Decimal("7.5"),
        "int": 7,
        "float (1.1 has 52 digits)": 1.1,
    },
    "double": {"float": 7.5, "int": 7},
    "float": {"float": 7.5, "int": 7},
    "duration": {"values.duration.Duration": Duration(1, 2, 3)},
    "inet": {"str": "127.0.0.1", "ipaddress addresses": ipaddress.ip_address("::1")},
    "list<int>": {"any sequence or set (without None)": (1, 2)},
    "set<int>": {"any set or sequence": {1, 2}},
    "map<int, text>": {"any mapping": {1: "one"}},
    "time": {
        "datetime.time": NOON.time(),
        "values.time.Time": Time(7),
        "nanoseconds": 7,
        "ISO text": "12:00:00.000000001",
    },
    "timestamp": {"datetime.datetime (naive is UTC)": NOON, "milliseconds": 7},
    "timeuuid": {"uuid.UUID": ID},
    "uuid": {"uuid.UUID": ID},
    "tuple<int, text>": {"any sequence": [1, "one"]},
    "vector<float, 2>": {"any sequence of n values": (1.0, 2.0)},
}


def rows():
    """CQL name -> (what is taken, what is given) of the page's table."""
    page = (ROOT / "docs" / "guides" / "types.md").read_text("utf-8")
    table = page.split("|---|---|---|\n")[1].split("\n\n")[0]
    for line in table.splitlines():
        names, taken, given = (cell.replace("`", "") for cell in line.strip("| ").split(" | "))
        for name in re.split(r", (?![^<]*>)", names):
            yield name, re.split(r", (?![^(]*\))", taken), given.split(",")[0]


ROWS = {name: (taken, given) for name, taken, given in rows()}
CASES = [
    pytest.param(cql, what, value, id=f"{cql}-{what}")
    for cql, values in TAKEN.items()
    for what, value in values.items()
]


def row_of(cql):
    short = cql.partition("<")[0]
    return next(row for name, row in ROWS.items() if name.partition("<")[0] == short)


@pytest.mark.parametrize(("cql", "what", "value"), CASES)
def test_what_the_table_says_is_taken_and_given(cql, what, value):
    taken, given = row_of(cql)
    cql_type = lookup_cqltype(cql)
    result = cql_type.from_binary(cql_type.to_binary(value, 5), 5)
    assert what in taken
    assert type(result).__name__ == given.rpartition(".")[2]


def test_every_row_and_every_way_of_the_table_has_a_case():
    untested = {
        name: set(taken) - set(next((v for k, v in TAKEN.items() if k.startswith(name)), ()))
        for name, (taken, _) in ((n.partition("<")[0], row) for n, row in ROWS.items())
    }
    assert {name for name, missing in untested.items() if missing} == {"user-defined type"}


@pytest.mark.parametrize(
    "value",
    [(1, "one"), {"number": 1, "name": "one"}, type("Point", (), {"number": 1, "name": "one"})()],
    ids=["sequence", "mapping", "object"],
)
def test_a_user_defined_type_takes_its_three_forms(value):
    fields = ("number", "name")
    types = (lookup_cqltype("int"), lookup_cqltype("text"))
    point = UserType.make_udt_class("guide", "point", fields, types)
    assert point.from_binary(point.to_binary(value, 5), 5) == (1, "one")


def test_in_takes_a_sequence_of_values_that_is_no_list():
    encode = Encoder().cql_encode_all_types
    assert (encode(ValueSequence([1, 2])), encode([1, 2])) == ("(1, 2)", "[1, 2]")
