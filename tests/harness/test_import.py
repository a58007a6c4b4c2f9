"""Files of Go, pyperf and asv: each oddity read or refused with its line; judged as our own are."""

import csv
import gzip
import json
import os
import random
import shutil
import subprocess
import tracemalloc

import pyperf
import pytest
from typer.testing import CliRunner

from benchproof import judge, records
from benchproof.commands.app import app
from benchproof.errors import BenchproofError
from benchproof.foreign import formats, readings

HEAD = "goos: linux\ngoarch: amd64\npkg: example.com/acme\ncpu: Some CPU @ 2.00GHz\n"
BENCHSTAT = "golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da"
ODD = (
    HEAD
    + """\
=== RUN   BenchmarkSort
BenchmarkSort
Benchmarking is no benchmark
BenchmarkSort-8         \t     100\t      1500 ns/op\t     248 B/op\t       9 allocs/op
BenchmarkSort-8              200      1.4e+03 ns/op     248 B/op   9 allocs/op
some log: of a test
BenchmarkSort/size=1.5/utf-8-8   300   0.25 ns/op   12.50 rows/s   -3 balance
Benchmark   10   7 ns/op
PASS
ok  \texample.com/acme\t1.2s
pkg: example.com/other
BenchmarkSort-8   100   99 ns/op\r
"""
)


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        file = tmp_path / name
        file.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
        return file

    return write


def read(file):
    bad = []
    return list(formats.read_go(file, bad)), bad


def runs(name, values, allocations=9, head=HEAD):
    """A file of one benchmark, a run for each value in nanoseconds."""
    return head + "".join(
        f"{name}\t100\t{value:.6g} ns/op\t64 B/op\t{allocations} allocs/op\n" for value in values
    )


