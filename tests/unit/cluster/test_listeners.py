"""Listeners: registered once, in their order."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from cql_cluster import CqlCluster, eventually

from driver.cluster import Cluster
from driver.cluster.listeners import InOrder, Listeners


def test_a_listener_is_registered_once_and_gone_when_it_is_unregistered():
    listeners, one, two = Listeners(), object(), object()
    for listener in (one, two, one):
        listeners.register(listener)
    assert list(listeners) == [one, two]
    listeners.unregister(one)
    assert list(listeners) == [two]


def test_who_is_not_registered_cannot_be_unregistered():
    with pytest.raises(KeyError):
        Listeners().unregister(object())


def test_a_listener_may_leave_while_all_are_told():
    listeners, one, two = Listeners(), object(), object()
    listeners.register(one)
    listeners.register(two)
    told = []
    for listener in listeners:
        told.append(listener)
        listeners.unregister(listener)
    assert told == [one, two]
    assert len(listeners) == 0


def test_functions_run_in_their_order_on_whichever_thread():
    ran = []
    with ThreadPoolExecutor(4) as executor:
        run = InOrder(executor.submit)
        for number in range(1000):
            run(lambda number=number: ran.append(number))
    assert ran == list(range(1000))


def test_after_the_last_thread_nothing_is_kept():
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    run = InOrder(executor.submit)
    run(pytest.fail)
    assert not run._waiting


class Slow:
    """A listener that does not come back before it may."""

    def __init__(self):
        self.may_return = threading.Event()
        self.heard = []

    def __getattr__(self, name):
        if not name.startswith("on_"):
            raise AttributeError(name)
        return lambda host: self._hear(name, host)

    def _hear(self, name, host):
        self.heard.append((name, host.endpoint.port, threading.current_thread()))
        assert self.may_return.wait(30)


def test_a_listener_that_waits_keeps_no_request_waiting_and_hears_everything_in_order():
    listener = Slow()
    with CqlCluster(2) as nodes, Cluster(**nodes.options) as cluster:
        cluster.register_listener(listener)
        session = cluster.connect(wait_for_all_pools=True)
        assert eventually(lambda: listener.heard)
        session.execute("SELECT 1")
        second = next(h for h in session.hosts if h.endpoint.port == nodes.nodes[1].port)
        cluster.run(cluster.core.hosts.on_down(second, expect_host_to_be_down=True))
        assert len(listener.heard) == 1
        listener.may_return.set()
        port = second.endpoint.port
        assert eventually(lambda: ("on_down", port) in [heard[:2] for heard in listener.heard])
        of_second = [what for what, where, _ in listener.heard if where == port]
        assert of_second[:2] == ["on_add", "on_down"]
        assert cluster._thread._thread not in {thread for *_, thread in listener.heard}


def test_after_shutdown_nobody_is_told():
    listener = Slow()
    cluster = Cluster()
    cluster.register_listener(listener)
    cluster.shutdown()
    cluster.core.listeners.tell("on_up", None)
    assert listener.heard == []
    with pytest.raises(RuntimeError, match="was shut down"):
        _ = cluster.executor
