"""Two workers take turns: never both at once, and neither waits for who will not answer."""

import socket
import statistics
import threading
from contextlib import closing
from dataclasses import replace
from itertools import groupby, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchproof import suite
from benchproof.collected import pair
from benchproof.meters import wall
from benchproof.meters.turns import Turns
from benchproof.plan import SIDES, blocks
from tests.harness.toy import last_two

#: Seconds after which a conversation counts as stuck.
STUCK = 20


class Talk:
    """Both ends, each driven by a thread; and what was seen of the turns."""

    def __init__(self):
        self.ends = socket.socketpair()
        self.seen = []

    def side(self, name, cases):
        """Go through cases, of which each has some takes of some values, or fails before them.

        Of a take with two numbers it stops after the second one.
        """
        end = self.ends[name]
        turns = Turns(end.fileno(), first=name == 0)
        try:
            for case, takes in enumerate(cases):
                for count in takes or ():
                    most, stop = count if isinstance(count, tuple) else (count, count)
                    with closing(turns.take(most)) as taking:
                        for number, _ in enumerate(taking, 1):
                            self.seen.append((name, case))
                            if number >= stop:
                                break
                turns.end()
        finally:
            end.close()

    def run(self, left, right):
        threads = [
            threading.Thread(target=self.side, args=each, daemon=True)
            for each in enumerate((left, right))
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join(STUCK)
        assert not any(each.is_alive() for each in threads), "both wait"
        return self.seen


def test_sides_alternate_value_by_value_and_the_first_one_begins_every_case():
    seen = Talk().run([[4], [4]], [[4], [4]])
    assert seen == [(side, case) for case in (0, 1) for _ in range(4) for side in (0, 1)]


def test_a_side_whose_other_side_failed_goes_on_alone_and_both_meet_at_the_next_case():
    for left, right in (([None, [3]], [[5], [3]]), ([[5], [3]], [None, [3]])):
        seen = Talk().run(left, right)
        assert len([1 for _, case in seen if case == 0]) == 5
        assert seen[5:] == [(0, 1), (1, 1)] * 3


def test_a_side_whose_other_side_ended_goes_on_alone():
    assert Talk().run([[2], [2], [2]], [[2]])[4:] == [(0, 1)] * 2 + [(0, 2)] * 2


def test_without_another_side_every_turn_is_its_own():
    turns = Turns()
    assert list(turns.take(3)) == [None] * 3
    turns.end()
    assert list(turns.take(2)) == [None] * 2


TAKES = st.lists(
    st.none() | st.lists(st.tuples(st.integers(0, 4), st.integers(1, 5)), max_size=3), max_size=5
)


@given(left=TAKES, right=TAKES)
def test_whatever_both_do_each_takes_its_turns_and_nobody_waits_for_ever(left, right):
    seen = Talk().run(left, right)
    for side, cases in enumerate((left, right)):
        expected = [
            case for case, takes in enumerate(cases) for _ in range(sum(map(min, takes or ())))
        ]
        assert [case for name, case in seen if name == side] == expected


def test_values_that_took_turns_are_one_ratio():
    slow, fast = [2.0, 2.0, 4.0, 2.0, 4.0], [1.0, 1.0, 2.0, 1.0, 2.0]
    left, right = pair(slow, fast)
    assert right / left == pytest.approx(0.5)
    assert left * right == pytest.approx(statistics.median(slow) * statistics.median(fast))


def test_one_value_a_side_stands_for_itself():
    assert pair([3.0], [4.0]) == (3.0, 4.0)
    assert pair([0.0, 0.0, 1.0], [5.0, 6.0, 7.0]) == (0.0, 6.0)


@given(
    st.lists(
        st.tuples(st.floats(1e-9, 1e3), st.sampled_from([1.0, 1.9]), st.sampled_from([1.0, 1.9])),
        min_size=2, max_size=20,
    )
)  # fmt: skip
def test_the_ratio_of_a_pair_is_one_that_values_had_and_does_not_know_its_sides(values):
    left = [value * one for value, one, _ in values]
    right = [value * other for value, _, other in values]
    one, other = pair(left, right)
    ratios = [after / before for before, after in zip(left, right, strict=True)]
    assert min(ratios) * (1 - 1e-9) <= other / one <= max(ratios) * (1 + 1e-9)
    assert pair(right, left) == pytest.approx((other, one))


#: Cases that note in a file whose turn it is; one fails in the left side.
NOTES = """
import os

HERE = os.environ["TOY_NOTES"]
# Open once: where a value takes long, as opening a file beside many others may, fewer are taken.
NOTES = os.open(HERE, os.O_WRONLY | os.O_APPEND)


def note():
    from driver.work import LETTER

    os.write(NOTES, LETTER.encode())


def time_one():
    note()


def time_two():
    from driver.work import LETTER

    if LETTER == "l" and open(HERE).read(1) == "x":
        raise ValueError("left fails")
    note()


for each in (time_one, time_two):
    each.version = "1"
"""


@pytest.mark.slow
def test_the_processes_of_a_block_alternate(toy, place, tmp_path, tell, monkeypatch):
    toy.edit("driver/work.py", "def spin", "LETTER = 'l'\n\n\ndef spin")
    toy.commit("left")
    toy.edit("driver/work.py", "LETTER = 'l'", "LETTER = 'r'")
    toy.commit("right")
    suites, notes = tmp_path / "noting", tmp_path / "notes"
    suites.mkdir()
    (suites / "__init__.py").touch()
    (suites / "noting.py").write_text(NOTES)
    notes.touch()
    monkeypatch.setenv("TOY_NOTES", str(notes))
    with last_two(place, suites, tmp_path / "scratch", tell) as bench:
        one, two = suite.from_rows(bench.discover())
        bench.prove([one, two])
        for name, loops in bench.got.loops.items():
            bench.got.loops[name] = replace(loops, wall=1)
        for block in islice(blocks(1), 4):
            notes.write_text("")
            bench.time_block(block, [one])
            # A value that the clocks contradict is taken once more, in the same turn.
            turns = [letter for letter, _ in groupby(notes.read_text())][-2 * wall.VALUES :]
            seen = (len(turns), turns[0])
            assert block.index in bench.got.thrown or seen == (2 * wall.VALUES, block.sides[0][0])
        notes.write_text("x")
        bench.time_block(next(blocks(1)), [two])
        assert bench.got.failures == {two.name: "left: ValueError: left fails (noting.py:23)"}
        assert notes.read_text().count("r") > wall.VALUES
    left, right = (bench.got.taken("wall", side, one.name) for side in SIDES)
    assert len(left) == len(right) == 4 - len(bench.got.thrown) > 0
    assert {len(values) for values in (*left.values(), *right.values())} == {wall.VALUES}
