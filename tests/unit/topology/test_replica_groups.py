"""Keys are grouped by a replica that is up, with the routing keys that a bound statement has."""

from types import SimpleNamespace
from uuid import UUID

import pytest

from driver.policies.distance import HostDistance
from driver.statements.routing_key import pack_parts
from driver.topology.host import Host
from driver.topology.metadata import NO_VALID_REPLICA, Metadata, group_keys_by_replica
from driver.topology.schema.column import ColumnMetadata
from driver.topology.schema.keyspace import KeyspaceMetadata
from driver.topology.schema.table import TableMetadata
from driver.topology.schema.user_type import UserType
from driver.topology.tablets import Tablet
from driver.types import Int32Type, UTF8Type

NEAR, FAR = (Host(f"10.0.0.{i}", host_id=UUID(int=i)) for i in (1, 2))


class AskedMetadata(Metadata):
    """Remembers which keys it was asked for."""

    def __init__(self, replicas):
        super().__init__()
        self.replicas = replicas
        self.asked = []

    def get_replicas(self, keyspace, key, table=None):
        self.asked.append((keyspace, key, table))
        return self.replicas


@pytest.fixture
def session():
    return session_with([FAR, NEAR])


def session_with(replicas, types=("int",)):
    NEAR.is_up = FAR.is_up = True
    metadata = AskedMetadata(replicas)
    keyspace = KeyspaceMetadata("ks", True, None, None)
    keyspace.user_types["u"] = UserType("ks", "u", ["n"], ["frozen<v>"])
    keyspace.user_types["v"] = UserType("ks", "v", ["n"], ["int"])
    table = TableMetadata("ks", "t")
    table.partition_key = [ColumnMetadata(table, f"k{i}", t) for i, t in enumerate(types)]
    keyspace.add_table(table)
    metadata.set_keyspace("ks", keyspace)
    policy = SimpleNamespace(
        distance=lambda host: HostDistance.LOCAL if host is NEAR else HostDistance.REMOTE
    )
    cluster = SimpleNamespace(metadata=metadata, load_balancing_policy=policy, protocol_version=4)
    return SimpleNamespace(cluster=cluster)


def test_local_replicas_come_first(session):
    assert group_keys_by_replica(session, "ks", "t", [(1,), (2,)]) == {NEAR: [(1,), (2,)]}


def test_remote_replicas_come_before_none(session):
    NEAR.is_up = False
    assert group_keys_by_replica(session, "ks", "t", [(1,)]) == {FAR: [(1,)]}


def test_keys_without_a_replica_that_is_up_stand_apart(session):
    NEAR.is_up = FAR.is_up = False
    assert group_keys_by_replica(session, "ks", "t", [(1,)]) == {NO_VALID_REPLICA: [(1,)]}


def test_a_key_of_one_column_is_the_column_s_bytes(session):
    group_keys_by_replica(session, "ks", "t", [(7,)])
    assert session.cluster.metadata.asked == [("ks", Int32Type.serialize(7, 4), "t")]


def test_a_key_of_several_columns_is_packed_as_a_statement_packs_it():
    session = session_with([NEAR], ("int", "text"))
    group_keys_by_replica(session, "ks", "t", [(7, "x")])
    packed = pack_parts([Int32Type.serialize(7, 4), UTF8Type.serialize("x", 4)])
    assert session.cluster.metadata.asked == [("ks", packed, "t")]


def test_a_key_may_be_of_a_user_defined_type():
    session = session_with([NEAR], ("frozen<u>",))
    group_keys_by_replica(session, "ks", "t", [(((5,),),)])
    inner = b"\0\0\0\4" + Int32Type.serialize(5, 4)
    assert session.cluster.metadata.asked[0][1] == b"\0\0\0\x08" + inner


def test_unknown_tables_and_wrong_values_are_errors(session):
    with pytest.raises(KeyError):
        group_keys_by_replica(session, "ks", "unknown", [(1,)])
    with pytest.raises(TypeError):
        group_keys_by_replica(session, "ks", "t", [("text",)])


def test_tablets_place_keys_too():
    metadata = Metadata()
    metadata.add_or_return_host(NEAR)
    metadata.rebuild_token_map("Murmur3Partitioner", {NEAR: ["0"]})
    metadata.tablets.add_tablet("ks", "t", Tablet(-(2**63), 2**63 - 1, ((NEAR.host_id, 0),)))
    session = session_with([])
    metadata.set_keyspace("ks", session.cluster.metadata.keyspaces["ks"])
    session.cluster.metadata = metadata
    assert group_keys_by_replica(session, "ks", "t", [(1,)]) == {NEAR: [(1,)]}
