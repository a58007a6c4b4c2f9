"""One change after another: kept or discarded, said why, and nothing of the user's is touched."""

import json
import subprocess
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from benchproof import files
from benchproof.checkout import Checkout
from benchproof.commands.app import app
from benchproof.errors import BenchproofError, StoppedError, TargetError
from benchproof.loops import proposal, trial
from benchproof.meters import instructions
from tests.harness import loop_project as loop
from tests.harness.conftest import NIGHTLY

EXACT = ("--meters", "instructions,allocations", "--bench", "^work")
counted = pytest.mark.skipif(bool(instructions.why_not()), reason=f"{instructions.why_not()}")


@pytest.fixture
def project(tmp_path, monkeypatch):
    made = loop.make(tmp_path / "acme")
    monkeypatch.chdir(made.root)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "")
    return made


@pytest.fixture
def run(project):
    assert project.root.is_dir()

    def run(*arguments, stdin=None):
        answer = CliRunner().invoke(app, ["try", *arguments], input=stdin)
        assert not isinstance(answer.exception, AssertionError | KeyError), answer.output
        return answer

    return run


def change(project, *edits):
    """Edit the working tree."""
    for edit in edits:
        project.edit(*edit)


def last(answer):
    return answer.stdout.strip().splitlines()[-1].replace("\N{NO-BREAK SPACE}", " ")


def state(project):
    """All that a user would miss: branches, index, files."""
    return (
        project.git("for-each-ref"), project.git("rev-parse", "HEAD"),
        project.git("ls-files", "--stage"), project.git("status", "--porcelain"),
    )  # fmt: skip


CHANGES = [
    *((name, (edit,), 0, "keep: faster: work.time_") for name, edit in loop.FASTER.items()),
    ("renamed", (loop.USELESS["renamed"],), 1, "discard: no difference in 5 benchmarks"),
    ("remark", (loop.USELESS["remark"],), 1, "discard: "),
    ("readme", (loop.USELESS["readme"],), 1, "discard: it changes nothing that is built"),
    ("wrong", (loop.WRONG,), 1, "discard: other answers: work.time_unique"),
    ("traded", (loop.TRADED, loop.CALLED), 1, "discard: slower: work.time_joined instructions "),
]


@pytest.mark.slow
@counted
def test_each_of_ten_changes_gets_the_right_answer(project, run):
    """As the working tree, as a patch, as a branch, in turn; one of each answer on a change."""
    chosen = range(len(CHANGES)) if NIGHTLY else (4, 5, 8, 9)
    for number in chosen:
        name, edits, status, words = CHANGES[number]
        change(project, *edits)
        how = ("tree", "patch", "branch")[number % 3]
        arguments, stdin = ["."], None
        if how == "patch":
            arguments, stdin = ["-"], project.git("diff") + "\n"
            project.git("checkout", "--quiet", ".")
        elif how == "branch":
            project.git("checkout", "--quiet", "-b", name)
            project.commit(name)
            project.git("checkout", "--quiet", "main")
            arguments = [name]
        before = state(project)
        answer = run(*arguments, *EXACT, stdin=stdin)
        assert state(project) == before
        assert last(answer).startswith(words), (name, answer.output)
        assert answer.exit_code == status, name
        if name == "traded":
            assert "faster: work.time_spin instructions -" in last(answer)
        project.git("checkout", "--quiet", ".")
    lines = (project.root / ".benchproof/tried.jsonl").read_text().splitlines()
    expected = ["discard" if CHANGES[number][2] else "keep" for number in chosen]
    assert [json.loads(line)["decision"] for line in lines] == expected


