"""Files that are kept: one of an older schema is read, one of a newer schema refused in a line."""

import gzip
import json
from pathlib import Path

import pytest
from ledger import store

from benchproof import accepted, error_rates, judge, share
from benchproof.errors import BenchproofError, NewerError
from benchproof.gate import passed
from benchproof.gate.report import comment
from benchproof.history import loops, writing
from benchproof.site import sources
from tests.harness.sample_comparison import make_comparison
from tests.harness.sample_gate import make_gate
from tests.harness.sample_site import QUIET, make_checkout

MACHINE = {"machine": "here", "arch": "x", "cpu": "y", "num_cpu": "1", "os": "z", "ram": "1"}
ENV = writing.Environment("env", {"DRIVER_IMPL": "python"}, {}, "3.13")
PASSED = {"kind": "passed gate", "commit": "c", "content": "d", "date": "e"}
PLAN = {"benchmark": "b", "impl": "python", "wall": 3, "instructions": [1, 1, 2],
        "allocations": [1, 1, 2]}  # fmt: skip
ENTRY = """
[[accepted]]
benchmark = "b"
meter = "wall"
amount = 0.1
reason = "r"
until = 2027-01-31
"""


def read_accepted(file):
    held = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(f"schema = {held['schema']}\n{ENTRY}" if held else ENTRY, encoding="utf-8")
    return accepted.parse(file.read_bytes(), file.name)


def read_calibration(file):
    place = file.parent / error_rates.FOLDER / error_rates.SUMMARY
    place.parent.mkdir(exist_ok=True)
    file.rename(place)
    return error_rates.load(file.parent)


def read_claims(file):
    file.with_suffix(".json.gz").write_bytes(gzip.compress(file.read_bytes()))
    return store.load(file.with_suffix(".json.gz")) == []


def read_comment(file):
    try:
        return comment.read(file)
    except comment.NoDocumentError as error:
        raise NewerError(str(error)) from error


def add_to_result(file):
    """A measured value is added to what a commit's file holds."""
    place = writing.path(file.parent, "here", "c" * 40, ENV)
    place.parent.mkdir(exist_ok=True)
    file.rename(place)
    before = place.read_bytes()
    try:
        values = {"b": ("1", writing.Value(2.0))}
        writing.write(file.parent, MACHINE, ("c" * 40, 0), ENV, values)
    except NewerError:
        assert place.read_bytes() == before
        raise
    return sorted(json.loads(place.read_bytes())["results"]) == ["a", "b"]


def add_to_benchmarks(file):
    file.rename(file.with_name(writing.BENCHMARKS))
    return writing.describe(file.parent, []) in {True, False}


def add_to_machine(file):
    (file.parent / "here").mkdir()
    file.rename(file.parent / "here" / writing.MACHINE)
    writing.describe_machine(file.parent, MACHINE)
    return True


def read_plans(file):
    file.rename(file.parent / loops.LOOPS)
    return loops.Loops(file.parent).known("b", "python").wall == 3


RESULT = {"result_columns": ["result", "params", "version"], "results": {"a": [[1.0], [], "1"]}}
#: What is kept, the key of its schema, the schemas that are read, how.
KEPT = {
    "comparison": (make_comparison(), "schema", [1, 2, 3, judge.SCHEMA], share.read),
    "comparisons": ({"comparisons": [make_comparison()]}, "schema", [1, judge.SCHEMA], share.read),
    "gate": (make_gate(), "schema", [*comment.READ], read_comment),
    "passed": (PASSED, "schema", [None, passed.SCHEMA], passed.load),
    "accepted": ({}, "schema", [None, accepted.SCHEMA], read_accepted),
    "calibration": ({"rates": {"a": 1}}, "schema", [error_rates.SCHEMA], read_calibration),
    "claims": ({"kind": store.KIND, "runs": []}, "schema", [store.SCHEMA], read_claims),
    "result": (RESULT, "version", [writing.VERSION], add_to_result),
    "benchmarks": ({}, "version", [None, 2], add_to_benchmarks),
    "machine": (MACHINE, "version", [None, 1], add_to_machine),
    "plans": (PLAN, "schema", [None, writing.SCHEMA], read_plans),
}
OLDER = [(name, each) for name, (_, _, known, _) in KEPT.items() for each in known]


def kept(folder, name, schema):
    document, key, _, read = KEPT[name]
    file = folder / "kept.json"
    held = {k: v for k, v in document.items() if k != key}
    file.write_text(json.dumps(held if schema is None else held | {key: schema}), encoding="utf-8")
    return read, file


@pytest.mark.parametrize(("name", "schema"), OLDER)
def test_what_was_kept_is_read(tmp_path, name, schema):
    read, file = kept(tmp_path, name, schema)
    assert read(file)


@pytest.mark.parametrize("name", KEPT)
def test_what_a_newer_one_keeps_is_refused_in_a_line(tmp_path, name):
    read, file = kept(tmp_path, name, KEPT[name][2][-1] + 1)
    with pytest.raises(
        NewerError, match="is newer than this benchproof, which reads up to"
    ) as said:
        read(file)
    assert isinstance(said.value, BenchproofError)
    assert len(str(said.value).splitlines()) == 1


def test_the_newest_gate_that_is_written_can_be_told():
    assert max(comment.READ) == judge.SCHEMA


#: Nested so deeply that Python's reader gives up.
DEEP = "[" * 100_000
PLACES = ["latest/commits.json", "gate/gate.json", "claims.json",
          "results/asv/here/cccc.json"]  # fmt: skip


def test_a_site_names_files_that_are_nested_too_deeply(tmp_path):
    checkout = make_checkout(tmp_path)
    checkout.ask("-c", "user.name=x", "-c", "user.email=x@example.invalid",
                 "commit", "--quiet", "--allow-empty", "--message", "one")  # fmt: skip
    reports = tmp_path / "reports"
    for place in (*PLACES, "calibration/summary.json", "results/asv/benchmarks.json"):
        (reports / place).parent.mkdir(parents=True, exist_ok=True)
        (reports / place).write_bytes(DEEP.encode())
    machine = json.dumps(MACHINE | {"version": 1})
    (reports / "results/asv/here/machine.json").write_text(machine, encoding="utf-8")
    parts = sources.gather(reports, checkout, tmp_path / "cache", QUIET)
    assert sorted(each.file for each in parts.left_out) == sorted(PLACES)
    assert parts.calibration is None


@pytest.mark.parametrize(
    ("place", "document"),
    [
        ("latest/commits.json", make_comparison() | {"schema": judge.SCHEMA + 1}),
        ("gate/gate.json", make_gate() | {"schema": judge.SCHEMA + 1}),
        ("calibration/summary.json", {"schema": error_rates.SCHEMA + 1}),
    ],
)
def test_a_site_names_what_it_leaves_out_because_it_is_newer(tmp_path, place, document):
    file = tmp_path / place
    file.parent.mkdir()
    file.write_text(json.dumps(document), encoding="utf-8")
    parts = sources.Gathered()
    sources.read_documents(parts, tmp_path)
    (left,) = parts.left_out
    assert left.file == place
    assert "is newer than this benchproof" in left.why
    assert not any((parts.run, parts.gate, parts.calibration))


def test_each_kept_file_of_this_repository_is_read():
    root = Path(__file__).resolve().parents[2]
    assert passed.load(root / "reports" / passed.FILE)
    assert error_rates.load(root / "reports")
    accepted.parse((root / "accepted.toml").read_bytes(), "accepted.toml")
