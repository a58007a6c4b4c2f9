"""Shards and repeated runs as one: to the digit what one run said, and nothing mixed silently."""

import json
import random
import subprocess
import sys
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from benchproof import judge, merging, records, settings
from benchproof.collected import Samples, Spot
from benchproof.commands.app import app
from benchproof.errors import BenchproofError
from benchproof.meters import instructions
from tests.harness import loop_project as loop
from tests.harness.test_records import TABLE, variant

METERS = ("wall", "instructions", "allocations", "bytes", "retained")
PROVENANCE = {"python": "CPython 3.11.7", "cpu": "Some CPU", "packages": {"benchproof": "1.0"}}


def made(seed=1, run="first", **provenance):
    """A whole run of two variants and a control."""
    rng = random.Random(seed)
    about = {
        "schema": judge.SCHEMA, "kind": judge.KIND, "gate": True, "title": "a against b",
        "created": "2026-11-23T12:00:00+00:00", "run": run, "impls": ["one", "two"], "builds": 1,
        "seed": 1, "provenance": PROVENANCE | provenance,
        "left": {"commit": "1" * 40, "description": "a", "content": "aa"},
        "right": {"commit": "2" * 40, "description": "b", "content": "bb"},
        "asked": ["wall", "instructions", "bytes"], "excluded": [], "trouble": [],
        "meters": {name: {"measured": False, "why": "", "unit": "", "processes": 0}
                   for name in METERS},
        "unmeasured": {"files": {}, "all_of_it": False}, "error_rates": None,
    }  # fmt: skip
    variants = [variant(name, rng) for name in ("one", "two")]
    control = variant("one", rng)
    control.control = "slowed down"
    for each in (*variants, control):
        each.cases.sort(key=lambda case: (not case.benchmark, case))
    known = [case.name for case in variants[0].cases]
    return Samples(about, settings.parse(TABLE), variants, (), known, controls=[control])


@pytest.fixture
def shard(tmp_path):
    """Keeps a part of a run as a stream of its own, and reads that."""

    def shard(samples, keep, name="shard"):
        file = tmp_path / f"{name}.jsonl"
        records.write(samples, file)
        found = [json.loads(line) for line in file.read_text().splitlines()[:-1]]
        found = [
            each for each in found if each["record"] in {"comparison", "variant"} or keep(each)
        ]
        found.append({"record": "end", "lines": len(found)})
        file.write_text("".join(json.dumps(each) + "\n" for each in found))
        return records.read(file)

    return shard


def document(samples):
    return json.loads(json.dumps(judge.document(samples)))


def test_shards_of_other_benchmarks_are_the_whole_run_to_the_digit(shard):
    whole = made()
    names = sorted({case.benchmark or case.name for case in whole.variants[0].cases})
    parts = {
        f"shard {number}": shard(
            whole, lambda each, n=number: names.index(each["benchmark"]) % 3 == n
        )
        for number in range(3)
    }
    assert all(0 < len(each.variants[0].cases) < len(names) for each in parts.values())
    assert document(merging.merge(parts)) == document(whole)


def test_blocks_that_come_twice_count_once(shard):
    whole = made()

    def of(lowest, highest):
        def keep(each):
            block = each.get("block") if each["record"] == "sample" else None
            return block is None or lowest <= block < highest

        return keep

    parts = {"a": shard(whole, of(0, 6)), "b": shard(whole, of(3, 9)), "c": whole}
    assert document(merging.merge(parts)) == document(whole)
    assert document(merging.merge({"c": whole, "a": parts["a"]})) == document(whole)


