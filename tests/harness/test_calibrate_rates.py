"""Rates, kept rows, resampled gates and what is reported of them, on made-up numbers."""

import gzip
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from calibration import (
    command,
    inject,
    picture,
    rates,
    recorded,
    report,
    resample,
    summary,
    walls,
    words,
)
from calibration.clock import Clock
from calibration.kept import Kept
from calibration.others import bare
from calibration.others import run as others
from calibration.sites import Site

from benchproof import error_rates, timing
from benchproof.progress import Teller
from benchproof.settings import Settings

STAMP = {"policy": "rules", "machine": {"cpu": "a processor"}, "at": "2026-11-20T10:00:00+00:00"}


def session(name, impl, about, ratio=1.0, blocks=60, cases=("a.x", "a.y"), noise=0.01, seed=1):
    """Rows of a recorded session: both processes of a block share a minute's drift."""
    rng = np.random.default_rng(seed)
    yield {"session": name, "impl": impl, "about": about, "cases": list(cases)}
    for index in range(blocks):
        minute = rng.normal(1, 0.1)
        first = "left" if rng.random() < 0.5 else "right"
        row = {"session": name, "block": index, "first": first, "seconds": 2.0}
        for side, factor in (("left", 1.0), ("right", ratio)):
            row[side] = [1e-6 * minute * factor * rng.normal(1, noise) for _ in cases]
        yield row


def aa_sessions(**more):
    about = {"kind": "aa", "content": "c"}
    rows = [*session("p", "python", about, **more), *session("c", "cython", about, **more)]
    return recorded.read(rows)


def test_rows_survive_a_process_that_was_killed_in_the_middle_of_one(tmp_path):
    kept = Kept(tmp_path / "sub" / "a.jsonl.gz")
    for number in range(10):
        kept.add({"number": number})
    whole = kept.file.read_bytes()
    kept.file.write_bytes(whole + gzip.compress(b'{"number": 10}\n')[:-5])
    assert [row["number"] for row in kept.rows()] == list(range(10))
    kept.mend()
    assert kept.file.read_bytes() == whole
    kept.add({"number": 10})
    kept.pack()
    assert len(kept.file.read_bytes()) < len(whole)
    assert [row["number"] for row in kept.rows()] == list(range(11))


def test_repetitions_are_missing_by_the_key_of_their_rows(tmp_path):
    kept = Kept(tmp_path / "a.jsonl.gz")
    for number, kind in ((0, "same"), (2, "same"), (1, "neutral")):
        kept.add({"number": number, "kind": kind, "seed": 1, "asked": ["wall"]})
    assert kept.missing(4, ("wall",), kind="same", seed=1) == [1, 3]
    assert kept.missing(2, ("wall",), seed=1) == []
    assert kept.missing(2, ("wall",), seed=2) == [0, 1]


def test_many_rows_are_read_across_the_pieces_in_which_a_file_is_looked_at(tmp_path):
    kept = Kept(tmp_path / "a.jsonl.gz")
    rows = [{"number": number, "text": str(number) * 500} for number in range(300)]
    for row in rows:
        kept.add(row)
    assert kept.rows() == rows


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    # Of the tables in Clopper and Pearson's manner that textbooks print.
    [(0, 20, 0.0, 0.1684), (1, 200, 0.0001, 0.0275), (95, 100, 0.8872, 0.9836), (5, 5, 0.4782, 1)],
)
def test_intervals_of_rates_are_exact(k, n, low, high):
    found = rates.rate(k, n)
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


def test_nothing_tried_is_no_rate():
    assert rates.of([]) is None
    assert rates.told(None) == "not measured"


