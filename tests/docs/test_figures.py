"""The figures of README and of the page on calibration are those of the data that is kept."""

import gzip
import io
import json
import math
import re
import shutil
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path

import calibration.report
import numpy as np
import pytest
from against import report
from against.board import told
from calibration import rates, recorded, resample, summary
from calibration.clock import Clock
from calibration.gates import ALARMS
from calibration.kept import Kept
from ledger import judge as ledger_judge
from ledger import markdown, reader, store
from pull_requests import page, table
from rich.console import Console
from scipy.special import stdtr
from scipy.stats import gmean, wilcoxon

from benchproof import judge, noise, records, stats, verdict
from benchproof import table as terminal
from benchproof.analysers import modes
from benchproof.gate.report.words import by_suite
from benchproof.progress import Teller
from benchproof.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CALIBRATION = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")
RESULTS = ROOT / "reports" / "results"
LEDGER = reader.read(ROOT / "claims.toml")
STATISTICS = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
MEASURING = (ROOT / "docs" / "measuring.md").read_text(encoding="utf-8")
WALL_TIME = (ROOT / "docs" / "wall-time.md").read_text(encoding="utf-8")
DETAILS = (ROOT / "docs" / "calibration-details.md").read_text(encoding="utf-8")
GATE = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
RATES = json.loads((ROOT / "reports/calibration/summary.json").read_text(encoding="utf-8"))
#: Sides of the comparison with other drivers.
OURS, PEERS = "cqlpath, Cython", ("scylla-driver 3.29.12", "cassandra-driver 3.30.1")


def unpacked(file):
    """What a compressed document holds."""
    return json.loads(gzip.decompress(file.read_bytes()))


def cells(line):
    """The cells of a row of a table, without marks of bold type and code."""
    return [cell.strip(" *`") for cell in line.strip().strip("|").split("|")]


def rows(text, head):
    """The rows of the first table whose first line begins like this, by their first cell."""
    table = text[text.index(f"| {head}") :].split("\n\n")[0].splitlines()[2:]
    return {cells(line)[0]: cells(line)[1:] for line in table}


def of(about):
    """A rate, as it is written."""
    return f"{about['k']} of {about['n']}"


def rounded(number, like):
    """A number with as many digits as a text."""
    return f"{number:.{len(like.partition('.')[2])}f}"


def slowed_gates(name, meter):
    """Whole gates of commits that were slowed down, which answer for a meter."""
    gates = Kept(ROOT / "reports" / name).rows()
    return [gate for gate in gates if summary.answers([gate], meter)]


def neutral_gates():
    """Whole gates of neutral commits, by wall time."""
    return unpacked(RESULTS / "2026-11-27" / "neutral.json.gz")["rows"]


def test_the_rates_that_readme_shows():
    instructions, wall = RATES["detection"].values()
    alarms = [each["alarms"]["exact meters"] for each in RATES["gates"].values()]
    sizes = ["0.005", "0.01", "0.02", "0.05", "0.1"]
    assert not any(each["k"] for each in alarms)
    older = "" if RATES["rules"]["instructions"] == [RATES["policy"]] else ", older rules"
    assert rows(README, "gates of this driver") == {
        f"by instructions{older}": [
            *(of(instructions[size]) if size in instructions else "-" for size in sizes),
            f"0 of {sum(each['n'] for each in alarms)}",
        ],
        "by wall time alone": [
            *(of(wall[size]) if size in wall else "-" for size in sizes),
            f"0 of {len(neutral_gates())}",
        ],
    }  # fmt: skip


def test_the_report_on_calibration_is_what_the_kept_rows_say(tmp_path):
    # By the rules of its day. Its day, and the settings of a commit, are not asked for.
    kept, folder = ROOT / "reports/calibration", tmp_path / "calibration"
    shutil.copytree(kept, folder, ignore=shutil.ignore_patterns("summary.json", "*.md", "*.svg"))
    calibration.report.write(tmp_path, RATES["policy"], Settings())
    found = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert {**found, "created": "", "settings": {}} == {**RATES, "created": "", "settings": {}}
    again, told = ((each / "calibration.md").read_text("utf-8") for each in (folder, kept))
    assert again == told


def test_rates_of_different_rules_have_rows_of_their_own():
    text = (ROOT / "reports/calibration/calibration.md").read_text(encoding="utf-8")
    lines = [cells(line) for line in text.splitlines() if line.startswith("| **`benchproof gate`")]
    of_rules = {(meter, rules): said for _, meter, *said, _, rules in lines}
    assert len(of_rules) == len(lines) == 4
    instructions, *_ = RATES["rules"]["instructions"]
    assert of_rules["instructions", instructions][1].startswith("0 of 40")
    real, again, slowed = (
        of_rules["wall", *RATES["rules"][part]] for part in ("gates", "resampled", "wall")
    )
    assert {*real[2:], *again[2:]} == {"-"} == {*slowed[:2]}
    assert slowed[-1].startswith(of(RATES["detection"]["wall"]["0.05"]))


def test_what_gates_find_by_instructions():
    found, gates = RATES["detection"]["instructions"], RATES["gates"].values()
    head, _, row = CALIBRATION[CALIBRATION.index("| slow-downs of 0.5 % |") :].splitlines()[:3]
    assert [float(re.search(r"[\d.]+", cell)[0]) / 100 for cell in cells(head)[:-1]] == [
        float(size) for size in found
    ]
    number = sum(each["alarms"]["exact meters"]["n"] for each in gates)
    assert cells(row) == [*map(of, found.values()), f"0 of {number}"]
    words = " ".join(CALIBRATION.split())
    for part, said in (
        ("instructions", "All by the rules {}"),
        ("wall", "rules of 27 November (`{}`)"),
    ):
        assert (
            said.format(*(f"`{each}`" for each in RATES["rules"][part])).replace("``", "`") in words
        )


def test_what_whole_gates_find_by_wall_time():
    gates = slowed_gates("calibration/injected.jsonl.gz", "wall")
    wall = RATES["detection"]["wall"]
    said = rows(CALIBRATION, "added, in instructions")
    assert said == {
        f"{float(size) * 100:g} %": [
            of(about), *(of(about["by_impl"][impl]) for impl in ("cython", "python")),
            *(f"{about['achieved'][key] * 100:.1f} %" for key in ("median", "low", "high")),
        ]
        for size, about in wall.items()
    }  # fmt: skip
    answers = summary.answers(gates, "wall")
    verdicts = [row["verdict"] for row in answers]
    assert set(verdicts) == {"regressed", "undecided", "improved"}
    assert {row["target"] for row in answers if row["verdict"] == "improved"} == {
        "routing_key.time_pack_parts_composite_of_three"
    }
    words = " ".join(CALIBRATION.split())
    few, many = (
        [row["verdict"] for row in answers if low <= row["achieved"] < high]
        for low, high in ((0.02, 0.04), (0.04, math.inf))
    )
    found = ["{} of {}".format(each.count("regressed"), len(each)) for each in (few, many)]
    assert f"in their own gate {found[0]} were found, of those of 4 % and more {found[1]}" in words
    assert f"was found in {found[1]} cases" in " ".join(README.split())
    counts = [gate["meters"]["wall"] for gate in gates]
    assert sum(each.get("improved", 0) for each in counts) == verdicts.count("improved") == 2
    slower = [each["regressed"] for each in counts]
    assert (
        f"{len(gates)} gates, each of another commit that slows a dozen functions down, so that "
        f"{min(slower)} to {max(slower)} of its 254 cases were called slower"
    ) in words
    assert (
        f"none of {sum(sum(each.values()) for each in counts):,} tests was called faster" in words
    )
    left_out = [row["verdict"] for gate in gates for row in gate["never_ran"]]
    assert f"{len(left_out)} answers are left out" in words
    assert "regressed" not in left_out


