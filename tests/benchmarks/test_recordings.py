"""The recorded frames are what the manifest says, and one neutral form serves every driver."""

import hashlib
import json
import re
import uuid
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from asv_benchmarks import recordings
from asv_benchmarks.recordings import INPUTS, digest, plain
from driver.values.date import Date
from driver.values.duration import Duration
from driver.values.sorted_set import SortedSet
from driver.values.time import Time

ENTRIES = recordings.manifest()["frames"] + recordings.manifest()["segments"]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["file"])
def test_a_recorded_file_is_what_the_manifest_says(entry):
    data = recordings.read(entry["file"])
    assert len(data) == entry["bytes"]
    assert hashlib.sha256(data).hexdigest() == entry["sha256"]


def test_every_file_is_in_the_manifest_and_every_frame_has_an_expectation():
    files = {str(p.relative_to(INPUTS)) for v in ("v4", "v5") for p in (INPUTS / v).iterdir()}
    assert files == {entry["file"] for entry in ENTRIES}
    frames = recordings.manifest()["frames"]
    assert set(recordings.expected()) == {f"v{e['version']}/{e['name']}" for e in frames}


def test_the_recordings_stay_small():
    assert sum(path.stat().st_size for path in INPUTS.rglob("*") if path.is_file()) < 3_000_000


@pytest.mark.parametrize("version", [4, 5])
def test_a_frame_is_a_header_and_a_body_of_the_length_that_it_says(version):
    for name in recordings.names(version):
        frame = recordings.frame(name, version)
        # What the server could not even read as a message it answers in its own newest version.
        sent = 5 if name == "error_protocol" else version
        assert frame.header[0] == 0x80 | sent, name
        assert int.from_bytes(frame.header[5:]) == len(frame.body), name
        assert frame.opcode == frame.about["opcode"]


def test_the_catalogue_has_every_kind_of_result_and_what_a_header_can_carry():
    frames = recordings.manifest()["frames"]
    for version in (4, 5):
        mine = [entry for entry in frames if entry["version"] == version]
        kinds = {entry["kind"] for entry in mine}
        assert kinds >= {"VOID", "ROWS", "SET_KEYSPACE", "PREPARED", "SCHEMA_CHANGE"}
        flags = {bit for bit in (2, 4, 8) for entry in mine if entry["flags"] & bit}
        assert flags == {2, 4, 8}
        opcodes = {entry["opcode"] for entry in mine}
        assert opcodes == {0x00, 0x02, 0x03, 0x06, 0x08, 0x0C, 0x10}


def test_a_frame_that_was_not_recorded_is_named():
    with pytest.raises(KeyError, match="no_such_frame"):
        recordings.frame("no_such_frame")


def test_the_neutral_form_is_json_and_tells_equal_values_of_all_classes():
    midnight = datetime(2026, 3, 20, tzinfo=UTC).replace(tzinfo=None)
    values = {
        "none": None,
        "int": 1,
        "text": "a",
        "float": 0.1,
        "blob": b"\x00",
        "decimal": Decimal("1.0"),
        "uuid": uuid.UUID(int=1),
        "timestamp": midnight,
        "date": Date(1),
        "time": Time(1),
        "duration": Duration(1, 2, 3),
        "list": [1, (2,), {"k": SortedSet([2, 1])}],
    }
    form = json.loads(json.dumps(plain(values)))
    assert dict(form["map"])["float"] == {"float": "0x1.999999999999ap-4"}
    assert dict(form["map"])["duration"] == {"duration": [1, 2, 3]}
    assert dict(form["map"])["list"] == [1, [2], {"map": [["k", [1, 2]]]}]
    assert len({json.dumps(pair[1]) for pair in form["map"]}) == len(values)


def test_digests_differ_where_floats_differ_in_their_last_bit():
    assert digest([0.1]) != digest([0.1 + 2**-56])
    assert digest([0.1]) == digest((0.1,))


def test_the_neutral_form_refuses_what_no_cql_type_decodes_to():
    with pytest.raises(TypeError, match="no CQL type decodes to object"):
        plain(object())


def test_the_schema_beside_the_frames_has_every_table_that_a_prepared_statement_names():
    schema = (INPUTS / "schema.cql").read_text(encoding="utf-8")
    queries = [e["query"] for e in recordings.manifest()["frames"] if e["kind"] == "PREPARED"]
    tables = {table for query in queries for table in re.findall(r"cqlpath\.\w+", query)}
    missing = {table for table in tables if f"CREATE TABLE {table} " not in schema}
    assert missing == {"cqlpath.changing"}, "altered while it is recorded, and dropped"


def test_the_manifest_has_no_absolute_path_of_the_machine_that_recorded():
    text = Path(INPUTS / "manifest.json").read_text(encoding="utf-8")
    assert not re.search(r'"/\w', text)
