"""Keyspaces: every connection of a session uses the one that was set, or it is said which not."""

import re
import threading
from concurrent.futures import wait

import pytest
from cql_cluster import CqlCluster
from cql_node import error, rows

from driver.cluster import Cluster
from driver.net.errors import ConnectionException
from driver.policies import RoundRobinPolicy
from driver.protocol.errors import InvalidRequest
from driver.types import Int32Type

INVALID = 0x2200
USE = re.compile("^USE ")


@pytest.fixture
def nodes():
    with CqlCluster(3) as found:
        yield found


@pytest.fixture
def cluster(nodes):
    with Cluster(**nodes.options, load_balancing_policy=RoundRobinPolicy()) as connected:
        yield connected


def keyspaces_in_use(nodes):
    """The keyspaces of all connections, the control connection's apart."""
    found = [client.keyspace for node in nodes.nodes for client in node.clients]
    found.remove(None)
    return found


def test_every_connection_uses_the_keyspace_that_the_session_was_made_with(nodes, cluster):
    session = cluster.connect("ks", wait_for_all_pools=True)
    assert session.keyspace == "ks"
    for host in session.hosts:
        session.execute("SELECT 1", host=host)
    assert keyspaces_in_use(nodes) == ["ks"] * 3


def test_setting_another_keyspace_changes_all_connections(nodes, cluster):
    session = cluster.connect("ks", wait_for_all_pools=True)
    session.set_keyspace("other")
    assert session.keyspace == "other"
    assert keyspaces_in_use(nodes) == ["other"] * 3


def test_what_is_no_name_is_refused(cluster):
    session = cluster.connect()
    with pytest.raises(TypeError, match=r"^keyspace is a name, not None$"):
        session.set_keyspace(None)
    with pytest.raises(TypeError, match=r"^keyspace is a name, not 5$"):
        cluster.connect(5)


def test_a_use_that_the_application_executes_changes_all_connections_too(nodes, cluster):
    session = cluster.connect(wait_for_all_pools=True)
    session.execute("USE ks")
    assert session.keyspace == "ks"
    assert keyspaces_in_use(nodes) == ["ks"] * 3


def test_a_keyspace_with_capitals_is_quoted(nodes, cluster):
    cluster.connect("MyKs")
    assert 'USE "MyKs"' in nodes.texts


def test_a_keyspace_that_does_not_exist_makes_no_session_and_leaves_no_connection(nodes, cluster):
    usable = cluster.connect(wait_for_all_pools=True)
    before = {node.port: len(node.clients) for node in nodes.nodes}
    nodes.when(USE, error(INVALID, "Keyspace 'nowhere' does not exist"))
    with pytest.raises(InvalidRequest, match="nowhere"):
        cluster.connect("nowhere", wait_for_all_pools=True)
    assert len(cluster.core.sessions) == 1
    for _ in range(200):
        if {node.port: len(node.clients) for node in nodes.nodes} == before:
            break
        usable.execute("SELECT 1")
    assert {node.port: len(node.clients) for node in nodes.nodes} == before
    assert usable.keyspace is None


def test_the_errors_of_every_host_reach_the_callback(nodes, cluster):
    session = cluster.connect(wait_for_all_pools=True)
    refusing, refusing_too, willing = session.hosts
    nodes.node(refusing).when(USE, error(INVALID, "not here"))
    nodes.node(refusing_too).when(USE, error(INVALID, "nor here"))
    heard, done = [], threading.Event()

    def callback(errors):
        heard.append(errors)
        done.set()

    session.core.set_keyspace_for_all_pools("ks", callback)
    assert done.wait(10)
    (errors,) = heard
    assert set(errors) == {refusing, refusing_too}
    assert "not here" in str(errors[refusing])
    assert "nor here" in str(errors[refusing_too])
    assert willing not in errors


def test_a_keyspace_that_some_hosts_refuse_is_an_error_that_names_all_of_them(nodes, cluster):
    session = cluster.connect(wait_for_all_pools=True)
    willing, *refusing = session.hosts
    for host in refusing:
        nodes.node(host).when(USE, error(INVALID, f"not on {host.endpoint.port}"))
    with pytest.raises(ConnectionException) as caught:
        session.execute("USE ks", host=willing)
    for host in refusing:
        assert f"not on {host.endpoint.port}" in str(caught.value)


def test_connections_that_are_opened_later_use_the_keyspace_too(nodes, cluster):
    nodes.when("FROM t", rows([("k", Int32Type)], [(1,)]))
    session = cluster.connect("ks", wait_for_all_pools=True)
    host = session.hosts[0]
    cluster.run(session.core.pools.take(host).close())
    assert not wait(session.update_created_pools()).not_done
    assert session.execute("SELECT k FROM t", host=host).one().k == 1
    assert keyspaces_in_use(nodes) == ["ks"] * 3


def test_a_pool_opens_although_the_keyspace_was_dropped(nodes, cluster):
    session = cluster.connect("ks", wait_for_all_pools=True)
    nodes.when(USE, error(INVALID, "Keyspace 'ks' does not exist"))
    nodes.when("FROM other.t", rows([("k", Int32Type)], [(1,)]))
    for host in session.hosts:
        assert cluster.run(session.core.pools.add_or_renew(host)) is None
        assert session.execute("SELECT k FROM other.t", host=host).one().k == 1