def test_small_slow_downs_by_instructions():
    gates = slowed_gates("results/2026-11-27/small.jsonl.gz", "instructions")
    found = summary.detection(summary.answers(gates, "instructions"))
    told = [f"{of(about)} of {float(size) * 100:g} %" for size, about in found.items()]
    cases = " and ".join(str(gate["cases"]) for gate in gates)
    words = " ".join(CALIBRATION.split())
    assert f"found {', '.join(told)}, in {len(gates)} gates of {cases} cases" in words


def test_what_is_said_of_the_older_rules():
    told = rows(DETAILS, "| by instr")
    for size in ("0.005", "0.02", "0.05"):
        instructions = RATES["detection"]["instructions"][size]
        wall = RATES["resampled_wall"].get(size)
        alone = RATES["wall_of_one_suite"].get(size)
        said = next(
            v for k, v in told.items()
            if k.split(" found")[0].endswith(f"of {float(size) * 100:g} %")
        )  # fmt: skip
        assert said[0] == of(instructions)
        assert [cell.split(";")[0] for cell in said[1:]] == (
            [of(wall), of(alone)] if wall else ["", ""]
        )
    assert told["of 5 %, if no exact meter saw it"] == [
        "", *(of(RATES[key]["0.05"]["case"]) for key in ("resampled_wall", "wall_of_one_suite")),
    ]  # fmt: skip


def test_false_alarms_and_how_much_was_decided():
    gates = RATES["gates"].values()
    alarms = [each["alarms"]["wall time"] for each in gates]
    number = sum(each["n"] for each in alarms)
    wall = [each["decided"]["wall"] for each in gates]
    decided, tests = (sum(each[key] for each in wall) for key in ("decided", "tests"))
    assert not any(each["k"] for each in alarms)
    assert f"0 of {number}, where {decided} of {tests:,} tests were decided" in DETAILS
    assert f"{decided} of {tests:,} tests of wall time were decided" in " ".join(
        CALIBRATION.split()
    )
    again = RATES["resampled"]
    assert f"{again['alarmed']} of {again['gates']}, which are {again['n']} runs" in DETAILS
    assert f"{again['tests'] - again['undecided']:,} of {again['tests']:,} tests" in DETAILS


def test_counts_of_equal_code():
    gates = Kept(ROOT / "reports/calibration/gates.jsonl.gz").rows()
    same, neutral = (
        summary.same_wheel([gate for gate in gates if gate["kind"] == kind])["meters"]
        for kind in ("same", "neutral")
    )
    meters = (ROOT / "docs" / "meters.md").read_text(encoding="utf-8")
    assert rows(meters, "| the same wheel") == {
        meter: [f"{each[meter]['identical']:,} of {each[meter]['tests']:,}"
                for each in (same, neutral)]
        for meter in ("instructions", "allocations", "bytes")
    }  # fmt: skip
    assert not any(about["alarms"] for each in (same, neutral) for about in each.values())


def percent(part):
    """A part as pages write it."""
    return f"{part:.1%}".replace("%", " %")


def half_width(tests):
    """The median half-width of some intervals."""
    return percent(statistics.median(math.sqrt(row["high"] / row["low"]) - 1 for row in tests))


def of_equal_code(tests):
    """Of tests whose sides are equal: those that changed, intervals without 1, and distances."""
    changed = [row for row in tests if row["verdict"] in {"regressed", "improved"}]
    out = sum(not row["low"] <= 1 <= row["high"] for row in tests)
    away = [abs(row["ratio"] - 1) for row in tests]
    number = f" of {len(tests)}"
    texts = (
        f"{len(changed)}{number}",
        f"{out}{number}",
        *map(percent, (statistics.median(away), max(away))),
    )
    return changed, texts


def test_what_the_place_of_a_file_did_to_wall_time():
    tests = unpacked(RESULTS / "2026-11-26" / "placement.json.gz")["rows"]
    for pages, words in (("kept", "kept where they were"), ("renewed", "renewed")):
        changed, texts = of_equal_code([row for row in tests if row["pages"] == pages])
        said = rows(WALL_TIME, "pages")[words]
        assert said[0].startswith(texts[0])
        assert said[1:] == [*texts[1:]]
        assert all(1.2 < row["ratio"] < 1.25 and row["run"] == 1 for row in changed)


TURNS = unpacked(RESULTS / "2026-11-27" / "turns.json.gz")


def test_what_taking_turns_did_to_wall_time():
    table = rows(WALL_TIME, "the processes of a block")
    for how, beginning in (("apart", "one after the other"), ("turns", "in turns")):
        (said,) = (cells for name, cells in table.items() if name.startswith(beginning))
        chosen = [row for row in TURNS["rows"] if row["how"] == how]
        _, (changed, out, away, largest) = of_equal_code(chosen)
        seen = sum(row["detectable"] <= 1.05 for row in chosen)
        found = f"of {seen} of {len(chosen)}"
        assert said == [changed, out, half_width(chosen), away, largest, found]
        assert f"{half_width(chosen)} {beginning}" in " ".join(MEASURING.split())


VALUES = unpacked(RESULTS / "2026-11-27" / "values.json.gz")


def test_what_more_values_of_a_process_did_to_wall_time():
    table, blocks = rows(WALL_TIME, "values of a process"), set()
    for values, said in table.items():
        chosen = [row for row in VALUES["rows"] if row["values"] == int(values.split(",")[0])]
        _, (changed, out, away, largest) = of_equal_code(chosen)
        halves = [half_width([row for row in chosen if row["run"] == run]) for run in (1, 2)]
        seen = [
            f"of {sum(row['detectable'] <= least for row in chosen)} of {len(chosen)}"
            for least in (1.05, 1.1)
        ]
        assert said == [changed, out, *halves, away, largest, *seen]
        blocks.add(statistics.median(len(row["left"]) for row in chosen))
    assert blocks == {8, 9}


def test_what_neutral_gates_said_by_wall_time():
    gates = neutral_gates()
    said = [gate["meters"]["wall"] for gate in gates]
    assert {key for each in said for key in each} == {"undecided", "equivalent"}
    least = [each for gate in gates for each in gate["detectable"]["wall"]]
    seen = [f"{sum(each <= ratio for each in least):,}" for ratio in (1.05, 1.1, 1.02)]
    words = (
        f"no alarm in {len(least):,} tests, {sum(each['equivalent'] for each in said)} of them "
        f"equivalent, where they would more likely than not have found 5 % in {seen[0]}, "
        f"10 % in {seen[1]} and 2 % in {seen[2]}"
    )
    assert words in " ".join(CALIBRATION.split())
    left = sum(each["undecided"] for each in said)
    assert f"left {left} of {len(least)} tests undecided" in " ".join(README.split())
    assert f"by the rules `{gates[0]['policy']}`" in " ".join(CALIBRATION.split())


