"""The record stream: judged from it is what was judged directly, and nothing in it is guessed."""

import datetime as dt
import gzip
import json
import random
import statistics
from pathlib import Path

import pyperf
import pytest
from pages import ROOT, examples
from typer.testing import CliRunner

from benchproof import judge, plan, records, results, settings, verdict
from benchproof.accepted import Entry
from benchproof.collected import Sampled, Samples, Spot
from benchproof.commands.app import app
from benchproof.errors import BenchproofError
from benchproof.meters.counts import Counts
from benchproof.plan import SIDES
from benchproof.suite import Case

COUNTS = Counts(8, 4, 8)
ANSWER = {"proof": {"grade": "proved", "digest": "d" * 20, "modules": {"w": "p/w.py"}, "probe": {}}}
TABLE = """
[tool.benchproof]
trade_off = "fail"
decide = "all"
suite_limit = 0.002
build-variables = ["TOY_*"]
[tool.benchproof.limits]
wall = 0.02
[tool.benchproof.benchmarks."toy.*"]
bytes = 0.5
"""


def variant(name, rng):
    """A variant with a case of every fate."""
    each = Sampled(name=name, same=False)
    each.sides = {side: {"impl": name, "commit": side, "description": side} for side in SIDES}
    rows = [Case(f"toy.time_{n}", f"toy.time_{n}", None, "1", False) for n in range(9)]
    rows += [
        Case("toy.Sort.time_it(10, 'a')", "toy.Sort.time_it", 0, "1", True),
        Case(
            "toy.track_size",
            "toy.track_size",
            None,
            "1",
            False,
            kind="track",
            unit="rows",
            pretty_name="Rows of a table",
        ),
        Case("command.python -m toy", "command.", None, "1", False, kind="command"),
        Case("import.toy", "", None, "1", True),
    ]
    each.cases, got = sorted(rows), each.got
    for side in SIDES:
        got.proofs[side] = {case.name: {"name": case.name, **ANSWER} for case in rows}
    got.proofs["right"]["toy.time_1"] = {"name": "toy.time_1", "refused": "another file"}
    got.failures["toy.time_2"] = "right: callgrind left no dump of it"
    got.untimed["toy.time_3"] = "not timed"
    got.thrown, got.blocks = {4: "left: the clock jumped"}, 9
    for case in rows:
        got.loops[case.name] = plan.Loops(100, COUNTS, COUNTS)
        for side in SIDES:
            for layout in range(rng.randrange(1, 9)):
                number = rng.uniform(900, 1000) * (1.1 if side == "right" else 1)
                meter = "track" if case.kind == "track" else "instructions"
                got.keep(meter, side, case.name, number, Spot(layout % 2, layout))
            got.keep("bytes", side, case.name, 640)
            if case.name != "toy.time_3":
                for block in range(9):
                    values = [abs(rng.gauss(1e-6, 1e-8)) for _ in range(3)]
                    got.keep("wall", side, case.name, values, Spot(0, block))
    for side in SIDES:
        for meter, case in (("processor", "command.python -m toy"), ("tail", "toy.time_0")):
            for block in range(9):
                got.keep(meter, side, case, abs(rng.gauss(1e-2, 1e-3)), Spot(0, block))
    each.looks = verdict.Looks(0.01, 20)
    each.looks.pay(0.5)
    each.looks.said["toy.time_0"] = "improved"
    each.profiles["toy.time_0"] = []
    return each


@pytest.fixture
def samples():
    rng = random.Random(1)
    meters = {
        name: {"measured": False, "why": "", "unit": "", "processes": 0}
        for name in ("wall", "instructions", "allocations", "bytes", "retained")
    }
    about = {
        "schema": judge.SCHEMA, "kind": judge.KIND, "gate": True, "title": "a against b",
        "created": "2026-11-23T12:00:00+00:00", "impls": ["one", "two"], "builds": 1, "seed": 1,
        "left": {"commit": "1" * 40, "description": "a"},
        "right": {"commit": "2" * 40, "description": "b"},
        "asked": ["wall", "instructions", "bytes"], "meters": meters, "excluded": [],
        "trouble": [], "unmeasured": {"files": {}, "all_of_it": False}, "error_rates": None,
    }  # fmt: skip
    entry = Entry(
        "toy.time_4", ("instructions", "wall"), "one", 0.5, "why not", dt.date(2999, 1, 1), 3
    )
    variants = [variant(name, rng) for name in ("one", "two")]
    known = [case.name for case in variants[0].cases]
    control = variant("one", rng)
    control.control = "slowed down"
    return Samples(about, settings.parse(TABLE), variants, [entry], known, controls=[control])


