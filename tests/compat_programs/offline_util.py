"""Values and helpers of cassandra.util and cassandra.encoder."""
# ruff: noqa: T201  (a program prints)

import datetime as dt
import uuid
from collections import OrderedDict
from decimal import Decimal

from cassandra.encoder import Encoder, ValueSequence, cql_quote
from cassandra.util import (
    Date,
    Duration,
    OrderedMap,
    SortedSet,
    Time,
    Version,
    datetime_from_timestamp,
    datetime_from_uuid1,
    list_contents_to_tuple,
    max_uuid_from_time,
    min_uuid_from_time,
    ms_timestamp_from_datetime,
    sortedset,
    unix_time_from_uuid1,
    utc_datetime_from_ms_timestamp,
    uuid_from_time,
)

at = dt.datetime(2024, 5, 6, 7, 8, 9, 123000)  # noqa: DTZ001  (CQL's are naive UTC)
print(ms_timestamp_from_datetime(at), datetime_from_timestamp(1714979289.123))
print(utc_datetime_from_ms_timestamp(1714979289123))
print(min_uuid_from_time(at), max_uuid_from_time(at))
made = uuid_from_time(at, node=0x1234, clock_seq=7)
print(made, unix_time_from_uuid1(made), datetime_from_uuid1(made))

for value in ("1970-01-01", "2024-02-29", 10957, dt.date(1969, 12, 31), at):
    date = Date(value)
    print(repr(date), date, date.days_from_epoch, date.seconds, date.date())
print(Date(0) < Date(1), Date("1970-01-02") == Date(1), hash(Date(3)) == hash(Date(3)))
for value in ("00:00:01", "23:59:59.999999999", 1_000_000_123, dt.time(1, 2, 3, 4)):
    time = Time(value)
    print(repr(time), time, time.nanosecond_time, time.hour, time.minute, time.second)
    print(time.nanosecond, time.time())
print(Duration(1, 2, 3), Duration(-1, -2, -3), Duration(1) == Duration(1, 0, 0))

letters = sortedset(["c", "a", "b", "a"])
letters.add("d")
letters.remove("b")
print(letters, list(letters), "a" in letters, letters[0], letters | {"z"}, letters & {"a"})
print(SortedSet([1, 2]) == SortedSet([2, 1]), SortedSet([1]) < SortedSet([1, 2]), len(letters))
ordered = OrderedMap([([1], "one"), ([2], "two")])
print(ordered[[1]], list(ordered), len(ordered), ordered == {}, [2] in ordered)
print(list_contents_to_tuple([[1, 2], 3]))

versions = ["4.0-beta1", "4.0.0", "3.11.10", "4.0.1", "4.0-rc2", "5.1-SNAPSHOT", "4.0-beta2"]
print(sorted(map(Version, versions)), Version("3.11.2") < Version("3.11.10"), Version("4.0").major)

encode = Encoder().cql_encode_all_types
for value in [
    None,
    True,
    7,
    -(2**70),
    0.5,
    float("nan"),
    float("inf"),
    Decimal("1.25"),
    "it's",
    b"\xca\xfe",
    uuid.UUID(int=5),
    at,
    at.date(),
    Date(3),
    Time(5),
    Duration(1, 2, 3),
    [1, "a"],
    (1, 2),
    {"k": 1},
    OrderedDict(b=1, a=2),
    {5},
    frozenset([6]),
    sortedset([2, 1]),
    ValueSequence([1, 2]),
]:
    print(type(value).__name__, encode(value))
print(cql_quote("o'clock"), Encoder().cql_encode_tuple((1, "b")))
custom = Encoder()
custom.mapping[tuple] = custom.cql_encode_tuple
print(custom.cql_encode_all_types((1, (2, 3))))
