"""Replicas of each strategy, against placements that were worked out by hand."""

import json
from pathlib import Path

import pytest

from driver.topology.host import Host
from driver.topology.replication import (
    LocalStrategy,
    NetworkTopologyStrategy,
    ReplicationFactor,
    ReplicationStrategy,
    SimpleStrategy,
)
from driver.topology.token import Murmur3Token

GOLDEN = json.loads(
    (Path(__file__).parents[2] / "golden/topology/replicas.json").read_text(encoding="utf-8")
)
HOSTS = {
    name: Host(name, datacenter=at["datacenter"], rack=at["rack"])
    for name, at in GOLDEN["hosts"].items()
}
OWNERS = {
    Murmur3Token(token): HOSTS[name]
    for name, at in GOLDEN["hosts"].items()
    for token in at["tokens"]
}
CASES = [
    pytest.param(
        keyspace, token, replicas, id=f"{keyspace['strategy']}-{keyspace['options']}-{token}"
    )
    for keyspace in GOLDEN["keyspaces"]
    for token, replicas in keyspace["replicas"].items()
]


@pytest.mark.parametrize(("keyspace", "token", "replicas"), CASES)
def test_replicas_stand_where_the_rules_put_them(keyspace, token, replicas):
    strategy = ReplicationStrategy.create(keyspace["strategy"], keyspace["options"])
    placed = strategy.make_token_replica_map(OWNERS, sorted(OWNERS))
    names = "".join(host.address for host in placed.get(Murmur3Token(token), ()))
    assert names == replicas, keyspace["why"]


@pytest.mark.parametrize(
    ("text", "everyone", "transient"), [("3", 3, 0), (3, 3, 0), ("3/1", 3, 1), ("1/0", 1, 0)]
)
def test_a_replication_factor_is_read(text, everyone, transient):
    factor = ReplicationFactor.create(text)
    assert (factor.all_replicas, factor.transient_replicas) == (everyone, transient)
    assert factor.full_replicas == everyone - transient
    assert ReplicationFactor.create(str(factor)) == factor


def test_a_strategy_tells_its_full_replicas():
    assert SimpleStrategy({"replication_factor": "3/1"}).replication_factor == 2
    strategy = NetworkTopologyStrategy({"dc1": "3/1", "dc2": 2})
    assert strategy.dc_replication_factors == {"dc1": 2, "dc2": 2}
    assert "'dc1': '3/1'" in repr(strategy)


@pytest.mark.parametrize("text", ["", "three", "3/4", "-1", "3/1/1", None])
def test_a_wrong_replication_factor_is_named(text):
    with pytest.raises(ValueError, match="Unable to determine replication factor from"):
        ReplicationFactor.create(text)


def test_a_simple_strategy_needs_a_factor():
    with pytest.raises(ValueError, match="needs a replication_factor"):
        SimpleStrategy({})


def test_no_class_is_no_strategy():
    assert ReplicationStrategy.create(None, {}) is None


@pytest.mark.parametrize(
    ("strategy", "text"),
    [
        (SimpleStrategy({"replication_factor": 3}), "'SimpleStrategy', 'replication_factor': '3'"),
        (NetworkTopologyStrategy({"dc1": "3/1"}), "'NetworkTopologyStrategy', 'dc1': '3/1'"),
        (LocalStrategy({"ignored": 1}), "'LocalStrategy'"),
        (ReplicationStrategy.create("EverywhereStrategy", {}), "'EverywhereStrategy'"),
        (ReplicationStrategy.create("x.Own", {"a": "b"}), "'Own', 'a': 'b'"),
    ],
)
def test_a_strategy_is_written_as_cql(strategy, text):
    assert strategy.export_for_schema() == f"{{'class': {text}}}"


def test_strategies_are_values():
    three = SimpleStrategy({"replication_factor": 3})
    assert three == SimpleStrategy({"replication_factor": "3"})
    assert hash(three) == hash(SimpleStrategy({"replication_factor": "3"}))
    assert three != SimpleStrategy({"replication_factor": 2})
    assert three != NetworkTopologyStrategy({"replication_factor": 3})
    assert three != "SimpleStrategy"