@pytest.mark.slow
@counted
def test_what_is_kept_can_be_committed_and_is_known_when_it_comes_again(project, run):
    start = project.git("rev-parse", "HEAD")
    change(project, loop.FASTER["sum"])
    project.git("config", "user.name", "toy")
    project.git("config", "user.email", "toy@example.invalid")
    patch = project.git("diff") + "\n"
    answer = run(*EXACT, "--commit", "Sum by sum", "--json", "kept.json")
    assert answer.exit_code == 0, answer.output
    kept = json.loads((project.root / "kept.json").read_text())
    assert kept["committed"] == project.git("rev-parse", "HEAD") != start
    assert project.git("status", "--porcelain") == "?? kept.json"
    assert project.git("log", "-1", "--format=%s %an") == "Sum by sum toy"
    metrics = dict(line.removeprefix("METRIC ").split("=") for line in answer.stdout.splitlines()
                   if line.startswith("METRIC "))  # fmt: skip
    spin = next(each for each in kept["cases"] if each["name"] == "work.time_spin")
    assert float(metrics["work_time_spin_instructions"]) == pytest.approx(spin["right"])
    assert float(metrics["ratio"]) < 1 == float(metrics["confidence"])
    (project.root / "sum.patch").write_text(patch)
    again = run("sum.patch", "--base", start, *EXACT)
    assert "tried before" in again.stderr
    assert "keep: faster" in again.stderr
    assert "against" not in again.stderr.split("tried before")[1].split("keep")[0]


@pytest.mark.slow
def test_what_fails_tests_or_does_not_build_is_not_measured(project, run):
    change(project, (loop.WORK, loop.SPIN, "    return 11\n"))
    answer = run(*EXACT)
    assert answer.exit_code == 1
    assert last(answer) == "discard: the tests fail: AssertionError: spin(5) is not 10"
    assert "METRIC" not in answer.stdout
    project.write("setup.py", "raise SystemExit('cannot be built')\n")
    project.write("tests/more.py", "")
    answer = run(*EXACT)
    assert (answer.exit_code, last(answer)) == (1, "discard: it does not build")
    assert "it also changes what judges it: tests/more.py" in answer.stderr


@pytest.mark.slow
def test_a_package_that_does_not_run_is_discarded(run, project):
    project.write("src/acme/__init__.py", "raise RuntimeError('no luck')\n")
    answer = run(*EXACT, "--test", "true")
    assert answer.exit_code == 1, answer.output
    assert last(answer).startswith("discard: the right side (pure) does not run its")
    assert "no luck" in last(answer)


@pytest.mark.slow
def test_tests_that_fail_anyway_or_cannot_run_say_nothing_of_a_change(project, run):
    change(project, loop.FASTER["sum"])
    answer = run(*EXACT, "--test", "echo no luck; exit 3")
    assert (answer.exit_code, last(answer)) == (
        2, "could not measure: the tests fail at the base, too",
    )  # fmt: skip
    answer = run(*EXACT, "--test", "no-such-program tests")
    assert answer.exit_code == 2
    assert "the tests cannot be run" in answer.stderr
    assert "no-such-program" in answer.stderr
    answer = run(*EXACT, "--test", "sleep 20", "--test-seconds", "1")
    assert last(answer) == "could not measure: the tests fail at the base, too"


def test_a_change_is_known_by_what_it_changes_not_where(project):
    change(project, loop.FASTER["sum"])
    here = Checkout.around(project.root)
    first = proposal.find(".", "", here)
    assert first.files == (loop.WORK,)
    project.git("stash", "--quiet")
    project.edit(loop.WORK, '"""What is measured."""\n', '"""What is measured."""\n\nX = 1\n')
    project.commit("lines above it")
    project.git("stash", "pop", "--quiet")
    moved = proposal.find(".", "", here)
    assert moved.base != first.base
    assert moved.key == first.key
    change(project, (loop.WORK, "sum(range(times))", "sum(range(0, times))"))
    assert proposal.find(".", "", here).key != first.key


def test_new_files_are_part_of_the_working_tree_and_ignored_ones_are_not(project):
    project.write("src/acme/more.py", "MORE = 1\n")
    project.write(".benchproof/tried.jsonl", "")
    assert proposal.find(".", "", Checkout.around(project.root)).files == ("src/acme/more.py",)
    assert project.git("status", "--porcelain") == "?? src/acme/more.py"


@pytest.mark.parametrize("words", [(), ("commit", "-q", "--allow-empty", "-m", "one")])
def test_a_repository_in_this_one_is_no_part_of_it(project, words):
    inner = project.root / "inner"
    subprocess.run(["git", "init", "-q", str(inner)], check=True)
    (inner / "theirs.py").write_text("")
    if words:
        someone = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", "-C", str(inner), *someone, *words], check=True)
    project.write("src/acme/more.py", "MORE = 1\n")
    assert proposal.find(".", "", Checkout.around(project.root)).files == ("src/acme/more.py",)


