"""Which commit carries a row: read from the trailers of a repository made for it."""

import pytest
from ledger import carried, reader

from benchproof.checkout import Checkout
from tests.harness.sample_ledger import LEDGER, SUM


@pytest.fixture
def find(toy):
    def found(row="7-1"):
        ledger = reader.parse(SUM)
        return carried.find([ledger.rows[row]], ledger, Checkout.around(toy.root))[row]

    return found


@pytest.fixture
def commit(toy):
    """Commit a change of the driver, or only words, under a message."""
    number = 0

    def made(message, *, change=True):
        nonlocal number
        number += 1
        toy.write("driver/work.py" if change else "README.md", f"x = {number}\n")
        return toy.commit(message)

    return made


def test_the_commit_with_the_trailer_is_measured_against_its_parent(toy, commit, find):
    parent = toy.git("rev-parse", "HEAD")
    carrier = commit("Spin faster\n\nIt pays.\n\nClaim: 7-1")
    commit("Something else")
    where = find()
    assert (where.left, where.right, where.subject) == (parent, carrier, "Spin faster")
    assert (where.taken_back, where.why) == ((), "")


def test_a_row_without_a_commit_says_so(commit, find):
    commit("Claim: 7-1 is only mentioned here\n\nClaim: 7-10\n")
    assert find().why == "no commit carries it"


def test_words_in_the_middle_of_a_message_are_no_trailer(commit, find):
    commit("Words\n\nClaim: 7-1\nis what the page says.\n\nAnd more words follow it.")
    assert find().why == "no commit carries it"


@pytest.mark.parametrize("trailers", ["Claim: 7-1\nClaim: 7-2", "Claim: 7-2, 7-1"])
def test_one_commit_may_carry_two_rows(commit, find, trailers):
    carrier = commit(f"Both\n\n{trailers}")
    assert find("7-1").right == find("7-2").right == carrier


def test_a_row_that_two_commits_carry_is_told(commit, find):
    commit("One\n\nClaim: 7-1")
    commit("Two\n\nClaim: 7-1")
    assert "2 commits carry it" in find().why


def test_a_row_taken_back_by_a_trailer_is_still_measured_and_marked(commit, find):
    carrier = commit("Spin faster\n\nClaim: 7-1")
    back = commit("It does not pay\n\nReverts-claim: 7-1")
    assert (find().right, find().taken_back, find().why) == (carrier, (back,), "")


def test_a_row_taken_back_by_git_revert_is_marked(toy, commit, find):
    carrier = commit("Spin faster\n\nClaim: 7-1")
    toy.git("revert", "--no-edit", carrier)
    assert find().right == carrier
    assert find().taken_back == (toy.git("rev-parse", "HEAD"),)


def test_a_row_that_is_tried_again_is_its_second_commit(commit, find):
    commit("Spin faster\n\nClaim: 7-1")
    commit("It does not pay\n\nReverts-claim: 7-1")
    again = commit("Spin faster, otherwise\n\nClaim: 7-1")
    assert (find().right, find().taken_back, find().why) == (again, (), "")


def test_a_first_commit_has_nothing_to_be_measured_against(tmp_path):
    from tests.harness.toy import Repository

    alone = Repository(tmp_path / "alone")
    alone.commit("All at once\n\nClaim: 7-1")
    ledger = reader.parse(LEDGER)
    where = carried.find([ledger.rows["7-1"]], ledger, Checkout(alone.root))["7-1"]
    assert "no parent" in where.why


def test_a_sum_of_rows_reaches_from_before_the_first_to_after_the_last(toy, commit, find):
    before = toy.git("rev-parse", "HEAD")
    commit("One\n\nClaim: 7-1")
    commit("Words between", change=False)
    last = commit("Two\n\nClaim: 7-2")
    commit("Something else")
    assert (find("7").left, find("7").right, find("7").why) == (before, last, "")


def test_a_sum_includes_what_took_one_of_its_rows_back(commit, find):
    commit("One\n\nClaim: 7-1")
    commit("Two\n\nClaim: 7-2")
    back = commit("Not one\n\nReverts-claim: 7-1")
    assert find("7").right == back


def test_another_change_between_leaves_the_rows_of_a_sum_to_be_measured_one_by_one(commit, find):
    commit("One\n\nClaim: 7-1")
    commit("Something else")
    commit("Two\n\nClaim: 7-2")
    assert (find("7").left, find("7").right) == ("", "")
    assert (find("7").apart, find("7").why) == (("7-1", "7-2"), "")


def test_a_row_that_was_taken_back_is_no_part_of_a_sum_measured_one_by_one(commit, find):
    commit("One\n\nClaim: 7-1")
    commit("Something else")
    commit("Two\n\nClaim: 7-2")
    commit("Not one\n\nReverts-claim: 7-1")
    assert find("7").apart == ("7-2",)


def test_a_change_that_was_taken_back_to_the_letter_before_the_next_row_is_no_other(
    toy, commit, find
):
    commit("One\n\nClaim: 7-1")
    tried = commit("Something else")
    commit("Words between", change=False)
    toy.git("revert", "--no-edit", tried)
    last = commit("Two\n\nClaim: 7-2")
    assert (find("7").right, find("7").why) == (last, "")


def test_a_change_that_is_taken_back_only_after_a_row_is_measured_with_that_row(toy, commit, find):
    commit("One\n\nClaim: 7-1")
    tried = commit("Something else")
    toy.write("driver/more.py", "y = 1\n")
    toy.commit("Two\n\nClaim: 7-2")
    toy.git("revert", "--no-edit", tried)
    toy.write("driver/more.py", "y = 2\n")
    toy.commit("Not one\n\nReverts-claim: 7-1")
    assert find("7").apart == ("7-2",)


def test_half_a_change_taken_back_is_another(commit, find):
    commit("One\n\nClaim: 7-1")
    commit("Something else")
    commit("Half of it")
    commit("Two\n\nClaim: 7-2")
    assert find("7").apart == ("7-1", "7-2")


def test_a_sum_that_lacks_a_row_says_which(commit, find):
    commit("One\n\nClaim: 7-1")
    assert find("7").why == "7-2: no commit carries it"
