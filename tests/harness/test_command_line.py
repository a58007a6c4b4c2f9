"""The command line itself: what it loads, how it ends, and what every command has in common."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from benchproof.commands import app
from tests.harness.conftest import SUITES

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = typer.main.get_command(app.app)
COMMANDS = sorted(PROGRAM.commands)
#: What no question about the command line needs, and takes longer to load than to answer it.
HEAVY = {"asv", "asv_runner", "matplotlib", "numpy", "pandas", "pydantic", "pyperf", "scipy"}
#: Ends with a list of the heavy modules that were loaded.
LOADED = f"""
import atexit, sys
atexit.register(lambda: print("loaded:", *sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr))
sys.argv[0] = "benchproof"
from benchproof.cli import main
main()
"""


def python(*arguments, cwd=ROOT, **env):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd, capture_output=True, text=True, check=False, timeout=300,
        env=os.environ | {"COLUMNS": "100"} | env,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["--help"], 0),
        (["--version"], 0),
        (["compare", "--help"], 0),
        (["gate", "--help"], 0),
        (["compare"], 2),
        (["compare", "no-such-commit", "HEAD"], 2),
        (["compare", "HEAD", ".", "--meters", "luck"], 2),
        (["compare", "HEAD", ".", "--impl", "luck"], 2),
        (["compare", "HEAD", ".", "--bench", "("], 2),
    ],
)
def test_what_needs_no_measuring_loads_nothing_heavy(words, status):
    answer = python("-c", LOADED, *words)
    assert answer.returncode == status, answer.stderr
    assert answer.stderr.splitlines()[-1] == "loaded:", answer.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_examples_and_says_how_it_ends(command):
    text = PROGRAM.commands[command].help
    assert "Examples:" in text
    assert "Exit status: 0" in text


def examples():
    for name in COMMANDS:
        for line in PROGRAM.commands[name].help.splitlines():
            if line.startswith("  benchproof "):
                # What an example is for stands behind it, after several spaces.
                yield re.split(r"\s{2,}", line.strip())[0].partition(" > ")[0]


@pytest.mark.parametrize("example", list(examples()))
def test_every_example_is_a_command_line(example):
    name, *words = shlex.split(example)[1:]
    with PROGRAM.commands[name].make_context(name, list(words)):
        pass


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_of_any_project_and_not_of_this_one(command):
    told = [
        PROGRAM.commands[command].help,
        *(each.help for each in PROGRAM.commands[command].params),
    ]
    text = " ".join(filter(None, told)).lower()
    assert not re.findall("driver|implementation|cython|decode_rows|routing_key|query_path", text)
    # Nobody else has such a file.
    assert not re.findall(r"(?<!benchproof's )docs/", text)


def test_every_bench_that_is_given_counts():
    several = {
        name: option.multiple for name in COMMANDS for option in PROGRAM.commands[name].params
        if "--bench" in option.opts
    }  # fmt: skip
    assert several == dict.fromkeys(
        ["changes", "compare", "gate", "history", "list", "rank", "run", "try"], True
    )


def test_several_suites_are_chosen_at_once():
    answer = python(
        "-m", "benchproof.cli", "list", "--bench", "^bind", "--bench", "^decode_rows",
        "--suites", "asv_benchmarks", "--json", "-",
    )  # fmt: skip
    names = [row["name"] for row in json.loads(answer.stdout)["benchmarks"]]
    assert {name.partition(".")[0] for name in names} >= {"bind", "decode_rows"}, answer.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_a_file_for_its_document(command):
    (option,) = [each for each in PROGRAM.commands[command].params if each.name == "json"]
    assert option.metavar == "FILE"
    assert "standard output" in option.help


def test_an_old_flag_for_json_still_means_standard_output():
    assert app.with_files(["doctor", "--json"]) == ["doctor", "--json", "-"]
    assert app.with_files(["share", "q.json", "--json", "--side", "left"]) == [
        "share", "q.json", "--json", "-", "--side", "left",
    ]  # fmt: skip
    assert app.with_files(["share", "--json", "-"]) == ["share", "--json", "-"]
    assert app.with_files(["doctor", "--json", "d.json"]) == ["doctor", "--json", "d.json"]
    assert app.with_files(["compare", "--json"]) == ["compare", "--json"]


def test_the_version_stands_alone_before_what_measures():
    first, *others = python("-m", "benchproof.cli", "--version").stdout.splitlines()
    assert re.fullmatch(r"benchproof \d+\.\d+\.\d+\S*", first)
    assert [line.split()[0] for line in others] == ["CPython", "valgrind", "memray"]


def test_completion_can_be_shown_and_knows_the_commands():
    answer = python(
        "-m", "benchproof.cli",
        _BENCHPROOF_COMPLETE="complete_bash", COMP_WORDS="benchproof cha", COMP_CWORD="1",
    )  # fmt: skip
    assert answer.stdout.split() == ["changes"], answer.stderr


# Ctrl-C.

#: Ctrl-C while a module is loaded.
WHILE_IMPORTING = """
import os, signal, sys
class Stop:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Stop())
from benchproof.cli import main
main()
"""


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("benchproof.errors", ["compare", "HEAD", "."]),
        ("typer", ["compare", "HEAD", "."]),
        ("benchproof.commands.bisect", ["--help"]),
        ("benchproof.targets", ["compare", "HEAD", "."]),
        ("scipy.special", ["compare", "HEAD", "."]),
        ("scipy.special", ["gate", "HEAD", "."]),
        ("scipy.special", ["run"]),
        ("rich.console", ["doctor"]),
    ],
)
def test_ctrl_c_while_something_is_loaded_is_one_line(toy, module, words):
    answer = python("-c", WHILE_IMPORTING.format(module=module), *words, cwd=toy.root)
    last = answer.stderr.strip().splitlines()
    assert (answer.returncode, last) == (2, ["benchproof: stopped"]), answer.stdout


# Packages that are not installed.

#: Hides some packages, as if they were not there.
HIDDEN = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
from benchproof.cli import main
main()
"""
PAGES = ("jinja2", "markupsafe", "matplotlib", "pandas")
HISTORY = ("asv", "virtualenv")


