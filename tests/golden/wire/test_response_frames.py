"""Responses written out by hand from the specifications, and what they decode to."""

from uuid import UUID

import pytest

from driver.protocol.columns import ColumnMetadata
from driver.types import (
    BooleanType,
    Int32Type,
    ListType,
    LongType,
    MapType,
    SetType,
    TupleType,
    UTF8Type,
)
from driver.wire.codec import ProtocolHandler
from driver.wire.features import ProtocolFeatures


def decode(text, opcode, *, version=4, flags=0, features=None, result_metadata=None):
    return ProtocolHandler.decode_message(
        version, features, {}, 7, flags, opcode, bytes.fromhex(text), None, result_metadata
    )


def test_ready_has_no_body():
    message = decode("", 0x02)
    assert (message.name, message.stream_id) == ("READY", 7)


def test_authenticate_names_the_authenticator():
    assert decode("0001 41", 0x03).authenticator == "A"


def test_challenge_and_success_carry_tokens():
    assert decode("00000002 abcd", 0x0E).challenge == b"\xab\xcd"
    assert decode("ffffffff", 0x10).token == b""


def test_supported_sets_the_versions_of_cql_apart():
    message = decode(
        "0002  000b 43514c5f56455253494f4e 0001 0001 33   0001 5a 0002 0001 61 0000", 6
    )
    assert message.cql_versions == ["3"]
    assert message.options == {"Z": ["a", ""]}


def test_void():
    message = decode("00000001", 0x08)
    assert message.kind == 1
    assert message.parsed_rows is None


def test_set_keyspace():
    assert decode("00000003 0002 6b73", 0x08).new_keyspace == "ks"


def test_a_page_of_rows_with_one_table_and_a_paging_state():
    message = decode(
        "00000002  00000003 00000002  00000002 abcd  0002 6b73 0001 74"
        "0001 6b 0009   0001 76 000d"
        "00000002   00000004 00000005 00000001 61   00000004 ffffffff ffffffff",
        0x08,
    )
    assert message.column_names == ["k", "v"]
    assert message.column_types == [Int32Type, UTF8Type]
    assert message.parsed_rows == [(5, "a"), (-1, None)]
    assert message.paging_state == b"\xab\xcd"
    assert message.column_metadata[1] == ColumnMetadata("ks", "t", "v", UTF8Type)


def test_rows_of_columns_from_several_tables():
    message = decode(
        "00000002 00000000 00000001  0001 61 0001 62 0001 63 0004  00000001 00000001 01", 0x08
    )
    assert message.column_metadata == (ColumnMetadata("a", "b", "c", BooleanType),)
    assert message.parsed_rows == [(True,)]
    assert message.paging_state is None


def test_rows_without_metadata_take_that_of_the_prepared_statement():
    kept = [ColumnMetadata("ks", "t", "k", LongType)]
    message = decode(
        "00000002 00000004 00000001  00000001 00000008 0000000000000102",
        0x08,
        result_metadata=kept,
    )
    assert message.parsed_rows == [(258,)]
    assert message.column_names == ["k"]
    assert message.column_metadata is None


def test_v5_rows_with_changed_metadata_use_the_new_one_and_tell_its_id():
    kept = [ColumnMetadata("ks", "t", "k", LongType)]
    message = decode(
        "00000002 00000009 00000001  0002 beef  0002 6b73 0001 74 0001 6e 0009"
        "00000001 00000004 00000009",
        0x08,
        version=5,
        result_metadata=kept,
    )
    assert message.parsed_rows == [(9,)]
    assert message.column_names == ["n"]
    assert message.result_metadata_id == b"\xbe\xef"


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("0020 0009", ListType.apply_parameters((Int32Type,))),
        ("0022 000d", SetType.apply_parameters((UTF8Type,))),
        ("0021 0009 000d", MapType.apply_parameters((Int32Type, UTF8Type))),
        ("0031 0002 0009 0004", TupleType.apply_parameters((Int32Type, BooleanType))),
        ("0000 0009 496e74333254797065", Int32Type),
    ],
)
def test_the_types_of_columns(option, expected):
    message = decode(
        f"00000002 00000001 00000001  0001 6b 0001 74 0001 63 {option}  00000000", 0x08
    )
    assert message.column_types == [expected]


def test_a_user_defined_type_is_a_record_with_its_names():
    message = decode(
        "00000002 00000001 00000001  0001 6b 0001 74 0001 63"
        "0030 0002 6b73 0003 616464 0002  0001 61 0009  0001 62 000d"
        "00000001  00000010  00000004 00000007  00000004 61626364",
        0x08,
    )
    [(record,)] = message.parsed_rows
    assert (record.a, record.b) == (7, "abcd")


def test_v3_prepared_has_no_partition_key_indexes():
    message = decode(
        "00000004 0001 aa  00000001 00000001  0001 6b 0001 74 0001 63 0009  00000004 00000000",
        0x08,
        version=3,
    )
    assert message.query_id == b"\xaa"
    assert message.pk_indexes is None
    assert message.bind_metadata == [ColumnMetadata("k", "t", "c", Int32Type)]
    assert message.result_metadata is None


