"""Which commits are measured, in which order, and what is known of them already."""

import pytest

from benchproof.checkout import Checkout
from benchproof.commands.options import chosen_meters
from benchproof.errors import HistoryError, SelectionError
from benchproof.history import choice, loops, model, writing
from benchproof.history.writing import FAILED, Value
from tests.harness.toy import KNOWN

CASE = "suite.time_one"
KEYS = frozenset({(CASE, "instructions"), (CASE, "allocations")})
VERSIONS = {"suite.track_one_instructions": "1-1", "suite.track_one_allocations": "1-1"}
ABOUT = {"machine": "box"}


@pytest.fixture
def checkout(toy):
    return Checkout.around(toy.root)


@pytest.fixture
def known(tmp_path):
    return choice.Known(
        tmp_path / "results", "box",
        {each.name: writing.environment(tmp_path, KNOWN, each.name) for each in KNOWN}, VERSIONS,
    )  # fmt: skip


def put(known, commit, impl="python", value=None, meters=("instructions", "allocations")):
    writing.write(
        known.results, ABOUT, (commit, 0), known.environments[impl],
        {f"suite.track_one_{meter}": ("1-1", value or Value(5)) for meter in meters},
    )  # fmt: skip


def plan(checkout, wanted, known, impls=("python",)):
    return choice.plan(checkout, wanted, impls, KEYS, known)


@pytest.mark.parametrize(("count", "every"), [(1, 1), (2, 1), (9, 1), (9, 4), (10, 4), (3, 10)])
def test_a_range_is_measured_from_its_ends_into_its_gaps(count, every):
    found = [f"c{number}" for number in range(count)]
    order = choice.spread(found, every)
    assert len(set(order)) == len(order)
    assert set(order) == {*found[::every], found[-1]}
    assert order[0] == found[0]
    assert order[-1 if count == 1 else 1] == found[-1]


def test_the_widest_gap_comes_next():
    assert choice.spread(list("abcdefghi"), 1)[:5] == ["a", "i", "e", "c", "g"]


def test_a_range_is_gits(toy, checkout):
    hashes = [toy.commit(f"change {number}") for number in range(4)]
    assert choice.chosen(checkout, [f"{hashes[0]}..{hashes[2]}"]) == [hashes[2], hashes[1]]
    assert choice.chosen(checkout, [f"{hashes[3]}^!"]) == [hashes[3]]
    assert len(choice.chosen(checkout)) == 5


@pytest.mark.parametrize("text", ["nonsense", "HEAD..HEAD", "--all"])
def test_a_range_that_names_no_commits_is_an_error(checkout, text):
    with pytest.raises(HistoryError):
        model.chosen(checkout, text)


def test_several_ranges_are_measured_one_after_the_other_and_each_commit_once(toy, checkout):
    first, second, third = (toy.commit(f"change {number}") for number in range(3))
    asked = (f"{third}^!", f"{first}..{third}")
    assert choice.chosen(checkout, asked) == [third, second]
    assert choice.chosen(checkout, asked, every=2) == [third, second]


def test_commits_with_the_same_driver_are_one_job(toy, checkout, known):
    first = toy.git("rev-parse", "HEAD")
    second = toy.commit("words only")
    toy.edit("driver/work.py", "range(times)", "range(times + 1)")
    third = toy.commit("more work")
    made = plan(checkout, [third, second, first], known)
    assert [list(job.commits) for job in made.jobs] == [[third], [second, first]]
    assert all(job.asked.keys == KEYS for job in made.jobs)
    assert (made.known, made.shared) == (0, {})


def test_what_is_known_is_not_measured_again(toy, checkout, known):
    head = toy.git("rev-parse", "HEAD")
    put(known, head)
    made = plan(checkout, [head], known, ("python", "cython"))
    assert made.known == 1
    assert [job.asked.impl for job in made.jobs] == ["cython"]


