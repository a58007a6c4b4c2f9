"""Where instructions went: bytecodes by Python function, and the whole way through workers."""

import io
import re
import struct
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from benchproof import suite
from benchproof.bench import Bench
from benchproof.checkout import Checkout
from benchproof.compare import Place
from benchproof.errors import WorkerError
from benchproof.meters import instructions
from benchproof.profile import callgrind, tracer
from benchproof.profile import explain as explaining
from benchproof.profile.explain import explain
from benchproof.progress import Lines
from tests.harness.toy import Toy, last_two

SUITES = Path(__file__).resolve().parent / "suites"

ALLOCATOR = re.compile(r"Malloc|Free|pymalloc|usedpool|freepool|new_pool", re.IGNORECASE)
NOWHERE = [("/a", "/suites"), ("/b", "/suites")]


def twice(value):
    return struct.pack(">i", value) + struct.pack(">i", value)


def case():
    return [twice(value) for value in range(3)]


def by_function(said, kind):
    return {row["function"]: row["cost"] for row in said[kind]}


def test_bytecodes_are_counted_by_python_function_and_repeat():
    first, second = (by_function(tracer.measure(case, 3), "bytecodes") for _ in range(2))
    assert first == second
    assert {"case", "twice", "case.<locals>.<listcomp>"} >= first.keys() >= {"case", "twice"}
    assert first["twice"] % 3 == 0  # it is called three times a call


def test_one_statement_more_is_seen_in_its_function_only():
    def changed():
        value = 1
        value += 2
        return [twice(value) for value in range(3)]

    before, after = (by_function(tracer.measure(each, 2), "bytecodes") for each in (case, changed))
    assert before["twice"] == after["twice"]
    assert sum(after.values()) > sum(before.values())


def test_calls_into_c_are_told_with_their_caller():
    said = tracer.measure(case, 2)
    assert [(row["by"], row["cost"]) for row in said["calls"] if row["function"] == "struct.pack"]
    assert by_function(said, "calls")["struct.pack"] == 6
    assert "setprofile" not in str(said["calls"])


def test_a_tracer_that_was_there_before_is_there_again_even_after_an_error():
    def fails():
        raise ValueError("a case")

    def nobody(*_):
        return None

    before = sys.gettrace(), sys.getprofile()
    # The first calls are not traced, so the error must come later.
    turns = iter([None] * tracer.WARM)
    sys.setprofile(nobody)
    try:
        with pytest.raises(ValueError, match="a case"):
            tracer.measure(lambda: next(turns, 0) is None or fails(), 1)
        assert sys.getprofile() is nobody
        assert sys.gettrace() is before[0]
    finally:
        sys.setprofile(before[1])


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (struct.pack, "struct.pack"),
        (len, "len"),
        (b"".join, "bytes.join"),
        (dict.get, "dict.get"),
        ([].append, "list.append"),
    ],
)
def test_a_c_function_is_told_by_its_public_name(function, name):
    assert tracer.name_of(function) == name


def said(**costs):
    return {
        "bytecodes": [{"function": name, "file": "/a/driver/x.py", "line": 1, "cost": cost}
                      for name, cost in costs.items()],
        "calls": [],
    }  # fmt: skip


def test_python_functions_are_matched_though_lines_and_folders_differ():
    left, right = said(encode=100.0, decode=50.0), said(encode=130.0, decode=50.0)
    right["bytecodes"][0] |= {"file": "/b/driver/x.py", "line": 9}
    right["bytecodes"][1] |= {"file": "/b/driver/x.py", "line": 70}
    (found,) = explaining.traced(left, right, NOWHERE)
    assert found == {
        "function": "encode", "file": "driver/x.py", "unit": "bytecodes", "left": 100.0,
        "right": 130.0, "change": 30.0, "share": 1.0,
    }  # fmt: skip


def test_files_are_told_in_few_words():
    struct_file = Path(struct.__file__)
    assert explaining.short("/suites/asv_benchmarks/bind.py", ["/b", "/suites"]) == (
        "asv_benchmarks/bind.py"
    )
    assert explaining.short(str(struct_file), []) == "struct.py"
    assert explaining.short("/elsewhere/y.py", []) == "y.py"
    assert explaining.short("<frozen os>", []) == "<frozen os>"


def test_shares_are_of_all_that_grew_and_of_all_that_shrank():
    found = explaining.changes(
        {("a", ""): 10, ("b", ""): 50}, {("c", ""): 30, ("d", ""): 90}, "calls"
    )
    assert [(each["function"], each["change"], each["share"]) for each in found] == [
        ("d", 90, 0.75), ("c", 30, 0.25), ("a", -10, 10 / 60), ("b", -50, 50 / 60),
    ]  # fmt: skip