def test_another_run_adds_blocks_of_its_own_and_ratios_stay_within_a_run(tmp_path):
    first, second = made(), made(seed=2, run="second")
    merged = merging.merge({"a": first, "b": second})
    found = {(row["name"], row["impl"]): row for row in document(merged)["cases"]}
    ones = {(row["name"], row["impl"]): row for row in document(first)["cases"]}
    twos = {(row["name"], row["impl"]): row for row in document(second)["cases"]}
    name = ("toy.time_5", "one")
    for meter, order in (("wall", list), ("instructions", sorted)):
        both = [rows[name]["meters"][meter] for rows in (found, ones, twos)]
        for side in ("left", "right"):
            whole, one, two = (
                each.get(f"{side}_samples", [each[side]]) for each in both
            )  # of a single count there is no list
            assert order(whole) == order([*one, *two])
    assert [each["run"] for each in merged.about["runs"]] == ["first", "second"]
    records.write(merged, tmp_path / "m.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "m.jsonl").read_text().splitlines()]
    assert {row["host"] for row in rows if row["record"] == "sample"} == {0, 1}
    again = records.read(tmp_path / "m.jsonl")
    assert document(again) == document(merged)
    # What was merged knows what is in it.
    assert document(merging.merge({"m": again, "b": second, "a": first})) == document(merged)


def test_tests_of_several_runs_share_one_budget():
    first, second = made(), made(seed=2, run="second")
    first.variants[0].looks.family = 1
    second.variants[0].looks.family = 2
    looks = merging.merge({"a": first, "b": second}).variants[0].looks
    assert looks.family == len(first.variants[0].cases)
    assert not looks.said
    assert looks.pay(1.0) == first.variants[0].looks.pay(1.0)


@pytest.mark.parametrize(
    ("provenance", "words"),
    [
        ({"python": "CPython 3.12.0"}, "CPython 3.12.0"),
        ({"cpu": "Other CPU"}, "Other CPU"),
        ({"packages": {"benchproof": "2.0"}}, "benchproof 2.0"),
    ],
)
def test_other_tools_interpreters_and_processors_are_not_mixed(provenance, words):
    other = made(seed=2, run="second", **provenance)
    with pytest.raises(BenchproofError, match=f"two.jsonl was measured by .*{words}.* not mixed"):
        merging.merge({"one.jsonl": made(), "two.jsonl": other})


def test_what_is_no_run_of_the_same_comparison_is_refused():
    other = made(run="second")
    other.about["right"] = other.about["right"] | {"content": "cc", "description": "c"}
    with pytest.raises(BenchproofError, match="two is of another comparison than one: right is c"):
        merging.merge({"one": made(), "two": other})
    loose = Samples(made().about, settings.parse(""), made().variants)
    with pytest.raises(BenchproofError, match="two was measured with other settings than one"):
        merging.merge({"one": made(), "two": loose})


def test_two_versions_of_one_benchmark_are_refused_in_a_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    other = made(seed=2, run="second")
    one, *others = other.variants[0].cases
    other.variants[0].cases = [replace(one, version="another"), *others]
    for name, samples in {"one": made(), "two": other}.items():
        records.write(samples, tmp_path / f"{name}.jsonl")
    answer = subprocess.run(
        [sys.executable, "-m", "benchproof.cli", "merge", "one.jsonl", "two.jsonl"],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert answer.returncode == 2
    (line,) = answer.stderr.splitlines()
    assert f"two.jsonl has another version of the benchmark {one.name} than" in line


def test_two_values_of_one_place_are_refused():
    other = made()
    other.variants[0].got.keep("wall", "left", "toy.time_5", 1.0, Spot(0, 3))
    with pytest.raises(
        BenchproofError, match=r"two: block 3 of toy\.time_5, wall, left, has come before"
    ):
        merging.merge({"one": made(), "two": other})


def test_runs_that_answer_differently_give_no_verdict():
    other = made(seed=2, run="second")
    for rows in other.variants[0].got.proofs.values():
        proof = rows["toy.time_5"]["proof"] | {"digest": "e" * 20}
        rows["toy.time_5"] = {"name": "toy.time_5", "proof": proof}
    rows = document(merging.merge({"one": made(), "two": other}))["cases"]
    row = next(row for row in rows if (row["name"], row["impl"]) == ("toy.time_5", "one"))
    assert (row["status"], row["why"]) == ("error", merging.DIFFERENT)


@pytest.mark.slow
@pytest.mark.skipif(bool(instructions.why_not()), reason=f"{instructions.why_not()}")
def test_shards_that_were_measured_apart_count_what_one_run_counts(tmp_path, monkeypatch):
    project = loop.make(tmp_path / "acme")
    monkeypatch.chdir(project.root)
    project.edit(*loop.FASTER["sum"])

    def measure(name, bench):
        answer = CliRunner().invoke(app, [
            "compare", "HEAD", ".", "--meters", "instructions,allocations", "--bench", bench,
            "--records", str(tmp_path / f"{name}.gz"), "--json", str(tmp_path / f"{name}.json"),
        ])  # fmt: skip
        assert answer.exit_code == 0, answer.output
        return json.loads((tmp_path / f"{name}.json").read_text())

    whole = measure("whole", "spin|evens")
    measure("one", "spin")
    measure("two", "evens")
    monkeypatch.chdir(tmp_path)
    answer = CliRunner().invoke(app, ["merge", "one.gz", "two.gz", "--json", "merged.json"])
    assert answer.exit_code == 0, answer.output
    merged = json.loads((tmp_path / "merged.json").read_text())
    assert [case["verdict"] for case in merged["cases"]] == ["equivalent", "improved"]
    for ours, theirs in zip(merged["cases"], whole["cases"], strict=True):
        assert ours["name"] == theirs["name"]
        assert ours["meters"]["allocations"] == theirs["meters"]["allocations"]
        counts, others = ours["meters"]["instructions"], theirs["meters"]["instructions"]
        assert counts["ratio"] == pytest.approx(others["ratio"], rel=0.001)