def test_v4_prepared_has_partition_key_indexes():
    message = decode(
        "00000004 0001 aa  00000001 00000001 00000002 0001 0000  0001 6b 0001 74 0001 63 0009"
        "00000001 00000001 0001 6b 0001 74 0001 72 000d",
        0x08,
    )
    assert message.pk_indexes == [1, 0]
    assert message.result_metadata == (ColumnMetadata("k", "t", "r", UTF8Type),)
    assert message.column_metadata == message.result_metadata


def test_v5_prepared_has_the_id_of_its_result_metadata():
    message = decode(
        "00000004 0001 aa 0002 beef  00000000 00000000 00000000  00000004 00000000",
        0x08,
        version=5,
    )
    assert message.result_metadata_id == b"\xbe\xef"
    assert message.bind_metadata == []


@pytest.mark.parametrize(("flags", "lwt"), [("80000000", True), ("00000000", False)])
def test_scylladb_marks_lightweight_transactions_in_the_flags(flags, lwt):
    features = ProtocolFeatures(lwt_metadata_mask=0x80000000)
    message = decode(
        f"00000004 0001 aa {flags} 00000000 00000000  00000004 00000000", 0x08, features=features
    )
    assert message.is_lwt is lwt


def test_trace_id_warnings_and_payload_precede_the_message_in_this_order():
    message = decode(
        "00112233445566778899aabbccddeeff"
        "0002 0001 77 0000"
        "0002 0001 6b 00000001 76  0001 6c ffffffff"
        "00000001",
        0x08,
        flags=0x02 | 0x04 | 0x08,
    )
    assert message.trace_id == UUID("00112233-4455-6677-8899-aabbccddeeff")
    assert message.warnings == ["w", ""]
    assert message.custom_payload == {"k": b"v", "l": None}
    assert message.kind == 1


def test_topology_and_status_changes_name_a_node():
    message = decode(
        "000f 544f504f4c4f47595f4348414e4745  0008 4e45575f4e4f4445  04 7f000001 00002352", 0x0C
    )
    assert message.event_type == "TOPOLOGY_CHANGE"
    assert message.event_args == {"change_type": "NEW_NODE", "address": ("127.0.0.1", 9042)}


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("0008 4b45595350414345 0002 6b73", {"target_type": "KEYSPACE"}),
        ("0005 5441424c45 0002 6b73 0001 74", {"target_type": "TABLE", "table": "t"}),
        ("0004 54595045 0002 6b73 0001 75", {"target_type": "TYPE", "type": "u"}),
        (
            "0008 46554e4354494f4e 0002 6b73 0001 66 0001 0003 696e74",
            {"target_type": "FUNCTION", "function": ("f", ("int",))},
        ),
        (
            "0009 414747524547415445 0002 6b73 0001 61 0000",
            {"target_type": "AGGREGATE", "aggregate": ("a", ())},
        ),
    ],
)
def test_a_schema_change_is_the_same_as_event_and_as_result(rest, expected):
    expected = {"change_type": "CREATED", "keyspace": "ks", **expected}
    created = "0007 43524541544544" + rest
    assert decode("00000005" + created, 0x08).schema_change_event == expected
    event = decode("000d 534348454d415f4348414e4745" + created, 0x0C)
    assert event.event_args == expected


def test_an_error_has_a_code_and_words():
    message = decode("00002000 0002 6e6f", 0x00)
    assert (message.code, message.message, message.summary) == (
        0x2000,
        "no",
        "Syntax error in CQL query",
    )


def test_a_v5_read_failure_maps_replicas_to_reasons():
    message = decode(
        "00001300 0000  0004 00000001 00000002  00000001 04 0a000001 0003  01", 0x00, version=5
    )
    assert message.info == {
        "consistency": 4,
        "received_responses": 1,
        "required_responses": 2,
        "failures": 1,
        "error_code_map": {"10.0.0.1": 3},
        "data_retrieved": True,
    }
    assert message.to_exception().error_code_map == {"10.0.0.1": 3}


def test_a_v5_write_timeout_of_a_cas_counts_contentions():
    text = "00001100 0000  0008 00000001 00000002  0003 434153 0005"
    assert decode(text, 0x00, version=5).to_exception().contentions == 5
    assert decode(text, 0x00, version=4).to_exception().contentions is None


def test_scylladb_tells_the_code_of_its_rate_limit_error():
    features = ProtocolFeatures(rate_limit_error=0x4321)
    error = decode("00004321 0000 01 00", 0x00, features=features).to_exception()
    assert (error.op_type, error.rejected_by_coordinator) == (1, False)
    assert decode("00004321 0000 01 00", 0x00).summary == "Unknown"


def test_bytes_behind_the_message_are_ignored():
    assert decode("00000003 0002 6b73 ffffff", 0x08).new_keyspace == "ks"