def test_a_budget_ends_a_campaign_before_a_step_that_would_not_fit(tell, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    clock = Clock(10.0, tell)
    done = []
    for step in clock.steps("step", range(9), done=3):
        done.append(step)
        now[0] += 4.0
    assert done == [0, 1]
    assert "the budget ends here: 5 of 12 steps are kept" in tell.text
    now[0] += 4.0
    assert list(clock.steps("step", range(2))) == []


def test_recorded_blocks_are_read_with_the_cases_of_their_own_chunk():
    rows = [
        {"session": "s", "impl": "python", "about": {}, "cases": ["a", "b"]},
        {"session": "s", "block": 0, "first": "left", "left": [1, 2], "right": [3, None]},
        {"session": "s", "impl": "python", "about": {}, "cases": ["b", "a"]},
        {"session": "s", "block": 1, "first": "right", "left": [4, 5], "right": [6, 7]},
    ]
    (read,) = recorded.read(rows)
    assert read.samples(0, 2) == {"a": ([1, 5], [3, 7]), "b": ([4], [6])}
    # The process that ran first becomes "left" in both blocks.
    first, second = read.relabelled(0, ["left", "left"])
    assert first == {"left": {"a": 1, "b": 2}, "right": {"a": 3}}
    assert second == {"left": {"b": 6, "a": 7}, "right": {"b": 4, "a": 5}}
    (swapped,) = read.relabelled(0, ["right"])
    assert swapped == {"left": {"a": 3}, "right": {"a": 1, "b": 2}}


def test_resampled_gates_of_one_build_keep_to_the_error_budget(tell):
    sessions = aa_sessions()
    gates = list(resample.aa(sessions, Settings(), Clock(None, tell), gates=30, seconds=60, seed=1))
    assert len(gates) == 30
    assert {gate["tests"] for gate in gates} == {4}
    assert sum(bool(gate["alarms"]) for gate in gates) <= 3
    assert len({str(gate["blocks"]) for gate in gates}) > 10


def test_a_gate_that_is_wrong_is_seen_to_be(tell):
    # Slower whenever it runs first, by far more than the limit: still balanced, so still quiet ...
    rows = list(session("p", "python", {"kind": "aa", "content": "c"}, noise=1e-4))
    for row in rows:
        if "block" in row:
            row[row["first"]] = [value * 1.2 for value in row[row["first"]]]
    sessions = recorded.read(rows)
    quiet = list(resample.aa(sessions, Settings(), Clock(None, tell), gates=9, seconds=60, seed=1))
    assert not any(gate["alarms"] for gate in quiet)
    # ... but where labels follow who ran first, everything is an alarm.
    labels = sessions[0].relabelled(0, ["left"] * 40)
    said, used = resample.gate({"python": (labels, 2.0)}, Settings(), 1e6)
    assert {each["verdict"] for each in said.values()} == {"improved"}
    assert used == {"python": 40}


def test_cases_that_seem_unchanged_are_paused_for_what_changed():
    cases = [f"a.{number}" for number in range(20)]
    (one,) = recorded.read(session("p", "python", {}, blocks=180, cases=cases, noise=0.003))
    blocks = [resample._slower(block, "python", {("python", "a.7"): 0.018})
              for block in one.numbers(0, 180)]  # fmt: skip
    said, used = resample.gate({"python": (blocks, 10.45)}, Settings(), 200.0)
    blocks_of = {name: len(answer["left_samples"]) for (_, name), answer in said.items()}
    assert said["python", "a.7"]["verdict"] == "regressed"
    # The others are paused from the first look on, and the slower one has the rest of the budget.
    assert blocks_of.pop("a.7") == used["python"] > 3 * 200 / 10.45
    assert set(blocks_of.values()) == {9}


def test_where_nothing_seems_changed_all_cases_go_on():
    cases = [f"a.{number}" for number in range(20)]
    (one,) = recorded.read(session("p", "python", {}, blocks=60, cases=cases, noise=0.009))
    said, _ = resample.gate({"python": (one.numbers(0, 60), 10.45)}, Settings(), 200.0)
    # More than the nine until the first look: what that did not decide was timed again.
    assert min(len(answer["left_samples"]) for answer in said.values()
               if answer["verdict"] != "equivalent") > 9  # fmt: skip
    assert {answer["verdict"] for answer in said.values()} != {"equivalent"}


class Bench(resample.Played):
    """Played blocks, with a case whose tail is asked for, and one that fails."""

    def __post_init__(self):
        super().__post_init__()
        self.cases = [replace(case, tail=case.name == "a.tail") for case in self.cases]


def timed_to_the_end(blocks, seconds=200.0):
    time = [0.0]
    bench = Bench(blocks, 10.45, Settings(), time)
    one = timing.Timed(bench, bench.cases)
    timing.run([one], 1, seconds, Teller(), quick=False, now=lambda: time[0])
    return one, time[0]


def test_a_tail_is_timed_to_the_end_and_keeps_nobody_from_coming_back():
    cases = [*(f"a.{number}" for number in range(19)), "a.tail"]
    (one,) = recorded.read(session("p", "python", {}, blocks=100, cases=cases, noise=0.006))
    slower = {("python", "a.tail"): 0.2}
    blocks = [resample._slower(block, "python", slower) for block in one.numbers(0, 100)]
    timed, _ = timed_to_the_end(blocks)
    numbers = {case.name: len(timed.bench.got.paired("wall", case.name)) for case in timed.cases}
    # The first look has called it slower, and the others go on beside it.
    assert timed.looks.said["a.tail"] == "regressed"
    assert numbers["a.tail"] == max(numbers.values()) > 15
    assert sorted(numbers.values())[-2] > 9


def test_a_case_that_begins_to_fail_keeps_nobody_from_coming_back():
    cases = [f"a.{number}" for number in range(20)]
    (one,) = recorded.read(session("p", "python", {}, blocks=100, cases=cases, noise=0.006))
    blocks = [resample._slower(block, "python", {("python", "a.0"): 0.2})
              for block in one.numbers(0, 100)]  # fmt: skip
    for block in blocks[5:]:
        del block["right"]["a.0"]
    bench = resample.Played(blocks, 10.45, Settings(), [0.0])
    bench.got.failures["a.0"] = "it broke"
    timed = timing.Timed(bench, bench.cases)
    timing.run([timed], 1, 200.0, Teller(), quick=False, now=lambda: bench.time[0])
    assert max(len(bench.got.paired("wall", name)) for name in cases) > 9


def test_cases_come_back_only_where_a_whole_block_still_fits():
    cases = [f"a.{number}" for number in range(20)]
    for seed in range(20):
        (one,) = recorded.read(
            session("p", "python", {}, blocks=200, cases=cases, noise=0.02, seed=seed)
        )
        _, end = timed_to_the_end(one.numbers(0, 200))
        assert end <= 200.0


def test_one_implementation_is_paused_for_the_other():
    still, slower = (
        recorded.read(session("p", impl, {}, ratio, blocks=100, noise=0.004))[0].numbers(0, 100)
        for impl, ratio in (("python", 1.0), ("cython", 1.0125))
    )
    both = {"python": (still, 5.45), "cython": (slower, 5.45)}
    _, used = resample.gate(both, Settings(), 250.0)
    # What is slower by hardly more than the limit stays undecided to the end.
    assert used["python"] == 11
    assert used["cython"] > 250 / 10.9


def test_a_part_that_was_added_is_found_by_its_size(tell):
    cases = [f"a.{number}" for number in range(40)]
    sessions = aa_sessions(blocks=120, cases=cases, noise=0.004)
    rows = list(
        resample.added(sessions, Settings(), Clock(None, tell), gates=6, seconds=300, seed=1)
    )
    assert len(rows) == 24
    found = summary.detection(rows)
    assert {size: about["n"] for size, about in found.items()} == {
        "0.02": 6, "0.03": 6, "0.05": 6, "0.1": 6,
    }  # fmt: skip
    assert found["0.05"]["k"] == found["0.1"]["k"] == 6


def test_a_slowed_build_stands_in_a_gate_of_all_benchmarks(tell):
    sites = [{"site": "s", "target": "a.x", "size": 0.2, "sizes": {"python": 0.21}}]
    about = {"kind": "slowed", "content": "c", "sites": sites}
    slow = recorded.read(session("s", "python", about, 1.2, blocks=60, cases=["a.x"], noise=0.003))
    rows = list(resample.slowed(
        slow, Settings(), Clock(None, tell), seconds=200.0, beside=aa_sessions(blocks=80)
    ))  # fmt: skip
    assert [row["start"] for row in rows] == [0, 30]
    assert {(row["kind"], row["verdict"], row["blocks"]) for row in rows} == {
        ("slowed in a gate", "regressed", 30)
    }  # fmt: skip


@pytest.mark.parametrize(("ratio", "verdict"), [(1.2, "regressed"), (1.0, "equivalent")])
def test_a_recorded_slow_down_is_found_and_none_is_not(tell, ratio, verdict):
    sites = [{"site": "s", "target": "a.x", "size": 0.2, "sizes": {"python": 0.21}}]
    about = {"kind": "slowed", "content": "c", "sites": sites}
    sessions = recorded.read(session("p", "python", about, ratio, blocks=120, noise=0.003))
    found = list(resample.slowed(sessions, Settings(), Clock(None, tell), seconds=60.0))
    # Both halves, each decided by the look at half of the time.
    assert [row["start"] for row in found] == [0, 60]
    assert {row["verdict"] for row in found} == {verdict}
    assert {row["blocks"] for row in found} == {15}
    assert found[0]["achieved"] == pytest.approx(ratio - 1, abs=0.01)


def test_how_slow_a_build_is_is_not_asked_of_the_blocks_that_were_judged(tell):
    sites = [{"site": "s", "target": "a.x", "size": 0.2, "sizes": {"python": 0.21}}]
    about = {"kind": "slowed", "content": "c", "sites": sites}
    (one,) = recorded.read(session("p", "python", about, 1.2, blocks=60, noise=0.003))
    (other,) = recorded.read(session("p", "python", about, 1.0, blocks=60, noise=0.003))
    both = recorded.Recording("p", "python", about, one.blocks[:30] + other.blocks[:30])
    found = list(resample.slowed([both], Settings(), Clock(None, tell), seconds=120.0))
    assert [row["verdict"] for row in found] == ["regressed", "equivalent"]
    assert [row["achieved"] for row in found] == pytest.approx([0.0, 0.2], abs=0.01)
    both = list(resample.slowed([both], Settings(), Clock(None, tell), seconds=1e6))
    assert [row["blocks"] for row in both] == [30, 30]


def test_builds_that_did_not_come_out_as_slow_are_counted_apart():
    rows = [
        answer(0.02, "regressed") | {"achieved": 0.019},
        answer(0.02, "undecided") | {"achieved": 0.001},
    ]
    found = summary.detection(rows)["0.02"]
    assert (found["k"], found["n"]) == (1, 2)
    assert (found["reached"]["k"], found["reached"]["n"]) == (1, 1)


def test_the_worth_of_an_instruction_is_time_over_instructions():
    about = {"kind": "trial", "targets": {"s": ["a.x", "a.y"]},
             "instructions": {"a.x": 0.20, "a.y": 0.001}}  # fmt: skip
    sessions = recorded.read(session("t", "python", about, ratio=1.1, noise=1e-4))
    found = walls.worths(sessions)
    assert found == {("s", "a.x"): pytest.approx(0.5, rel=0.01)}


def gate(kind, number, said=(), code=0):
    return STAMP | {
        "kind": kind, "number": number, "said": list(said), "seconds": 100.0,
        "verdict": {"exit": code}, "cases": 2,
        "meters": {"instructions": {"equivalent": 2, "identical": 2}, "wall": {"undecided": 2}},
    }  # fmt: skip


def alarm(meter):
    return {"name": "a.x", "impl": "python", "meter": meter, "verdict": "regressed", "ratio": 1.02}


def answer(size, verdict, impl="python", ratio=None):
    return {"site": "s", "target": "a.x", "impl": impl, "size": size, "verdict": verdict,
            "ratio": ratio or 1 + size, "low": 1, "high": 2, "predicted": size}  # fmt: skip


RESAMPLED = {
    "kind": "aa", "alarms": [], "tests": 4, "undecided": 3, "blocks": {"python": [50, 10]},
}  # fmt: skip
SLOWED = answer(0.05, "undecided") | {"achieved": 0.049, "case": "undecided", "blocks": 10}
FILES = {
    "gates": [gate("same", 0), gate("same", 1), gate("neutral", 0, [alarm("wall")], 1)],
    "injected": [STAMP | {"number": 0, "found": [
        answer(0.005, "regressed"), answer(0.005, "undecided", "cython", 1.004),
        answer(0.05, "regressed"),
    ]}],
    "resampled": [
        *[STAMP | RESAMPLED | {"blocks": {"python": [start, 10]}} for start in range(50)],
        STAMP | RESAMPLED | {"alarms": [["python", "a.x", "improved", 0.9]]},
        STAMP | SLOWED | {"kind": "slowed", "verdict": "regressed"},
        STAMP | SLOWED | {"kind": "slowed in a gate"},
        STAMP | SLOWED | {"kind": "added", "site": "added"},
    ],
    "others": [
        STAMP | {"tool": "bare", "kind": kind, "number": 0, "base": "b", "seconds": 10.0, "rows": [
            {"target": "a.x", "impl": "python", "size": size, "left": 1000, "right": right},
        ]}
        for kind, size, right in (("injected", 0.05, 1050), ("same", 0.0, 1000),
                                  ("neutral", 0.0, 980))
    ],
}  # fmt: skip


@pytest.fixture
def reports(tmp_path):
    for name, rows in FILES.items():
        Kept(tmp_path / error_rates.FOLDER / f"{name}.jsonl.gz").replace(rows)
    report.write(tmp_path, "rules", Settings())
    return tmp_path


def test_the_gate_reads_both_kinds_of_error(reports):
    known = error_rates.load(reports)
    assert (known["false_alarm"]["k"], known["false_alarm"]["n"]) == (1, 3)
    assert "wall time resampled: 1 of 6 " in known["false_alarm"]["from"]
    assert known["detection"]["instructions"]["0.005"]["rate"] == 0.5
    assert known["detection"]["instructions"]["0.05"]["k"] == 1
    # Of wall time what resampled gates found, until real ones were asked.
    assert known["detection"]["wall"]["0.05"]["rate"] == 0.0
    file = Kept(reports / error_rates.FOLDER / "injected.jsonl.gz")
    by_clock = answer(0.05, "regressed") | {"meter": "wall", "case": "regressed"}
    newer = STAMP | {"policy": "other rules", "at": "2026-11-27T00:00:00+00:00", "number": 1}
    file.replace([*file.rows(), newer | {"found": [by_clock]}])
    report.write(reports, "rules", Settings())
    known = error_rates.load(reports)
    assert known["detection"]["wall"]["0.05"]["rate"] == 1.0
    assert known["detection"]["instructions"]["0.005"]["n"] == 2  # by rules of their own
    assert known["conditions"]["machines"] == [{"cpu": "a processor"}]


def test_what_was_simulated_is_told_apart(reports):
    text = (reports / "calibration" / "calibration.md").read_text()
    simulated = text.split("## Slow-downs found: wall time, simulated")[1].partition("\n## ")[0]
    assert "has its right" in simulated
    assert "| 5 % | 0 of 1 (0.0 to 97.5 %) |" in simulated


def test_each_meter_that_was_asked_answers_for_work_that_was_added():
    judged = dict.fromkeys(("left", "right", "low", "high", "limit", "detectable"), 1.0)
    row = {
        "name": "a.x", "impl": "python", "verdict": "regressed", "why": "",
        "meters": {"instructions": judged | {"verdict": "regressed", "ratio": 1.05},
                   "wall": judged | {"verdict": "undecided", "ratio": 1.03}},
    }  # fmt: skip
    slowed = inject.Slowed("s", "a.x", "python", 0.05, {}, 0.5, {"python": 0.05, "cython": 0.9})
    both = inject.answers({"cases": [row]}, [slowed], ("wall", "instructions", "bytes"))
    assert [(each["meter"], each["verdict"]) for each in both] == [
        ("instructions", "regressed"), ("wall", "undecided"),
    ]  # fmt: skip
    (alone,) = inject.answers({"cases": [row]}, [slowed], ("wall",))
    assert (alone["meter"], alone["ratio"], alone["case"]) == ("wall", 1.03, "regressed")
    (absent,) = inject.answers({"cases": []}, [slowed], ("wall",))
    assert (absent["verdict"], absent["why"]) == ("not measured", "absent")
    kept = [STAMP | {"number": 0, "found": [*both, answer(0.05, "regressed")]}]
    # Rows of before name no meter: they are of instructions.
    assert len(summary.answers(kept, "instructions")) == 2
    assert [each["achieved"] for each in summary.answers(kept, "wall")] == [pytest.approx(0.03)]


def test_nothing_calibrated_is_nothing_known(tmp_path):
    assert error_rates.load(tmp_path) is None
    report.write(tmp_path, "rules", Settings())
    assert error_rates.load(tmp_path) is None
    assert "Nothing has been measured yet" in (tmp_path / "calibration/calibration.md").read_text()


def test_the_report_names_every_one_that_was_wrong(reports):
    text = (reports / "calibration" / "calibration.md").read_text()
    assert "instructions, 0.5 %: a.x [cython], s: undecided, seen +0.40 %" in text
    assert (
        "wall, resampled, 5 %: a.x [python], s: undecided, seen +5.00 %, in other minutes +4.90 %"
    ) in text
    assert "false alarm, neutral gate 0: a.x [python] wall regressed, +2.00 %" in text
    assert "4 of 4 instructions identical, 0 alarms" in text


def test_what_would_mislead_most_is_named_first():
    said = ("undecided", "regressed", "equivalent", "improved", "undecided")
    rows = [answer(0.02, verdict) | {"achieved": 0.02} for verdict in said]
    missed = summary.detection(rows)["0.02"]["missed"]
    assert [each["verdict"] for each in missed] == [
        "improved", "equivalent", "undecided", "undecided",
    ]  # fmt: skip


def test_other_tools_stand_in_the_same_table(reports):
    found = json.loads((reports / "calibration" / "summary.json").read_text())
    row, strict = found["others"]
    assert [(each["tool"], each["rule"]) for each in (row, strict)] == [
        ("bare", "1 %"), ("bare", "0.3 %"),
    ]  # fmt: skip
    assert (row["false_alarms"]["k"], row["false_alarms"]["n"]) == (1, 2)
    assert row["detection"]["0.05"]["k"] == 1
    text = (reports / "calibration" / "calibration.md").read_text()
    assert "| bare instruction count | 1 % | 1 of 2 (1.3 to 98.7 %) |" in text
    assert "| **`benchproof gate`** | instructions |" in text


def test_gates_that_share_blocks_are_one_trial_and_undecided_is_told(reports):
    text = (reports / "calibration" / "calibration.md").read_text()
    assert "| 1 of 51; of disjoint runs of blocks 1 of 6 (0.4 to 64.1 %) | - | - | - |" in text
    decided = text.split("Tests that were decided")[1]
    assert "| real gates, the same wheel | 4 of 4 | 0 of 4 |" in decided
    assert "| resampled from recorded processes | - | 51 of 204 |" in decided


def test_gates_of_one_occasion_are_a_single_trial_beside_the_others():
    def at(hour, machine="a processor"):
        return {"at": f"2026-11-20T{hour}:00+00:00", "machine": {"cpu": machine}, "seconds": 3600}

    rows = [at("15:00"), at("10:00"), at("12:30"), at("18:30"), at("18:40", "another")]
    found = summary.occasions(rows)
    # From 12:30 to the start at 14:00, and from 15:00 to 17:30, lie less and more than two hours.
    assert [[row["at"][11:16] for row in each] for each in found] == [
        ["10:00", "12:30", "15:00"], ["18:30"], ["18:40"],
    ]  # fmt: skip


def test_an_occasion_with_an_alarm_counts_once(reports):
    found = json.loads((reports / "calibration" / "summary.json").read_text())["gates"]
    assert (found["same"]["occasions"]["k"], found["same"]["occasions"]["n"]) == (0, 1)
    assert (found["neutral"]["occasions"]["k"], found["neutral"]["occasions"]["n"]) == (1, 1)


def test_rows_of_earlier_rules_are_kept_and_not_counted():
    rows = [
        {"policy": "older", "at": "2026-11-20"}, {"policy": "old", "at": "2026-11-22"},
        {"policy": "old", "at": "2026-11-21"},
    ]  # fmt: skip
    assert summary.of_one_policy(rows, "new") == rows[1:]
    assert summary.of_one_policy(rows, "older") == rows[:1]
    assert summary.of_one_policy([], "new") == []


def test_stalls_are_told_by_the_case_and_by_kind():
    rows = [
        answer(0.05, verdict) | {"case": case, "stall": stall, "achieved": 0.05}
        for verdict, case, stall in (
            ("regressed", "regressed", "misses"), ("regressed", "equivalent", "misses"),
            ("undecided", "equivalent", "kernel"),
        )
    ]  # fmt: skip
    found = summary.of_stalls(rows)["0.05"]
    assert (found["k"], found["n"], found["case"]["k"]) == (2, 3, 1)
    assert {kind: (rate["k"], rate["n"]) for kind, rate in found["by_stall"].items()} == {
        "kernel": (0, 1), "misses": (1, 2),
    }  # fmt: skip


def test_wall_time_is_told_in_the_size_of_a_gate_and_of_one_suite(reports):
    text = (reports / "calibration" / "calibration.md").read_text()
    gate, suite = text.split("resampled in a gate of all suites")[1].split("one suite alone")
    assert "| 5 % | 0 of 1 (0.0 to 97.5 %) | 0 of 1 (0.0 to 97.5 %) | 10 |" in gate
    assert "| 5 % | 1 of 1 (2.5 to 100.0 %) | 0 of 1 (0.0 to 97.5 %) | 10 |" in suite


def test_rates_of_other_rules_say_so(reports):
    report.write(reports, "newer rules", Settings())
    text = (reports / "calibration" / "calibration.md").read_text()
    assert "measured under other rules" in text


def test_the_picture_is_the_same_file_for_the_same_rates(reports):
    found = json.loads((reports / "calibration" / "summary.json").read_text())
    first, second = picture.draw(found), picture.draw(found)
    assert first == second
    assert "gate: instructions" in first or "<svg" in first


def test_tables_have_as_many_cells_as_heads(reports):
    found = json.loads((reports / "calibration" / "summary.json").read_text())
    for block in words.markdown(found, "x.svg").split("\n\n"):
        rows = [line for line in block.splitlines() if line.startswith("|")]
        assert len({row.count("|") for row in rows}) <= 1, block


@pytest.mark.parametrize(
    ("right", "said"),
    [
        (1011, ["regressed", "regressed"]),
        (1009, ["equivalent", "regressed"]),
        (980, ["improved", "improved"]),
    ],
)
def test_a_bare_count_is_told_at_its_own_limit_and_at_the_gate_s(right, said):
    assert list(bare.says({"left": 1000, "right": right}).values()) == said


def test_each_rule_of_a_tool_gives_its_own_verdicts():
    row = {"tool": "asv", "kind": "same", "number": 0, "base": "b", "rows": [
        {"target": "a.x", "impl": "python", "size": 0.0,
         "said": {"1.1": "equivalent", "1.01": "regressed"}},
    ]}  # fmt: skip
    said = {each["rule"]: each["verdict"] for each in others.verdicts([row])}
    assert said == {"factor 1.1": "equivalent", "factor 1.01": "regressed"}


def test_other_tools_get_all_kinds_of_commits_in_turns(place, tell, tmp_path, monkeypatch):
    asked = []

    def measure(scene, pair, names):
        asked.append((pair, names))
        assert scene.clone.checkout.commit(pair[1])
        return [{"target": name, "impl": pair[2], "left": 100, "right": 102} for name in names]

    monkeypatch.setattr(bare, "measure", measure)
    site = Site("spin", "spin", "driver/work.py", "spin", (("toy.time_spin", 1),), ("python",))

    def calibrate(runs):
        asking = command.Asked(
            tmp_path, runs=runs, tools=("bare",), impls=("python",), sites=(site,)
        )  # fmt: skip
        calibration = command.Calibration(asking, place, tell)
        found = [{"impl": "python", "target": "toy.time_spin", "size": 0.02}]
        row = {"base": calibration.clone.base, "commit": calibration.clone.base, "found": found}
        if not calibration.kept("injected").rows():
            calibration.kept("injected").add(row)
        calibration.others()
        return calibration.kept("others").rows()

    rows = calibrate(1)
    assert [row["kind"] for row in rows] == ["injected", "same", "neutral"]
    assert [row["rows"][0]["size"] for row in rows] == [0.02, 0.0, 0.0]
    commits = [row["commit"] for row in rows]
    assert len(set(commits)) == 3
    assert [row["kind"] for row in calibrate(2)[3:]] == ["same", "neutral"]
    assert len(asked) == 5


def test_summaries_need_no_files(tmp_path):
    read = summary.reader(tmp_path)
    assert summary.summarise(read, "rules", Settings())["rates"] is None


@pytest.mark.parametrize("script", ["calibrate", "claims"])
def test_a_script_finds_what_it_takes_from_the_tool(script):
    file = Path(__file__).resolve().parents[2] / "scripts" / script
    command = [sys.executable, file, "--help"]
    answer = subprocess.run(command, check=False, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    assert "Exit status: 0" in answer.stdout


def test_rules_are_named_after_what_they_do_and_not_after_what_is_said_of_them(tmp_path):
    from calibration import gates

    def rules(text):
        for name in gates.DECIDES:
            if "." in name:
                (tmp_path / name).write_text("")
            else:
                (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / gates.DECIDES[0]).write_text(text)
        return gates.policy(tmp_path)

    plain = rules("def limit():\n    return 0.003\n")
    said = '"""Words."""\n\n\ndef limit():\n    """More."""\n    # Why.\n    return 0.003  # of 1\n'
    assert rules(said) == plain
    assert rules(said.replace("3  #", "4  #")) != plain
    assert rules("def limit():\n    return 0.003\n\n\nprint('a')\n") != plain
