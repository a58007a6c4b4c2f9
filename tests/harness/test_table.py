"""The printed table: what moved, the suites, the verdict last; nothing by colour alone."""

import io
import re

import pytest
from rich.console import Console

from benchproof import families, table, verdict
from benchproof.commands.options import WITHOUT_A_TERMINAL, Output
from benchproof.gate.report import words
from benchproof.meters import METERS


def meter(verdict, ratio=1.0, left=100.0, right=None, low=0.98, high=1.02, detectable=1.12):
    right = left * ratio if right is None and ratio is not None else right
    return {"verdict": verdict, "ratio": ratio, "low": low, "high": high, "confidence": 0.975,
            "detectable": detectable, "left": left, "right": right,
            "left_samples": [left] * 20, "right_samples": [right] * 20}  # fmt: skip


def case(name, suite="encode_message", **changes):
    row = {
        "name": f"{suite}.time_{name}", "suite": suite, "case": name,
        "status": "measured", "why": "", "note": "", "verdict": "regressed",
        "meters": {
            "wall": meter("undecided", left=2.1e-6, right=2.2e-6),
            "instructions": meter("equivalent"),
            "allocations": meter("regressed", None, 0, 1),
            "bytes": meter("equivalent"),
        },
    }  # fmt: skip
    return row | changes


def equal(name, **changes):
    about = {name: meter("equivalent") for name in table_meters()[1:]}
    wall = {"wall": meter("undecided", 0.997)}
    return case(name, verdict="equivalent", meters=wall | about, **changes)


def shown(width, *cases, everything=False, **changes):
    document = {
        "title": "HEAD against its parent", "partial": False,
        "left": {"description": "a"}, "right": {"description": "b"}, "cases": list(cases),
        "suites": families.judge(cases) if changes.pop("judged", False) else [],
        "meters": {name: {"measured": True, "why": ""} for name in table_meters()},
        "verdict": {"status": "no regression", "exit": 0, "summary": "all is well"},
    } | changes  # fmt: skip
    out = io.StringIO()
    table.show(document, Console(file=out, width=width), everything=everything)
    return out.getvalue().replace("\N{NO-BREAK SPACE}", " ")


def table_meters():
    return ("wall", "instructions", "allocations", "bytes")


def test_it_fits_80_columns():
    long = case("a_case_with_a_rather_long_name_and_then_some_more_of_it_that_no_line_can_hold")
    long["meters"]["instructions"] = meter("improved", 0.00001234)
    text = shown(80, long, everything=True)
    assert max(map(len, text.splitlines())) <= 80
    assert "\N{DIVISION SIGN}81,000" in text
    assert re.search(r"allocations \* +from 0", text)
    assert "0>1" in text


@pytest.mark.parametrize("width", [20, 30, 40, 52, 60])
@pytest.mark.parametrize("everything", [False, True])
def test_no_number_is_cut_off_where_a_screen_is_narrow(width, everything):
    moved = case("moved", verdict="regressed", meters={"instructions": meter("regressed", 10.54)})
    gone = case("gone", meters={"instructions": meter("regressed", 1.1549)})
    text = shown(width, moved, gone, everything=everything)
    assert "\N{MULTIPLICATION SIGN}10.5" in text
    assert "+15.5 %" in text
    assert "change" in text
    assert "\N{HORIZONTAL ELLIPSIS}" not in text


def test_a_file_that_all_of_the_moved_tests_are_of_is_said_once():
    suite = "tests/test_url.py"

    def test(name, suite=suite):
        return case(name, suite) | {"name": f"{suite}::test_{name}", "impl": "one"}

    text = shown(80, test("build"), test("join"))
    assert f"benchmark of {suite}" in text
    assert re.search(r"^regressed test_build \[one\] ", text, re.MULTILINE)
    text = shown(80, test("build"), test("other", "tests/test_y.py"))
    assert "benchmark of" not in text
    assert re.search(r"^regressed tests/test_y.py::test_other ", text, re.MULTILINE)