def said_of_29_november(kind):
    """Whole gates of one kind, none of which raised an alarm, and their tests by meter."""
    gates = unpacked(RESULTS / "2026-11-29" / f"{kind}.json.gz")["rows"]
    assert {gate["kind"] for gate in gates} == {kind}
    assert not any(gate["verdict"]["exit"] for gate in gates)
    assert not any(each["verdict"] in ALARMS for gate in gates for each in gate["said"])
    said = {
        meter: sum((Counter(gate["meters"][meter]) for gate in gates), Counter())
        for meter in ("instructions", "allocations", "bytes", "wall")
    }
    for each in said.values():
        del each["identical"]
        assert set(each) <= {"equivalent", "undecided"}
    return sorted(gates, key=lambda gate: gate["load"]), said


def test_what_whole_gates_of_neutral_commits_said():
    gates, said = said_of_29_november("neutral")
    memory, wall = said["allocations"] + said["bytes"], said["wall"]
    words = " ".join(CALIBRATION.split())
    (rules,) = {gate["policy"] for gate in gates}
    loads = f"load {gates[0]['load']:.1f} to {gates[-1]['load']:.1f}"
    assert len(gates) == 5
    assert (
        f"Five whole gates of neutral commits, of 29 November, are by the rules of now (`{rules}"
        in words
    )
    assert f"(`{rules}`; {loads};" in words
    assert (
        f"such a commit, with one of {1 - 0.025 ** (1 / len(gates)):.0%}".replace("%", " %")
        in words
    )
    assert said["instructions"]["undecided"] == 1
    assert f"Of {said['instructions'].total():,} tests of instructions one was undecided" in words
    assert (
        f"of {memory.total():,} of allocations and bytes {memory['undecided']} were, and" in words
    )
    assert (
        f"{wall.total()} cases: {wall['equivalent']} were equivalent and {wall['undecided']} u"
        in words
    )


def test_what_whole_gates_of_a_commit_against_itself_said():
    gates, said = said_of_29_november("same")
    memory = said["allocations"] + said["bytes"]
    words = " ".join(CALIBRATION.split())
    assert {gate["policy"] for gate in gates} == {
        gate["policy"] for gate in said_of_29_november("neutral")[0]
    }
    assert set(said["instructions"]) == {"equivalent"}
    assert f"Of {said['instructions'].total()} tests of instructions all were equivalent" in words
    assert f"of {memory.total():,} of allocations and bytes {memory['undecided']} were und" in words
    quiet, busy = ((gate["load"], gate["meters"]["wall"]) for gate in gates)
    assert {sum(each.values()) for _, each in (quiet, busy)} == {252}
    assert (
        f"252 cases that were timed {quiet[1]['equivalent']} were equivalent at a load of "
        f"{quiet[0]:.1f}, and {busy[1]['equivalent']} at a load of {busy[0]:.1f}"
    ) in words


SIMULATED = unpacked(RESULTS / "2026-11-27" / "simulated.json.gz")["rows"]
SIZES = (0.02, 0.03, 0.05, 0.1)


def simulated(kind, rules, *budgets):
    """The rows of one kind of gates."""
    return [
        row for row in SIMULATED
        if (row["kind"], row["rules"]) == (kind, rules) and row["seconds"] in budgets
    ]  # fmt: skip


def recorded_blocks():
    """The sessions that the simulation was made from."""
    return recorded.read(Kept(RESULTS / "2026-11-27" / "blocks.jsonl.gz").rows())


