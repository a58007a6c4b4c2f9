"""The ring and the cluster's metadata: from a key to its replicas."""

from uuid import UUID

import pytest

from driver.topology.host import Host
from driver.topology.metadata import (
    KeyspaceMetadata,
    Metadata,
    PartitionKeyColumn,
    TableMetadata,
)
from driver.topology.tablets import Tablet
from driver.topology.token import BytesToken, Murmur3Token

A, B, C = (Host(f"10.0.0.{i}", host_id=UUID(int=i)) for i in (1, 2, 3))
SIMPLE = "org.apache.cassandra.locator.SimpleStrategy"


@pytest.fixture
def metadata():
    metadata = Metadata()
    for host in (A, B, C):
        metadata.add_or_return_host(host)
    metadata.keyspaces["ks"] = KeyspaceMetadata("ks", True, SIMPLE, {"replication_factor": "2"})
    metadata.keyspaces["ks"].tables["t"] = TableMetadata("ks", "t", [PartitionKeyColumn("a")])
    metadata.rebuild_token_map("ByteOrderedPartitioner", {A: ["10"], B: ["20"], C: ["30"]})
    return metadata


@pytest.mark.parametrize(
    ("key", "replicas"),
    [
        (b"\x05", [A, B]),
        (b"\x10", [A, B]),
        (b"\x10\x00", [B, C]),
        (b"\x20", [B, C]),
        (b"\x21", [C, A]),
        (b"\x31", [A, B]),
    ],
    ids=["before the first", "on a token", "just after", "on the next", "wraps", "past the last"],
)
def test_a_range_ends_at_its_token_and_the_last_one_wraps(metadata, key, replicas):
    assert metadata.get_replicas("ks", key) == replicas
    assert metadata.get_primary(key) == replicas[0]


def test_unknown_things_have_no_replicas(metadata):
    assert metadata.get_replicas("unknown", b"\x05") == []
    assert Metadata().get_replicas("ks", b"\x05") == []
    assert Metadata().get_primary(b"\x05") is None
    assert Metadata().token_of(b"\x05") is None


def test_an_unknown_partitioner_has_no_ring(metadata):
    metadata.rebuild_token_map("org.example.Own", {A: ["10"]})
    assert metadata.token_map is None


def test_an_empty_ring_answers_with_nothing(metadata):
    metadata.rebuild_token_map("Murmur3Partitioner", {})
    assert metadata.get_replicas("ks", b"x") == []
    assert metadata.get_primary(b"x") is None


def test_a_keyspace_without_a_strategy_has_no_replicas(metadata):
    metadata.keyspaces["odd"] = KeyspaceMetadata("odd", True, None, None)
    assert metadata.get_replicas("odd", b"x") == []


def test_a_changed_keyspace_is_placed_anew(metadata):
    assert metadata.get_replicas("ks", b"\x05") == [A, B]
    metadata.keyspaces["ks"] = KeyspaceMetadata("ks", True, SIMPLE, {"replication_factor": "1"})
    metadata.token_map.rebuild_keyspace("never-asked-for")
    metadata.token_map.rebuild_keyspace("ks")
    assert metadata.get_replicas("ks", b"\x05") == [A]


def test_tokens_come_from_the_cluster_s_partitioner(metadata):
    assert metadata.token_of(b"k") == BytesToken(b"k")
    metadata.rebuild_token_map("Murmur3Partitioner", {A: ["0"]})
    assert metadata.token_of(b"k") == Murmur3Token.from_key(b"k")


def test_a_tablet_answers_before_the_ring(metadata):
    metadata.rebuild_token_map("Murmur3Partitioner", {A: ["0"]})
    everything = Tablet(-(2**63), 2**63 - 1, ((C.host_id, 0), (UUID(int=9), 1)))
    metadata.tablets.add_tablet("ks", "t", everything)
    assert metadata.get_replicas("ks", b"key", "t") == [C]
    assert metadata.get_replicas("ks", b"key", "other") == [A]
    assert metadata.get_replicas("ks", b"key") == [A]


class Leaving(dict):
    """Hosts of which each is removed as soon as somebody has looked whether it is there."""

    def __contains__(self, host_id):
        return self.pop(host_id, None) is not None


def test_a_replica_that_leaves_in_between_is_no_replica(metadata):
    metadata.rebuild_token_map("Murmur3Partitioner", {A: ["0"]})
    everything = Tablet(-(2**63), 2**63 - 1, ((C.host_id, 0),))
    metadata.tablets.add_tablet("ks", "t", everything)
    metadata._hosts = Leaving(metadata._hosts)
    assert metadata.get_replicas("ks", b"key", "t") in ([], [C])


def test_a_keyspace_that_changes_while_it_is_placed_is_placed_anew(metadata, monkeypatch):
    before = metadata.keyspaces["ks"].replication_strategy
    place = type(before).make_token_replica_map
    altered = KeyspaceMetadata("ks", True, SIMPLE, {"replication_factor": "1"})

    def place_and_alter(strategy, *args):
        if strategy is before:
            metadata.set_keyspace("ks", altered)
        return place(strategy, *args)

    monkeypatch.setattr(type(before), "make_token_replica_map", place_and_alter)
    metadata.get_replicas("ks", b"\x05")
    assert metadata.get_replicas("ks", b"\x05") == [A]


