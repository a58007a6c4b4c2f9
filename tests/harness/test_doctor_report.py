"""The doctor's report: for people, for machines, for scripts."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from benchproof.doctor import report
from benchproof.doctor.machine import COMPILED, MAIN_JOB, Finding

ROOT = Path(__file__).resolve().parents[2]
SLOW_CLOCK = Finding("frequency", "degraded", "powersave", "set it", ("wall",))
NO_VALGRIND = Finding("valgrind", "missing", "absent", "apt-get install it", ("instructions",))
NO_COMPILER = Finding("compiler", "missing", "absent", "install one", (COMPILED,))
NO_COMMIT = Finding("history", "missing", "no commit", "commit", (MAIN_JOB,))


def shown(findings):
    out = io.StringIO()
    report.show(findings, Console(file=out, width=80))
    return " ".join(out.getvalue().split())


def test_a_machine_that_measures_less_can_still_run_the_main_job():
    findings = [Finding("cores", "ok", "2"), SLOW_CLOCK, NO_VALGRIND, NO_COMPILER]
    assert report.exit_status(findings) == 0
    assert report.verdicts(findings) == {
        "wall": "degraded",
        "instructions": "missing",
        "allocations": "ok",
        "bytes": "ok",
        "retained": "ok",
        "tail": "ok",
        COMPILED: "missing",
        "commit against commit": "ok",
    }


def test_what_stops_the_main_job_stops_every_part_of_it():
    assert report.exit_status([SLOW_CLOCK, NO_COMMIT]) == 2
    assert set(report.verdicts([NO_COMMIT]).values()) == {"missing"}


def test_something_degraded_does_not_stop_the_main_job():
    assert report.exit_status([Finding("disk", "degraded", "little", "", (MAIN_JOB,))]) == 0


def test_people_read_what_is_wrong_what_it_costs_and_what_to_do():
    text = shown([SLOW_CLOCK, NO_VALGRIND])
    for words in (
        "powersave",
        "affects wall",
        "→ apt-get install it",
        "This project can be measured here",
    ):
        assert words in text
    assert "Nothing can be measured here: see history above" in shown([NO_COMMIT])


def test_where_only_benchmarks_are_missing_people_read_what_needs_none():
    no_benchmarks = Finding("benchmarks", "missing", "there are none", "init", (MAIN_JOB,))
    text = shown([SLOW_CLOCK, no_benchmarks])
    assert "No benchmark can be measured here: see above" in text
    assert "HEAD~1 HEAD --command 'python -m mypkg --version' --import mypkg" in text
    assert report.exit_status([no_benchmarks]) == 2
    assert "see benchmarks, history above" in shown([no_benchmarks, NO_COMMIT])


@pytest.mark.parametrize("findings", [[Finding("cores", "ok", "2")], [SLOW_CLOCK, NO_COMMIT]])
def test_machines_read_the_same(findings):
    status = report.exit_status(findings)
    data = json.loads(json.dumps(report.as_json(findings)))
    assert data["main_job"] == (status == 0)
    assert [finding["name"] for finding in data["findings"]] == [f.name for f in findings]
    assert set(data["findings"][0]) == {"name", "state", "detail", "remedy", "affects"}


def test_the_real_machine_is_diagnosed_without_importing_the_driver():
    line = (
        "import json, sys; from benchproof.doctor.report import diagnose; found = diagnose(); "
        "print(json.dumps([[f.name, f.state, f.remedy] for f in found])); "
        "sys.exit('driver' in sys.modules)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", line], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    findings = json.loads(answer.stdout)
    names = [name for name, _, _ in findings]
    assert len(names) == len(set(names))
    assert {"python", "compiler", "valgrind", "memray", "cores", "load", "disk"} <= set(names)
    assert {state for _, state, _ in findings} <= {"ok", "degraded", "missing"}
