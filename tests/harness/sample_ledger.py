"""A ledger and measured runs, made up: each verdict and gap that table and pages must show."""

from ledger.store import Run

from benchproof import verdict

LEDGER = """\
[[page]]
id = "pr7"
url = "https://example.org/pull/7"
title = "example 7: <spin> & friends"

[[table]]
id = "times"
page = "pr7"
where = "description"
python = "CPython 3.14"
conditions = "one call"
metric = "time"
unit = "ns"
scope = "whole"
impl = "any"

[[row]]
id = "7-1"
page = "pr7"
change = "spin faster"

[[row]]
id = "7-2"
page = "pr7"
change = "words only"
no_figure = "it is about words"
also = ["toy.time_spin"]

[[figure]]
id = "spin-time"
row = "7-1"
table = "times"
case = "spin"
before = 200
after = 100
benchmark = "toy.time_spin"

[[figure]]
id = "spin-objects"
row = "7-1"
table = "times"
case = "objects of spin"
metric = "objects"
unit = "1"
scope = "part"
before = 2
after = 0
benchmark = "toy.time_spin"

[[figure]]
id = "spin-ns"
row = "7-1"
table = "times"
case = "spin, saving"
saved = 100
benchmark = "toy.time_spin"

[[figure]]
id = "spin-elsewhere"
row = "7-1"
table = "times"
case = "spin in space"
speedup = [2, 3]
no_case = "nobody has been there"
"""

#: The same with a row that is the sum of both.
SUM = (
    LEDGER
    + """
[[row]]
id = "7"
page = "pr7"
change = "both"
of = ["7-1", "7-2"]
no_figure = "none"
"""
)


def meter(left, right, width=None, limit=0.05):
    """A meter of a results file: exact without a width, else wall time with an interval."""
    if width is None:
        return verdict.judge_exact("allocations", left, right)
    ratio = right / left
    return {
        "left": left, "right": right, "ratio": ratio, "low": ratio / (1 + width),
        "high": ratio * (1 + width), "confidence": 0.975, "verdict": "improved", "limit": limit,
        "detectable": 1.1,
    }  # fmt: skip


def run(impl="python", ratio=0.5, width=0.02, allocations=(12.0, 10.0), **about):
    """A run of row 7-1: wall time at a ratio, and counts."""
    calls = [{"probe": {"python_calls": {"work": number}}} for number in (9, 4)]
    cases = [{
        "name": "toy.time_spin", "suite": "toy", "case": "spin", "status": "measured", "why": "",
        "proof": {"left": calls[0], "right": calls[1]},
        "meters": {
            "wall": meter(200e-9, 200e-9 * ratio, width),
            "instructions": verdict.judge_exact("instructions", 1000.0, 1000.0 * ratio),
            "allocations": meter(*allocations),
        },
    }]  # fmt: skip
    document = {
        "created": "2026-03-02T09:14:05+00:00", "partial": False, "cases": cases,
        "provenance": {"python": "CPython 3.11", "compiler": "gcc", "cpu": "a processor",
                       "kernel": "Linux", "valgrind": "3.24"},
        "left": {"content": "l"}, "right": {"content": "r"},
    }  # fmt: skip
    given = {"rows": ("7-1",), "left": "a" * 40, "right": "b" * 40, "document": document} | about
    return Run(impl=impl, **given)
