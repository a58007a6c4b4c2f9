"""CQL types: type strings, bytes and values, without a server."""
# ruff: noqa: T201  (a program prints)

import datetime as dt
import uuid
from decimal import Decimal

from cassandra.cqltypes import (
    BytesType,
    DateType,
    Int32Type,
    UserType,
    VectorType,
    cql_typename,
    cql_types_from_string,
    cqltype_to_python,
    is_counter_type,
    lookup_casstype,
    lookup_casstype_simple,
    parse_casstype_args,
    python_to_cqltype,
    strip_frozen,
    trim_if_startswith,
)
from cassandra.deserializers import find_deserializer, make_deserializers
from cassandra.marshal import decode_zig_zag, encode_zig_zag, int32_pack, varint_pack, vints_pack
from cassandra.util import Date, Duration, SortedSet, Time, sortedset

ID = uuid.UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
SAMPLES = [
    ("Int32Type", -7),
    ("LongType", 2**40),
    ("ShortType", -2),
    ("ByteType", 127),
    ("IntegerType", 2**70),
    ("DecimalType", Decimal("-12.50")),
    ("FloatType", 0.5),
    ("DoubleType", 1e300),
    ("BooleanType", True),
    ("UTF8Type", "naïve"),
    ("AsciiType", "plain"),
    ("BytesType", b"\x00\xff"),
    ("UUIDType", ID),
    ("TimeUUIDType", ID),
    ("InetAddressType", "::1"),
    ("InetAddressType", "127.0.0.1"),
    ("DateType", dt.datetime(2024, 2, 29, 12, 30, 15, 250000)),  # noqa: DTZ001
    ("SimpleDateType", Date("1969-07-20")),
    ("TimeType", Time("12:34:56.000000789")),
    ("CounterColumnType", 9),
    ("ListType(Int32Type)", [3, 1, 2]),
    ("SetType(UTF8Type)", sortedset(["b", "a"])),
    ("MapType(UTF8Type, ListType(Int32Type))", {"k": [1, 2]}),
    ("TupleType(Int32Type, UTF8Type)", (1, "x")),
    ("FrozenType(ListType(DoubleType))", [0.25]),
]

for version in (3, 4, 5):
    for text, value in SAMPLES:
        cqltype = lookup_casstype(text)
        data = cqltype.to_binary(value, version)
        print(version, text, cqltype.cql_parameterized_type(), data.hex())
        print("   ", repr(cqltype.from_binary(data, version)), cqltype.typename, cqltype.cassname)

print(Int32Type.from_binary(b"", 4), BytesType.from_binary(b"", 4), Int32Type.to_binary(None, 4))
print(lookup_casstype_simple("Int32Type").typename, issubclass(Int32Type, Int32Type))
print(parse_casstype_args("MapType(UTF8Type,Int32Type)").cql_parameterized_type())
for text, value in (
    ("ReversedType(Int32Type)", 5),
    ("VectorType(FloatType, 3)", [1.0, 2.0, 3.0]),
    ("DurationType", Duration(1, 2, 3)),
):
    cqltype = lookup_casstype(text)
    data = cqltype.to_binary(value, 5)
    print(text, data.hex(), cqltype.from_binary(data, 5) == value)
print(issubclass(lookup_casstype("VectorType(FloatType, 3)"), VectorType))
print(DateType.typename)

udt = UserType.make_udt_class(
    "ks", "address", ("street", "number"), (lookup_casstype("UTF8Type"), Int32Type)
)
data = udt.to_binary(
    udt.mapped_class("High Street", 5) if udt.mapped_class else ("High Street", 5), 4
)
value = udt.from_binary(data, 4)
print(data.hex(), value.street, value.number, tuple(value), udt.cql_parameterized_type())

for text in ("int", "frozen<map<text, list<int>>>", "map<text, tuple<int, frozen<addr>>>"):
    print(cqltype_to_python(text), python_to_cqltype(cqltype_to_python(text)))
    print(strip_frozen(text), cql_types_from_string(text))
print(cql_typename("MapType(UTF8Type,Int32Type)"), trim_if_startswith("prefix.x", "prefix."))
print(is_counter_type("CounterColumnType"), is_counter_type(Int32Type))

print(
    len(make_deserializers([Int32Type, BytesType])), type(find_deserializer(Int32Type)) is not None
)
print(int32_pack(-1).hex(), varint_pack(-129).hex(), vints_pack([1, -2, 300]).hex())
print([decode_zig_zag(encode_zig_zag(n)) for n in (0, -1, 2**62)], encode_zig_zag(-5))
print(SortedSet([3, 1, 2]), repr(sortedset("ba")), SortedSet([1]) == {1})
