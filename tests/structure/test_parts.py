"""The parts of a run: side by side, each one's output whole, its failure told, none left behind."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
#: A program that runs parts; {parts} are words of Python.
PROGRAM = """
import sys
from parts import running
from parts.running import Part
running.EVERY = 0.2
def part(name, code, **more):
    return Part(name, (sys.executable, "-c", code), **more)
sys.exit(running.run([{parts}], slots={slots}))
"""
CHATTY = "import time\nfor n in range(5): print('{} says', n, flush=True); time.sleep(0.05)"


def start(*parts, slots=2):
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(parts=", ".join(parts), slots=slots)],
        env={**os.environ, "PYTHONPATH": str(SCRIPTS)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def run(*parts, slots=2):
    process = start(*parts, slots=slots)
    output, _ = process.communicate(timeout=60)
    return process.returncode, output


def part(name, code, more=""):
    return f"part({name!r}, {code!r}, {more})"


def word_of(output, name):
    """How a part ended, from the table."""
    return re.search(rf"^{name} +\d+ +\d+   (.*)$", output, re.MULTILINE)[1]


def test_the_output_of_each_part_is_whole_though_they_run_side_by_side():
    status, output = run(*(part(name, CHATTY.format(name)) for name in ("one", "two")))
    assert status == 0
    assert output.index("two starts") < output.index("---- one")
    for name in ("one", "two"):
        assert "".join(f"{name} says {n}\n" for n in range(5)) in output
        assert word_of(output, name) == "passed"


def test_each_part_has_a_folder_of_its_own_that_is_gone_afterwards():
    code = "import os; f = os.environ['PYTEST_DEBUG_TEMPROOT']; os.listdir(f); print('FOLDER', f)"
    status, output = run(part("one", code), part("two", code))
    folders = {Path(name) for name in re.findall(r"^FOLDER (.*)$", output, re.MULTILINE)}
    assert (status, len(folders)) == (0, 2), output
    assert not any(folder.exists() for folder in folders)


def test_a_part_that_waits_for_servers_runs_beside_a_full_slot():
    _, output = run(
        part("one", "import time; time.sleep(1)"),
        part("two", "pass"),
        part("servers", "pass", "waits=True"),
        slots=1,
    )
    assert output.index("servers passed") < output.index("one passed") < output.index("two starts")


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_one_failed_part_fails_the_run_and_the_others_still_run(failing):
    parts = [part(f"p{n}", f"raise SystemExit({3 * (n == failing)})") for n in range(3)]
    status, output = run(*parts)
    assert status == 1
    words = [word_of(output, f"p{n}") for n in range(3)]
    assert words == ["failed (status 3)" if n == failing else "passed" for n in range(3)]


def test_a_part_that_a_signal_ended_has_failed():
    status, output = run(part("killed", "import os; os.kill(os.getpid(), 9)"))
    assert (status, word_of(output, "killed")) == (1, "failed (status -9)")


def test_a_decisive_part_that_fails_ends_the_run():
    status, output = run(
        part("lint", "raise SystemExit(1)", "decisive=True"),
        part("long", "import time; time.sleep(300)"),
        part("next", "print('never')", "after=('lint',)"),
    )
    assert status == 1
    assert [word_of(output, name) for name in ("lint", "long", "next")] == [
        "failed (status 1)", "stopped", "left out"
    ]  # fmt: skip
    assert "\nnever\n" not in output


def test_a_part_waits_for_what_it_needs_and_is_left_out_if_that_failed():
    status, output = run(
        part("build", "import time; time.sleep(0.3); print('built')"),
        part("tests", "print('tested')", "needs=('build',)"),
        part("broken", "raise SystemExit(1)"),
        part("more", "print('never')", "needs=('broken',)"),
        part("last", "print('last')", "after=('broken',)"),
    )
    assert status == 1
    assert output.index("built") < output.index("tests starts")
    words = [word_of(output, name) for name in ("tests", "more", "last")]
    assert words == ["passed", "left out", "passed"]


def test_no_more_parts_run_at_a_time_than_there_are_slots():
    _, output = run(*(part(name, "pass") for name in ("one", "two", "three")), slots=1)
    events = re.findall(r"\] (\w+ (?:starts|passed))", output)
    assert events == [
        f"{n} {what}" for n in ("one", "two", "three") for what in ("starts", "passed")
    ]


def test_what_runs_is_said_with_how_far_pytest_is_and_what_it_counted():
    code = (
        "import time; print('tests/x.py ...... [ 45%]', flush=True); time.sleep(1)\n"
        "print('===== 1 failed, 7 passed, 2 skipped, 1 error in 1.00s ====='); "
        "print('leaked: of a library, as the interpreter ends')"
    )
    _, output = run(part("unit", code), part("other", "print('==== 3 passed in 0.1s ====')"))
    assert "running unit 45 %" in output
    assert output.endswith("10 passed, 2 failed, 2 skipped\n")


GRANDCHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])

open({file!r}, "w").write(str(child.pid))
try:
    time.sleep(300)
finally:
    print("cleaned up", flush=True)
"""
STUBBORN = """
import pathlib, signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
pathlib.Path({file!r}).write_text("deaf")
time.sleep(300)
"""