def test_every_oddity_of_go_is_read_as_go_means_it(write):
    found, bad = read(write("odd.txt.gz", ODD))
    assert not bad
    host = "linux amd64 Some CPU @ 2.00GHz"
    assert {each.host for each in found} == {host}
    told = [(each.benchmark + each.params, each.meter, each.unit, each.values[0]) for each in found]
    sort, sized = "example.com/acme::BenchmarkSort-8", "BenchmarkSort/size=1.5/utf-8-8"
    assert told == [
        (sort, "wall", "", pytest.approx(1.5e-6)), (sort, "bytes", "", 248),
        (sort, "allocations", "", 9),
        (sort, "wall", "", pytest.approx(1.4e-6)), (sort, "bytes", "", 248),
        (sort, "allocations", "", 9),
        (f"example.com/acme::{sized}", "wall", "", pytest.approx(0.25e-9)),
        (f"example.com/acme::{sized}", "track", "rows/s", 12.5),
        (f"example.com/acme::{sized}", "track", "balance", -3),
        ("example.com/acme::Benchmark", "wall", "", pytest.approx(7e-9)),
        ("example.com/other::BenchmarkSort-8", "wall", "", pytest.approx(99e-9)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("BenchmarkA-8  some log that was in the way", "'some' is no number of iterations"),
        ("BenchmarkA-8  0  12 ns/op", "'0' is no number of iterations"),
        ("BenchmarkA-8  100", "no value"),
        ("BenchmarkA-8  100  12", "no value with a unit"),
        ("BenchmarkA-8  100  12 ns/op  64", "the value 64 has no unit"),
        ("BenchmarkA-8  100  12 ns/op  13 ns/op", "a second value in ns/op"),
        ("BenchmarkA-8  100  NaN ns/op", "'NaN' ns/op is no number"),
        ("BenchmarkA-8  100  1_0 rows", "'1_0' rows is no number"),
        ("BenchmarkA-8  100  0 ns/op", "0 ns/op cannot be"),
        ("BenchmarkA-8  100  5 ns/op  -1 B/op", "-1 B/op cannot be"),
        ("BenchmarkA-8  100  1e999 ns/op", "is no number"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(write, line, why):
    old = write("old.txt", runs("BenchmarkA-8", range(100, 110)) + line + "\n")
    new = write("new.txt", runs("BenchmarkA-8", range(100, 110)))
    answer = CliRunner().invoke(app, ["import", "go", str(old), str(new)])
    assert answer.exit_code == 2
    assert f"{old}:15: BenchmarkA-8: " in answer.stderr
    assert why in answer.stderr
    answer = CliRunner().invoke(app, ["import", "go", str(old), str(new), "--skip-malformed"])
    assert answer.exit_code == 0, answer.output
    assert "1 lines are left out" in answer.stderr


def judged(old, new, *options, kind="go"):
    """The document that the command prints."""
    answer = CliRunner().invoke(
        app, ["import", kind, str(old), str(new), "--json", "-", *map(str, options)]
    )
    assert answer.exit_code in {0, 1}, answer.output
    return json.loads(answer.stdout)


def test_two_files_are_judged_and_the_kept_stream_says_the_same_to_the_digit(write, tmp_path):
    rng = random.Random(7)
    noisy = [[rng.gauss(size, size / 100) for _ in range(12)] for size in (1000, 1500)]
    old, new = (write(f"{n}.txt", runs("BenchmarkA-8", one)) for n, one in enumerate(noisy))
    kept = tmp_path / "kept.jsonl.gz"
    document = judged(old, new, "--records", kept)
    (case,) = document["cases"]
    wall = case["meters"]["wall"]
    assert case["verdict"] == wall["verdict"] == "regressed"
    assert wall["low"] <= 1.5 <= wall["high"]
    assert document["verdict"]["status"] == "regression"
    assert judge.document(records.read(kept)) == document


def test_equal_allocations_do_not_make_undecided_times_equal(write):
    rng = random.Random(8)
    noisy = [[rng.uniform(500, 1500) for _ in range(8)] for _ in range(2)]
    old, new = (write(f"{n}.txt", runs("BenchmarkA-8", one)) for n, one in enumerate(noisy))
    (case,) = judged(old, new)["cases"]
    assert case["meters"]["allocations"]["verdict"] == "equivalent"
    assert case["verdict"] == "undecided"


def test_ratios_are_never_of_two_machines(write):
    slow = HEAD.replace("Some CPU", "Slow CPU")
    old = write("old.txt", runs("BenchmarkA", [100, 101, 102]))
    new = write("new.txt", runs("BenchmarkA", [300, 301, 302], head=slow))
    answer = CliRunner().invoke(app, ["import", "go", str(old), str(new)])
    assert answer.exit_code == 2
    assert "different machines" in answer.stderr
    assert "Slow CPU" in answer.stderr
    # Where both machines measured both sides, each has its own ratios.
    old = write("old.txt", old.read_text() + runs("BenchmarkA", [300, 303, 306], head=slow))
    new = write("new.txt", new.read_text() + runs("BenchmarkA", [100, 101, 102]))
    wall = judged(old, new)["cases"][0]["meters"]["wall"]
    assert wall["ratio"] == pytest.approx(1, abs=0.02)
    assert len(wall["left_samples"]) == 6
    alone = write("new.txt", runs("BenchmarkA", [100, 101, 102]))
    document = judged(old, alone)
    assert [row["name"] for row in document["excluded"]] == ["linux amd64 Slow CPU @ 2.00GHz"]
    assert len(document["cases"][0]["meters"]["wall"]["left_samples"]) == 3


def test_what_cannot_be_compared_is_a_line(write):
    old = write("old.txt", runs("BenchmarkA-8", [100, 101, 102]))
    other = write("new.txt", runs("BenchmarkA-4", [100, 101, 102]))
    for names, words in (
        ((old, other), "no benchmark is on both sides"),
        ((old, write("empty.txt", "PASS\n")), "no benchmark of go in it"),
        ((old,), "two files are compared"),
        ((old, old.with_name("absent.txt")), "No such file"),
    ):
        answer = CliRunner().invoke(app, ["import", "go", *map(str, names)])
        assert (answer.exit_code, words in answer.stderr) == (2, True), answer.output
    few = write("few.txt", runs("BenchmarkA-8", [100, 101]))
    (case,) = judged(old, few)["cases"]
    assert "wall time of 2 runs a side" in case["note"]


def test_26_mb_are_read_a_line_at_a_time(write):
    lines = [f"BenchmarkA{n % 40}-8\t100\t{1000 + n % 7} ns/op\t64 B/op\n" for n in range(40_000)]
    file = write("large.txt", HEAD + "".join(lines))
    tracemalloc.start()
    count = sum(1 for _ in formats.read_go(file, []))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 80_000
    assert peak < file.stat().st_size / 5


@pytest.fixture(scope="session")
def benchstat(tmp_path_factory):
    """Go's own tool for this, from Go's own proxy."""
    if shutil.which("go") is None:
        pytest.skip("go is not installed")
    folder = tmp_path_factory.mktemp("go")
    try:
        answer = subprocess.run(
            ["go", "install", BENCHSTAT], env=os.environ | {"GOBIN": str(folder), "GOFLAGS": ""},
            capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        pytest.skip("benchstat was not installed in time")
    if answer.returncode:
        pytest.skip(f"benchstat cannot be installed: {answer.stderr.strip().splitlines()[-1]}")
    return folder / "benchstat"


@pytest.mark.slow
def test_benchstat_says_the_same_of_the_same_files(write, benchstat):
    rng = random.Random(9)
    changes = {"Same": 1.0, "Slower": 1.3, "Faster": 0.7, "Sub/size=10": 1.1}
    texts = ["", ""]
    for name, change in changes.items():
        for side, factor in enumerate((1.0, change)):
            values = [rng.gauss(1000 * factor, 15) for _ in range(12)]
            texts[side] += runs(f"Benchmark{name}-8", values)
    old, new = (write(f"{n}.txt", text) for n, text in enumerate(texts))
    answer = subprocess.run(
        [benchstat, "-format", "csv", old, new], capture_output=True, text=True, check=True
    )
    theirs = {}
    for row in csv.reader(answer.stdout.splitlines()):
        if len(row) == 7 and row[0] and row[0] != "geomean":
            theirs.setdefault(row[0], row)  # times come first
    assert {name.removesuffix("-8") for name in theirs} == set(changes)
    ours = {case["name"].partition("::Benchmark")[2]: case for case in judged(old, new)["cases"]}
    for name, row in theirs.items():
        case = ours[name if name in ours else f"{name}-8"]
        wall = case["meters"]["wall"]
        assert float(row[1]) == pytest.approx(wall["left"], rel=1e-4)
        assert float(row[3]) == pytest.approx(wall["right"], rel=1e-4)
        change = changes[name.removesuffix("-8")]
        word = "regressed" if change > 1 else "improved" if change < 1 else None
        assert (row[5] == "~") == (word is None)
        assert wall["verdict"] == (word or wall["verdict"])
        if word is None:
            assert wall["verdict"] in {"equivalent", "undecided"}


def test_a_process_of_pyperf_is_a_run(tmp_path):
    rng = random.Random(10)
    for side, size in (("left", 1.0), ("right", 1.2)):
        told = {"name": "spin", "unit": "second", "cpu_model_name": "Some CPU"}
        times = [pyperf.Run([rng.gauss(size, 0.01) for _ in range(3)], metadata=told,
                            collect_metadata=False) for _ in range(10)]  # fmt: skip
        heap = pyperf.Run([100], metadata=told | {"name": "heap", "unit": "byte"},
                          collect_metadata=False)  # fmt: skip
        suite = pyperf.BenchmarkSuite([pyperf.Benchmark(times), pyperf.Benchmark([heap])])
        suite.dump(str(tmp_path / f"{side}.json.gz"))
    document = judged(tmp_path / "left.json.gz", tmp_path / "right.json.gz", kind="pyperf")
    found = {case["name"]: case for case in document["cases"]}
    assert found["spin"]["verdict"] == "regressed"
    assert len(found["spin"]["meters"]["wall"]["left_samples"]) == 10
    assert found["heap (byte)"]["meters"]["track"]["verdict"] == "equivalent"
    (tmp_path / "no.json").write_text("{}")
    with pytest.raises(BenchproofError, match=r"no\.json: no file of pyperf"):
        list(formats.read_pyperf(tmp_path / "no.json"))


def asv_file(folder, number, spin, size=7):
    """A result file as asv writes it."""
    rows = {
        "work.time_spin": [[spin, 2 * spin], [["1", "'a b'"]], "v1", 0, 1.0, [], [], [], [],
                           [[spin, spin * 1.01, spin * 1.02], None]],
        "work.track_size": [[size], [], "v1", 0, 1.0],
        "work.time_broken": [[None], [], "v1", 0, 1.0],
        "work.mem_nan": [[float("nan")], [], "v1", 0, 1.0],
    }  # fmt: skip
    columns = ["result", "params", "version", "started_at", "duration", "stats_ci_99_a",
               "stats_ci_99_b", "stats_q_25", "stats_q_75", "samples"]  # fmt: skip
    about = {"machine": "box", "cpu": "Some CPU"}
    file = folder / "box" / f"{number}.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"version": 2, "params": about, "result_columns": columns,
                                "results": rows}))  # fmt: skip
    return file


def test_a_result_file_of_asv_is_a_run(tmp_path):
    listed = {"work.track_size": {"unit": "rows"}, "version": 2}
    (tmp_path / "benchmarks.json").write_text(json.dumps(listed))
    old = [asv_file(tmp_path, n, 1.0 + n / 1000) for n in range(8)]
    new = [asv_file(tmp_path, 10 + n, 0.5 + n / 1000, size=8) for n in range(8)]
    rights = [word for file in new for word in ("--right", str(file))]
    document = judged(old[0], old[1], *map(str, old[2:]), *rights, kind="asv")
    found = {case["name"]: case for case in document["cases"]}
    assert found.keys() == {"work.time_spin(1)", "work.time_spin('a b')", "work.track_size (rows)"}
    assert {found[name]["verdict"] for name in found if "spin" in name} == {"improved"}
    assert found["work.track_size (rows)"]["verdict"] == "changed"
    assert len(found["work.time_spin(1)"]["meters"]["wall"]["left_samples"]) == 8
    old[0].write_text('{"version": 1}')
    with pytest.raises(BenchproofError, match="version 1, and 2 is read"):
        list(formats.read_asv(old[0]))
    old[0].write_text("[]")
    with pytest.raises(BenchproofError, match="no result file of asv"):
        list(formats.read_asv(old[0]))


def test_what_only_one_side_has_is_not_applicable(write):
    both = runs("BenchmarkA", [100, 101, 102])
    old = write("old.txt", both + runs("BenchmarkGone", [1, 2, 3]))
    new = write("new.txt", both)
    found = {case["name"]: case for case in judged(old, new)["cases"]}
    gone = found["example.com/acme::BenchmarkGone"]
    assert (gone["status"], gone["why"]) == ("not applicable", f"right: it is not in {new}")
    read_sides = {
        side: formats.read("go", [file]) for side, file in (("left", old), ("right", new))
    }
    samples = readings.samples(read_sides, {"left": [old], "right": [new]}, "go")
    assert samples.known == sorted(samples.known)
