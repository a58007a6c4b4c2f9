"""Nodes that fail: others take over, and a node that comes back is used again."""

import time

import pytest
from cql_cluster import CqlCluster, eventually
from cql_node import PREPARE

from driver.cluster import Cluster
from driver.policies import ConstantReconnectionPolicy, RoundRobinPolicy
from driver.protocol.errors import NoHostAvailable
from driver.types import Int32Type

INSERT = "INSERT INTO t (k) VALUES (?)"


class Listener:
    """Remembers what it hears."""

    def __init__(self):
        self.heard = []

    def on_up(self, host):
        self.heard.append(("up", host.endpoint.port))

    def on_down(self, host):
        self.heard.append(("down", host.endpoint.port))

    def on_add(self, host):
        self.heard.append(("add", host.endpoint.port))

    def on_remove(self, host):
        self.heard.append(("remove", host.endpoint.port))


@pytest.fixture
def nodes():
    with CqlCluster(3) as found:
        found.prepare(INSERT, markers=[("k", Int32Type)])
        yield found


@pytest.fixture
def cluster(nodes):
    with Cluster(
        **nodes.options,
        load_balancing_policy=RoundRobinPolicy(),
        reconnection_policy=ConstantReconnectionPolicy(0.05, None),
    ) as connected:
        yield connected


def fail(node):
    """What a killed process does: it refuses, and all its connections are gone."""
    node.stop_listening()
    node.drop_connections()


def host_of(cluster, node):
    return next(h for h in cluster.metadata.all_hosts() if h.endpoint.port == node.port)


def test_a_node_that_fails_goes_down_and_is_asked_no_more(nodes, cluster):
    listener = Listener()
    cluster.register_listener(listener)
    session = cluster.connect(wait_for_all_pools=True)
    failed = nodes.nodes[2]
    fail(failed)
    assert eventually(lambda: ("down", failed.port) in listener.heard)
    assert host_of(cluster, failed).is_up is False
    assert eventually(lambda: len(session.hosts) == 2)
    for _ in range(6):
        assert session.execute("SELECT 1").response_future.coordinator_host.is_up


def test_a_node_that_comes_back_is_prepared_and_used_again(nodes, cluster):
    listener = Listener()
    cluster.register_listener(listener)
    session = cluster.connect("ks", wait_for_all_pools=True)
    prepared = session.prepare(INSERT)
    failed = nodes.nodes[2]
    fail(failed)
    assert eventually(lambda: ("down", failed.port) in listener.heard)
    failed.forget_prepared()
    failed.listen_again()
    assert eventually(lambda: ("up", failed.port) in listener.heard)
    assert failed.count(PREPARE) == 2
    host = host_of(cluster, failed)
    assert host.is_up
    session.execute(prepared, (1,), host=host)
    assert failed.count(PREPARE) == 2
    assert "ks" in [client.keyspace for client in failed.clients]


def test_the_control_connection_moves_to_another_node(nodes, cluster):
    cluster.connect(wait_for_all_pools=True)
    first = cluster.get_control_connection_host()
    fail(nodes.node(first))
    assert eventually(lambda: cluster.get_control_connection_host() not in {None, first})


def test_all_nodes_may_fail_and_come_back(nodes, cluster):
    session = cluster.connect(wait_for_all_pools=True)
    for node in nodes.nodes:
        fail(node)
    assert eventually(lambda: not any(h.is_up for h in cluster.metadata.all_hosts()))
    with pytest.raises(NoHostAvailable):
        session.execute("SELECT 1")
    for node in nodes.nodes:
        node.listen_again()
    assert eventually(lambda: all(h.is_up for h in cluster.metadata.all_hosts()))
    assert session.execute("SELECT 1").all() == []
    assert eventually(lambda: cluster.get_control_connection_host() is not None)


def test_a_node_that_leaves_and_one_that_joins_are_noticed(nodes, cluster):
    listener = Listener()
    nodes.members.remove(2)
    cluster.register_listener(listener)
    session = cluster.connect(wait_for_all_pools=True)
    assert len(session.hosts) == 2
    nodes.members.append(2)
    cluster.refresh_nodes()
    assert eventually(lambda: ("add", nodes.nodes[2].port) in listener.heard)
    assert eventually(lambda: len(session.hosts) == 3)
    nodes.members.remove(2)
    cluster.refresh_nodes()
    assert eventually(lambda: ("remove", nodes.nodes[2].port) in listener.heard)
    assert eventually(lambda: len(session.hosts) == 2)
    assert len(cluster.metadata.all_hosts()) == 2


def test_a_node_that_fails_while_nobody_listens_is_left_alone_after_shutdown(nodes):
    cluster = Cluster(**nodes.options, reconnection_policy=ConstantReconnectionPolicy(0.01, None))
    cluster.connect(wait_for_all_pools=True)
    failed = nodes.nodes[2]
    fail(failed)
    host = host_of(cluster, failed)
    assert eventually(lambda: host.is_up is False)
    cluster.shutdown()
    failed.listen_again()
    accepted = failed.accepted
    time.sleep(0.05)
    assert failed.accepted == accepted


def test_no_host_to_ask_is_an_error_with_the_reason_of_each():
    with CqlCluster(1) as one, Cluster(**one.options) as cluster:
        session = cluster.connect()
        (host,) = cluster.metadata.all_hosts()
        one.nodes[0].stop_listening()
        one.nodes[0].drop_connections()
        assert eventually(lambda: host.is_up is False)
        with pytest.raises(NoHostAvailable, match="The host is down") as caught:
            session.execute("SELECT k FROM t")
        assert list(caught.value.errors) == [host]