def test_a_keyspace_that_is_dropped_while_it_is_placed_has_no_replicas(metadata, monkeypatch):
    strategy = type(metadata.keyspaces["ks"].replication_strategy)
    place = strategy.make_token_replica_map

    def place_and_drop(self, *args):
        metadata.set_keyspace("ks", None)
        return place(self, *args)

    monkeypatch.setattr(strategy, "make_token_replica_map", place_and_drop)
    metadata.get_replicas("ks", b"\x05")
    assert metadata.get_replicas("ks", b"\x05") == []


def test_a_host_is_kept_once_by_its_id(metadata):
    again = Host("10.0.0.9", host_id=A.host_id)
    assert metadata.add_or_return_host(again) == (A, False)
    assert metadata.all_hosts() == [A, B, C]
    with pytest.raises(ValueError, match="has no host_id"):
        metadata.add_or_return_host(Host("10.0.0.8"))


def test_a_removed_host_takes_its_tablets_along(metadata):
    metadata.tablets.add_tablet("ks", "t", Tablet(0, 5, ((A.host_id, 0),)))
    assert metadata.remove_host(A)
    assert not metadata.remove_host(A)
    assert not metadata.tablets.table_has_tablets("ks", "t")
    assert metadata.all_hosts() == [B, C]


class TestSchemaChanges:
    @pytest.fixture(autouse=True)
    def tablet(self, metadata):
        metadata.get_replicas("ks", b"x")
        metadata.tablets.add_tablet("ks", "t", Tablet(0, 5, ((A.host_id, 0),)))

    def test_what_is_created_makes_nothing_stale(self, metadata):
        metadata.set_table("ks", "u", TableMetadata("ks", "u", [PartitionKeyColumn("a")]))
        assert metadata.tablets.table_has_tablets("ks", "t")

    def test_a_dropped_table_is_forgotten(self, metadata):
        metadata.set_table("ks", "t", None)
        assert not metadata.tablets.table_has_tablets("ks", "t")
        assert metadata.table("ks", "t") is None

    def test_a_dropped_keyspace_is_forgotten(self, metadata):
        metadata.set_keyspace("ks", None)
        assert metadata.get_replicas("ks", b"x") == []
        assert not metadata.tablets.table_has_tablets("ks", "t")

    def test_an_updated_keyspace_is_placed_anew(self, metadata):
        updated = KeyspaceMetadata("ks", True, SIMPLE, {"replication_factor": "3"})
        metadata.set_keyspace("ks", updated)
        assert len(metadata.get_replicas("ks", b"x")) == 3

    def test_other_targets_are_no_matter_of_routing(self, metadata):
        metadata.set_function("ks", "f", (), None)
        assert metadata.table("ks", "t") is not None


@pytest.mark.parametrize("partitioner", ["Murmur3Partitioner", "RandomPartitioner"])
def test_a_key_goes_where_its_token_goes(partitioner):
    metadata = Metadata()
    hosts = [A, B, C]
    for host in hosts:
        metadata.add_or_return_host(host)
    metadata.keyspaces["ks"] = KeyspaceMetadata("ks", True, SIMPLE, {"replication_factor": "2"})
    top = 2**63 if partitioner.startswith("Murmur") else 2**127
    tokens = {host: [str(top // 7 * n), str(top // 5 * n)] for n, host in enumerate(hosts)}
    metadata.rebuild_token_map(partitioner, tokens)
    found = set()
    for number in range(50):
        key = number.to_bytes(4)
        token = metadata.token_of(key)
        by_token = metadata.token_map.get_replicas("ks", token)
        assert metadata.hash_of(key) == token.value
        assert metadata.get_replicas("ks", key) == list(by_token)
        owner = metadata.token_map.token_to_host_owner
        after = [end for end in metadata.token_map.ring if end >= token]
        assert by_token[0] is owner[(after or metadata.token_map.ring)[0]]
        found.add(by_token)
    assert len(found) > 1


def test_no_token_is_made_for_a_key(metadata, monkeypatch):
    metadata.get_replicas("ks", b"\x05")

    def refuse(*_):
        raise AssertionError("a token")

    monkeypatch.setattr(BytesToken, "__init__", refuse)
    for method in ("__lt__", "__eq__", "__hash__"):
        monkeypatch.setattr(BytesToken, method, refuse)
    assert metadata.get_replicas("ks", b"\x05") == [A, B]
    assert metadata.get_replicas("ks", b"\x05", "t") == [A, B]


def test_a_ring_without_tokens_has_no_replicas(metadata):
    metadata.rebuild_token_map("ByteOrderedPartitioner", {})
    assert metadata.get_replicas("ks", b"\x05") == []
    assert metadata.hash_of(b"\x05") == b"\x05"
    assert Metadata().hash_of(b"\x05") is None