@pytest.mark.parametrize("name", METERS)
def test_whichever_meter_moved_is_named(name):
    row = case("x", meters={name: meter("regressed", 1.5)})
    assert words.deciding(row) == name
    text = shown(100, row, equal("y"), everything=True)
    (line,) = re.findall(r"^regressed .*", text, re.MULTILINE)
    assert f"{name} *" in line
    assert "+50.0 %" in line
    head = next(line for line in text.splitlines() if line.startswith("right / left"))
    assert ("calls" in head, "cpu" in head) == (name == "syscalls", name == "processor")


def test_many_regressions_leave_room_for_the_largest_improvements():
    def moved(name, verdict, ratio):
        return case(name, verdict=verdict, meters={"instructions": meter(verdict, ratio)})

    cases = [moved(f"worse{n}", "regressed", 1.1 + n / 100) for n in range(20)]
    cases += [moved(f"better{n}", "improved", 0.9 - n / 100) for n in range(20)]
    text = shown(80, *cases)
    assert re.findall(r"^improved .*better(\d+)", text, re.MULTILINE) == ["19", "18", "17", "16"]
    assert len(re.findall(r"^regressed ", text, re.MULTILINE)) == 8
    assert "and 12 regressed, 16 improved, by less" in text


def test_a_file_or_a_pipe_breaks_no_names(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert Output(None).console().width == WITHOUT_A_TERMINAL
    monkeypatch.setenv("COLUMNS", "70")
    assert Output(None).console().width == 70


def test_what_moved_is_shown_and_the_rest_only_when_asked_for():
    cases = [case("worse"), *(equal(f"same_{n}") for n in range(112))]
    short, whole = (shown(80, *cases, everything=each) for each in (False, True))
    assert "same_1" not in short
    assert "113: 1 regressed, 112 equivalent" in short
    assert len(short.splitlines()) < 24
    assert "--all shows every benchmark" in short
    assert all(f"same_{n}" in whole for n in range(112))


def test_what_shows_every_benchmark_is_not_offered_where_all_are_shown():
    assert "--all" not in shown(80, case("worse"))
    assert "--all" in shown(80, case("worse"), equal("same"))
    assert "--all" in shown(80, *(case(f"worse_{n}") for n in range(40)))


def test_bytes_that_live_on_have_a_column_only_where_there_are_any():
    leaky = case("leaky")
    leaky["meters"] = {**leaky["meters"], "retained": meter("regressed", None, 0, 56)}
    whole = shown(80, equal("x"), leaky, everything=True)
    assert "lives on" in whole
    assert "0>56" in whole
    assert "retained" in whole
    assert max(map(len, whole.splitlines())) <= 80
    assert "lives on" not in shown(80, equal("x"), everything=True)


def test_of_many_that_moved_the_largest_are_shown_and_the_rest_counted():
    cases = [case(f"better_{n}", verdict="improved",
                  meters={"instructions": meter("improved", 0.5 - n / 1000)})
             for n in range(113)]  # fmt: skip
    short, whole = (shown(80, *cases, everything=each) for each in (False, True))
    assert len(short.splitlines()) < 30
    assert "and 101 improved, by less" in short
    assert "better_112" in short
    assert "better_0 " not in short
    assert "better_0 " in whole


def test_the_verdict_is_the_last_line_and_the_suites_come_before_it():
    lines = shown(80, case("x"), equal("y"), everything=True).strip().splitlines()
    assert lines[-1] == "no regression: all is well"
    starts = [next(n for n, line in enumerate(lines) if line.startswith(word))
              for word in ("right / left", "moved", "suite")]  # fmt: skip
    assert starts == sorted(starts)


def test_the_meter_that_decided_has_a_mark_without_any_colour():
    both = case("x", meters={"instructions": meter("improved", 0.528),
                             "bytes": meter("regressed", 1.102)}, verdict="trade-off",
                note="instructions improved (-47.2 %); bytes regressed (+10.2 %)")  # fmt: skip
    text = shown(80, both)
    assert re.search(r"trade-off +encode_message\.time_x +instructions \* +-47\.2 %", text)
    assert re.search(r"\n +bytes +\+10\.2 %", text)
    assert table.LEGEND in text
    assert "\x1b" not in text


@pytest.mark.parametrize("width", [40, 80, 100, 200])
@pytest.mark.parametrize("high", [1.5, 5.6, 460.0, 1e12])
def test_an_undecided_time_has_no_number_and_nothing_has_an_exponent(width, high):
    row = equal("x")
    row["meters"]["wall"] |= {"high": high, "low": 1 / high, "detectable": high}
    decided = case("y")
    decided["meters"]["wall"] = meter("regressed", high, low=1.1, high=high * high)
    text = shown(width, row, decided, everything=True)
    assert not re.search(r"\de[+-]?\d", text)
    assert "\N{PLUS-MINUS SIGN}" not in text
    assert "0.997" not in text
    assert "?" in text


def test_a_suite_as_a_whole_is_told_in_words():
    small = [equal(str(n), suite="bind") for n in range(26)]
    for row in small:
        row["meters"]["instructions"] = verdict.judge_exact("instructions", 9000.0, 9018.0)
    text = shown(80, *small, equal("other"), judged=True)
    assert re.search(r"bind +regressed +26: 26 equivalent", text)
    assert re.search(r"encode_message +- +1: 1 equivalent", text)
    assert "bind as a whole regressed: instructions +0.20 % (26 of 26 cases went up)" in " ".join(
        text.split()
    )


def test_a_wide_terminal_shows_what_a_call_costs_too():
    assert "2.10 µs \N{RIGHTWARDS ARROW} 2.20 µs" in shown(120, case("x"), everything=True)
    assert "2.10 µs" not in shown(80, case("x"), everything=True)


@pytest.mark.parametrize("tests", [1, 12, 112, 224])
def test_with_too_few_blocks_nothing_is_decided_and_that_is_what_is_said(tests):
    needed = table.needed_blocks(tests)
    for blocks, decided in ((needed - 1, False), (needed, True)):
        twice = {f"case {n}": ([1.0] * blocks, [2.0] * blocks) for n in range(tests)}
        judged = verdict.judge_wall(twice)
        assert all((each["verdict"] == "regressed") == decided for each in judged.values())
    few = meter("undecided") | {"left_samples": [1.0] * 3}
    undecided = case("x", meters={"wall": few}, verdict="undecided")
    assert "1 benchmark needs 4 blocks" in shown(100, undecided)
    undecided["meters"]["wall"] |= {"left_samples": [1.0] * 4}
    assert "a change of +12 % or more" in shown(100, undecided)


def test_a_note_that_many_benchmarks_share_is_one_line_unless_all_are_asked_for():
    cases = [equal(f"c{n}", note="not timed: the same work") for n in range(4)]
    short, whole = (shown(80, *cases, everything=each) for each in (False, True))
    assert "4 benchmarks: not timed: the same work" in short
    assert "time_c0: not timed" not in short
    assert "encode_message.time_c0: not timed: the same work" in whole
    assert "encode_message.time_c0: not timed" in shown(80, *cases[:3])


def test_what_was_not_measured_says_why():
    lacking = {name: {"measured": name == "wall", "why": "no valgrind"} for name in table_meters()}
    text = shown(100, case("x", meters={"wall": meter("equivalent")}), meters=lacking)
    assert "instructions: not measured: no valgrind" in text


def test_a_comparison_that_does_not_gate_is_for_information():
    regressed = {"status": "regression", "exit": 1, "summary": "1 regressed"}
    assert "regression: 1 regressed" in shown(100, case("x"), verdict=regressed)
    assert "for information: 1 regressed" in shown(100, case("x"), verdict=regressed, gates=False)


def test_an_error_stands_in_the_verdict_s_place_with_its_reason():
    broken = case("x", status="proof failed", why="right: the path was missed", verdict=None,
                  meters={})  # fmt: skip
    text = shown(100, broken, partial=True)
    assert "1: 1 proof failed" in text
    assert "right: the path was missed" in text
    assert "PARTIAL" in text
