"""The order of processes: balanced, random, the same for the same seed."""

from itertools import islice

from benchproof import plan


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


def test_loop_counts_follow_the_slower_side_and_are_one_set_for_both():
    assert plan.loops(1e-6, 1e-3) == plan.loops(1e-3, 1e-6) == plan.loops(1e-3, 1e-3)


def test_a_slow_call_is_still_counted_twice():
    counts = plan.loops(1.0, 1.0)
    assert counts.wall == 1
    assert (counts.instructions.few, counts.instructions.many) == (1, 2)


def test_a_calibration_that_wobbles_a_little_mostly_changes_no_exact_count():
    counts = {plan.loops(t * 1e-6, 1e-9).instructions for t in (9.5, 10.0, 10.5)}
    assert len(counts) == 1
