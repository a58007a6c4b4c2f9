"""``cassandra.cqltypes``, ``.marshal``, ``.util``, ``.deserializers``, ``.type_codes``."""

from __future__ import annotations

from ..served import serve

CQLTYPES = serve(
    {
        "types": """
            AsciiType BooleanType ByteType BytesType CassandraType=CQLType ColumnToCollectionType
            CompositeType CounterColumnType DateType DecimalType DoubleType DurationType
            DynamicCompositeType EMPTY EmptyValue FloatType FrozenType InetAddressType Int32Type
            IntegerType ListType LongType MapType ReversedType SetType ShortType SimpleDateType
            TimeType TimeUUIDType TimestampType TupleType UTF8Type UUIDType UserType VarcharType
            VectorType lookup_casstype lookup_casstype_simple mkUnrecognizedType
        """,
        "types.base": "CassandraTypeType=CQLTypeMeta _casstypes=casstypes _cqltypes=cqltypes",
        "types.marshal": """
            double_pack double_unpack float_pack float_unpack int16_pack int16_unpack int32_pack
            int32_unpack int64_pack int64_unpack int8_pack int8_unpack uint16_pack uint16_unpack
            uint32_pack uint32_unpack uvint_pack uvint_unpack varint_pack varint_unpack vints_pack
            vints_unpack
        """,
        "compat.adaptors.cqltypes": """
            apache_cassandra_type_prefix cassandra_empty_type cql_empty_type
            cql_timestamp_formats cql_typename cql_types_from_string cqltype_to_python
            is_counter_type is_reversed_casstype parse_casstype_args python_to_cqltype strip_frozen
            trim_if_startswith
        """,
    },
    behind=(
        "types.base",
        "types.temporal",
        "types.record",
        "types.collection",
        "types.identity",
        "types.registry",
    ),
    file=__file__,
)

MARSHAL = serve(
    {
        "types.marshal": """
            double_pack double_unpack float_pack float_unpack int16_pack int16_unpack int32_pack
            int32_unpack int64_pack int64_unpack int8_pack int8_unpack uint16_pack uint16_unpack
            uint32_pack uint32_unpack uint64_pack uint64_unpack uint8_pack uint8_unpack uvint_pack
            uvint_unpack varint_pack varint_unpack vints_pack vints_unpack
        """,
        "compat.adaptors.marshal": """
            bit_length decode_zig_zag encode_zig_zag header_pack header_unpack uint32_le_pack
            uint32_le_unpack v3_header_pack v3_header_unpack
        """,
    },
    behind=("types.marshal",),
    file=__file__,
)

UTIL = serve(
    {
        "values.date": "Date",
        "values.duration": "Duration",
        "values.ordered_map": "OrderedMap OrderedMapSerializedKey",
        "values.sorted_set": "SortedSet sortedset",
        "values.time": "Time",
        "types.temporal": "DATETIME_EPOC ms_timestamp_from_datetime",
        "types.identity": """
            HIGHEST_TIME_UUID LOWEST_TIME_UUID datetime_from_uuid1 max_uuid_from_time
            min_uuid_from_time unix_time_from_uuid1 uuid_from_time
        """,
        "protocol.errors": "DriverException",
        "compat.adaptors.util": """
            OrderedDict UTC_DATETIME_EPOC Version WeakSet datetime_from_ms_timestamp
            datetime_from_timestamp is_little_endian list_contents_to_tuple
            maybe_add_timeout_to_query utc_datetime_from_ms_timestamp
        """,
    },
    behind=("values.date", "values.time", "types.temporal", "types.identity"),
    file=__file__,
)

#: One class for each type there, one class for all of them here.
_DESERIALIZERS = """
    DesAsciiType=Deserializer DesBooleanType=Deserializer DesByteType=Deserializer
    DesBytesType=Deserializer DesBytesTypeByteArray=Deserializer DesCompositeType=Deserializer
    DesCounterColumnType=Deserializer DesDateType=Deserializer DesDecimalType=Deserializer
    DesDoubleType=Deserializer DesDynamicCompositeType=Deserializer DesFloatType=Deserializer
    DesFrozenType=Deserializer DesInetAddressType=Deserializer DesInt32Type=Deserializer
    DesIntegerType=Deserializer DesListType=Deserializer DesLongType=Deserializer
    DesMapType=Deserializer DesReversedType=Deserializer DesSetType=Deserializer
    DesShortType=Deserializer DesSimpleDateType=Deserializer DesTimeType=Deserializer
    DesTupleType=Deserializer DesUTF8Type=Deserializer DesUUIDType=Deserializer
    DesUserType=Deserializer DesVarcharType=Deserializer GenericDeserializer=Deserializer
"""

DESERIALIZERS = serve(
    {
        "types.deserializers": (
            "Deserializer find_deserializer make_deserializers" + _DESERIALIZERS
        ),
        "types.temporal": "EPOCH_OFFSET_DAYS TimestampType",
        "types": "TimeUUIDType",
    },
    behind=("types.deserializers",),
    file=__file__,
)

TYPE_CODES = serve(
    {
        "compat.adaptors.type_codes": """
            AsciiType BooleanType ByteType BytesType CUSTOM_TYPE CounterColumnType DateType
            DecimalType DoubleType DurationType FloatType InetAddressType Int32Type IntegerType
            ListType LongType MapType SetType ShortType SimpleDateType TimeType TimeUUIDType
            TupleType UTF8Type UUIDType UserType VarcharType
        """,
    },
    file=__file__,
)

CYTHON_UTILS = serve({"types.temporal": "DATETIME_EPOC"}, file=__file__)
