"""Whole commands and named imports as cases of a comparison."""

import json
import os
import subprocess
import sys
import sysconfig
from dataclasses import replace

import pytest

from benchproof import imports, programs
from benchproof.compare import Request
from benchproof.errors import SelectionError
from benchproof.meters import instructions
from tests.harness.toy import wheel

needs_valgrind = pytest.mark.skipif(
    bool(instructions.why_not()), reason="instructions cannot be counted here"
)
MAIN = """
import sys


def main():
    for name in ("a", "b", "c")[:{files}]:
        open(sys.executable, "rb").close()
    print(sum(number * number for number in range({times})) and "{word}")


if __name__ == "__main__":
    main()
"""


@pytest.fixture
def sides(tmp_path):
    """Two wheels with a program; the second opens two files more and works six times as much."""
    found = []
    for version, files, times in (("1", 1, 20_000), ("2", 3, 120_000)):
        text = MAIN.format(files=files, times=times, word="done")
        held = {
            "acme/__init__.py": "",
            "acme/__main__.py": text,
            f"acme-{version}.dist-info/entry_points.txt": (
                "[console_scripts]\nacme-run = acme.__main__:main\n"
            ),
        }
        found.append(wheel(tmp_path, held, version=version))
    return found


def compare(tmp_path, sides, *words):
    env = os.environ | {"BENCHPROOF_CACHE": str(tmp_path / "a cache"), "COLUMNS": "400"}
    return subprocess.run(
        [sys.executable, "-m", "benchproof.cli", "compare", *map(str, sides),
         "--json", "out.json", *words],
        check=False, capture_output=True, text=True, env=env, cwd=tmp_path,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"), [("", "needs a command"), ("python -c 'x", "No closing quotation")]
)
def test_what_is_no_command_is_one_line(text, said):
    with pytest.raises(SelectionError, match=said):
        programs.case(text)


def test_a_case_is_called_as_its_command():
    each = programs.case("python -m acme.cli --version")
    assert (each.suite, each.case) == ("command", "python -m acme.cli --version")


@pytest.mark.parametrize("named", [{"commands": ("true",)}, {"imported": ("json",)}])
def test_what_measures_no_command_is_not_asked_for_of_one(named):
    asked = Request("a", "b", meters=("wall", "instructions", "allocations", "bytes"))
    assert asked.applicable == set(asked.meters)
    assert replace(asked, **named).applicable == {"wall", "instructions"}


@needs_valgrind
@pytest.mark.slow
def test_commands_and_imports_are_measured_without_any_benchmark(sides, tmp_path):
    answer = compare(
        tmp_path, sides, "--command", "python -m acme", "--command", "acme-run",
        "--import", "acme", "--budget", "1",
    )  # fmt: skip
    assert answer.returncode == 1, answer.stdout + answer.stderr
    assert "no case was measured" not in answer.stdout
    rows = {row["name"]: row for row in json.loads((tmp_path / "out.json").read_text())["cases"]}
    assert rows["import.acme"]["verdict"] == "equivalent"
    for name in ("command.python -m acme", "command.acme-run"):
        row, said = rows[name], rows[name]["meters"]
        assert row["grade"] == "witnessed"
        assert "acme.__main__" in {*row["proof"]["left"]["modules"]} | {"acme.__main__"}
        assert said["instructions"]["verdict"] == "regressed"
        opened = said["syscalls"]
        assert opened["right"] - opened["left"] >= 4
        assert 1e6 < said["peakmemory"]["left"] < 1e9
        assert len(said["wall"]["left_samples"]) == programs.FEWEST
        assert len(said["processor"]["left_samples"]) == programs.FEWEST


@pytest.mark.slow
def test_a_program_of_a_dependency_is_run_from_the_environment_of_its_side(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    run = "import acme\n\n\ndef main():\n    print('{version}', acme.__name__)\n"
    for version in ("1", "2"):
        held = {
            "dep.py": run.format(version=version),
            f"dep-{version}.dist-info/entry_points.txt": "[console_scripts]\ndep-run = dep:main\n",
        }
        wheel(tmp_path / "index", held, "dep", version)
    two = [
        wheel(tmp_path, {"acme.py": ""}, version=version, needs=[f"dep=={version}"])
        for version in ("1", "2")
    ]
    answer = compare(tmp_path, two, "--command", "dep-run", "--meters", "wall", "--budget", "1")
    (row,) = json.loads((tmp_path / "out.json").read_text())["cases"]
    assert row["grade"] == "witnessed", answer.stdout + answer.stderr
    assert row["proof"]["left"]["modules"] == {"acme": "acme.py"}
    # Each side prints the version of its own.
    assert "the two sides give different answers" in row["note"]


@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="the tool has no environment of its own")
@pytest.mark.slow
def test_a_program_of_the_tool_s_own_environment_is_none_of_a_side(sides, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", sysconfig.get_path("scripts"), prepend=os.pathsep)
    answer = compare(tmp_path, sides, "--command", "benchproof --help", "--meters", "wall")
    assert answer.returncode == 2, answer.stdout + answer.stderr
    assert "cannot run benchproof" in answer.stdout


@pytest.mark.slow
def test_an_import_that_a_person_names_has_the_meters_of_a_command(tmp_path):
    two = [
        wheel(tmp_path, {"acme/__init__.py": text}, version=version)
        for version, text in (("1", ""), ("2", "held = b'x' * 40_000_000\n"))
    ]
    answer = compare(tmp_path, two, "--import", "acme", "--meters", "wall", "--budget", "1")
    (row,) = json.loads((tmp_path / "out.json").read_text())["cases"]
    assert row["name"] == "import.acme", answer.stderr
    meters = row["meters"]
    assert set(meters) == {"wall", "processor", "peakmemory"}
    for each in (meters["wall"], meters["processor"]):
        assert len(each["left_samples"]) == imports.BLOCKS
        assert 0 < each["left"] < each["right"]
    # Of the import's own process: the one that started it holds scipy.
    assert meters["peakmemory"]["left"] < 30e6
    assert meters["peakmemory"]["right"] - meters["peakmemory"]["left"] > 38e6
    assert meters["peakmemory"]["verdict"] == "regressed"


@pytest.mark.slow
def test_another_answer_is_a_note(tmp_path):
    two = [
        wheel(tmp_path, {"acme/__init__.py": f"print({version!r})\n"}, version=version)
        for version in ("1", "2")
    ]
    compare(
        tmp_path, two, "--command", "python -c 'import acme'", "--meters", "wall", "--budget", "1"
    )
    (row,) = json.loads((tmp_path / "out.json").read_text())["cases"]
    assert "the two sides give different answers" in row["note"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "said"),
    [("python -m acme.nothing", "No module named acme.nothing"), ("no-such-program", "cannot run")],
)
def test_a_command_that_fails_is_no_number(sides, tmp_path, command, said):
    answer = compare(tmp_path, sides, "--command", command, "--meters", "wall")
    assert answer.returncode == 2, answer.stdout + answer.stderr
    assert said in answer.stdout
