"""Many branches: what each brings, what none of the benchmarks runs, and all that help together."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from benchproof import compare
from benchproof.checkout import Checkout
from benchproof.commands.app import app
from benchproof.errors import BenchproofError
from benchproof.loops import branches, rank, ranked, reach
from benchproof.meters import instructions
from benchproof.profile import tracer
from tests.harness import loop_project as loop

NEVER = "def never(number):\n    return number + 1\n\n\n"
#: By branch: its edits, and what is found.
BRANCHES = {
    "sum": ((loop.FASTER["sum"],), "faster"),
    "dict": ((loop.FASTER["dict"],), "faster"),
    "formula": (((loop.WORK, loop.SPIN, "    return times * (times - 1) // 2\n"),), "faster"),
    "renamed": ((loop.USELESS["renamed"],), "nothing"),
    "readme": ((loop.USELESS["readme"],), "nothing"),
    "unreached": (((loop.WORK, "def evens", f"{NEVER}def evens"),), "missed"),
    "wrong": (((loop.WORK, loop.SHOUT, "    return text.split()\n"),), "other answers"),
    "slow": (((loop.WORK, loop.EVENS, loop.EVENS.replace("[each", "[+each")),), "slower"),
    "mixed": ((loop.TRADED, loop.CALLED), "mixed"),
    "unbuilt": ((("pyproject.toml", "setuptools.build_meta", "nothing.at_all"),), "unbuilt"),
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    made = loop.make(tmp_path / "acme")
    monkeypatch.chdir(made.root)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "")
    return made


def branch(project, name, edits):
    """A branch of main with edits."""
    project.git("checkout", "--quiet", "-b", name, "main")
    for edit in edits:
        project.edit(*edit)
    project.commit(name)
    project.git("checkout", "--quiet", "main")


@pytest.mark.slow
@pytest.mark.skipif(bool(instructions.why_not()), reason=f"{instructions.why_not()}")
def test_branches_of_each_kind_are_found_and_a_second_run_measures_nothing(project, tmp_path):
    for name, (edits, _) in BRANCHES.items():
        branch(project, name, edits)
    # One that runs nowhere says nothing of any branch.
    project.write("benchmarks/work_lost.py", "def time_lost():\n    raise OSError\n")
    (tmp_path / "names.txt").write_text("\n".join(list(BRANCHES)[1:]) + "\n")
    before = project.git("for-each-ref"), project.git("status", "--porcelain")
    kept = ("--json", str(tmp_path / "rank.json"), "--markdown", str(tmp_path / "rank.md"),
            "--html", str(tmp_path / "rank.html"))  # fmt: skip
    chosen = ("sum", "--branches", str(tmp_path / "names.txt"), "--bench", "^work")
    words = ["rank", "--base", "main", *chosen, "--meters", "instructions", *kept]
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 0, answer.output
    assert (project.git("for-each-ref"), project.git("status", "--porcelain")) == before
    document = json.loads((tmp_path / "rank.json").read_text())
    rows = {row["branch"]: row for row in document["branches"]}
    assert {name: row["kind"] for name, row in rows.items()} == {
        name: kind for name, (_, kind) in BRANCHES.items()
    }
    assert rows["unreached"]["reach"]["missed"] == ["acme.work.never"]
    assert rows["sum"]["reach"] == {"run": ["acme.work.spin"], "missed": [], "unseen": []}
    assert set(rows["sum"]["conflicts"]) == {"formula", "mixed"}
    assert rows["wrong"]["ratio"] is None
    lost = "no difference in 5 benchmarks; 1 failing on the base: work_lost.time_lost"
    assert rows["renamed"]["why"] == lost
    together = document["together"]
    assert (together["branches"], together["left_out"]) == (["formula", "dict"], ["sum"])
    assert together["kind"] == "faster"
    for case in together["cases"]:
        assert case["ratio"] == pytest.approx(case["expected"], rel=0.02)
    page = (tmp_path / "rank.md").read_text()
    assert (
        "| unreached | not exercised | = | no benchmark runs what it changes in acme.work." in page
    )

    shown = (tmp_path / "rank.html").read_text()
    assert "10 branches against main: 3 helps" in shown.replace("\n", " ")
    assert "product of each" in shown
    assert "work.time_spin" in shown

    again = CliRunner().invoke(app, words)
    assert again.stderr.count("measured before") == len(BRANCHES)  # all but unbuilt, and together
    assert "counting" not in again.stderr
    found = json.loads((tmp_path / "rank.json").read_text())
    assert found | {"created": ""} == document | {"created": ""}


def test_what_runs_of_a_change_is_told_by_statement(project):
    base = project.git("rev-parse", "HEAD")
    edits = {
        "    found = []\n    for word": "    # A list.\n    found = list()\n    for word",
        "    return [each": "    if number > 900:\n        number = (\n            900)\n"
        "    return [each",
    }
    for old, new in edits.items():
        project.edit(loop.WORK, old, new)
    project.edit(loop.WORK, '"""What is measured."""', '"""What is measured, and how."""')
    commit = project.commit("edits")
    here = Checkout.around(project.root)
    source = (project.root / loop.WORK).read_text().splitlines()
    at = {text: number for number, text in enumerate(source, 1)}

    def look(*ran):
        lines = {at[text] for text in ran}
        return reach.look(base, commit, [{"right": {"acme/work.py": lines}}], here)

    assert look() == ((), ("acme.work.shout", "acme.work.evens"), ())
    assert look().none
    assert look("    if number > 900:") == (("acme.work.evens",), ("acme.work.shout",), ())
    assert not look("    found = list()").none
    # The second line of a statement is run by its first one.
    assert look("        number = (").run == ("acme.work.evens",)


def test_what_is_imported_or_compiled_is_not_called_unreached(project):
    base = project.git("rev-parse", "HEAD")
    project.edit(loop.WORK, '"""What is measured."""\n', '"""What is measured."""\n\nLIMIT = 3\n')
    project.write("src/acme/fast.c", "int x;\n")
    project.write("tests/check.py", "")
    commit = project.commit("a constant")
    found = reach.look(base, commit, [], Checkout.around(project.root))
    assert found == ((), (), ("src/acme/fast.c", "src/acme/work.py"))
    assert not found.none


def test_lines_are_seen_below_a_folder_and_on_threads(tmp_path):
    file = tmp_path / "side/pack.py"
    file.parent.mkdir()
    file.write_text("import threading\ndef one():\n    x = 1\n    if x > 1:\n        x = 2\n"
                    "def both():\n    t = threading.Thread(target=one)\n    t.start()\n"
                    "    t.join()\n")  # fmt: skip
    space = {}
    exec(compile(file.read_text(), str(file), "exec"), space)  # noqa: S102  (our own text)
    assert tracer.lines(space["both"], tmp_path / "side") == {"pack.py": [3, 4, 7, 8, 9]}
    assert tracer.lines(space["both"], tmp_path / "other") == {}


@pytest.mark.usefixtures("project")
def test_what_cannot_be_ranked_is_a_line():
    for words, told in ((["nobody"], "unknown commit: 'nobody'"), ([], "name branches")):
        answer = CliRunner().invoke(app, ["rank", "--base", "main", *words])
        assert (answer.exit_code, told in answer.stderr) == (2, True), answer.output
    assert set(rank.FINDINGS) >= {kind for _, kind in BRANCHES.values()}


def test_a_page_of_a_ranking_escapes_names_and_scales_its_bars():
    case = {"name": "work.time_spin", "verdict": "improved", "meter": "instructions",
            "left": 200.0, "right": 100.0, "ratio": 0.5}  # fmt: skip
    row = {"kind": "faster", "why": "it is", "reach": None, "conflicts": []}
    rows = [row | {"branch": "<b>", "ratio": 0.25, "cases": [case]},
            row | {"branch": "half", "ratio": 2.0, "cases": []}]  # fmt: skip
    document = {"base": "main", "created": "2026-11-24", "bench": "", "branches": rows}
    shown = ranked.page(document | {"together": None})
    assert "2 branches against main: 2 helps" in shown
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
    assert "1 of 1 benchmarks moved" in shown
    assert 'class="" style="left: 0.0%; width: 50.0%"' in shown
    assert 'class="more" style="left: 50%; width: 25.0%"' in shown
    assert "Those that help, together" not in shown


def test_a_cell_of_markdown_is_one_cell():
    row = {"branch": "a|b", "kind": "", "why": "x", "ratio": None, "reach": None, "conflicts": []}
    page = ranked.markdown({"base": "main", "branches": [row], "together": None})
    assert page.splitlines()[-1] == "| a\\|b | not decided | - | x |"


def fork(project, tmp_path):
    """A clone with references of its own: its address, and their commits."""
    made = {}
    folder = tmp_path / "fork"
    project.git("clone", "--quiet", "--bare", str(project.root), str(folder))
    for number, name in enumerate(("refs/heads/perf/one", "refs/heads/perf/two", "refs/heads/other",
                                   "refs/pull/7/head", "refs/merge-requests/8/head")):  # fmt: skip
        made[name] = project.git(
            "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", "commit-tree",
            "-p", "main", "-m", f"{number}", "main^{tree}",
        )  # fmt: skip
        project.git("-C", str(folder), "update-ref", name, made[name])
    return str(folder), made


def test_branches_are_named_by_patterns_here_and_in_another_repository(project, tmp_path):
    here = Checkout.around(project.root)
    head = project.git("rev-parse", "HEAD")
    for name in ("perf/here", "perf/more", "old"):
        project.git("branch", name)
    address, there = fork(project, tmp_path)
    before = project.git("for-each-ref"), project.git("status", "--porcelain")
    assert branches.find(["perf/*", "old", "perf/here", head[:8]], [], "", here) == dict.fromkeys(
        ("perf/here", "perf/more", "old", head[:8]), head
    )
    found = branches.find(["perf/[ot]*"], [], address, here)
    assert found == {name: there[f"refs/heads/{name}"] for name in ("perf/one", "perf/two")}
    assert here.merge_base("main", found["perf/one"]) == head
    requests = ["#7", "7 the same again", "file"]
    with pytest.raises(BenchproofError, match="'file': a line is a pull request's number"):
        branches.find([], requests, address, here)
    assert branches.find([], requests[:2], address, here) == {"#7": there["refs/pull/7/head"]}
    project.git("remote", "add", "origin", address)
    assert branches.find([], ["7"], "", here) == {"#7": there["refs/pull/7/head"]}
    assert (project.git("for-each-ref"), project.git("status", "--porcelain")) == before


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("https://github.com/a/b/pull/7", ("https://github.com/a/b", "#7", "refs/pull/7/head")),
        ("https://github.com/a/b/pull/7/files said to be 2x",
         ("https://github.com/a/b", "#7", "refs/pull/7/head")),
        ("https://gitlab.com/a/b/-/merge_requests/8#note_1",
         ("https://gitlab.com/a/b", "#8", "refs/merge-requests/8/head")),
        ("https://codeberg.org/a/b/pulls/9", ("https://codeberg.org/a/b", "#9",
                                              "refs/pull/9/head")),
        ("12", ("origin", "#12", "refs/pull/12/head")),
    ],
)  # fmt: skip
def test_a_pull_request_is_a_number_or_an_address(line, asked):
    assert branches._request(line, "origin") == asked


@pytest.mark.parametrize(
    ("names", "requests", "told"),
    [
        (["prf/one"], [], "no branch 'prf/one' in .*did you mean perf/one"),
        (["nothing/*"], [], r"no branch 'nothing/\*' in"),
        ([], ["99"], "has no refs/pull/99/head"),
    ],
)
def test_what_another_repository_has_not_is_told_by_name(project, tmp_path, names, requests, told):
    address, _ = fork(project, tmp_path)
    with pytest.raises(BenchproofError, match=told):
        branches.find(names, requests, address, Checkout.around(project.root))
    with pytest.raises(BenchproofError, match="git ls-remote failed"):
        branches.find(["x"], [], str(tmp_path / "nowhere"), Checkout.around(project.root))


def test_a_result_is_of_the_benchmarks_wherever_they_lie(project, place, tmp_path, monkeypatch):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "one.py").write_text("def time_one(): pass\n")
    project.edit("pyproject.toml", "[tool.benchproof]", loop.READS)
    here = replace(place, checkout=Checkout(project.root, folder), suites=folder)
    row = {"base": "a" * 40, "commit": "b" * 40}

    def key():
        request = compare.Request("a", "b")
        return rank._key(row, request, replace(here, checkout=Checkout(project.root, folder)))

    keys = [key()]
    (folder / "one.py").write_text("def time_one(): return 1\n")
    keys.append(key())
    monkeypatch.setenv("ACME_FAST", "1")
    keys.append(key())
    monkeypatch.setenv("LANG", "tlh")
    keys.append(key())
    assert len(set(keys)) == 3
    assert keys[2] == keys[3]