def test_only_what_explains_most_is_told_and_in_both_directions():
    left = {(f"gone{n}", ""): 100.0 for n in range(20)}
    right = {(f"new{n}", ""): 200.0 + n for n in range(20)} | {("tiny", ""): 1.0}
    few = explaining.worth_telling(explaining.changes(left, right, "instructions"))
    assert [each["function"] for each in few[:2]] == ["new19", "new18"]
    grew = [each for each in few if each["change"] > 0]
    assert len(grew) == explaining.GREW["instructions"]
    assert len(few) - len(grew) == explaining.SHRANK["instructions"]
    assert "tiny" not in [each["function"] for each in few]


def test_nothing_to_explain_starts_no_worker():
    assert explain(SimpleNamespace(), []) == {}


def test_a_terminal_names_what_grew_or_what_shrank():
    rows = [
        {"function": "encode", "file": "driver/x.py", "unit": "bytecodes", "change": 22.0},
        {"function": "struct.pack", "file": "called by encode", "unit": "calls", "change": -0.25},
        {"function": "memcpy", "file": "libc.so", "unit": "instructions", "change": 1110.4},
    ]
    out = io.StringIO()
    console = Console(file=out, width=80)
    console.print(explaining.table(rows))
    console.print(explaining.table(rows, shrunk=True))
    assert [line.split() for line in out.getvalue().splitlines()] == [
        ["+22", "bytecodes", "encode", "(driver/x.py)"],
        ["+1,110", "instructions", "memcpy", "(libc.so)"],
        ["-0.25", "calls", "struct.pack", "(called", "by", "encode)"],
    ]


needs_valgrind = pytest.mark.skipif(
    bool(instructions.why_not()), reason=instructions.why_not() or "valgrind is here"
)


@pytest.fixture(scope="module")
def counted(tmp_path_factory, cache, toolchain):
    """A bench that has counted two cases, one of which got slower, and those cases."""
    toy = Toy(tmp_path_factory.mktemp("profiled") / "toy")
    toy.edit("driver/work.py", "total += number", "total += len(str(number))")
    toy.commit("measure each number")
    place = Place(Checkout.around(toy.root), SUITES, cache, toolchain)
    scratch, tell = tmp_path_factory.mktemp("scratch"), Lines(Console(file=io.StringIO()))
    with last_two(place, SUITES, scratch, tell) as bench:
        cases = suite.select(suite.from_rows(bench.discover()), suite.expression("spin|boxes"))
        bench.prove(cases)
        bench.count_instructions(cases)
        yield bench, cases


@pytest.mark.slow
@needs_valgrind
def test_a_slower_function_is_named_with_what_it_calls(counted):
    found = explain(*counted)
    spin = found["toy.time_spin"]
    grew = {(row["function"], row["file"], row["unit"]) for row in spin if row["change"] > 0}
    assert ("spin", "driver/work.py", "bytecodes") in grew
    assert ("len", "called by spin, driver/work.py", "calls") in grew
    assert [row for row in spin if row["unit"] == "instructions" and row["change"] > 0]
    # What allocators cost depends on where blocks lie; the meter has a price for them instead.
    # And of a function that calls them, or looks up a name, by less than a hundredth.
    others = [row for row in found["toy.time_boxes"] if not ALLOCATOR.search(row["function"])
              and abs(row["change"]) > row["left"] / 100]  # fmt: skip
    assert others == []


@pytest.mark.slow
@needs_valgrind
def test_the_growth_of_c_functions_adds_up_to_what_the_meter_says(counted):
    bench, name = counted[0], "toy.time_spin"
    left, right = bench.got.numbers("instructions", name)
    calls = bench.got.loops[name].instructions.many
    costs = [callgrind.per_call(bench.dumps(side, name), calls) for side in ("left", "right")]
    found = explaining.changes(*costs, "instructions")
    assert sum(each["change"] for each in found) == pytest.approx(right[0] - left[0], rel=0.1)


@pytest.mark.slow
@needs_valgrind
def test_without_readable_dumps_python_functions_are_still_named(counted, monkeypatch, tmp_path):
    monkeypatch.setattr(Bench, "dumps", lambda *_: [tmp_path / "gone"])
    assert {row["unit"] for row in explain(*counted)["toy.time_spin"]} == {"bytecodes", "calls"}


@pytest.mark.slow
@needs_valgrind
def test_without_tracing_workers_c_functions_are_still_named(counted, monkeypatch):
    def dies(*_):
        raise WorkerError("killed")

    monkeypatch.setattr(Bench, "ask", dies)
    assert {row["unit"] for row in explain(*counted)["toy.time_spin"]} == {"instructions"}
