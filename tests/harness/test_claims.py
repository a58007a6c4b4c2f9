"""`scripts/claims` whole: a toy's pull request, from its ledger to verdicts and files."""

import io
import json
import re
from dataclasses import replace
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest
from ledger import command, measure, reader, store
from ledger.figures import LedgerError
from rich.console import Console

from benchproof.compare import Request
from benchproof.errors import SelectionError, StoppedError
from benchproof.meters import instructions
from tests.harness.sample_ledger import LEDGER

DOCS = Path(__file__).resolve().parents[2] / "docs" / "claims.md"
METERS = ("allocations", "bytes") + (() if instructions.why_not() else ("instructions",))
SLOW = "total = len([object()]) - 1\n    for number in range(times):\n        total += number"
FAST = "total = sum(range(times))"


@pytest.fixture
def example():
    """The ledger in the documentation."""
    return re.search(r"^```toml\n(.*?)^```", DOCS.read_text("utf-8"), re.MULTILINE | re.DOTALL)[1]


@pytest.fixture
def pull_request(toy):
    """A toy whose newest commit but one carries the row of the documentation."""
    slow = "total = 0\n    for number in range(times):\n        total += number"
    toy.edit("driver/work.py", slow, SLOW)
    toy.commit("a slow toy")
    toy.edit("driver/work.py", SLOW, FAST)
    carrier = toy.commit("Sum by the builtin\n\nClaim: 12-1")
    toy.write("README.md", "words")
    toy.commit("words")
    return carrier


@pytest.fixture
def ask(tmp_path, place, tell):
    """Run the command in this process; status and what it printed."""

    def asked(ledger, *rows, meters=METERS, impls=("python",), **about):
        file = tmp_path / "mine.toml"
        file.write_text(ledger, encoding="utf-8")
        request = Request("", "", meters=meters, budget=0, quick=False, committed=True)
        given = {"json": None, "stored": None, "reports": tmp_path / "reports"} | about
        if given.pop("quick", False):
            request = replace(request, quick=True)
        out = io.StringIO()
        want = command.Asked(rows, file, impls, request, **given)
        status = command.run(want, place, tell, Console(file=out, width=160))
        return status, out.getvalue()

    return asked


@pytest.mark.slow
def test_a_claim_is_measured_judged_kept_and_told(pull_request, ask, example, tmp_path):
    one_file = tmp_path / "run.json"
    status, text = ask(example, json=one_file)
    assert pull_request[:10] in text
    assert re.search(r"objects of spin +2 less +\d+ less += reproduced", text)
    assert re.search(r"start of the program .*- not measurable here", text)
    if "instructions" in METERS:
        assert re.search(r"spin of 40 .*instr 0\.\d+ .*(> exceeded|= reproduced|< smaller)", text)
        assert status == 0
    else:
        assert status == 2
    reports = tmp_path / "reports"
    report = (reports / "claims.md").read_text("utf-8")
    assert "objects of spin" in report
    kept = reports / "results" / "claims"
    assert [file.name for file in kept.iterdir()] == ["12-1.json.gz"]
    (run,) = store.load(kept)
    assert run == store.load(one_file)[0]
    assert run.document["provenance"]["packages"]["memray"]
    # From what is kept, without measuring: the same, and another verdict for another claim.
    again, same = ask(example, stored=kept)
    assert again == status
    assert (reports / "claims.md").read_text("utf-8") == report
    bold = example.replace("before = 2\n", "before = 200\n")
    status, flipped = ask(bold, stored=one_file)
    assert re.search(r"objects of spin +200 less +\d+ less +< smaller than claimed", flipped)
    assert "< smaller than claimed" not in re.search(r"objects of spin .*", same)[0]


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_both_implementations_are_measured_and_a_quick_run_is_not_kept(
    pull_request, ask, example, tmp_path
):
    del pull_request
    one_file = tmp_path / "run.json.gz"
    ask(example, impls=("python", "cython"), meters=("allocations",), quick=True, json=one_file)
    runs = store.load(one_file)
    assert [run.impl for run in runs] == ["python", "cython"]
    assert [run.document["right"]["impl"] for run in runs] == ["python", "cython"]
    assert not list(tmp_path.glob("reports/*"))


@pytest.mark.slow
def test_a_claim_that_is_not_so_fails(toy, ask, example):
    toy.edit("driver/work.py", "total = 0", "total = 0  # fast now")
    toy.commit("Only words, sold as speed\n\nClaim: 12-1")
    status, text = ask(example, meters=("allocations",))
    assert re.search(r"objects of spin .*not reproduced", text)
    assert status == 1


@pytest.mark.slow
def test_a_row_without_a_commit_is_not_measured(ask, example):
    status, text = ask(example)
    assert status == 2
    assert "no commit carries it" in text
    assert "? not measured" in text