def test_what_is_no_change_is_said_in_a_line(project):
    here = Checkout.around(project.root)
    with pytest.raises(TargetError, match="the working tree changes nothing of"):
        proposal.find(".", "", here)
    with pytest.raises(TargetError, match=r"main .* changes nothing .*; --base names"):
        proposal.find("main", "", here)
    (project.root / "bad.patch").write_text("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n")
    with pytest.raises(TargetError, match=r"the patch bad\.patch does not apply to"):
        proposal.find("bad.patch", "", here)
    with pytest.raises(TargetError, match="unknown commit: 'nobody'"):
        proposal.find("nobody", "", here)


def test_nothing_is_committed_where_the_branch_has_moved_on(project):
    change(project, loop.FASTER["sum"])
    here = Checkout.around(project.root)
    found = proposal.find(".", "", here)
    head = project.commit("somebody was faster")
    with pytest.raises(TargetError, match="nothing was committed: HEAD is not"):
        proposal.commit(found, "late", here)
    assert project.git("rev-parse", "HEAD") == head


def test_half_a_line_of_the_log_is_none_and_spoils_no_other(tmp_path):
    log = tmp_path / "logs/tried.jsonl"
    files.append_line({"key": "a", "why": "first"}, log)
    log.write_bytes(log.read_bytes() + b'{"key": "a", "wh')
    files.append_line({"key": "a", "why": "second"}, log)
    files.append_line({"key": "b", "why": "other"}, log)
    assert [each["why"] for each in trial.tried(log, "a")] == ["first", "second"]
    assert trial.tried(tmp_path / "none.jsonl", "a") == []
    log.write_bytes(b"\xff\n")
    with pytest.raises(BenchproofError, match="no log of benchproof try"):
        trial.tried(log, "a")


def test_a_try_that_was_stopped_decides_nothing(project, tmp_path, monkeypatch):
    change(project, loop.FASTER["sum"])
    here = Checkout.around(project.root)
    stopped = SimpleNamespace(document=judged(row("a", 0.5, "improved")) | {"partial": True})
    monkeypatch.setattr(trial.compare, "compare", lambda *_: stopped)
    monkeypatch.setattr(trial, "_checked", lambda *_: None)
    request, log = SimpleNamespace(impls=(), bench=""), tmp_path / "tried.jsonl"
    with pytest.raises(StoppedError, match="nothing is decided"):
        trial.run(request, proposal.find(".", "", here), SimpleNamespace(checkout=here), None,
                  test="", seconds=1.0, log=log)  # fmt: skip
    assert not log.exists()


def row(name, ratio, verdict, **more):
    """A case of a document, counted."""
    about = {"ratio": ratio, "low": ratio, "high": ratio, "left": 100.0, "right": 100.0 * ratio,
             "confidence": 1.0, "verdict": verdict}  # fmt: skip
    return {
        "name": name, "suite": "s", "case": name, "status": "measured", "why": "", "note": "",
        "verdict": verdict, "accepted": None, "meters": {"instructions": about},
    } | more  # fmt: skip


def judged(*rows, exit_status=0):
    return {"cases": list(rows), "suites": [], "settings": {"trade_off": "pass"},
            "verdict": {"exit": exit_status, "summary": "as it says"}}  # fmt: skip


@pytest.mark.parametrize(
    ("document", "word", "why"),
    [
        (judged(row("a", 0.5, "improved")), "keep", "faster: a instructions"),
        (judged(row("a", 0.5, "improved"), row("b", 2.0, "regressed")), "discard", "slower: b"),
        (judged(row("a", 1.0, "equivalent")), "discard", "no difference in 1 benchmark"),
        (judged(row("a", 1.0, "undecided")), "undecided", "a: --budget"),
        (judged(row("a", 0.5, "improved", note="the two sides give different answers")),
         "discard", "other answers: a"),
        (judged(row("a", 1.0, None, status="error", why="right: it raised")), "discard",
         "a: it raised"),
        (judged(row("a", 1.0, None, status="error", why="left: it raised"), exit_status=2),
         "could not measure", "as it says"),
        (judged(row("a", 0.5, "improved"), row("b", 1.0, None, status="error", why="left: x"),
                exit_status=2), "keep", "faster: a"),
    ],
)  # fmt: skip
def test_what_is_decided_from_a_document(document, word, why):
    decision = trial.decide(document)
    assert (decision.word, decision.why.startswith(why)) == (word, True), decision
