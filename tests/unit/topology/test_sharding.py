"""Shards of tokens: the arithmetic, and the source ports that choose a shard."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver.topology.sharding import shard_of, source_ports_of_shard

LOWEST, HIGHEST = -(2**63), 2**63 - 1


@pytest.mark.parametrize(
    ("token", "shards", "ignored", "shard"),
    [
        (LOWEST, 4, 0, 0),
        (-1, 4, 0, 1),
        (0, 4, 0, 2),
        (HIGHEST, 4, 0, 3),
        (0, 3, 0, 1),
        # With bits ignored every range of the ring is spread over all shards.
        (LOWEST, 4, 12, 0),
        (LOWEST + 2**50, 4, 12, 1),
        (LOWEST + 2**51, 4, 12, 2),
        (LOWEST + 2**52, 4, 12, 0),
        (HIGHEST, 4, 12, 3),
        (12345, 1, 12, 0),
    ],
)
def test_a_token_belongs_to_its_shard(token, shards, ignored, shard):
    assert shard_of(token, shards, ignored) == shard


@given(st.integers(LOWEST, HIGHEST), st.integers(1, 256), st.integers(0, 20))
def test_a_shard_is_always_one_of_the_node_s(token, shards, ignored):
    assert 0 <= shard_of(token, shards, ignored) < shards


@given(st.integers(1, 100).flatmap(lambda n: st.tuples(st.integers(0, n - 1), st.just(n))))
def test_source_ports_choose_the_shard(case):
    shard, shards = case
    ports = source_ports_of_shard(shard, shards, 50_000, 50_500)
    assert list(ports) == [p for p in range(50_000, 50_501) if p % shards == shard]