@pytest.mark.slow
def test_a_commit_that_does_not_build_is_a_reason_and_not_an_end(toy, ask, example):
    toy.write("setup.py", "raise SystemExit('not today')\n")
    toy.commit("Breaks\n\nClaim: 12-1")
    toy.git("revert", "--no-edit", "HEAD")
    status, text = ask(example, meters=("allocations",))
    assert status == 2
    assert "does not build" in text
    assert "taken back by" in text


@pytest.mark.slow
def test_kept_results_of_other_sources_are_left_out(toy, pull_request, ask, example, tmp_path):
    del pull_request
    ask(example, meters=("allocations",))
    toy.git("commit", "--quiet", "--amend", "--allow-empty", "--message", "words, again")
    # The same row, carried by other code.
    toy.git("reset", "--quiet", "--hard", "HEAD~1")
    toy.edit("driver/work.py", FAST, FAST + "  # better")
    toy.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    two = example + LEDGER.replace("toy.time_spin", "toy.time_boxes")
    status, _ = ask(two, "7-1", meters=("allocations",))
    assert status == 2
    report = (tmp_path / "reports" / "claims.md").read_text("utf-8")
    assert "| 12-1 | sum a range by the builtin | no result is kept for it |" in report


@pytest.mark.slow
def test_a_benchmark_that_is_not_there_is_one_line(pull_request, ask, example):
    del pull_request
    with pytest.raises(LedgerError, match=r"mine\.toml:\d+: benchmark 'toy.time_nothing' matches"):
        ask(example.replace("toy.time_spin", "toy.time_nothing"))


def test_a_row_that_the_ledger_has_not_is_told(ask, example):
    with pytest.raises(SelectionError, match="no row '13-1': it has 12-1"):
        ask(example, "13-1")


def test_rows_of_one_commit_are_measured_together():
    from ledger.carried import Carried

    ledger = reader.parse(LEDGER)
    where = Carried("a" * 40, "b" * 40)
    names = {"toy.time_spin": "toy.time_spin"}
    steps = measure.plan(ledger, {"7-1": where, "7-2": where}, names, ("python", "cython"))
    assert [(step.rows, step.impl) for step in steps] == [
        (("7-1", "7-2"), "python"), (("7-1", "7-2"), "cython"),
    ]  # fmt: skip
    apart = {"7-1": where, "7-2": replace(where, right="c" * 40)}
    assert len(measure.plan(ledger, apart, names, ("python",))) == 2
    assert measure.plan(ledger, {"7-1": Carried(why="no commit")}, names, ("python",)) == []


def test_stopping_keeps_what_was_measured(place, tell, monkeypatch):
    from ledger.carried import Carried

    ledger = reader.parse(LEDGER)
    carried = {row: Carried(row * 8, row * 8) for row in ("7-1", "7-2")}
    names = {"toy.time_spin": "toy.time_spin"}
    steps = measure.plan(ledger, carried, names, ("python",))
    outcomes = iter([type("Done", (), {"document": {"partial": False}, "bench": None})()])

    def compared(*_):
        try:
            return next(outcomes)
        except StopIteration:
            raise StoppedError("stopped") from None

    monkeypatch.setattr(measure.compare, "compare", compared)
    runs = list(measure.run(steps, Request("", "", budget=10), place, tell))
    assert [run.rows for run in runs] == [("7-1",)]
    assert "1/2 7-1 pure" not in tell.text  # the stages are compare's to tell
    assert "stopped: what was measured so far is judged" in tell.text


@pytest.fixture(scope="module")
def program():
    """The script, read as a module."""
    loader = SourceFileLoader("claims_script", str(DOCS.parents[1] / "scripts" / "claims"))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def test_help_has_examples_of_real_rows_and_the_exit_status(program):
    from typer.testing import CliRunner

    text = CliRunner().invoke(program.app, ["--help"]).output
    assert "Examples:" in text
    assert "Exit status: 0 every claim holds" in text
    rows = re.findall(r"scripts/claims ((?:[\d-]+ )+)", text)
    assert rows
    ours = reader.read(DOCS.parents[1] / "claims.toml").rows
    assert all(row in ours for each in rows for row in each.split())


def test_the_command_reads_its_options(program, tmp_path, monkeypatch, toy):
    from typer.testing import CliRunner

    seen = []
    monkeypatch.setattr(command, "run", lambda asked, *_: seen.append(asked) or 0)
    monkeypatch.chdir(toy.root)
    answer = CliRunner().invoke(program.app, [
        "7-1", "--ledger", "x.toml", "--from", "y.json", "--impl", "cython",
        "--meters", "allocations", "--budget", "9", "--json", str(tmp_path / "z.json"), "--quick",
    ])  # fmt: skip
    assert answer.exit_code == 0, answer.output
    (asked,) = seen
    assert (asked.rows, asked.ledger.name, asked.stored.name) == (("7-1",), "x.toml", "y.json")
    assert (asked.impls, asked.request.meters) == (("cython",), ("allocations",))
    assert (asked.request.budget, asked.request.quick) == (9, True)
    assert asked.reports == toy.root / "reports"
    assert json.dumps(str(asked.json))