def wait_for(file):
    """Return when a part has written something into a file."""
    while not (file.exists() and file.read_text()):
        time.sleep(0.01)


def runs(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_nothing_running_and_lets_each_part_clean_up(tmp_path, number):
    file = tmp_path / "pid"
    process = start(part("ring", GRANDCHILD.format(file=str(file))), part("later", "pass"), slots=1)
    wait_for(file)
    process.send_signal(number)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "cleaned up" in output
    assert [word_of(output, name) for name in ("ring", "later")] == ["stopped", "left out"]
    assert not runs(int(file.read_text()))


def test_a_second_signal_ends_at_once_what_does_not_listen_to_the_first(tmp_path):
    file = tmp_path / "deaf"
    process = start(part("stubborn", STUBBORN.format(file=str(file))))
    wait_for(file)
    process.send_signal(signal.SIGINT)
    for line in process.stdout:
        if "ending stubborn" in line:
            break
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert (process.returncode, word_of(output, "stubborn")) == (130, "stopped")


def test_the_processor_time_of_a_part_has_that_of_what_it_started():
    busy = "import time\nwhile time.process_time() < 1.2: pass"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {busy!r}])"
    _, output = run(part("busy", code), part("idle", "import time; time.sleep(0.5)"))
    seconds = {
        n: int(re.search(rf"^{n} +\d+ +(\d+) ", output, re.MULTILINE)[1]) for n in ("busy", "idle")
    }
    assert seconds["busy"] >= 1
    assert seconds["idle"] == 0


def listed(*words):
    return subprocess.run(
        [sys.executable, SCRIPTS / "in-parts", *words, "--list"],
        capture_output=True, text=True, check=True, timeout=30,
    ).stdout.splitlines()  # fmt: skip


def test_a_run_on_a_change_has_every_folder_of_tests_and_a_nightly_one_has_each_in_pure_python():
    folders = {f"tests/{p.name}" for p in (ROOT / "tests").iterdir() if any(p.rglob("test_*.py"))}
    change = [line.split() for line in listed("test")]
    assert {word for line in change for word in line if "DRIVER_IMPL=auto" in line} >= folders
    nightly = [line.split() for line in listed("nightly")]
    assert not any("--of-both" in line for line in nightly)
    pure = {word for line in nightly for word in line if "DRIVER_IMPL=python" in line}
    assert pure >= folders - {"tests/harness", "tests/browser"}
    tests = [line for line in nightly if "pytest" in line]
    assert tests
    assert all("HYPOTHESIS_PROFILE=nightly" in line for line in tests)


def test_continuous_integration_tests_and_gates():
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert lines[-1] == "exec make test MORE=gate"
    assert listed("test", "gate") == [*listed("test"), "make --no-print-directory gate"]
