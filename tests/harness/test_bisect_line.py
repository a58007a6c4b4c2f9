"""What lies between two commits: first parents, equal builds, what merges brought."""

from dataclasses import replace

import pytest

from benchproof.bisect import line, search
from benchproof.bisect.run import _one_variant, check, ends
from benchproof.checkout import Checkout
from benchproof.errors import BisectError, SelectionError, TargetError
from benchproof.history.model import Commit, History
from tests.harness.generated import key, series_of


@pytest.fixture
def checkout(toy):
    return Checkout.around(toy.root)


def change(toy, name, words=None):
    """A commit that changes what is built."""
    toy.write("driver/extra.py", f"ABOUT = {name!r}\n")
    return toy.commit(words or name)


def test_commits_that_leave_the_driver_alone_are_one_stop_with_the_one_before(toy, checkout):
    good = checkout.head()
    one = change(toy, "one")
    toy.write("README.md", "words")
    words = toy.commit("words")
    two = change(toy, "two")
    stops = line.between(checkout, good, two)
    assert [stop.commits for stop in stops] == [(good,), (one, words), (two,)]
    assert stops[1].first == one


def test_a_change_taken_back_is_a_stop_of_the_same_content(toy, checkout):
    good = change(toy, "one")
    change(toy, "two")
    bad = change(toy, "one", "back")
    stops = line.between(checkout, good, bad)
    assert len(stops) == 3
    assert stops[0].content == stops[2].content


def test_a_merge_stands_for_its_branch_and_the_branch_can_be_searched(toy, checkout):
    good = checkout.head()
    toy.git("checkout", "--quiet", "-b", "side")
    inner = [change(toy, name) for name in ("a", "b")]
    toy.git("checkout", "--quiet", "main")
    toy.write("README.md", "words")
    words = toy.commit("words")
    toy.git("merge", "--quiet", "--no-ff", "-m", "merge", "side")
    merge = checkout.head()
    stops = line.between(checkout, good, merge)
    assert [stop.commits for stop in stops] == [(good, words), (merge,)]
    (branch,) = line.branches(checkout, merge)
    assert [stop.commits for stop in branch] == [(good,), (inner[0],), (inner[1],)]
    assert line.branches(checkout, words) == []


def test_a_good_commit_beside_the_line_begins_it_where_the_histories_part(toy, checkout):
    fork = checkout.head()
    toy.git("checkout", "--quiet", "-b", "side")
    good = change(toy, "beside")
    toy.git("checkout", "--quiet", "main")
    bad = change(toy, "bad")
    assert [stop.commits for stop in line.between(checkout, good, bad)] == [(fork,), (bad,)]


def test_no_commit_between_is_an_error_that_asks_about_the_order(toy, checkout):
    good = checkout.head()
    bad = change(toy, "bad")
    for first, last in ((good, good), (bad, good)):
        with pytest.raises(BisectError, match="is BAD the newer one"):
            line.between(checkout, first, last)


@pytest.mark.parametrize("span", ["a", "..b", "a...b", "", ".."])
def test_what_is_no_range_is_refused(span):
    with pytest.raises(TargetError, match=r"write GOOD\.\.BAD"):
        ends(span)


def test_a_range_ends_at_head_unless_it_says_more():
    assert ends("a..b") == ("a", "b")
    assert ends("a..") == ("a", "HEAD")


@pytest.mark.parametrize("meter", ["wall", "nonsense"])
def test_a_meter_that_one_process_does_not_decide_is_refused(meter):
    with pytest.raises(SelectionError, match="instructions, allocations, bytes"):
        check(meter)


def test_a_search_counts_one_variant(place):
    assert (_one_variant("", place, "HEAD"), _one_variant("python", place, "HEAD")) == (
        "cython", "python",
    )  # fmt: skip
    without = replace(place, toolchain=replace(place.toolchain, why_not="none"))
    assert _one_variant("", without, "HEAD") == "python"
    with pytest.raises(SelectionError, match="a search counts one variant"):
        _one_variant("all", place, "HEAD")
    with pytest.raises(TargetError, match="--impl 'rust'"):
        _one_variant("rust", place, "HEAD")


def test_the_kept_history_says_where_to_look_first(toy, checkout, monkeypatch, tmp_path):
    names = [checkout.head()] + [change(toy, f"c{number}") for number in range(20)]
    values = [10_000.0] * 12 + [11_000.0] * 9
    known = series_of(key(0, impl="python"), [values[at] for at in range(0, 21, 4)],
                      index=range(0, 21, 4))  # fmt: skip
    history = History([Commit(name, 0, "") for name in names], {known.key: known})
    monkeypatch.setattr(search, "load", lambda *_: history)
    stops = line.between(checkout, names[0], names[-1])

    def hint(stops, folder=tmp_path, **more):
        asked = {"bench": known.key.benchmark, "meter": "instructions", "impl": "python"} | more
        return search.hint(folder, checkout, stops, **asked)

    assert hint(stops) == (8, 12)
    assert hint(stops[8:13]) is None
    assert hint(stops[:10]) is None
    assert hint(stops, impl="cython") is None
    assert hint(stops, bench="another") is None
    assert hint(stops, tmp_path / "none") is None
