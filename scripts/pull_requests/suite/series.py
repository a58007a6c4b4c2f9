"""Pull request 798: values of time series, and the names of types.

What takes next to nothing is called ten times, so that the call of the case itself weighs little.
"""

import datetime as dt

from cassandra import cqltypes, marshal, timestamps

from .proving import proved

TEN = (None,) * 10
MODULES = ("cqltypes", "marshal", "timestamps")
SERIALIZE = ("cqltypes:DateType.serialize",)
MOMENT, DAY = dt.datetime(2025, 4, 5, 12, 0, 0, 123456), dt.date(2025, 4, 5)
MEDIUM, LARGE = marshal.varint_pack(2**62), marshal.varint_pack(2**127)
GENERATOR = timestamps.MonotonicTimestampGenerator(warn_on_drift=False)
NAME = (
    "cqltypes:_CassandraType.cql_parameterized_type",
    "cqltypes:TupleType.cql_parameterized_type",
)
INT, TEXT = cqltypes.Int32Type, cqltypes.UTF8Type
MAP = cqltypes.MapType.apply_parameters([TEXT, INT])
SET = cqltypes.SetType.apply_parameters([cqltypes.FloatType])
LIST = cqltypes.ListType.apply_parameters([cqltypes.DoubleType])
TUPLE = cqltypes.TupleType.apply_parameters([INT, TEXT, cqltypes.BooleanType])


@proved(SERIALIZE, MODULES)
def time_datetime(kind=cqltypes.DateType, value=MOMENT):
    """A datetime to the bytes of a timestamp."""
    return kind.serialize(value, 4)


@proved(SERIALIZE, MODULES)
def time_date(kind=cqltypes.DateType, value=DAY):
    """A date to the bytes of a timestamp."""
    return kind.serialize(value, 4)


@proved(SERIALIZE, MODULES)
def time_number(kind=cqltypes.DateType):
    """Milliseconds to the bytes of a timestamp."""
    return kind.serialize(1712318400000, 4)


@proved(["marshal:varint_pack"], MODULES)
def time_varint_pack_medium():
    """2 to the power of 62."""
    for _ in TEN:
        found = marshal.varint_pack(4611686018427387904)
    return found


@proved(["marshal:varint_pack"], MODULES)
def time_varint_pack_large():
    """2 to the power of 127."""
    for _ in TEN:
        found = marshal.varint_pack(170141183460469231731687303715884105728)
    return found


@proved(["marshal:varint_unpack"], MODULES)
def time_varint_unpack_medium(packed=MEDIUM):
    """And back."""
    for _ in TEN:
        found = marshal.varint_unpack(packed)
    return found


@proved(["marshal:varint_unpack"], MODULES)
def time_varint_unpack_large(packed=LARGE):
    """And back."""
    for _ in TEN:
        found = marshal.varint_unpack(packed)
    return found


@proved(
    ["timestamps:MonotonicTimestampGenerator._next_timestamp"], MODULES,
    answer=lambda found: type(found).__name__,
)  # fmt: skip
def time_timestamp(generator=GENERATOR):
    """The next timestamp of a client."""
    for _ in TEN:
        found = generator()
    return found


@proved(NAME, MODULES)
def time_name_of_int(kind=INT):
    """The name of a type in CQL."""
    for _ in TEN:
        found = kind.cql_parameterized_type()
    return found


@proved(NAME, MODULES)
def time_name_of_map(kind=MAP):
    """Of a map."""
    for _ in TEN:
        found = kind.cql_parameterized_type()
    return found


@proved(NAME, MODULES)
def time_name_of_set(kind=SET):
    """Of a set."""
    for _ in TEN:
        found = kind.cql_parameterized_type()
    return found


@proved(NAME, MODULES)
def time_name_of_list(kind=LIST):
    """Of a list."""
    for _ in TEN:
        found = kind.cql_parameterized_type()
    return found


@proved(NAME, MODULES)
def time_name_of_tuple(kind=TUPLE):
    """Of a tuple."""
    for _ in TEN:
        found = kind.cql_parameterized_type()
    return found