def without(names, *words, cwd, **env):
    return python("-c", HIDDEN.format(names=set(names)), *words, cwd=cwd, **env)


def test_publish_without_what_draws_is_one_line_with_the_extra(toy):
    answer = without(PAGES, "publish", cwd=toy.root)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr.count("\n") == 1
    assert answer.stderr.startswith("benchproof: benchproof publish draws pages")
    assert answer.stderr.endswith("pip install 'benchproof[pages]'\n")


@pytest.mark.parametrize(
    "words",
    [("history", "--meters", "bytes"), ("rank", "--base", "main", "HEAD", "--meters", "bytes")],
)
def test_a_scheduler_without_what_speaks_to_it_is_one_line_with_the_extra(toy, words):
    answer = without(("dask", "distributed"), *words, "--scheduler", "tcp://127.0.0.1:9",
                     "--suites", SUITES, cwd=toy.root)  # fmt: skip
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr.count("\n") == 1
    assert f"benchproof {words[0]} gives work to other machines" in answer.stderr
    assert answer.stderr.endswith("pip install 'benchproof[fleet]'\n")


def test_without_typer_the_command_says_what_to_install(toy):
    answer = without(("typer",), "compare", "HEAD", ".", cwd=toy.root)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr == (
        "benchproof: benchproof needs typer, which is not installed: pip install benchproof\n"
    )


@pytest.mark.slow
def test_run_without_what_draws_measures_and_says_that_there_is_no_page(toy, cache, tmp_path):
    toy.edit("driver/work.py", "total = 0", "total = 0 + 0")
    toy.commit("a change")
    answer = without(
        (*PAGES, *HISTORY), "run", "--suites", SUITES, "--reports", tmp_path, "--impl", "python",
        "--bench", "spin", "--meters", "allocations", "--json", tmp_path / "run.json",
        cwd=toy.root, BENCHPROOF_CACHE=str(cache),
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    assert "no page was drawn" in answer.stdout
    assert "pip install 'benchproof[pages]'" in answer.stdout
    document = json.loads((tmp_path / "run.json").read_text())
    assert [each["right"]["impl"] for each in document["comparisons"]] == ["python"]
    assert not (tmp_path / "html").exists()


@pytest.mark.slow
def test_compare_and_gate_need_no_extra(toy, cache):
    toy.edit("driver/work.py", "total = 0", "total = 0 + 0")
    toy.commit("a change")
    for command in ("compare", "gate"):
        answer = without(
            (*PAGES, *HISTORY), command, "HEAD~1", "HEAD", "--suites", SUITES, "--impl", "python",
            "--bench", "spin", "--meters", "allocations", "--json", "-",
            cwd=toy.root, BENCHPROOF_CACHE=str(cache),
        )  # fmt: skip
        assert answer.returncode == 0, answer.stderr
        # The document alone is on standard output; the table is beside it.
        assert json.loads(answer.stdout)["kind"] in {"comparison", "gate"}
        assert "no regression" in answer.stderr


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (["compare", "mian", "HEAD"], "did you mean main?"),
        (["compare", "HEAD@impl:pyhton", "HEAD"], "did you mean python"),
        (["compare", "HEAD", ".", "--meters", "instruction"], "did you mean instructions?"),
        (["gate", "HEAD", ".", "--impl", "cyhton"], "did you mean cython"),
        (["bisect", "x", "HEAD~1..", "--meter", "alocations"], "did you mean allocations?"),
        (["history", "--meters", "byte"], "did you mean bytes?"),
        (
            ["compare", "HEAD", ".", "--suites", str(SUITES), "--bench", "spinn"],
            "mean spin?",
        ),
    ],
)
def test_a_name_that_is_not_known_suggests_the_nearest(toy, words, near):
    answer = python("-m", "benchproof.cli", *words, cwd=toy.root)
    assert answer.returncode == 2
    assert near in answer.stderr