def lines(samples, tmp_path):
    file = tmp_path / "plain.jsonl"
    records.write(samples, file)
    return file.read_text().splitlines()


@pytest.mark.parametrize("name", ["s.jsonl", "s.jsonl.gz"])
def test_judging_a_stream_says_what_judging_the_samples_says(samples, tmp_path, name):
    records.write(samples, tmp_path / name)
    direct = json.loads(json.dumps(judge.document(samples)))
    again = json.loads(json.dumps(judge.document(records.read(tmp_path / name))))
    assert again == direct
    rows = direct["cases"]
    assert {row["status"] for row in rows} == {"measured", "proof failed", "error"}
    assert any(row["accepted"] for row in rows)
    assert {row["pretty_name"] for row in rows} == {"", "Rows of a table"}
    assert {"wall", "instructions", "bytes", "track", "processor", "tail"} <= {
        meter for row in rows for meter in row["meters"]
    }


def test_of_a_stream_from_before_sides_took_turns_each_process_stands_alone(samples, tmp_path):
    first, *rest = lines(samples, tmp_path)
    file = tmp_path / "old.jsonl"
    file.write_text("\n".join([first.replace('"stream":3', '"stream":2'), *rest]) + "\n")
    for each, now in zip(records.read(file).variants, samples.variants, strict=True):
        for side, numbers in zip(SIDES, each.got.numbers("wall", "toy.time_0"), strict=True):
            taken = now.got.taken("wall", side, "toy.time_0").values()
            assert numbers == [statistics.median(values) for values in taken]
        assert each.got.numbers("wall", "toy.time_0") != now.got.numbers("wall", "toy.time_0")


def test_the_command_tells_it_and_ends_with_its_status(samples, tmp_path):
    file, out = tmp_path / "s.jsonl.gz", tmp_path / "d.json"
    records.write(samples, file)
    answer = CliRunner().invoke(app, ["judge", str(file), "--json", str(out)])
    kept = json.loads(out.read_text())
    assert answer.exit_code == kept["verdict"]["exit"] == judge.document(samples)["verdict"]["exit"]
    assert kept["verdict"]["summary"] in " ".join(answer.output.split())


def test_the_page_s_table_with_pandas_has_the_medians(samples, tmp_path, monkeypatch):
    records.write(samples, tmp_path / "gate.jsonl.gz")
    monkeypatch.chdir(tmp_path)
    (code,) = examples(ROOT / "docs" / "gate.md", "python samples")
    names = {}
    exec(code, names)  # noqa: S102  (the example of our own page)
    found = names["table"].reset_index().set_index(["benchmark", "variant", "meter"]).ratio
    got = samples.variants[1].got
    left, right = (
        statistics.median(n for (n,) in got.taken("instructions", side, "toy.time_5").values())
        for side in SIDES
    )
    assert found["toy.time_5", "two", "instructions"] == pytest.approx(right / left)


def test_a_sample_says_all_that_is_known_of_a_value(samples, tmp_path):
    found = [json.loads(line) for line in lines(samples, tmp_path)]
    found = [each for each in found if each["record"] == "sample" and "control" not in each]
    assert all(
        each.keys() == {"record", "benchmark", "params", "side", "variant", "host", "build",
                        "meter", "unit", "process", "block", "number", "value"}
        for each in found
    )  # fmt: skip
    sort = next(each for each in found if each["benchmark"] == "toy.Sort.time_it")
    assert sort["params"] == "(10, 'a')"
    assert {each["unit"] for each in found if each["meter"] == "track"} == {"rows"}


def at(found, kind, number=0):
    return [n for n, line in enumerate(found) if json.loads(line)["record"] == kind][number]


def spoilt(found, kind, **changes):
    place = at(found, kind)
    found[place] = json.dumps(json.loads(found[place]) | changes)
    return found


