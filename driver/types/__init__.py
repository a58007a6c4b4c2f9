"""Layer 2: CQL types and the bytes of their values, one file a family."""

from .base import EMPTY, CQLType, EmptyValue
from .collection import ListType, MapType, SetType
from .composite import ColumnToCollectionType, CompositeType, DynamicCompositeType, EmptyType
from .custom import mkUnrecognizedType
from .identity import InetAddressType, TimeUUIDType, UUIDType
from .numeric import (
    BooleanType,
    ByteType,
    CounterColumnType,
    DecimalType,
    DoubleType,
    FloatType,
    Int32Type,
    IntegerType,
    LongType,
    ShortType,
)
from .record import TupleType, UserType
from .registry import lookup_casstype, lookup_casstype_simple, lookup_cqltype
from .temporal import DateType, DurationType, SimpleDateType, TimestampType, TimeType
from .text import AsciiType, BytesType, UTF8Type, VarcharType
from .vector import VectorType
from .wrapper import FrozenType, ReversedType

__all__ = [
    "EMPTY",
    "AsciiType",
    "BooleanType",
    "ByteType",
    "BytesType",
    "CQLType",
    "ColumnToCollectionType",
    "CompositeType",
    "CounterColumnType",
    "DateType",
    "DecimalType",
    "DoubleType",
    "DurationType",
    "DynamicCompositeType",
    "EmptyType",
    "EmptyValue",
    "FloatType",
    "FrozenType",
    "InetAddressType",
    "Int32Type",
    "IntegerType",
    "ListType",
    "LongType",
    "MapType",
    "ReversedType",
    "SetType",
    "ShortType",
    "SimpleDateType",
    "TimeType",
    "TimeUUIDType",
    "TimestampType",
    "TupleType",
    "UTF8Type",
    "UUIDType",
    "UserType",
    "VarcharType",
    "VectorType",
    "lookup_casstype",
    "lookup_casstype_simple",
    "lookup_cqltype",
    "mkUnrecognizedType",
]
