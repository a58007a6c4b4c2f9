"""Token awareness over the cluster's real metadata: ring, tablets, and hosts that come and go."""

from types import SimpleNamespace
from uuid import UUID

import pytest

from driver.policies import DCAwareRoundRobinPolicy, TokenAwarePolicy
from driver.policies.load_balancing import dc_aware
from driver.statements import SimpleStatement
from driver.topology.host import Host
from driver.topology.metadata import KeyspaceMetadata, Metadata
from driver.topology.tablets import Tablet

SIMPLE = {"replication_factor": "2"}
#: Of the ring below, its replicas are B and C.
KEY = b"\x11"


class Cluster:
    """Three hosts of one datacenter, a policy that knows them, and a keyspace."""

    def __init__(self):
        self.hosts = [Host(f"10.0.0.{i}", None, "dc1", "r1", UUID(int=i)) for i in (1, 2, 3)]
        self.metadata = Metadata()
        for host in self.hosts:
            host.set_up()
            self.metadata.add_or_return_host(host)
        self.metadata.keyspaces["ks"] = KeyspaceMetadata("ks", True, "SimpleStrategy", SIMPLE)
        self.place(self.hosts)
        self.policy = TokenAwarePolicy(DCAwareRoundRobinPolicy("dc1"), shuffle_replicas=False)
        self.policy.populate(SimpleNamespace(metadata=self.metadata), self.hosts)

    def place(self, hosts):
        tokens = {host: [f"{host.host_id.int}0"] for host in hosts}
        self.metadata.rebuild_token_map("ByteOrderedPartitioner", tokens)

    def plan(self, keyspace="ks", table=None):
        query = SimpleStatement("q", routing_key=KEY, keyspace=keyspace, table=table)
        return self.policy.make_query_plan(None, query)


@pytest.fixture
def cluster(monkeypatch):
    monkeypatch.setattr(dc_aware, "randint", lambda *_: 0)
    return Cluster()


def test_the_replicas_of_the_ring_come_first(cluster):
    a, b, c = cluster.hosts
    assert list(cluster.plan()) == [b, c, a]


def test_a_keyspace_that_is_unknown_leaves_the_plan_to_the_child(cluster):
    assert list(cluster.plan("elsewhere")) == cluster.hosts


def test_so_does_a_ring_that_is_unknown(cluster):
    cluster.metadata.rebuild_token_map("org.example.Own", {})
    assert list(cluster.plan()) == cluster.hosts


def test_a_replica_that_is_down_is_in_no_plan_until_it_is_up(cluster):
    a, b, c = cluster.hosts
    b.set_down()
    cluster.policy.on_down(b)
    assert list(cluster.plan()) == [c, a]
    b.set_up()
    cluster.policy.on_up(b)
    assert next(cluster.plan()) is b


def test_all_replicas_down_leaves_the_other_hosts(cluster):
    a, *replicas = cluster.hosts
    for host in replicas:
        host.set_down()
        cluster.policy.on_down(host)
    assert list(cluster.plan()) == [a]


def test_a_tablet_goes_before_the_ring_and_forgets_a_host_that_left(cluster):
    a, _, c = cluster.hosts
    tokens = {host: [str(host.host_id.int)] for host in cluster.hosts}
    cluster.metadata.rebuild_token_map("Murmur3Partitioner", tokens)
    ring = list(cluster.plan(table="t"))
    everything = Tablet(-(2**63), 2**63 - 1, ((c.host_id, 0), (a.host_id, 1), (UUID(int=9), 0)))
    cluster.metadata.tablets.add_tablet("ks", "t", everything)
    # The child goes on round the datacenter, one further than last time.
    assert list(cluster.plan(table="t"))[:2] == [c, a]
    assert list(cluster.plan(table="other"))[:2] == ring[:2]
    cluster.metadata.remove_host(c)
    assert list(cluster.plan(table="t"))[:2] == ring[:2]


def test_hosts_may_come_and_go_while_a_plan_is_walked(cluster):
    a, b, c = cluster.hosts
    plan = cluster.plan()
    assert next(plan) is b
    new = Host("10.0.0.4", None, "dc1", "r1", UUID(int=4))
    c.set_down()
    cluster.policy.on_remove(c)
    cluster.metadata.remove_host(c)
    cluster.policy.on_add(new)
    cluster.place([a, b, new])
    assert sorted(plan) == [a, new]
