"""The printed table: fits 80 columns, and never shows undecided as nothing."""

import io

import pytest
from rich.console import Console

from benchproof import table, verdict


def meter(verdict, ratio=1.0, left=100.0, right=100.0):
    return {"verdict": verdict, "ratio": ratio, "low": 0.98, "high": 1.02, "confidence": 0.975,
            "detectable": 1.12, "left": left, "right": right,
            "left_samples": [left] * 20, "right_samples": [right] * 20}  # fmt: skip


def case(name, **changes):
    row = {
        "name": f"encode_message.time_{name}", "suite": "encode_message", "case": name,
        "status": "measured", "why": "", "note": "", "verdict": "undecided",
        "meters": {
            "wall": meter("undecided", left=2.1e-6, right=2.2e-6),
            "instructions": meter("equivalent"),
            "allocations": meter("regressed", None, 0, 1),
            "bytes": meter("equivalent"),
        },
    }  # fmt: skip
    return row | changes


def shown(width, *cases, **changes):
    document = {
        "title": "HEAD against its parent", "partial": False,
        "left": {"description": "a"}, "right": {"description": "b"}, "cases": list(cases),
        "meters": {name: {"measured": True, "why": ""} for name in table_meters()},
        "verdict": {"status": "no regression", "exit": 0, "summary": "all is well"},
    } | changes  # fmt: skip
    out = io.StringIO()
    table.show(document, Console(file=out, width=width))
    return out.getvalue()


def table_meters():
    return ("wall", "instructions", "allocations", "bytes")


def test_it_fits_80_columns():
    text = shown(80, case("a_case_with_a_rather_long_name"))
    assert max(map(len, text.splitlines())) <= 80
    assert "undecided" in text
    assert "1? \N{PLUS-MINUS SIGN}2%" in text
    assert "0>1" in text


def test_a_wide_terminal_shows_the_times_too():
    assert "2.1 us > 2.2 us" in shown(120, case("x"))
    assert "2.1 us" not in shown(80, case("x"))


@pytest.mark.parametrize("tests", [1, 12, 112, 224])
def test_with_too_few_blocks_nothing_is_decided_and_that_is_what_is_said(tests):
    needed = table.needed_blocks(tests)
    for blocks, decided in ((needed - 1, False), (needed, True)):
        twice = {f"case {n}": ([1.0] * blocks, [2.0] * blocks) for n in range(tests)}
        judged = verdict.judge_wall(twice)
        assert all((each["verdict"] == "regressed") == decided for each in judged.values())
    few = meter("undecided") | {"left_samples": [1.0] * 3}
    assert "1 benchmark needs 4 blocks" in shown(100, case("x", meters={"wall": few}))
    enough = meter("undecided") | {"left_samples": [1.0] * 4}
    assert "a change of 12 % or more" in shown(100, case("x", meters={"wall": enough}))


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
    assert "proof failed" in text
    assert "right: the path was missed" in text
    assert "PARTIAL" in text
