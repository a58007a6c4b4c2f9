"""Placement: replicas of keyspaces in use are worked out before a request needs them."""

import asyncio
import threading

import pytest
from cql_cluster import CqlCluster

from driver.cluster import Cluster, placement, schema_refresh
from driver.policies import RoundRobinPolicy
from driver.topology.metadata import Metadata
from driver.topology.ring import TokenMap
from driver.topology.schema.keyspace import KeyspaceMetadata

KEY = b"key"


def keyspace(factor=1, name="ks"):
    return KeyspaceMetadata(name, True, "SimpleStrategy", {"replication_factor": str(factor)})


class Placements(list):
    """The thread and the keyspace of each placement; ``gate`` holds them up."""

    def __init__(self):
        self.begun = threading.Event()
        self.gate = threading.Event()
        self.gate.set()


@pytest.fixture
def placed(monkeypatch):
    """Placements on any ring."""
    placements = Placements()
    place = TokenMap.replica_map_for_keyspace

    def replica_map_for_keyspace(self, description):
        placements.append((threading.current_thread().name, description.name))
        placements.begun.set()
        assert placements.gate.wait(10)
        return place(self, description)

    monkeypatch.setattr(TokenMap, "replica_map_for_keyspace", replica_map_for_keyspace)
    yield placements
    placements.gate.set()


@pytest.fixture
def cluster():
    with (
        CqlCluster(3) as nodes,
        Cluster(**nodes.options, load_balancing_policy=RoundRobinPolicy()) as found,
    ):
        found.connect()
        found.metadata.set_keyspaces({name: keyspace(1, name) for name in ("ks", "other")})
        yield found


@pytest.fixture(params=["small", "large"])
def where(request, monkeypatch):
    """On which thread replicas are placed, by the size of the ring."""
    if request.param == "small":
        return "driver-loop"
    monkeypatch.setattr(placement, "_LARGE_RING", 1)
    return "asyncio", "uvloop"


def replicas(cluster, name="ks"):
    return len(cluster.metadata.get_replicas(name, KEY))


def begin(cluster, coroutine):
    return asyncio.run_coroutine_threadsafe(coroutine, cluster.core.loop)


@pytest.fixture
def refreshing(cluster, placed, monkeypatch):
    """A refresh of the nodes that is held up while it places a keyspace that is in use."""
    monkeypatch.setattr(placement, "_LARGE_RING", 1)
    replicas(cluster)
    placed.begun.clear()
    placed.gate.clear()
    ring = cluster.metadata.token_map
    refresh = begin(cluster, cluster.core.control_connection.refresh_nodes(True))
    assert placed.begun.wait(10)
    assert cluster.metadata.token_map is ring
    return refresh


def test_a_request_places_its_keyspace_once_whatever_becomes_of_the_ring(cluster, placed, where):
    assert replicas(cluster) == 1
    own = threading.current_thread().name
    assert placed == [(own, "ks")]
    for _ in range(3):
        ring = cluster.metadata.token_map
        cluster.refresh_nodes(force_token_rebuild=True)
        assert cluster.metadata.token_map is not ring
        assert replicas(cluster) == 1
    assert [name for _, name in placed] == ["ks"] * 4
    assert [thread for thread, _ in placed].count(own) == 1
    assert all(thread.startswith(where) for thread, _ in placed[1:])


def test_requests_go_by_the_old_ring_until_the_new_one_is_there(cluster, placed, refreshing):
    ring = cluster.metadata.token_map
    assert replicas(cluster) == 1
    # A keyspace that is used for the first time meanwhile is placed as well.
    placed.gate.set()
    assert replicas(cluster, "other") == 1
    refreshing.result(10)
    own = threading.current_thread().name
    before = [thread for thread, _ in placed].count(own)
    assert cluster.metadata.token_map is not ring
    assert replicas(cluster) == replicas(cluster, "other") == 1
    assert [thread for thread, _ in placed].count(own) == before


def test_threads_of_the_application_may_wait_for_a_ring(cluster, placed, monkeypatch):
    monkeypatch.setattr(placement, "_LARGE_RING", 1)
    replicas(cluster)
    number = cluster.core.options.executor_threads
    waiting = [cluster.executor.submit(cluster.refresh_nodes, True) for _ in range(number)]
    for each in waiting:
        each.result(10)
    assert len(placed) == 1 + number


def test_a_ring_whose_building_was_cancelled_is_built_the_next_time(cluster, placed, refreshing):
    ring = cluster.metadata.token_map
    refreshing.cancel()
    placed.gate.set()
    cluster.refresh_nodes()
    assert cluster.metadata.token_map is not ring
    built = cluster.metadata.token_map
    cluster.refresh_nodes()
    assert cluster.metadata.token_map is built


def test_a_keyspace_that_changes_while_it_is_placed_is_placed_again(cluster, placed, refreshing):
    cluster.metadata.set_keyspace("ks", keyspace(2))
    placed.gate.set()
    refreshing.result(10)
    placed.clear()
    assert replicas(cluster) == 2
    assert placed == []


def read_as(monkeypatch, described):
    """Have the server describe a keyspace so."""

    async def read(_ask, _release_version, _name):
        return described

    part = (read, Metadata.set_keyspace)
    monkeypatch.setitem(schema_refresh._PARTS, "KEYSPACE", part)


def test_a_keyspace_is_replicated_in_another_way(cluster, placed, where, monkeypatch):
    replicas(cluster)
    placed.clear()
    read_as(monkeypatch, keyspace(2))
    cluster.refresh_keyspace_metadata("ks")
    assert replicas(cluster) == 2
    ((thread, _),) = placed
    assert thread.startswith(where)


def test_a_keyspace_without_requests_is_not_placed(cluster, placed, monkeypatch):
    read_as(monkeypatch, keyspace(2))
    cluster.refresh_keyspace_metadata("ks")
    cluster.refresh_nodes(force_token_rebuild=True)
    assert placed == []


def test_a_keyspace_that_changes_beside_its_replication_stays_placed(cluster, placed, monkeypatch):
    replicas(cluster)
    placed.clear()
    read_as(monkeypatch, keyspace(1))
    cluster.refresh_keyspace_metadata("ks")
    assert replicas(cluster) == 1
    assert placed == []


def test_a_keyspace_that_is_dropped_has_no_replicas(cluster, monkeypatch):
    replicas(cluster)
    read_as(monkeypatch, None)
    cluster.refresh_keyspace_metadata("ks")
    cluster.refresh_nodes(force_token_rebuild=True)
    assert replicas(cluster) == 0
    assert cluster.metadata.token_map.tokens_to_hosts_by_ks == {}


def test_the_ring_is_replaced_though_replicas_cannot_be_placed(cluster, monkeypatch, caplog):
    replicas(cluster)
    ring = cluster.metadata.token_map

    def fail(*_):
        raise LookupError("no replicas")

    with monkeypatch.context() as patched:
        patched.setattr(TokenMap, "replica_map_for_keyspace", fail)
        cluster.refresh_nodes(force_token_rebuild=True)
    assert cluster.metadata.token_map is not ring
    assert "Replicas could not be worked out" in caplog.text
    assert replicas(cluster) == 1
