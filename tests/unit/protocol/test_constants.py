"""Words and codes are those of the protocol."""

import copy
import pickle

import pytest

from driver.protocol import kinds
from driver.protocol.columns import ColDesc, ColumnMetadata
from driver.protocol.consistency import ConsistencyLevel, consistency_value_to_name
from driver.protocol.unset import UNSET_VALUE, UnsetType
from driver.protocol.version import ProtocolVersion


def test_consistency_levels_have_the_codes_of_section_3():
    names = "ANY ONE TWO THREE QUORUM ALL LOCAL_QUORUM EACH_QUORUM SERIAL LOCAL_SERIAL LOCAL_ONE"
    assert [level.name for level in ConsistencyLevel] == names.split()
    assert [level.value for level in ConsistencyLevel] == list(range(11))


def test_consistency_levels_are_found_by_name_and_by_value():
    for level in ConsistencyLevel:
        assert ConsistencyLevel.name_to_value[level.name] is level
        assert ConsistencyLevel.value_to_name[level.value] == level.name


def test_only_the_serial_levels_are_serial():
    serial = [level.name for level in ConsistencyLevel if ConsistencyLevel.is_serial(level)]
    assert serial == ["SERIAL", "LOCAL_SERIAL"]


@pytest.mark.parametrize(("value", "name"), [(None, "Not Set"), (1, "ONE"), (99, "unknown (99)")])
def test_any_consistency_value_has_a_name_for_messages(value, name):
    assert consistency_value_to_name(value) == name


@pytest.mark.parametrize(("version", "lower"), [(6, 5), (5, 4), (4, 3), (3, 0), (0x42, 5)])
def test_the_next_lower_version_is_a_supported_one(version, lower):
    assert ProtocolVersion.get_lower_supported(version) == lower


QUESTIONS = [
    "uses_int_query_flags",
    "uses_prepare_flags",
    "uses_prepared_metadata",
    "uses_error_code_map",
    "uses_keyspace_flag",
    "has_checksumming_support",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_version_5_brought_older_versions_lack(question):
    ask = getattr(ProtocolVersion, question)
    assert [ask(version) for version in (3, 4, 5)] == [False, False, True]


def test_checksums_end_where_the_dse_versions_begin():
    assert ProtocolVersion.has_checksumming_support(ProtocolVersion.V6)
    assert not ProtocolVersion.has_checksumming_support(ProtocolVersion.DSE_V1)


def test_supported_versions_begin_with_the_newest():
    assert ProtocolVersion.SUPPORTED_VERSIONS == (5, 4, 3)
    assert (ProtocolVersion.MIN_SUPPORTED, ProtocolVersion.MAX_SUPPORTED) == (3, 5)


def test_kinds_have_the_codes_of_the_protocol():
    assert kinds.RESULT_KIND_NAMES == {
        1: "VOID",
        2: "ROWS",
        3: "SET_KEYSPACE",
        4: "PREPARED",
        5: "SCHEMA_CHANGE",
    }
    assert [(kind.name, kind.value) for kind in kinds.BatchType] == [
        ("LOGGED", 0),
        ("UNLOGGED", 1),
        ("COUNTER", 2),
    ]
    assert kinds.WriteType.name_to_value["CAS"] is kinds.WriteType.CAS


def test_unset_stays_itself_in_copies_and_pickles():
    assert copy.deepcopy(UNSET_VALUE) is UNSET_VALUE
    assert pickle.loads(pickle.dumps(UNSET_VALUE)) is UNSET_VALUE  # noqa: S301  (our own bytes)
    assert UnsetType() is UNSET_VALUE
    assert repr(UNSET_VALUE) == "UNSET_VALUE"


def test_unset_is_not_falsy_so_that_it_is_not_taken_for_a_missing_value():
    assert bool(UNSET_VALUE) is True


def test_columns_are_tuples_with_names():
    column = ColumnMetadata("ks", "t", "c", int)
    assert column[:3] == ColDesc("ks", "t", "c")
