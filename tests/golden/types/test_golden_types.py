"""Bytes written by hand from native_protocol_v5.spec section 6, and bytes that Cassandra wrote."""

import datetime as dt
from decimal import Decimal
from uuid import UUID

import pytest

from driver.types import lookup_casstype, lookup_cqltype
from driver.types.deserializers import find_deserializer
from driver.values.date import Date
from driver.values.duration import Duration
from driver.values.time import Time

# (CQL type, value, bytes in hexadecimal; spaces are for the reader)
GOLDEN = [
    ("ascii", "CQL", "43 51 4c"),
    ("ascii", "", ""),
    ("bigint", 1, "00 00 00 00 00 00 00 01"),
    ("bigint", -(2**63), "80 00 00 00 00 00 00 00"),
    ("blob", b"\xca\xfe", "ca fe"),
    ("boolean", True, "01"),
    ("boolean", False, "00"),
    ("counter", 2**63 - 1, "7f ff ff ff ff ff ff ff"),
    # 6.4: unsigned, 2**31 is the epoch
    ("date", Date(0), "80 00 00 00"),
    ("date", Date(-(2**31)), "00 00 00 00"),
    ("date", Date(1), "80 00 00 01"),
    # 6.5: scale, then varint: 1.5 is 15 * 10**-1
    ("decimal", Decimal("1.5"), "00 00 00 01  0f"),
    ("decimal", Decimal("-1.28"), "00 00 00 02  80"),
    ("decimal", Decimal("1E+3"), "ff ff ff fd  01"),
    ("double", 1.0, "3f f0 00 00 00 00 00 00"),
    ("double", -2.0, "c0 00 00 00 00 00 00 00"),
    # 6.7: zigzag vints: 1 -> 2, 2 -> 4, 3 -> 6; -1 -> 1
    ("duration", Duration(1, 2, 3), "02 04 06"),
    ("duration", Duration(-1, -2, -3), "01 03 05"),
    ("duration", Duration(0, 0, 64), "00 00 80 80"),
    ("float", 1.0, "3f 80 00 00"),
    ("float", -0.5, "bf 00 00 00"),
    ("inet", "127.0.0.1", "7f 00 00 01"),
    ("inet", "::1", "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01"),
    ("int", 1, "00 00 00 01"),
    ("int", -1, "ff ff ff ff"),
    ("smallint", -2, "ff fe"),
    ("text", "é", "c3 a9"),
    ("text", "", ""),
    ("time", Time("00:00:01"), "00 00 00 00 3b 9a ca 00"),
    ("timestamp", dt.datetime(1970, 1, 1, 0, 0, 1), "00 00 00 00 00 00 03 e8"),  # noqa: DTZ001
    ("timestamp", dt.datetime(1969, 12, 31, 23, 59, 59, 999000), "ff ff ff ff ff ff ff ff"),  # noqa: DTZ001
    (
        "timeuuid",
        UUID("13814000-1dd2-11b2-8000-000000000000"),
        "138140001dd211b2" + "80" + 7 * "00",
    ),
    ("tinyint", -128, "80"),
    ("uuid", UUID(int=0x0102030405060708090A0B0C0D0E0F10), "0102030405060708090a0b0c0d0e0f10"),
    ("varchar", "a", "61"),
    # 6.17: the table of the specification
    ("varint", 0, "00"),
    ("varint", 1, "01"),
    ("varint", 127, "7f"),
    ("varint", 128, "00 80"),
    ("varint", 129, "00 81"),
    ("varint", -1, "ff"),
    ("varint", -128, "80"),
    ("varint", -129, "ff 7f"),
    # 6.12, 6.14, 6.11: count, then [bytes]
    ("list<int>", [], "00000000"),
    ("list<int>", [1, 2], "00000002  00000004 00000001  00000004 00000002"),
    ("set<tinyint>", {1}, "00000001  00000001 01"),
    ("map<text, int>", {"a": 1}, "00000001  00000001 61  00000004 00000001"),
    ("list<frozen<list<tinyint>>>", [[7]], "00000001  00000009  00000001 00000001 07"),
    # 6.15, 6.16: [bytes] for each field, -1 is null
    ("tuple<int, text>", (1, "a"), "00000004 00000001  00000001 61"),
    ("tuple<int, text>", (None, ""), "ffffffff  00000000"),
    ("vector<float, 2>", [1.0, -0.5], "3f800000 bf000000"),
    # variable size: unsigned vints in front
    ("vector<text, 2>", ["a", "bc"], "01 61  02 62 63"),
    # Cassandra does not call these fixed: lengths in front of them too
    ("vector<smallint, 2>", [1, 2], "02 0001  02 0002"),
    ("vector<vector<int, 1>, 2>", [[1], [2]], "00000001 00000002"),
]

GOLDEN_CLASSES = [
    ("ReversedType(Int32Type)", 1, "00000001"),
    ("FrozenType(ListType(ByteType))", [1], "00000001 00000001 01"),
    ("CompositeType(Int32Type,UTF8Type)", (5, "a"), "0004 00000005 00  0001 61 00"),
    ("CompositeType(Int32Type,UTF8Type)", (5,), "0004 00000005 00"),
    (
        "DynamicCompositeType(i=>Int32Type)",
        (("i", 5), ("UTF8Type", "a")),
        "8069 0004 00000005 00  0008 5554463854797065 0001 61 00",
    ),
    ("com.acme.Sketch", b"\x01", "01"),
    ("UserType(ks,74,61:Int32Type,62:UTF8Type)", (1, None), "00000004 00000001 ffffffff"),
]