def test_what_whole_gates_find_in_simulation():
    table = rows(STATISTICS, "budget, and whose")
    for head, said in table.items():
        seconds, rules = re.match(r"(\d+) s, (before|now)", head).groups()
        slower, same = (simulated(kind, rules, int(seconds)) for kind in ("added", "aa"))
        sizes = [[row["verdict"] for row in slower if row["size"] == size] for size in SIZES]
        assert {verdict for each in sizes for verdict in each} <= {"regressed", "undecided"}
        assert {row["tests"] for row in same} == {252}
        equal = 1 - sum(row["undecided"] for row in same) / (252 * len(same))
        assert said == [
            *(f"{each.count('regressed')} of {len(each)}" for each in sizes),
            f"{equal:.0%}".replace("%", " %"),
            f"{sum(bool(row['alarms']) for row in same)} of {len(same)}",
        ]
    assert len(table) == 4
    readme, changes = (
        " ".join(text.split())
        for text in (README, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    )
    said = table["300 s, now"]
    assert f"finds {said[0]} of 2 % and {said[2]} of 5 %" in readme
    half, before = (table[key][0] for key in ("150 s, now", "150 s, before"))
    assert f"2 % in {half} cases instead of {before.split()[0]}" in changes
    before = next(cells[4] for head, cells in table.items() if head.startswith("300 s, before"))
    assert f"calls {said[4]} of what did not change equivalent instead of {before}" in changes


def test_what_a_gate_fails_for_by_the_clock_alone():
    words = " ".join(STATISTICS.split())
    told = {}
    for seconds in (300, 150):
        rows = simulated("added", "now", seconds)
        told[seconds] = [
            (sum(row["low"] > 1 + verdict.ALONE for row in rows if row["size"] == size),
             sum(row["size"] == size for row in rows))
            for size in SIZES
        ]  # fmt: skip
    few, more = (["{} of {}".format(*each) for each in told[seconds]] for seconds in (150, 300))
    assert (
        f"in {more[0]} cases of 2 %, {more[1]} of 3 %, {more[2]} of 5 % and {more[3]} of 10 % in "
        f"300 s, and in {few[0]}, {few[1]}, {few[2]} and {few[3]} in 150 s"
    ) in words
    assert f"finds {more[2]} of 5 % and {more[3]} of 10 %" in " ".join(README.split())
    page = " ".join(CALIBRATION.split())
    assert f"failed for {more[2]} slow-downs of 5 % and for {more[3]} of 10 %" in page
    many = [
        blocks for row in simulated("aa", "now", 300) for _, blocks, _ in row["blocks"].values()
    ]
    assert (
        f"takes {min(many)} to {max(many)} of each implementation, {statistics.mean(many):.0f} in "
        "the mean"
    ) in words


def test_the_probabilities_of_what_is_slower_by_exactly_the_limit():
    now, before = (simulated("limit", rules, 300, 150) for rules in ("now", "before"))
    assert {row["verdict"] for row in (*now, *before)} <= {"undecided", "equivalent"}
    few, fewer = ([sum(row["p"] < p for row in each) for p in (0.05, 0.01)]
                  for each in (now, before))  # fmt: skip
    words = f"{few[0]} and {few[1]} of {len(now)} have, before it was {fewer[0]} and {fewer[1]}"
    assert words in " ".join(STATISTICS.split())
    assert len(before) == len(now)


def test_the_blocks_of_the_simulation_are_as_they_are_told():
    sessions = recorded_blocks()
    assert {len(each.blocks) for each in sessions} == {210}
    assert sum(len(each.cases) for each in sessions) == 252
    at = [block["at"] for each in sessions for block in each.blocks]
    assert max(at) - min(at) < 3600


def test_the_simulation_is_what_the_gate_does_now():
    # With a rule, a default or a seed that has changed a few of its gates come out otherwise.
    again = list(resample.added(
        recorded_blocks(), Settings(), Clock(None, Teller()), gates=2, seconds=Settings().budget,
        seed=1,
    ))  # fmt: skip
    kept = [row for row in simulated("added", "now", 300) if row["number"] < 2]
    keys = kept[0].keys() & again[0].keys()
    assert [{key: row[key] for key in keys} for row in again] == [
        {key: row[key] for key in keys} for row in kept
    ]


def test_the_speeds_of_a_shared_machine():
    table = rows(WALL_TIME, "half a minute on one core")
    for times, said in zip(TURNS["speeds"]["runs"], table.values(), strict=True):
        taken = np.array(times, float)
        fast = np.percentile(taken, 5)
        slow = taken > 1.4 * fast
        part = round(100 * taken[slow].sum() / taken.sum())
        scale, step = np.log(np.minimum(taken, 3 * fast)), taken.mean() / 1000
        alike = []
        for apart in (0.3, 1, 10, 100, 1000, 2000):
            lag = round(apart / step)
            alike.append(float(np.corrcoef(scale[:-lag], scale[lag:])[0, 1]))
        assert [cell.split()[0] for cell in said] == [
            str(part), f"{np.median(taken[slow]) / fast:.2f}", *(f"{each:.2f}" for each in alike),
        ]  # fmt: skip


#: Recordings of one build against itself, by the day: file, and what kind of blocks.
SAME_BUILD = {
    "22 November": "calibration/walls.jsonl.gz",
    "27 November": "results/2026-11-27/blocks.jsonl.gz",
}
LAST_LOOK = stats.spent(0.008, 1) - stats.spent(0.008, 0.75)


def logarithms(day):
    """By case, the blocks of one build against itself."""
    sessions = [
        each for each in recorded.read(Kept(ROOT / "reports" / SAME_BUILD[day]).rows())
        if each.about.get("kind", "aa") == "aa"
    ]  # fmt: skip
    return [
        np.log(np.divide(right, left))
        for each in sessions for left, right in each.samples(0, len(each.blocks)).values()
    ]  # fmt: skip


def found_by_trimming(blocks, part, level):
    """Of rows of blocks, the part whose trimmed mean lies beyond the limit."""
    number = blocks.shape[1]
    cut = int(part * number)
    logs = np.sort(blocks, axis=1)
    error = np.clip(logs, logs[:, [cut]], logs[:, [-1 - cut]]).std(axis=1, ddof=1)
    error *= math.sqrt(number) / (number - 2 * cut)
    away = (logs[:, cut : number - cut].mean(axis=1) - math.log(1.01)) / error
    p = 2 * np.maximum(stdtr(number - 2 * cut - 1, -away), stats.LEAST_DOUBT**number)
    return np.mean(p < level)


def part_of(number):
    """A part in whole per cents, as the table has it."""
    return f"{number:.0%}".replace("%", " %")


def test_the_spread_of_recorded_blocks():
    table = rows(STATISTICS, "recorded |")
    for name, said in table.items():
        cases = logarithms(name.partition(",")[0])
        lengths = sorted({len(each) for each in cases})
        middle, whole, neighbours = (
            statistics.median(each(x) for x in cases)
            for each in (
                lambda x: 1.4826 * float(np.median(abs(x - np.median(x)))),
                lambda x: float(x.std(ddof=1)),
                lambda x: float(np.corrcoef(x[:-1], x[1:])[0, 1]),
            )
        )
        assert said == [
            str(len(cases)), " to ".join(map(str, lengths)), percent(middle), percent(whole),
            f"{neighbours:.2f}",
        ]  # fmt: skip
    assert len(table) == len(SAME_BUILD)


def test_what_intervals_find_in_recorded_blocks():
    table = rows(STATISTICS, "interval, and blocks")
    random, level = np.random.default_rng(1), LAST_LOOK / 224
    trims = {"Student's t": 0.0, "mean trimmed by 20 %": 0.2, "mean trimmed by 10 %": 0.1}
    for day in SAME_BUILD:
        cases = logarithms(day)
        found = {f"{name}, {day}": [] for name in (*trims, "Wilcoxon's signed ranks")}
        for number in (20, 30, 40, 60, 100):
            blocks = np.array([
                x[start : start + number]
                for x in cases for start in range(0, len(x) - number + 1, number)
            ])  # fmt: skip
            blocks *= random.choice([-1, 1], blocks.shape)
            blocks += math.log(1.05)
            for name, part in trims.items():
                found[f"{name}, {day}"].append(found_by_trimming(blocks, part, level))
            method = "exact" if number <= 60 else "approx"
            p = wilcoxon(blocks - math.log(1.01), axis=1, method=method).pvalue
            found[f"Wilcoxon's signed ranks, {day}"].append(np.mean(p < level))
        for name, parts in found.items():
            assert table.pop(name) == [part_of(part) for part in parts], name
    assert not table


def test_the_level_of_a_single_test():
    words = " ".join(STATISTICS.split())
    assert f"levels of 1 / {round(2 * 224 / LAST_LOOK, -3):,.0f}" in words
    assert f"({LAST_LOOK * 100:.2f} %, the last look, divided by 224)" in words
    needed = next(n for n in range(1, 99) if 2 * stats.LEAST_DOUBT**n < LAST_LOOK / 224)
    assert needed == 9
    assert "224 tests needs nine blocks" in words


def test_how_many_that_are_slower_by_the_limit_are_called_equivalent():
    now, before = (simulated("limit", rules, 300, 150) for rules in ("now", "before"))
    equal = [sum(row["verdict"] == "equivalent" for row in each) for each in (now, before)]
    words = " ".join(STATISTICS.split())
    assert f"{equal[0]} of {len(now)} cases that were slower by exactly 1 %" in words
    assert f"under the rules before {equal[1]} of {len(before)}" in words
    assert f"{equal[0]} of {len(now)})" in MEASURING
    assert round(254 * equal[0] / len(now)) == 1


def test_the_layouts_that_strayed():
    meters = (ROOT / "docs" / "meters.md").read_text(encoding="utf-8")
    (_, *kept) = [
        cells(line) for line in meters.split("how it is counted")[1].splitlines()
        if line.endswith("|") and line.count("|") == 9 and "---" not in line
    ][:5]  # fmt: skip
    strayed = sum(int(row[6]) for row in kept)
    high = rates.rate(strayed, 112 * len(kept)).high
    assert f"{strayed} of {112 * len(kept)}" in meters
    assert math.ceil(high * 1e4) / 1e4 == noise.STRAY


@pytest.mark.parametrize("kind", ["normal", "exponential"])
def test_how_often_one_mode_is_taken_for_two(kind):
    random = np.random.default_rng(1)
    draws = 1 + 0.1 * getattr(random, f"standard_{kind}")((1000, 12))
    found = sum(modes([float(each) for each in row]) is not None for row in draws)
    assert re.search(rf"simulated runs with 12 processes .*\b{found} of {kind}\b", GATE)


def test_how_busy_the_machine_was():
    words = " ".join(CALIBRATION.split())
    details = " ".join(DETAILS.split())

    def load(rows):
        numbers = [row["load"] for row in rows if row.get("load") is not None]
        return f"{min(numbers):.1f} to {max(numbers):.1f}"

    folder = ROOT / "reports/calibration"
    gates, walls = (Kept(folder / f"{name}.jsonl.gz").rows() for name in ("gates", "walls"))
    slowed = slowed_gates("calibration/injected.jsonl.gz", "instructions")
    assert f"the targets alone; load {load(slowed)}" in words
    assert f"neutral commits; load {load(gates)}" in words
    assert f"load {load(gates)} at the ends of gates, {load(walls)} in recordings" in details


def test_the_gates_of_instructions():
    about = RATES["slowed"]["instructions"]
    said = f"{about['gates']} gates of {about['least']} to {about['most']} cases"
    for text in (README, CALIBRATION, DETAILS):
        assert said in " ".join(text.split())


def test_bounds_of_false_alarms_are_the_same_everywhere():
    neutral = len(neutral_gates())
    few, many = rates.rate(0, 40).high, rates.rate(0, neutral).high
    texts = [" ".join(text.split()) for text in (README, CALIBRATION)]
    for bound in (f"{few * 100:.1f} %", f"{many * 100:.0f} %"):
        assert all(bound in text for text in texts)


def test_slow_downs_that_were_called_equivalent():
    said = [RATES[key]["0.02"] for key in ("resampled_wall", "wall_of_one_suite")]
    wrong = sum(each["said"]["called equivalent"] for each in said)
    words = " ".join(CALIBRATION.split())
    assert f"{wrong} of {sum(each['n'] for each in said)} of 2 % were" in words
    assert not any(
        each["said"]["called equivalent"] for each in RATES["detection"]["wall"].values()
    )


def test_other_tools_in_the_same_campaign():
    found = {(row["tool"], row["rule"]): row for row in RATES["others"]}
    bare = found["bare", "0.3 %"]
    words = " ".join(CALIBRATION.split())
    assert f"found {of(bare['detection']['0.005'])} slow-downs of 0.5 %" in words
    assert f"{of(bare['detection']['0.01'])} of 1 %" in words
    assert f"called {of(bare['false_alarms'])} benchmarks changed" in words
    default, strict = found["asv", "factor 1.1"], found["asv", "factor 1.01"]
    assert f"called {of(default['false_alarms'])} benchmarks changed" in words
    assert f"found {of(default['detection']['0.05'])} slow-downs of 5 %" in words
    assert f"at 1.01 it called {strict['false_alarms']['k']}, and found" in words
    assert f"called {of(found['pyperf', 'significant']['false_alarms'])} changed" in words


def test_compiled_against_pure_python():
    (folder,) = re.findall(r"\[raw data\]\((reports/results/[\d-]+)\)", README)
    document = unpacked(ROOT / folder / "implementations.json.gz")
    cases = [row["meters"] | {"suite": row["name"].partition(".")[0]} for row in document["cases"]]
    told = rows(README, "compiled divided by pure Python")
    suites = {row["suite"] for row in cases} - {"import"}
    assert {name.partition("`")[0] for name in told} == {*suites, "all, geometric mean"}
    for name, said in told.items():
        chosen = [
            row for row in cases
            if row["suite"] in (suites if name.startswith("all") else {name.partition("`")[0]})
        ]  # fmt: skip
        timed = [row for row in chosen if "wall" in row]

        def mean(rows, meter):
            return gmean([row[meter]["ratio"] for row in rows if row[meter]["ratio"] > 0])

        numbers = [
            len(chosen), mean(chosen, "instructions"), mean(chosen, "allocations"),
            len(timed), mean(timed, "instructions"), mean(timed, "wall"),
        ]  # fmt: skip
        assert said == [rounded(n, cell) for n, cell in zip(numbers, said, strict=True)], name
    gone = sum(row["suite"] in suites and row["allocations"]["ratio"] == 0 for row in cases)
    assert f" {gone} cases that\nallocate nothing any more" in README


def test_whole_requests_beside_other_drivers():
    done = report.read(ROOT / "reports" / "peers")
    board = done["board"]
    assert (ROOT / "reports" / "peers.md").read_text(encoding="utf-8") == report.markdown(done)
    parts = {"README.md": told.in_readme(board), "docs/peers.md": told.in_docs(board)}
    for name, part in parts.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "\n".join(["<!-- board -->", *part, "<!-- end of board -->"]) in text, name
    svg = told.picture(board)
    assert (ROOT / told.PICTURE).read_text(encoding="utf-8") == svg
    shown = json.loads((ROOT / "reports" / told.SITE).read_text(encoding="utf-8"))
    assert shown == told.site(board, svg)


RUST = "scylladb-rs-driver 0.2.0"
BESIDE = " beside a thread that computes"


def blocks_by_case(blocks):
    """By case: what a request took in each block, by side; one row a block."""
    for case in blocks[0]["after"]:
        whole = [each for each in blocks if case in each["before"] and case in each["after"]]
        yield case, {
            side: np.array([each[side][case] for each in whole])
            for side in whole[0] if case in whole[0][side]
        }  # fmt: skip


def spread(ratios):
    return f"{np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def moved(taken, column, digits=0):
    before, after = (np.median(taken[side][:, column]) for side in ("before", "after"))
    return f"{before:,.{digits}f} to {after:,.{digits}f}"


def named(case):
    """A case as tables call it: `insert 64 beside a thread that computes, pure`."""
    kind, threads, more = re.fullmatch(r"(\w+) (\d+)(.*)", case).groups()
    return f"{int(threads):,}, {kind}{more}"


def test_threads_before_and_after_they_go_on_in_turn():
    table = rows((ROOT / "docs/architecture.md").read_text(encoding="utf-8"), "threads | processor")
    kept = unpacked(RESULTS / "2026-11-28" / "threads-in-turn.json.gz")
    for form, more in (("compiled", ""), ("pure", ", pure")):
        for case, taken in blocks_by_case(kept[form]):
            ratios = taken["after"] / taken["before"]
            assert table.pop(named(case) + more) == [
                moved(taken, 0), spread(ratios[:, 0]), spread(ratios[:, 1]), moved(taken, 2, 1),
            ], case  # fmt: skip
    assert not table


def test_threads_before_and_after_they_read_in_turn():
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    table = rows(text, "threads | elapsed")
    kept = unpacked(RESULTS / "2026-11-28" / "threads-read-in-turn.json.gz")
    dearer, longer = {}, {}
    for case, taken in blocks_by_case(kept["blocks"]):
        ratios = taken["after"] / taken["before"]
        others = taken["after"] / taken[RUST]
        expected = [
            moved(taken, 1), spread(ratios[:, 1]), moved(taken, 0), spread(ratios[:, 0]),
            moved(taken, 2, 1), spread(others[:, 1]), spread(others[:, 0]),
        ]  # fmt: skip
        if BESIDE in case:  # whose processor time is that of the thread which computes
            expected[2] = expected[3] = expected[6] = ""
        else:
            dearer[case], longer[case] = np.median(others, axis=0)[:2]
        assert table.pop(named(case)) == expected, case
    assert not table

    def between(ratios, *threads):
        found = [ratios[f"{kind} {each}"] for kind in ("insert", "select") for each in threads]
        return f"{min(found):.2f} to {max(found):.2f} times"

    readme = " ".join(README.split())
    assert f"two to eight take {between(dearer, 2, 3, 4, 8)} the processor time" in readme
    assert f"16 and 64 take {between(dearer, 16, 64)} as much" in readme
    assert f"takes {between(longer, 2, 3, 4, 8, 16, 64)} as long with 2 to 64" in readme


def test_instructions_since_tokens_lie_side_by_side():
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    kept = unpacked(RESULTS / "2026-11-28" / "ring-checksums.json.gz")
    assert f"({kept['left']['commit'][:8]} and {kept['right']['commit'][:8]}," in text
    table = text.split("| case | before | instructions | change, % |")[1].split("\n\n")[0]
    said = [cells(line)[1:] for line in table.splitlines()[2:]]
    told = [
        "query_path.time_point_select", *(f"query_path.time_point_select_{hop}" for hop in
        ("plan", "write", "read", "rows")), "query_path.time_range_select",
        "query_path.time_range_select_read", "result_dispatch.time_request_one_row",
        "awaited.time_point_selects_one_by_one", "awaited.time_point_selects_16_in_flight",
    ]  # fmt: skip
    counts = {case["name"]: case["meters"]["instructions"] for case in kept["cases"]}
    for name, line in zip(told, said, strict=True):
        count = counts[name]
        left, right, ratio = (count[each] for each in ("left", "right", "ratio"))
        assert line == [f"{left:,.0f}", f"{right:,.0f}", f"{(ratio - 1) * 100:.1f}"], name
    equal = sum(count["verdict"] == "equivalent" for count in counts.values())
    assert f"The other {equal} cases that were counted" in text


def test_instructions_of_a_page_whose_rows_are_iterated_over():
    text = " ".join((ROOT / "docs/architecture.md").read_text(encoding="utf-8").split())
    kept = unpacked(RESULTS / "2026-11-29" / "pages.json.gz")["commits"]
    (before, first), (now, last) = ((commit, each["instructions"]) for commit, each in kept.items())
    change = (last / first - 1) * 100
    assert f"{first:,} instructions at {before} and {last:,} at {now} ({change:.1f} %)" in text


def test_requests_that_the_thread_that_waits_sends():
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    kept = unpacked(RESULTS / "2026-11-29" / "postponed-writes.json.gz")
    told = rows(page, "requests | before, and after")
    _, *commits = kept["instructions"]
    cases = {
        f"{node} node: {case}": [np.array(found[side]) for side in (*commits, RUST)]
        for node, cases in kept["nodes"].items() for case, found in cases.items()
    }  # fmt: skip
    assert list(told) == list(cases)

    def ratio(numerator, denominator, column):
        found = numerator[:, column] / denominator[:, column]
        return f"{np.median(found):.2f} ({found.min():.2f} to {found.max():.2f})"

    for name, (before, after, theirs) in cases.items():
        medians = [float(number) for number in told[name][0].split(" to ")]
        assert medians == pytest.approx(
            [np.median(before[:, 0]), np.median(after[:, 0])], abs=0.51 if "page" in name else 0.051
        )
        assert told[name][1:] == [
            ratio(after, before, 0), ratio(after, before, 2), ratio(theirs, after, 0),
        ], name  # fmt: skip
    before, after = (kept["instructions"][commit] for commit in commits)
    words = " ".join(page.split())
    for case, first in before.items():
        last = after[case]
        assert f"{first:,} to {last:,} ({(last / first - 1) * 100:+.1f} %)" in words
    commit, *since = kept["instructions since"].values()
    told = "{:,}, {:,} and {:,}".format(*since)
    assert f"at {commit} the three take {told} instructions" in words
    first, last = list(kept["futex"].values())[1:]
    assert f"went from {first:.2f} to {last:.2f} a request" in words


def test_threads_on_two_cores_and_on_one():
    text = (ROOT / "docs/guides/threads.md").read_text(encoding="utf-8")
    kept = unpacked(RESULTS / "2026-11-28" / "one-core.json.gz")
    ours, theirs = "cqlpath", RUST.partition(" ")[0]
    table = rows(text, "threads | elapsed, two cores and one")
    quicker = {}
    for case in kept["blocks"][ours]:
        taken = {
            side: {key: np.array([each[key] for each in cases[case]]) for key in cases[case][0]}
            for side, cases in kept["blocks"].items()
        }
        expected = []
        for side, keys in ((ours, ("elapsed", "processor")), (theirs, ("elapsed", "processor"))):
            for key in keys:
                two, one = taken[side][key], taken[f"{side} on one core"][key]
                expected.append(f"{np.median(two) * 1e6:.0f} to {np.median(one) * 1e6:.0f}")
                if side == ours:
                    expected.append(spread(one / two))
                    quicker[case, key] = np.median(one / two)
        kind, threads = case.split()
        assert table.pop(f"{threads}, {kind}") == expected, case
    assert not table
    told = "eight threads take {:.2f} and {:.2f} times as long".format(
        *(quicker[f"{kind} 8", "elapsed"] for kind in ("insert", "select"))
    )
    architecture = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    assert told in " ".join(architecture.split())
    turns = [cells(line) for line in text.split("| threads | work |")[1].splitlines()[2:6]]
    for threads, work, *said in turns:
        about = f"{threads} threads, {work} microseconds"
        expected = [
            f"{np.median([each[key] for each in kept['hand_over'][about + more]]):.0f}"
            for key in ("elapsed", "processor") for more in ("", ", one core")
        ]  # fmt: skip
        assert said == expected, about


def test_one_thread_before_and_after_system_calls_keep_the_interpreters_lock():
    text = " ".join((ROOT / "docs/architecture.md").read_text(encoding="utf-8").split())
    kept = unpacked(RESULTS / "2026-11-28" / "threads-with-the-lock.json.gz")
    numbers = []
    for blocks in (kept["blocks"], kept["real node"]):
        taken = dict(blocks_by_case(blocks))["insert 1" + BESIDE]
        numbers += [f"{np.median(taken[side][:, 1]):,.0f}" for side in ("after", "before")]
    assert "{} microseconds in place of {} there, and {} in place of {}".format(*numbers) in text


def test_instructions_beside_other_drivers():
    page = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
    results = ROOT / "reports" / "results"
    kept = unpacked(results / "2026-11-26" / "peers.json.gz")
    counts = {side: each["instructions"] for side, each in kept["counts"].items()}
    pure = [counts[f"{side}, pure Python"] for side in ("cqlpath", PEERS[0])]
    decoding = rows(page, "decode | scylla-driver")
    for name, said in decoding.items():
        case = f"decode {name}"
        ours, theirs, others = (counts[side][case] for side in (OURS, *PEERS))
        assert said == [
            f"{theirs:,.0f}", f"{ours:,.0f}", rounded(theirs / ours, said[2]),
            rounded(others / ours, said[3]), rounded(pure[1][case] / pure[0][case], said[4]),
        ], name  # fmt: skip
    file = results / "2026-11-23" / "peers-sending.json.gz"
    before = {
        name: count for group in unpacked(file)["before"].values()
        if OURS in group
        for name, count in group[OURS].get("instructions", group[OURS]).items()
    }  # fmt: skip
    told = rows(page, "Case | before")
    for name, said in told.items():
        ours = counts[OURS][name]
        assert said[:4] == [
            f"{before[name]:,.0f}", f"{ours:,.0f}",
            *(rounded(counts[peer][name] / ours, cell)
              for peer, cell in zip(PEERS, said[2:4], strict=True)),
        ], name  # fmt: skip
    for name, said in rows(page, "Case here").items():
        ours, alone, theirs = (counts[side][name] for side in (OURS, "C alone", PEERS[0]))
        assert said[:3] == [f"{ours:,.0f}", f"{alone:,.0f}", rounded(theirs / alone, said[2])], name
    steps = rows(README, "`scylla-driver` | encode QUERY of 64 B, with lz4")
    assert [each for cell in steps["instructions"] for each in cell.split(", ")] == [
        *(told[name][2] for name in ("encode QUERY of 64 B", "encode QUERY of 64 B, lz4",
                                     "encode EXECUTE of five values", "bind ten scalars")),
        *(decoding[name][2] for name in (
            "one row with metadata", "5,000 rows of uuid, text, bigint, timestamp, double",
            "1,000 x 10 ints", "VOID",
        )),
    ]  # fmt: skip
    report = (ROOT / "reports" / "peers.md").read_text("utf-8")
    timed = rows(report[report.index("## Time, 40 blocks") :], " |")
    assert [each for cell in steps["time"] for each in cell.split(", ")] == [
        f"{float(timed[name][2].split('*')[0]):.1f}" for name in (
            "encode QUERY of 64 B", "encode QUERY of 64 B, lz4", "encode EXECUTE of five values",
            "bind ten scalars", "decode one row with metadata",
            "decode 5,000 rows of uuid, text, bigint, timestamp, double",
            "decode 1,000 x 10 ints", "decode VOID",
        )
    ]  # fmt: skip


def test_where_the_instructions_of_a_request_go():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    kept = json.loads((ROOT / "reports" / "request-budget.json").read_text(encoding="utf-8"))
    told = rows(page, "part | thread")
    counts = {side: list(kept[side].values()) for side in ("point_select_before", "point_select")}
    for column, (whole, *parts) in enumerate(counts.values(), 1):
        said = {name: int(cells[column].replace(",", "")) for name, cells in told.items()}
        assert said.pop("the whole") == whole
        assert said.pop("in no part: glue between them") == whole - sum(parts)
        assert sorted(said.values()) == sorted(parts)
    whole = kept["point_select"]["time_point_select"]
    for name, (_, _, count, percent) in told.items():
        assert percent == rounded(int(count.replace(",", "")) / whole * 100, percent), name


def test_the_ledger():
    report = (ROOT / "reports" / "claims.md").read_text(encoding="utf-8")
    ((total, tally),) = re.findall(r"\*\*(\d+) published figures of \d+ rows: (.*)\.\*\*", report)
    words = " ".join(README.split())
    assert f"publish {total} figures" in words
    assert f"on CPython 3.11: {tally}." in words
    found = ledger_judge.judge(LEDGER, store.load(RESULTS / "claims"), list(LEDGER.rows), {})
    names = {found.row.page.id: f"claims/{found.row.page.id}.svg" for found in found}
    pictures = {name: path for name, path in names.items() if (ROOT / "reports" / path).is_file()}
    assert markdown.report(found, pictures) == report


def said_of(figure):
    """What the ledger says of a figure that it has no verdict by numbers for."""
    (found,) = [each for each in LEDGER.figures if each.id == figure]
    return found.not_measured or found.not_exercised


@pytest.mark.parametrize(
    ("figure", "other", "way"),
    [("rsylla-cassandra-driver", "cassandra-driver 3.30.1", "threads"),
     ("rsylla-acsylla", "acsylla 1.2.0", "asyncio")],
)  # fmt: skip
def test_what_the_ledger_says_of_rsylla_is_what_the_board_measured(figure, other, way):
    board = unpacked(ROOT / "reports" / "peers.json.gz")["board"]
    said = re.findall(r"([\d.]+) to ([\d.]+) times", said_of(figure))
    for node, ends in zip(("load-test", "real"), said, strict=True):
        numbers = board["nodes"][node]["numbers"]
        rsylla = numbers["asyncio"]["rsylla 0.1.1"]["select, 64 in flight"]["elapsed"]
        beside = numbers[way][other]["select, 64 in flight"]["elapsed"]
        faster = stats.paired_ratio(rsylla, beside, 0.95)
        assert ends == tuple(rounded(getattr(faster, end), at)
                             for end, at in zip(("low", "high"), ends, strict=True))  # fmt: skip


def test_what_the_ledger_says_of_the_check_is_what_the_history_counted():
    def counted(commit):
        (file,) = (RESULTS / "asv").glob(f"*/{commit}-*IMPLcython.json")
        found = json.loads(file.read_text(encoding="utf-8"))["results"]
        return {name: row[0][0] for name, row in found.items() if row and row[0]}

    before, after = counted("efd0bb13"), counted("8f0492fb")
    ratios = [
        after[name] / count for name, count in before.items()
        if re.search(r"^encode_message\.track_.*_(lz4|snappy)_instructions", name)
        and "v5" not in name
    ]  # fmt: skip
    assert f"{min(ratios):.3f} to {max(ratios):.3f} of the instr" in said_of("800-2-check")


def test_what_slots_cost_is_what_the_original_repository_has():
    originals = (ROOT / "reports" / "originals.md").read_text(encoding="utf-8")
    said = re.findall(r"\d\.\d{3}", LEDGER.rows["805-4"].cost)
    found = [
        re.search(rf"\| 805-4 \| `results\.{name}` \| pure \| ([\d.]+)", originals)[1]
        for name in ("time_decode_void", "time_set_rows")
    ]
    assert said == found


def test_the_originals():
    report = (ROOT / "reports" / "originals.md").read_text(encoding="utf-8")
    ((total, verdicts),) = re.findall(r"\*\*(\d+) published figures: (.*)\.\*\*", report)
    assert f"of {total} figures {verdicts}." in " ".join(README.split())
    found = table.read(ROOT / "claims-originals.toml", ROOT / "claims.toml")
    kept = ROOT / "reports" / "results"
    assert page.write(found, kept / "originals", kept / "claims") == report


@pytest.mark.parametrize("project", ["h11", "packaging", "yarl", "scylla-driver", "wordy"])
def test_what_is_said_of_other_projects_is_what_their_samples_say(project):
    samples = records.read(ROOT / "reports" / "projects" / f"{project}.jsonl.gz")
    document = judge.document(samples)
    summary = document["verdict"]["summary"]
    page = (ROOT / "docs" / "suites.md").read_text(encoding="utf-8")
    (row,) = [
        line for line in page.splitlines() if line.startswith((f"| [{project}]", f"| {project} "))
    ]
    assert cells(row)[-1] == summary
    if project == "yarl":
        assert f"\nregression: {summary}\n" in README
        best = min(case["meters"]["instructions"]["ratio"] for case in document["cases"])
        assert f"by up to {1 - best:.0%}".replace("%", " %") in README
        for suite, _ in by_suite(document["cases"]):
            assert suite in README
    if project == "scylla-driver":
        shown = Console(file=io.StringIO(), width=160)
        terminal.show(document, shown)
        text = "\n".join(line.rstrip() for line in shown.file.getvalue().strip().splitlines())
        assert text in (ROOT / "docs" / "other-drivers.md").read_text(encoding="utf-8")


def test_what_telemetry_costs():
    file = ROOT / "reports" / "results" / "2026-11-24" / "implementations.json.gz"
    measured = unpacked(file)["cases"]
    meters = {row["name"]: row["meters"] for row in measured}
    guide = (ROOT / "docs" / "guides" / "telemetry.md").read_text(encoding="utf-8")
    told = rows(guide, "| instructions")
    cases = ("query_path.time_point_select", "tracing.time_point_select_unobserved",
             "tracing.time_point_select_recorded")  # fmt: skip
    for said, case in zip(told.values(), cases, strict=True):
        number = {meter: about["right"] for meter, about in meters[case].items()}
        assert said == [
            f"{number['instructions']:,.0f}", f"{number['allocations']:.0f}",
            f"{number['wall'] * 1e6:.1f} µs",
        ]  # fmt: skip


def test_what_gates_say_of_stalls():
    rows = Kept(ROOT / "reports/calibration/stalled.jsonl.gz").rows()
    (rules,) = RATES["rules"]["stalled"]
    gates = [row for row in rows if row["policy"] == rules]
    found = [each for gate in gates for each in gate["found"]]
    part = CALIBRATION[CALIBRATION.index("### Stalls") :]
    page = " ".join(part.split())
    cases, (least, most) = gates[0]["cases"], sorted(gate["load"] for gate in gates)
    assert (
        f"{len(gates)} gates of {cases} compiled cases by the rules of that day (`{rules}`)" in page
    )
    assert f"load {least:.1f} to {most:.1f}" in page
    table = part[part.index("| planned |") :].splitlines()[2:5]
    for line, size in zip(table, sorted({each["size"] for each in found}), strict=True):
        mine = [each for each in found if each["size"] == size]
        clock, case = (sum(each[by] == "regressed" for each in mine) for by in ("verdict", "case"))
        longer = statistics.median(each["ratio"] for each in mine) - 1
        assert cells(line) == [
            f"{size:.0%}".replace("%", " %"), f"{clock} of {len(mine)}", f"{case} of {len(mine)}",
            f"{longer * 100:.1f} %",
        ]  # fmt: skip
    slower = [each for each in found if each["ratio"] >= 1.07]
    assert {each["case"] for each in slower} == {"regressed"}
    rest = sorted((each for each in found if each not in slower), key=lambda each: each["ratio"])
    assert [each["case"] for each in rest] == ["equivalent", "undecided", "undecided"]
    assert {each["stall"] for each in rest} == {"locks"}
    assert (
        f"two took {rest[1]['ratio'] * 100 - 100:.1f} and {rest[2]['ratio'] * 100 - 100:.1f} %"
        in page
    )
    assert f"all {len(slower)} that took 7 % longer or more" in page
    assert f"all {len(slower)} that took 7 % longer or more" in " ".join(README.split())
    before = [each for gate in rows if gate["policy"] != rules for each in gate["found"]]
    dispatched = [each for each in before if "result_dispatch" in each["target"]]
    assert [each["why"] for each in dispatched] == ["not timed"] * 3
    assert {each["stall"] for each in found} == {"branches", "locks"}


def test_what_comparisons_say_of_tails():
    file = RESULTS / "2026-11-29" / "tails.json.gz"
    script = [sys.executable, ROOT / "scripts" / "tails", "--table", file]
    assert subprocess.check_output(script, text=True) in CALIBRATION
    kept, page = unpacked(file), " ".join(CALIBRATION.split())
    ((rules, loads),) = {
        (each["policy"], tuple(sorted(row["load"] for row in kept))) for each in kept
    }
    told = f"{len(kept)} whole comparisons in the default budget, by the rules `{rules}`"
    assert f"{told}, load {loads[0]:.1f} to {loads[-1]:.1f}" in page


def test_how_many_cases_a_commit_reaches():
    file = ROOT / "reports/results/2026-11-28/same-code.json.gz"
    kept = unpacked(file)
    cases = [*kept["cython"].values(), *kept["python"].values()]
    reached = []
    for commit in kept["commits"]:
        changed = set(commit["files"])
        header = any(name.endswith(".pxd") for name in changed)
        run = [
            not changed.isdisjoint(files) or (header and any(f.endswith(".pyx") for f in files))
            for files in cases
        ]
        assert sum(run) == commit["run"]
        reached.append(sum(run))
    said = f"the median one reaches {statistics.median(reached):.0f} of {len(cases)}"
    few, many = sum(not each for each in reached), sum(each > 100 for each in reached)
    page = " ".join(WALL_TIME.split())
    assert f"{said} cases, {few} reaches none and {many} more than 100" in page
    missed = [
        len(set(files) - set(kept["cython before"][name]))
        for name, files in kept["cython"].items()
    ]  # fmt: skip
    assert (
        f"Of {len(missed)} compiled cases of this driver, {sum(map(bool, missed))} lacked files, "
        f"{sum(missed)} in all"
    ) in page
    fewer = sum(commit["before"] < commit["run"] for commit in kept["commits"])
    assert f"of the {len(reached)} commits {fewer} seemed to reach fewer" in page
    assert f"Of the last {len(reached)} commits" in page
    assert f"{said} cases" in " ".join(README.split())


def test_what_the_least_of_the_rounds_leaves_out():
    file = ROOT / "reports/results/2026-11-25/rounds.json.gz"
    above = []
    for few, many in unpacked(file)["rounds"]:
        mean = statistics.fmean(many) - statistics.fmean(few)
        above.append(mean / (min(many) - min(few)) - 1)
    said = " ".join((ROOT / "docs/calibration.md").read_text(encoding="utf-8").split())
    assert f"For {len(above)} counts of this driver" in said
    assert (
        f"in {sum(each > 0.003 for each in above)}, by {max(above):.1%}".replace("%", " %") in said
    )


def test_how_much_the_runner_of_comparisons_counts_otherwise():
    held = unpacked(ROOT / "reports" / "results" / "2026-11-28" / "history-runner.json.gz")
    pairs = [
        (value, held["after"][impl][name])
        for impl, values in held["before"].items() for name, value in values.items()
    ]  # fmt: skip
    differ = [after / before - 1 for before, after in pairs if after != before]
    said = f"of {len(pairs)} counts of one commit, {len(differ)} came out otherwise than by the"
    most = f"by {max(map(abs, differ)) * 100:.2f} % at most (`reports/results/2026-11-28/history-"
    page = " ".join((ROOT / "docs" / "history.md").read_text(encoding="utf-8").split())
    assert said in page
    assert most in page
