"""Stalls: the same instructions on both sides, in places that compile, and sizes as asked for."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from calibration import gates, stalls, tune
from calibration.insert import inserted
from calibration.kept import Kept
from calibration.sites import SITES, Site

from benchproof import toolchain
from benchproof.errors import BenchproofError
from benchproof.meters import instructions

ROOT = Path(__file__).resolve().parents[2]
SPIN = Site("spin", "spin", "driver/_cython/work.pyx", "spin", (("toy.time_spin", 2),), ("cython",))
COSTS = tune.Costs(calls={("spin", "toy.time_spin"): 2.0})
#: One process of so many calls, each of five stalls: it counts nothing but itself.
MAIN = """
int main(int count, char **given) {{
    (void)count;
    for (int left = atoi(given[1]); left; left--) stall_{name}(5, {awake});
    return 0;
}}
"""


@pytest.mark.skipif(bool(instructions.why_not()), reason=instructions.why_not())
@pytest.mark.parametrize("name", stalls.STALLS)
def test_both_sides_take_the_same_instructions(name, tmp_path):
    """Each with its own constant, and optimised as the driver is."""

    def counted(calls, awake):
        source, program, out = (tmp_path / f"{awake}{end}" for end in (".c", "", ".out"))
        # A table of 64 lines is counted in no time.
        text = stalls._SOURCE.replace("1u << 20", "1u << 6")
        source.write_text(text + MAIN.format(name=name, awake=awake))
        subprocess.run([*toolchain.command_of(), "-O3", "-o", program, source], check=True)
        subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", program, str(calls)],
            check=True, capture_output=True,
        )  # fmt: skip
        return int(next(line for line in out.read_text().splitlines()
                        if line.startswith("summary:")).split()[1])  # fmt: skip

    calls = 400
    asleep, awake = (counted(calls, each) - counted(0, each) for each in (0, 1))
    # A system call is a function of libc's; others are the same to one in a hundred.
    most = 100 * calls if name == "kernel" else 0.01 * asleep
    assert abs(awake - asleep) <= most
    assert asleep >= 5 * calls


def test_stalls_compile_where_the_sites_are(tmp_path):
    file = next(site for site in SITES if site.name == "token, compiled")
    folder = tmp_path / "driver"
    shutil.copytree(ROOT / "driver", folder, ignore=shutil.ignore_patterns("*.so", "*.c"))
    source = tmp_path / file.file
    text = source.read_text() + stalls.declared()
    source.write_text(inserted(text, file.function, ["stall_misses(5, 1)"], 0.5, cython=True))
    subprocess.run([sys.executable, "-m", "cython", "-3", source], check=True, cwd=tmp_path)
    assert "stall_misses(5, 1)" in source.with_suffix(".c").read_text()


def test_without_a_compiler_that_is_told(monkeypatch):
    monkeypatch.setenv("CC", "/no/such/compiler")
    with pytest.raises(BenchproofError, match=r"stalls do not compile: /no/such/compiler: No such"):
        stalls.costs_of_one()


def test_sizes_take_turns_with_kinds_and_are_reached():
    one, seconds = dict.fromkeys(stalls.STALLS, 1e-7), {"toy.time_spin": 1e-5}
    coarse = one | {"kernel": 1e-5}
    found = [stalls.planned(number, 1, (SPIN,), COSTS, one, seconds)[0] for number in range(12)]
    assert {(each.stall, each.size) for each in found} == {
        (stall, size) for stall in stalls.STALLS for size in stalls.SIZES
    }
    for each in found:
        # Two calls of a tenth of a microsecond are 2 % of ten microseconds.
        assert each.predicted == pytest.approx(0.02 * each.turns)
        assert each.size <= each.predicted <= each.size * 1.25
    assert stalls.planned(3, 1, (SPIN,), COSTS, one, seconds) == [found[3]]
    # One call of the kernel would be far more than the size: another stall stands in for it.
    (instead,) = stalls.planned(3, 1, (SPIN,), COSTS, coarse, seconds)
    assert (found[3].stall, instead.stall) == ("kernel", "misses")
    assert stalls.planned(0, 1, (SPIN,), COSTS, one, {}) == []


def test_what_the_gate_says_of_the_clock_and_of_the_case_is_kept():
    chosen = stalls.planned(0, 1, (SPIN,), COSTS, dict.fromkeys(stalls.STALLS, 1e-7),
                            {"toy.time_spin": 1e-5})  # fmt: skip
    timed = {"verdict": "regressed", "ratio": 1.06, "low": 1.04, "high": 1.08}
    row = {"name": "toy.time_spin", "verdict": "equivalent",
           "meters": {"wall": timed, "instructions": {"ratio": 1.0}}}  # fmt: skip
    (found,) = stalls.answers({"cases": [row]}, chosen)
    assert (found["verdict"], found["case"], found["instructions"]) == (
        "regressed", "equivalent", 1.0,
    )  # fmt: skip
    (absent,) = stalls.answers({"cases": []}, chosen)
    assert absent["verdict"] == "not measured"


def test_repetitions_are_kept_and_go_on(scene, monkeypatch, tmp_path):
    asked = []

    def run(ask, scene):
        del scene
        asked.append(ask)
        return {"cases": [], "suites": [], "verdict": {"exit": 0}}

    monkeypatch.setattr(gates, "run", run)
    monkeypatch.setattr(stalls, "costs_of_one", lambda: dict.fromkeys(stalls.STALLS, 1e-7))
    monkeypatch.setattr(stalls, "times", lambda *_: {"toy.time_spin": 1e-5})
    monkeypatch.setattr(
        type(scene.clone), "text", lambda *_: "def spin(n):\n    total = 0\n    return total\n"
    )
    kept = Kept(tmp_path / "stalled.jsonl.gz")
    for runs in (1, 2, 2):
        stalls.stall(scene, (SPIN,), COSTS, kept, gates.Ask("", ""), runs=runs, seed=1)
    assert len(asked) == 2
    for ask, row in zip(asked, kept.rows(), strict=True):
        assert (ask.base, ask.head) == tuple(row["commits"])
        assert ask.meters == ("instructions", "wall")
        asleep, awake = (
            scene.clone.checkout.read(commit, SPIN.file).decode() for commit in row["commits"]
        )
        turns, stall = row["sites"][0]["turns"], row["sites"][0]["stall"]
        assert f"    stall_{stall}({turns}, 0)\n" in asleep
        assert asleep.replace(f"({turns}, 0)", f"({turns}, 1)") == awake