# What Cassandra 5.0.9 made of literals, with the class names that it gave; without its packages.
_UDT = "UserType(rv,75,69:Int32Type,74:UTF8Type,6e:{inner},6c:ListType(Int32Type))".format(
    inner="UserType(rv,696e6e6572,61:Int32Type,62:UTF8Type)"
)
GOLDEN_OF_THE_SERVER = [
    ("VectorType(ByteType , 3)", [1, -2, 127], "01 01  01 fe  01 7f"),
    ("VectorType(ShortType , 3)", [1, -2, 32767], "02 0001  02 fffe  02 7fff"),
    ("VectorType(SimpleDateType , 2)", [Date(19782), Date(-5)], "04 80004d46  04 7ffffffb"),
    (
        "VectorType(TimeType , 2)",
        [Time(1), Time("23:59:59.999999999")],
        "08 0000000000000001  08 00004e94914effff",
    ),
    ("VectorType(UTF8Type , 2)", ["", "é"], "00  02 c3a9"),
    ("VectorType(BooleanType , 2)", [True, False], "01 00"),
    ("VectorType(IntegerType , 2)", [-129, 128], "02 ff7f  02 0080"),
    (
        "VectorType(DecimalType , 2)",
        [Decimal("1.50"), Decimal("-1E10")],
        "06 00000002 0096  05 fffffff6 ff",
    ),
    (
        "VectorType(InetAddressType , 2)",
        ["127.0.0.1", "::1"],
        "04 7f000001  10 00000000000000000000000000000001",
    ),
    (
        "VectorType(DurationType , 2)",
        [Duration(1, 2, 3), Duration(-1, -2, -3)],
        "03 020406  03 010305",
    ),
    (
        "VectorType(TimestampType , 2)",
        [dt.datetime(1970, 1, 1, 0, 0, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 999000)],  # noqa: DTZ001
        "00000000000003e8  ffffffffffffffff",
    ),
    (
        "VectorType(VectorType(FloatType , 2) , 2)",
        [[1.0, 2.0], [3.0, -4.5]],
        "3f800000 40000000  40400000 c0900000",
    ),
    (
        "VectorType(VectorType(ByteType , 2) , 2)",
        [[1, 2], [3, 4]],
        "04 01 01 01 02  04 01 03 01 04",
    ),
    (
        "VectorType(ListType(Int32Type) , 2)",
        [[1, 2], []],
        "14 00000002 00000004 00000001 00000004 00000002  04 00000000",
    ),
    (
        "VectorType(TupleType(Int32Type,UTF8Type) , 2)",
        [(1, None), (None, "q")],
        "0c 00000004 00000001 ffffffff  09 ffffffff 00000001 71",
    ),
    (
        f"VectorType(FrozenType({_UDT}) , 2)",
        [(1, None, None, [1]), (None, None, (2, None), None)],
        (
            "20 00000004 00000001 ffffffff ffffffff 0000000c 00000001 00000004 00000001"
            "1c ffffffff ffffffff 0000000c 00000004 00000002 ffffffff ffffffff"
        ),
    ),
    (
        f"MapType(TupleType(Int32Type,UTF8Type),ListType({_UDT}))",
        {(1, None): [(None, "t", (1, None), None)], (2, "b"): []},
        (
            "00000002  0000000c 00000004 00000001 ffffffff"
            "00000025 00000001 0000001d ffffffff 00000001 74"
            "0000000c 00000004 00000001 ffffffff ffffffff"
            "0000000d 00000004 00000002 00000001 62  00000004 00000000"
        ),
    ),
    (
        "ListType(MapType(UTF8Type,SetType(Int32Type)))",
        [{"a": {1, 2}}, {}],
        (
            "00000002  00000021 00000001 00000001 61"
            "00000014 00000002 00000004 00000001 00000004 00000002  00000004 00000000"
        ),
    ),
    ("DurationType", Duration(12, 0, 5), "18 00 0a"),
    (
        "DurationType",
        Duration(2**31 - 1, 2**31 - 1, 2**63 - 1),
        "f0fffffffe f0fffffffe fffffffffffffffffe",
    ),
]

CASES = [(lookup_cqltype(name), value, data) for name, value, data in GOLDEN]
CASES += [(lookup_casstype(name), value, data) for name, value, data in GOLDEN_CLASSES]
CASES += [(lookup_casstype(name), value, data) for name, value, data in GOLDEN_OF_THE_SERVER]


@pytest.mark.parametrize("version", [3, 4, 5])
@pytest.mark.parametrize(("cqltype", "value", "data"), CASES, ids=repr)
def test_a_value_has_the_bytes_of_the_specification(cqltype, value, data, version):
    assert cqltype.serialize(value, version).hex() == data.replace(" ", "")


@pytest.mark.parametrize("version", [3, 4, 5])
@pytest.mark.parametrize(("cqltype", "value", "data"), CASES, ids=repr)
def test_the_bytes_of_the_specification_are_the_value(cqltype, value, data, version):
    encoded = bytes.fromhex(data)
    assert cqltype.from_binary(encoded, version) == value
    assert find_deserializer(cqltype).deserialize_bytes(encoded, version) == value


def test_every_type_of_the_protocol_has_golden_bytes():
    simple = {name for name, *_ in GOLDEN if "<" not in name}
    names = (
        "ascii bigint blob boolean counter date decimal double duration float inet int smallint "
        "text time timestamp timeuuid tinyint uuid varchar varint"
    )
    assert sorted(simple) == names.split()
