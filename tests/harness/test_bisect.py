"""Whole searches on a toy driver with real commits, real builds and real counts."""

import pytest

from benchproof.bisect import run
from benchproof.bisect import search as searching
from benchproof.errors import BisectError, SelectionError
from benchproof.meters import instructions

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(instructions.why_not()), reason=instructions.why_not()),
]
WORK = "driver/work.py"
END = "    return total\n"
#: Lines that cost a little more than 2 % of a call of the case; and much more.
DEARER, MUCH_DEARER = 1, 40


def unrelated(toy, number):
    """A commit whose build is another one, and whose case is the same."""
    text = (toy.root / WORK).read_text(encoding="utf-8")
    toy.write(WORK, f"{text}\n\ndef unused_{number}():\n    return {number}\n")
    return toy.commit(f"commit {number}")


def dearer(toy, lines, words="dearer"):
    """A commit that makes the case cost more, for the same answer."""
    toy.edit(WORK, END, lines * "    total += times - times\n" + END)
    return toy.commit(words)


def search(place, tell, span, bench="toy.time_spin", **more):
    return run.run(bench, span, place, tell, impl="python", **more)


@pytest.mark.nightly
def test_a_planted_2_percent_in_64_commits_takes_at_most_9_builds(toy, place, tell):
    for number in range(1, 41):
        unrelated(toy, number)
    culprit = dearer(toy, DEARER)
    for number in range(42, 65):
        unrelated(toy, number)
    found = search(place, tell, "HEAD~64..HEAD")
    assert found["stops"] == 65
    assert found["culprit"]["commit"] == culprit
    assert found["builds"] <= 9
    assert found["verdict"]["status"] == "found"
    assert found["verdict"]["exit"] == 0
    (case,) = found["comparison"]["cases"]
    assert case["verdict"] == "regressed"
    assert 1.02 < case["meters"]["instructions"]["ratio"] < 1.03


def test_the_culprit_inside_of_a_merge_is_found_around_commits_that_do_not_build(toy, place, tell):
    unrelated(toy, 1)
    toy.git("checkout", "--quiet", "-b", "side")
    unrelated(toy, 2)
    culprit = dearer(toy, MUCH_DEARER)
    setup = (toy.root / "setup.py").read_text(encoding="utf-8")
    toy.write("setup.py", "raise SystemExit('broken on purpose')\n")
    broken = toy.commit("does not build")
    toy.write("setup.py", setup)
    unrelated(toy, 3)
    toy.git("checkout", "--quiet", "main")
    toy.write("README.md", "words")
    toy.commit("words")
    toy.git("merge", "--quiet", "--no-ff", "-m", "the merge", "side")
    found = search(place, tell, "HEAD~2..HEAD")
    assert found["culprit"]["commit"] == culprit
    assert found["verdict"]["exit"] == 0
    assert found["profile"]
    lost = {each["commit"] for each in found["tried"] if each["value"] is None}
    assert lost <= {broken}
    out = told_of(found)
    assert "dearer" in out
    assert "found:" in out


@pytest.mark.nightly
def test_a_culprit_that_hides_among_commits_that_lack_the_case_is_a_range(toy, place, tell):
    text = (toy.root / WORK).read_text(encoding="utf-8")
    good = toy.git("rev-parse", "HEAD")
    toy.write(WORK, text.replace("def spin", "def spun"))
    toy.commit("without it")
    toy.write(WORK, text)
    last = dearer(toy, MUCH_DEARER, "with it again")
    found = search(place, tell, f"{good}..{last}")
    assert found["verdict"]["status"] == "range"
    assert found["verdict"]["exit"] == 2
    assert [each["subject"] for each in found["lost"]] == ["without it"]
    assert found["culprit"]["commit"] == last
    assert found["comparison"] is None
    assert "one of 2 commits" in told_of(found)


@pytest.mark.nightly
def test_a_culprit_that_changed_the_answer_is_named_and_not_confirmed(toy, place, tell):
    toy.edit(WORK, END, MUCH_DEARER * "    total += times\n" + END)
    culprit = toy.commit("another answer")
    found = search(place, tell, "HEAD~1..HEAD")
    assert found["culprit"]["commit"] == culprit
    assert found["verdict"]["status"] == "not confirmed"
    assert found["verdict"]["exit"] == 2
    assert "different answers: digests" in found["verdict"]["summary"]


@pytest.mark.nightly
def test_a_history_that_names_the_wrong_place_costs_builds_and_nothing_else(
    toy, place, tell, monkeypatch
):
    unrelated(toy, 1)
    culprit = dearer(toy, MUCH_DEARER)
    monkeypatch.setattr(searching, "hint", lambda *_: (0, 1))
    found = search(place, tell, "HEAD~2..HEAD")
    assert found["culprit"]["commit"] == culprit
    assert found["builds"] == 3
    assert "that was no help" in tell.text


@pytest.mark.nightly
def test_ends_that_cost_the_same_are_an_error(toy, place, tell):
    unrelated(toy, 1)
    with pytest.raises(BisectError, match="there is nothing to find: instructions went from"):
        search(place, tell, "HEAD~1..HEAD")


def test_a_range_that_builds_the_same_all_along_is_an_error(toy, place, tell):
    toy.write("README.md", "words")
    toy.commit("words")
    with pytest.raises(BisectError, match="no commit of it changes what is built"):
        search(place, tell, "HEAD~1..HEAD")


def test_an_expression_that_several_benchmarks_match_is_an_error(toy, place, tell):
    unrelated(toy, 1)
    with pytest.raises(SelectionError, match="matches 3 benchmarks, not one"):
        search(place, tell, "HEAD~1..HEAD", bench="toy")


def test_a_benchmark_of_a_module_that_does_not_import_is_not_found_and_why_is_told(
    toy, place, tell, monkeypatch
):
    unrelated(toy, 1)
    rows = [{"excluded": "bad", "why": "suites/bad.py:1 does not import: ...", "broken": True}]
    monkeypatch.setattr(run.listing, "found", lambda *_: rows)
    with pytest.raises(SelectionError):
        search(place, tell, "HEAD~1..HEAD", bench="bad.time_it")
    assert "bad (suites/bad.py:1 does not import: ...)" in tell.text


def told_of(document):
    """What a person sees."""
    import io

    from rich.console import Console

    out = io.StringIO()
    run.show(document, Console(file=out, width=120))
    return out.getvalue()
