"""``cassandra.cqltypes``, ``.marshal``, ``.util``, ``.deserializers``, ``.type_codes``."""

from __future__ import annotations

from ... import types
from ...types import marshal
from ..served import serve

#: All types, those among them that the protocol has a code for, and what writes and reads numbers.
TYPES = [name for name in vars(types) if name in types.base.casstypes]
TYPES_WITH_CODES = " ".join(
    ["VarcharType", *(each.__name__ for each in types.base.types_by_option_code.values())]
)
NUMBERS = " ".join(name for name in vars(marshal) if name.endswith(("_pack", "_unpack")))


#: One class for each type there, one class for all of them here.
_DESERIALIZERS = " ".join(
    f"{name}=Deserializer"
    for name in ["DesBytesTypeByteArray", "GenericDeserializer", *(f"Des{name}" for name in TYPES)]
)

#: What each module is made of.
TABLES = {
    "cassandra.cqltypes": serve(
        {
            "types": f"""
                {" ".join(TYPES)} CassandraType=CQLType EMPTY EmptyValue lookup_casstype
                lookup_casstype_simple mkUnrecognizedType
            """,
            "types.base": "CassandraTypeType=CQLTypeMeta _casstypes=casstypes _cqltypes=cqltypes",
            "types.marshal": NUMBERS,
            "compat.adaptors.cqltypes": """
                apache_cassandra_type_prefix cassandra_empty_type cql_empty_type
                cql_timestamp_formats cql_typename cql_types_from_string cqltype_to_python
                is_counter_type is_reversed_casstype parse_casstype_args python_to_cqltype
                strip_frozen trim_if_startswith
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
    ),
    "cassandra.marshal": serve(
        {
            "types.marshal": NUMBERS,
            "compat.adaptors.marshal": """
                bit_length decode_zig_zag encode_zig_zag header_pack header_unpack uint32_le_pack
                uint32_le_unpack v3_header_pack v3_header_unpack
            """,
        },
        behind=("types.marshal",),
    ),
    "cassandra.util": serve(
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
    ),
    "cassandra.deserializers": serve(
        {
            "types.deserializers": (
                f"Deserializer find_deserializer make_deserializers {_DESERIALIZERS}"
            ),
            "types.temporal": "EPOCH_OFFSET_DAYS TimestampType",
            "types": "TimeUUIDType",
        },
        behind=("types.deserializers",),
    ),
    "cassandra.type_codes": serve(
        {
            "compat.adaptors.type_codes": f"CUSTOM_TYPE {TYPES_WITH_CODES}",
        },
    ),
    "cassandra.cython_utils": serve({"types.temporal": "DATETIME_EPOC"}),
}
