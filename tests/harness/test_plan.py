"""The order of processes: balanced, random, the same for the same seed."""

from dataclasses import replace
from itertools import islice

import pytest

from benchproof import plan
from benchproof.meters import counts


def first(number, seed=1):
    return list(islice(plan.blocks(seed), number))


def test_every_two_blocks_hold_both_orders():
    blocks = first(40)
    for one, other in zip(blocks[::2], blocks[1::2], strict=True):
        assert {one.sides, other.sides} == {("left", "right"), ("right", "left")}


def test_who_goes_first_in_a_pair_is_drawn():
    assert len({block.sides for block in first(40)[::2]}) == 2


def test_blocks_differ_in_hash_seed_case_order_and_environment():
    blocks = first(20)
    for name in ("hash_seed", "order", "padding"):
        assert len({getattr(block, name) for block in blocks}) > 10


def test_a_seed_gives_the_same_plan_again():
    assert first(10) == first(10)
    assert first(10) != first(10, seed=2)


@pytest.mark.parametrize("seconds", [1e-7, 1e-5, 1e-3, 1.0])
def test_the_exact_meters_loop_counts_follow_no_clock(seconds):
    assert plan.loops(seconds, 40_000) == replace(
        plan.loops(1.0, 40_000), wall=plan.loops(seconds, 1).wall
    )


def test_a_case_is_warmed_up_by_64_calls_where_they_are_affordable():
    assert counts.warm_for(1_000) == counts.warm_for(400_000) == counts.WARM == 64
    assert counts.warm_for(4_000_000) == counts.AFFORDABLE // 4_000_000
    assert counts.warm_for(10 * counts.AFFORDABLE) == 1


def test_a_large_call_is_counted_by_itself():
    planned = plan.loops(0.1, 240_000_000).instructions
    assert (planned.warm, planned.few, planned.many) == (1, 0, 1)
    assert planned.per_call((500, 240_000_500)) == 240_000_000


def test_prices_that_are_near_give_the_same_loop_counts():
    assert len({plan.loops(1.0, price).instructions for price in (29_000, 30_000, 31_000)}) == 1


def test_processor_time_that_a_busy_machine_moves_by_a_half_seldom_shows():
    assert counts.price_of(1e-6) == counts.price_of(1.5e-6) == counts.price_of(2e-6)


@pytest.mark.parametrize(
    ("rounds", "price", "over"),
    [
        ([1000.0], 1000, False),  # nothing to agree with
        ([1200.0, 1000.0], 1000, False),
        ([1200.0, 1000.0, 1000.5], 1000, True),  # the interpreter has settled
        ([1200.0, 1000.0] * 3, 1000, True),  # it never will
        ([2.0e8, 2.4e8], 2.4e8, True),  # no more are affordable
    ],
)
def test_rounds_go_on_until_two_agree(rounds, price, over):
    assert counts.settled(rounds, price) is over


@pytest.mark.parametrize(
    ("first", "over"),
    [
        ([1e5], False),
        ([4e7, 1.8e7], False),  # something is made in the first calls
        ([4e7, 1.8e7, 1.05e5, 1e5], True),
        ([2.4e8, 2.36e8], True),
        ([1e5, 2e5] * 4, True),  # they never agree
    ],
)
def test_a_call_is_priced_when_two_successive_ones_cost_about_the_same(first, over):
    assert counts.priced(first) is over
