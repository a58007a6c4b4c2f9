"""Tablets: learning, finding and forgetting them."""

from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver.topology.tablets import Tablet, Tablets, version_block
from driver.topology.token import Murmur3Token

H1, H2 = UUID(int=1), UUID(int=2)


def tablet(first, last, host=H1):
    return Tablet.from_row(first, last, [(host, 0)])


def found(tablets, token):
    return tablets.get_tablet_for_key("ks", "t", Murmur3Token(token))


@pytest.mark.parametrize("version", [0x7123456789ABCDEF, 0x7123456789ABCDEF - 2**63])
def test_a_block_of_the_version_is_its_number_and_four_of_its_bits(version):
    blocks = {version_block(Tablet(0, 1, ((H1, 0),), version)) for _ in range(2000)}
    digits = f"{version % 2**64:016x}"[::-1]
    assert blocks == {number << 4 | int(digit, 16) for number, digit in enumerate(digits)}


@pytest.mark.parametrize("known", [None, Tablet(0, 1, ((H1, 0),))])
def test_without_a_version_any_block_is_shown(known):
    blocks = {version_block(known) for _ in range(2000)}
    assert len(blocks) > 200
    assert all(0 <= block <= 255 for block in blocks)


def test_a_row_becomes_a_tablet():
    made = Tablet.from_row(-5, 5, [(H1, 3), (H2, 0)])
    assert made == Tablet(-5, 5, ((H1, 3), (H2, 0)))
    assert Tablet.from_row(-5, 5, [(H1, 3)], 7) == Tablet(-5, 5, ((H1, 3),), 7)
    assert made.replica_contains_host_id(H2)
    assert not made.replica_contains_host_id(UUID(int=3))


@pytest.mark.parametrize("replicas", [None, [], ()])
def test_a_row_without_replicas_is_no_tablet(replicas):
    assert Tablet.from_row(0, 1, replicas) is None


@pytest.mark.parametrize(
    ("token", "expected"),
    [(0, None), (1, (0, 10)), (10, (0, 10)), (11, None), (20, None), (21, (20, 30)), (31, None)],
)
def test_a_tablet_has_its_last_token_and_not_its_first(token, expected):
    tablets = Tablets({("ks", "t"): [tablet(0, 10), tablet(20, 30)]})
    hit = found(tablets, token)
    assert (hit and (hit.first_token, hit.last_token)) == expected


def test_an_unknown_table_has_no_tablets():
    assert found(Tablets(), 5) is None
    assert not Tablets().table_has_tablets("ks", "t")


@pytest.mark.parametrize(
    ("new", "left"),
    [
        ((10, 20), [(0, 10), (10, 20), (20, 30), (30, 40)]),
        ((5, 15), [(5, 15), (20, 30), (30, 40)]),
        ((0, 40), [(0, 40)]),
        ((25, 27), [(0, 10), (25, 27), (30, 40)]),
        ((-9, 1), [(-9, 1), (20, 30), (30, 40)]),
        ((39, 50), [(0, 10), (20, 30), (39, 50)]),
        ((50, 60), [(0, 10), (20, 30), (30, 40), (50, 60)]),
    ],
)
def test_a_new_tablet_replaces_those_that_it_overlaps(new, left):
    tablets = Tablets({("ks", "t"): [tablet(0, 10), tablet(20, 30), tablet(30, 40)]})
    tablets.add_tablet("ks", "t", tablet(*new))
    known = tablets.by_table["ks", "t"]
    assert [(t.first_token, t.last_token) for t in known] == left


borders = st.tuples(st.integers(-30, 30), st.integers(1, 20)).map(lambda b: (b[0], b[0] + b[1]))


@given(st.lists(borders, max_size=20))
def test_the_newest_tablet_wins_and_all_stay_ordered_and_disjoint(added):
    tablets = Tablets()
    for position, (first, last) in enumerate(added):
        tablets.add_tablet("ks", "t", tablet(first, last, UUID(int=position)))
        for token in (first + 1, last):
            assert found(tablets, token).replicas == ((UUID(int=position), 0),)
    known = tablets.by_table.get(("ks", "t"), [])
    assert all(a.last_token <= b.first_token for a, b in pairwise(known))


def test_a_table_or_a_keyspace_can_be_forgotten():
    known = {(ks, t): [tablet(0, 1)] for ks in ("a", "b") for t in ("x", "y")}
    tablets = Tablets(known)
    tablets.drop_tablets("a", "x")
    assert set(tablets.by_table) == {("a", "y"), ("b", "x"), ("b", "y")}
    tablets.drop_tablets("b")
    assert set(tablets.by_table) == {("a", "y")}


def test_tablets_of_a_host_can_be_forgotten():
    tablets = Tablets({("ks", "t"): [tablet(0, 10, H1), tablet(10, 20, H2)]})
    tablets.drop_tablets_by_host_id(None)
    tablets.drop_tablets_by_host_id(H1)
    assert found(tablets, 5) is None
    assert found(tablets, 15) is not None


@pytest.mark.parametrize("shard", [-1, -5, None])
def test_a_tablet_that_names_a_shard_that_cannot_be_is_not_learnt(shard):
    replicas = [(UUID(int=1), 0), (UUID(int=2), shard)]
    assert Tablet.from_row(0, 10, replicas) is None