def test_only_the_meters_that_are_missing_are_measured(toy, checkout, known):
    head = toy.git("rev-parse", "HEAD")
    put(known, head, meters=("allocations",))
    (job,) = plan(checkout, [head], known).jobs
    assert job.asked.keys == {(CASE, "instructions")}


def test_numbers_of_a_commit_with_the_same_driver_are_shared(toy, checkout, known):
    first = toy.git("rev-parse", "HEAD")
    second = toy.commit("words only")
    put(known, first)
    made = plan(checkout, [second, first], known)
    assert made.jobs == []
    assert made.shared == {(second, "python"): (first, KEYS)}


def test_what_failed_is_known_unless_it_is_asked_for_again(toy, checkout, known):
    head = toy.git("rev-parse", "HEAD")
    put(known, head, value=FAILED)
    assert plan(checkout, [head], known).jobs == []
    again = choice.Known(known.results, "box", known.environments, VERSIONS, again=True)
    (job,) = plan(checkout, [head], again).jobs
    assert job.asked.keys == KEYS


def test_numbers_of_another_version_are_not_known(toy, checkout, known):
    head = toy.git("rev-parse", "HEAD")
    put(known, head)
    newer = dict.fromkeys(VERSIONS, "2-1")
    other = choice.Known(known.results, "box", known.environments, newer)
    assert len(plan(checkout, [head], other).jobs) == 1


def test_a_damaged_file_is_measured_anew(toy, checkout, known):
    head = toy.git("rev-parse", "HEAD")
    put(known, head)
    file = writing.path(known.results, "box", head, known.environments["python"])
    file.write_text(file.read_text()[:-9])
    assert len(plan(checkout, [head], known).jobs) == 1


def test_samples_and_intervals_are_shared_too(known):
    value = Value(2e-6, 1e-6, 3e-6, (1e-6, 2e-6, 3e-6))
    put(known, "a" * 40, value=value)
    assert known.values("a" * 40, "python", KEYS)[CASE, "instructions"] == value


@pytest.mark.parametrize("price", [300, 3e3, 1e5, 3e6, 6e8])
def test_loop_counts_of_a_case_never_change_once_they_are_planned(tmp_path, price):
    plans = loops.Loops(tmp_path)
    assert plans.lacks(CASE, "python")
    first = plans.take(CASE, "python", 1e-6, price)
    plans.keep()
    again = loops.Loops(tmp_path)
    assert not again.lacks(CASE, "python")
    assert again.known(CASE, "python") == again.take(CASE, "python", 1.0, price * 9) == first
    assert first.instructions.few < first.instructions.many
    assert again.take(CASE, "cython", 1e-9, price / 9) is again.known(CASE, "cython")


@pytest.mark.parametrize("price", [300, 3e3, 1e5, 3e6, 6e8])
def test_loops_of_exact_meters_follow_no_clock(price):
    assert loops.planned(1e-6, price).instructions == loops.planned(1.0, price).instructions
    assert loops.planned(1e-6, price).allocations == loops.planned(1.0, price).allocations


def test_loops_take_few_instructions_unless_one_call_takes_more():
    for price in (300, 3e3, 3e4, 3e5):
        assert loops.planned(1.0, price).instructions.many * price < 2 * loops.TARGET


@pytest.mark.parametrize(
    ("text", "meters"),
    [("exact", ("instructions", "allocations", "bytes")), ("bytes,instructions",
     ("instructions", "bytes"))],
)  # fmt: skip
def test_meters_are_the_exact_ones(text, meters):
    assert chosen_meters(text, writing.EXACT, " (wall time: --wall)") == meters


@pytest.mark.parametrize(("text", "words"), [("wall", "--wall"), ("", "choose"), ("x", "choose")])
def test_other_meters_are_refused(text, words):
    with pytest.raises(SelectionError, match=words):
        chosen_meters(text, writing.EXACT, " (wall time: --wall)")
