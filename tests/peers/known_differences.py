"""Where this driver and cassandra-driver 3.30.1 differ on purpose: one table, executed by a test.

docs/peers.md shows the same rows to readers; a test keeps the two together. A peer that changes
makes its row fail, which is how we learn of it.
"""

import datetime as dt
import struct
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

from cassandra import cqltypes as theirs

from driver import types as ours


class Difference(NamedTuple):
    """One row.

    Attributes:
        what: the case.
        ours: what this driver does, in words.
        peer: what cassandra-driver does, in words.
        why: the reason for ours.
        run: the case, given either driver's ``lookup_casstype``, its types module and its value.
        our_result: what it gives here: a value, or the class of an exception.
        peer_result: what it gives there.
    """

    what: str
    ours: str
    peer: str
    why: str
    run: Callable
    our_result: object
    peer_result: object


def serialized(name, value):
    return lambda types: types.lookup_casstype(name).serialize(value, 4)


def decoded(name, data):
    return lambda types: types.lookup_casstype(name).from_binary(bytes.fromhex(data), 4)


MISSING = AttributeError

DIFFERENCES = [
    Difference(
        "None inside a list, set or map",
        "length -1, which is null",
        "length 0, an empty value",
        "section 3 of the protocol: a null is -1; the server then refuses what it cannot store, "
        "and does not store an empty string or a broken int in its place",
        serialized("ListType(UTF8Type)", [None]),
        bytes.fromhex("00000001 ffffffff"),
        bytes.fromhex("00000001 00000000"),
    ),
    Difference(
        "timestamp with microseconds far from the epoch",
        "the fraction of a millisecond is dropped",
        "may round up to the next millisecond",
        "integer arithmetic; the peer's floating point has no room for both",
        serialized("TimestampType", dt.datetime(9999, 12, 31, 23, 59, 59, 999999)),  # noqa: DTZ001
        (253402300799999).to_bytes(8, "big"),
        (253402300800000).to_bytes(8, "big"),
    ),
    Difference(
        "timestamp far from the epoch, decoded",
        "the exact millisecond",
        "some microseconds off",
        "the same",
        decoded("TimestampType", "000007d5d7d3a401"),
        dt.datetime(2243, 1, 1, 0, 0, 0, 1000),  # noqa: DTZ001
        dt.datetime(2243, 1, 1, 0, 0, 0, 999),  # noqa: DTZ001
    ),
    Difference(
        "zero bytes of a custom type",
        "empty bytes",
        "None",
        "the bytes of a type that is not known are passed on as they are",
        decoded("com.acme.Sketch", ""),
        b"",
        None,
    ),
    Difference(
        "a dict for a list or a set",
        "TypeError",
        "its keys alone",
        "values must not get lost in silence",
        serialized("ListType(Int32Type)", {1: 2}),
        TypeError,
        bytes.fromhex("000000010000000400000001"),
    ),
    Difference(
        "blob from an int",
        "TypeError",
        "that many zero bytes",
        "`bytes(5)` is an accident, never what was meant",
        serialized("BytesType", 2),
        TypeError,
        b"\0\0",
    ),
    Difference(
        "boolean from an int other than 0 and 1",
        "1, which is true",
        "the int as a byte",
        "true has one form on the wire, by which it is compared",
        serialized("BooleanType", 5),
        b"\1",
        b"\5",
    ),
    Difference(
        "decimal of more than 4,300 digits",
        "its bytes and its value",
        "ValueError",
        "Python limits the digits of an int in text, so that no text is made",
        lambda types: len(types.DecimalType.serialize(Decimal("9" * 5000), 4)),
        2081,
        ValueError,
    ),
    Difference(
        "decimal NaN or Infinity",
        "ValueError that says so",
        "ValueError of `int('')`",
        "the message should name the value",
        serialized("DecimalType", Decimal("NaN")),
        ValueError,
        ValueError,
    ),
    Difference(
        "number of the wrong type or out of range",
        "TypeError or OverflowError",
        "struct.error for both",
        "callers can tell the two apart, and need not know how numbers are packed",
        serialized("Int32Type", 1 << 31),
        OverflowError,
        struct.error,
    ),
    Difference(
        "text from bytes",
        "TypeError",
        "AttributeError",
        "the same class as for every other wrong type",
        serialized("UTF8Type", b"a"),
        TypeError,
        AttributeError,
    ),
    Difference(
        "uuid, inet, numbers with the wrong number of bytes",
        "MarshalException (a ValueError)",
        "ValueError, OSError, struct.error",
        "one class for bytes that are no value",
        decoded("InetAddressType", "010203"),
        ValueError,
        OSError,
    ),
    Difference(
        "bytes behind the last element of a list, set or map",
        "MarshalException",
        "ignored",
        "Cassandra refuses them too; what is read wrongly must not look right",
        decoded("ListType(ByteType)", "00000001 00000001 01 ffff"),
        ValueError,
        [1],
    ),
    Difference(
        "list, set or map that ends inside of an element",
        "MarshalException",
        "the rest as an element, or an error of the element's type",
        "a length that lies is an error, whatever the type",
        decoded("ListType(UTF8Type)", "00000001 00000009 61"),
        ValueError,
        ["a"],
    ),
    Difference(
        "varint of zero bytes inside `deserialize`",
        "0",
        "ValueError",
        "`from_binary` gives None for zero bytes in both; only a direct call sees this",
        lambda types: types.lookup_casstype("IntegerType").deserialize(b"", 4),
        0,
        ValueError,
    ),
    Difference(
        "vector of a frozen or reversed fixed-size type",
        "elements without lengths, as of the type inside",
        "elements with lengths",
        "FrozenType and ReversedType change no bytes in Cassandra",
        serialized("VectorType(FrozenType(Int32Type), 1)", [1]),
        bytes.fromhex("00000001"),
        bytes.fromhex("04 00000001"),
    ),
    Difference(
        "empty text of a reversed or frozen type",
        "an empty str",
        "None",
        "zero bytes are a text, in whatever order it is clustered",
        decoded("ReversedType(UTF8Type)", ""),
        "",
        None,
    ),
    Difference(
        "CompositeType, DynamicCompositeType, ColumnToCollectionType: serialize",
        "implemented",
        "not implemented",
        "every class name has a way in both directions",
        serialized("CompositeType(Int32Type)", (5,)),
        bytes.fromhex("0004 00000005 00"),
        MISSING,
    ),
    Difference(
        "UserType(...) in a type string",
        "a user-defined type",
        "AttributeError, where the hexadecimal name is all digits",
        "the grammar has no numbers, only names",
        lambda types: types.lookup_casstype("UserType(ks,6162,61:Int32Type)").typename,
        "ab",
        MISSING,
    ),
    Difference(
        "unbalanced brackets in a type string",
        "ValueError",
        "the part in front of them",
        "half a type decodes into wrong values",
        lambda types: types.lookup_casstype("ListType(Int32Type"),
        ValueError,
        theirs.ListType,
    ),
    Difference(
        "a user-defined type given fewer fields than it has, by position",
        "the missing ones at the end are left out",
        "IndexError",
        "as for tuples; the server reads them as null",
        lambda types: types.UserType.make_udt_class(
            "ks", "pair", ("a", "b"), (types.ByteType, types.ByteType)
        ).serialize((1,), 4),
        bytes.fromhex("00000001 01"),
        IndexError,
    ),
    Difference(
        "a user-defined type given more fields than it has, by position",
        "ValueError",
        "the surplus is ignored",
        "a value must not get lost in silence",
        lambda types: types.UserType.make_udt_class(
            "ks", "single", ("a",), (types.ByteType,)
        ).serialize((1, 2), 4),
        ValueError,
        bytes.fromhex("00000001 01"),
    ),
    Difference(
        "a user-defined type given as a mapping",
        "fields by name",
        "KeyError",
        "a dict is the plainest record there is",
        lambda types: types.UserType.make_udt_class(
            "ks", "named", ("a",), (types.ByteType,)
        ).serialize({"a": 1}, 4),
        bytes.fromhex("00000001 01"),
        KeyError,
    ),
]


def outcome(difference, types):
    """What a case gives: a value, or the class of the exception."""
    try:
        return difference.run(types)
    except Exception as error:  # noqa: BLE001  (the class is the outcome)
        return type(error)


SIDES = (ours, theirs)
