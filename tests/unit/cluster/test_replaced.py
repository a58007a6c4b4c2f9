"""What a program puts into a class after requests have run, the next request meets.

Compiled code remembers where it found attributes and methods; it forgets when the class changes.
"""

import pytest
from cql_cluster import CqlCluster
from cql_node import rows
from loops import eventually_here
from together import together

from driver import Cluster, NoHostAvailable
from driver.cluster.session_core import SessionCore
from driver.pool.host_pool import HostPool
from driver.topology.host import Host
from driver.types import Int32Type
from driver.wire.codec import ProtocolHandler


@pytest.fixture
def session():
    with CqlCluster() as cluster:
        cluster.when("FROM t", rows([("k", Int32Type)], [(1,)]))
        with Cluster(**cluster.options) as ours:
            session = ours.connect()
            for _ in range(3):
                assert session.execute("SELECT k FROM t").one().k == 1
            yield session


def test_a_property_in_place_of_a_host_s_attribute(session, monkeypatch):
    asked = []
    monkeypatch.setattr(Host, "sharding_info", property(asked.append))
    assert session.execute("SELECT k FROM t").one().k == 1
    assert asked


def test_a_property_in_place_of_a_pool_s_attribute(session, monkeypatch):
    monkeypatch.setattr(HostPool, "is_shutdown", property(lambda _: True))
    with pytest.raises(NoHostAvailable):
        session.execute("SELECT k FROM t")
    monkeypatch.undo()
    assert session.execute("SELECT k FROM t").one().k == 1


@pytest.mark.parametrize("name", ["encode_message", "decode_message"])
def test_a_method_in_place_of_a_handler_s(session, monkeypatch, name):
    before, called = getattr(ProtocolHandler, name), []

    def instead(*args):
        called.append(args)
        return before(*args)

    monkeypatch.setattr(ProtocolHandler, name, staticmethod(instead))
    assert session.execute("SELECT k FROM t").one().k == 1
    assert called
    monkeypatch.undo()
    called.clear()
    assert session.execute("SELECT k FROM t").one().k == 1
    assert not called


def test_a_plan_in_place_of_a_policy_s(session):
    policy = session.core.cluster.profile_manager.default.load_balancing_policy
    policy.make_query_plan = lambda *_: []
    with pytest.raises(NoHostAvailable):
        session.execute("SELECT k FROM t")
    del policy.make_query_plan
    assert session.execute("SELECT k FROM t").one().k == 1


@pytest.mark.parametrize("name", ["pool_for", "query_plan"])
def test_a_method_in_place_of_a_session_s(session, monkeypatch, name):
    before, called = getattr(SessionCore, name), []

    def instead(self, *args):
        called.append(args)
        return before(self, *args)

    monkeypatch.setattr(SessionCore, name, instead)
    assert session.execute("SELECT k FROM t").one().k == 1
    assert called


def test_a_callback_is_called_once_whether_the_answer_is_there_or_not(session):
    called = []

    def ask(thread):
        for number in range(200):
            future = session.execute_async("SELECT k FROM t")
            future.add_callback(lambda _, key=(thread, number): called.append(key))
            future.result()
            future.add_callback(lambda _, key=(thread, -1 - number): called.append(key))

    together(*(lambda thread=thread: ask(thread) for thread in range(3)))
    eventually_here(lambda: len(called) == 3 * 400)
    assert sorted(called) == [
        (thread, number) for thread in range(3) for number in range(-200, 200)
    ]