def twice(found, kind):
    return [*found[:-1], found[at(found, kind)], found[-1]]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda found: spoilt(found, "comparison", stream=99), r":1: a stream of version 99"),
        (lambda found: found[:-1], "ends early"),
        (lambda found: found[:40] + found[41:], "ends early"),
        (lambda found: [*found[:-1], found[-1][:9]], "ends early"),
        (lambda found: [*found[:20], '{"rec', *found[20:]], r":21: no record of benchproof"),
        (lambda found: spoilt(found, "sample", value=float("nan")), "NaN is no number"),
        (lambda found: spoilt(found, "sample", value="1"), "'1' is no number"),
        (lambda found: spoilt(found, "sample", value=True), "True is no number"),
        (lambda found: spoilt(found, "sample", meter="luck"), "unknown meter 'luck'"),
        (lambda found: spoilt(found, "sample", benchmark="x"), "is no case"),
        (lambda found: spoilt(found, "sample", benchmark="x\ny"), "x y.* is no case"),
        (lambda found: spoilt(found, "sample", side="up"), "is no case"),
        (lambda found: spoilt(found, "comparison", settings={"x": 1}), ":1: no beginning"),
        (lambda found: spoilt(found, "comparison", known=True), ":1: no beginning"),
        (lambda found: spoilt(found, "comparison", about=None), ":1: no beginning"),
        (lambda found: spoilt(found, "comparison", about={}), r":1: no beginning .*asked, created"),
        (lambda found: spoilt(found, "sample", value=10**400), "no record of benchproof"),
        (lambda found: [*found[:20], "[" * 5000, *found[20:]], r":21: no record of benchproof"),
        (lambda found: spoilt(found, "sample", process=-1), "is no place of a value"),
        (lambda found: spoilt(found, "sample", build="a"), "is no place of a value"),
        (lambda found: spoilt(found, "case", benchmark="other"), "'command.python -m toy' is not"),
        (lambda found: twice(found, "sample"), "a second command.python -m toy left"),
        (lambda found: twice(found, "proof"), "a second command.python -m toy left"),
        (lambda found: twice(found, "case"), "a second case"),
        (lambda found: twice(found, "variant"), "a second variant 'one'"),
        (lambda found: twice(found, "comparison"), "unknown record 'comparison'"),
        (lambda _: ["{}"], "no record|ends early"),
        (lambda _: [], "ends early"),
        (lambda _: ['{"record": "end", "lines": 0}'], "no stream of benchproof"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_one_line_and_status_2(samples, tmp_path, spoil, said):
    file = tmp_path / "bad.jsonl"
    file.write_text("".join(f"{line}\n" for line in spoil(lines(samples, tmp_path))))
    with pytest.raises(BenchproofError, match=said) as caught:
        records.read(file)
    assert "\n" not in str(caught.value)
    answer = CliRunner().invoke(app, ["judge", str(file)])
    assert answer.exit_code == 2


def test_a_compressed_stream_that_is_cut_off_is_told(samples, tmp_path):
    file = tmp_path / "s.jsonl.gz"
    records.write(samples, file)
    whole = file.read_bytes()
    assert gzip.decompress(whole)
    for part in (whole[:-9], whole[: len(whole) // 2], whole[:11]):
        file.write_bytes(part)
        with pytest.raises(BenchproofError, match="ends early"):
            records.read(file)


def test_raw_wall_values_are_replaced_as_one_step(samples, tmp_path, monkeypatch):
    for side in samples.variants[0].sides.values():
        side["wheel_sha256"] = "w"

    def write():
        return results.write_raw(samples.variants[0], None, tmp_path / "one.json")

    before = {file: file.read_bytes() for file in write()}
    assert len(before) == 2
    assert pyperf.BenchmarkSuite.load(str(min(before))).get_benchmarks()
    samples.variants[0].got.taken("wall", "left", "toy.time_0")[Spot(0, 0)][0] *= 2

    def end(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", end)
    with pytest.raises(KeyboardInterrupt):
        write()
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_file_that_is_not_there_is_told(tmp_path):
    assert CliRunner().invoke(app, ["judge", str(tmp_path / "none")]).exit_code == 2
