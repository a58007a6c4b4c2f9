"""After a fork: the child is refused at every entrance, and the parent does not notice it."""

import asyncio
import contextlib
import os
import pickle
import threading
import time

import pytest
from cql_cluster import CqlCluster, eventually
from cql_node import SILENCE, rows

from driver import aio
from driver.cluster import Cluster
from driver.net.fork import ForkedError
from driver.statements import SimpleStatement
from driver.types import Int32Type

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here"),
    # Python 3.12 and later say of every fork beside threads what this file is about.
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]


@pytest.fixture
def nodes():
    with CqlCluster(1) as found:
        found.when("SELECT n", rows([("n", Int32Type)], [(1,)]))
        found.when("SELECT never", SILENCE)
        yield found


def in_child(work):
    """What work() gives in a forked process, within ten seconds; an exception as its type."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            os.close(reading)
            try:
                outcome = work()
            except BaseException as error:  # noqa: BLE001  (told to the parent)
                outcome = (type(error).__name__, str(error))
            os.write(writing, pickle.dumps(outcome))
        os._exit(0)
    os.close(writing)
    os.set_blocking(reading, False)
    got = b""
    end = time.monotonic() + 10
    try:
        while time.monotonic() < end:
            with contextlib.suppress(BlockingIOError):
                piece = os.read(reading, 65536)
                if not piece:
                    return pickle.loads(got)  # noqa: S301  (written above)
                got += piece
            time.sleep(0.005)
        os.kill(child, 9)
        raise AssertionError("the child waits for ever")
    finally:
        os.close(reading)
        os.waitpid(child, 0)


def called_back(session):
    told = []
    future = session.execute_async("SELECT n FROM t")
    future.add_callbacks(told.append, told.append)
    return type(told[0]).__name__, str(told[0])


ENTRANCES = {
    "execute": lambda s: s.execute("SELECT n FROM t"),
    "execute_async": lambda s: s.execute_async("SELECT n FROM t").result(),
    "callback": called_back,
    "statement": lambda s: s.execute(SimpleStatement("SELECT n FROM t", is_idempotent=True)),
    "prepare": lambda s: s.prepare("SELECT n FROM t"),
    "execute_concurrent": lambda s: s.execute_concurrent([("SELECT n FROM t", None)] * 3),
    "set_keyspace": lambda s: s.set_keyspace("ks"),
    "connect": lambda s: s.cluster.connect(),
    "schema": lambda s: s.cluster.refresh_schema_metadata(),
}


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_a_child_is_refused_before_a_byte_is_written(nodes, entrance):
    with Cluster(**nodes.options) as cluster:
        session = cluster.connect()
        asked = list(nodes.nodes[0].texts)
        name, message = in_child(lambda: ENTRANCES[entrance](session))
        assert name == "ForkedError"
        assert str(os.getpid()) in message
        assert "connect" in message
        assert nodes.nodes[0].texts == asked
        assert session.execute("SELECT n FROM t").one().n == 1


def test_a_child_that_awaits_is_refused(nodes):
    async def main():
        async with aio.Cluster(**nodes.options) as cluster:
            session = await cluster.connect()

            def work():
                async def again():
                    return await session.execute("SELECT n FROM t")

                asyncio.events._set_running_loop(None)
                return asyncio.new_event_loop().run_until_complete(again())

            name, _ = in_child(work)
            assert (await session.execute("SELECT n FROM t")).one().n == 1
            return name

    assert asyncio.run(main()) == "ForkedError"


def test_what_waits_while_it_forks_is_the_parents(nodes):
    with Cluster(**nodes.options) as cluster:
        session = cluster.connect()
        future = session.execute_async("SELECT never", timeout=None)
        assert in_child(future.result)[0] == "ForkedError"
        assert not future.is_done


def test_a_connection_refuses_the_child(nodes):
    with Cluster(**nodes.options) as cluster:
        session = cluster.connect()
        pool = next(iter(session.core.pools.by_host.values()))
        connection = next(iter(pool._connections))

        def heartbeat():
            sent = []
            connection._transport.write = sent.append
            connection._heartbeat._look()
            return sent, connection.is_closed

        assert in_child(heartbeat) == ([], True)
        assert not connection.is_closed


def test_a_child_shuts_down_what_it_inherited_and_connects_anew(nodes):
    with Cluster(**nodes.options) as cluster:
        session = cluster.connect()

        def work():
            session.shutdown()
            cluster.shutdown()
            with Cluster(**nodes.options) as own:
                return own.connect().execute("SELECT n FROM t").one().n

        assert in_child(work) == 1
        assert session.execute("SELECT n FROM t").one().n == 1


def test_a_cluster_that_was_not_connected_before_is_the_childs_to_connect(nodes):
    cluster = Cluster(**nodes.options)

    def work():
        with cluster:
            return cluster.connect().execute("SELECT n FROM t").one().n

    assert in_child(work) == 1


def test_locks_that_other_threads_held_stop_nobody(nodes):
    with Cluster(**nodes.options) as cluster:
        cluster.connect()
        held, go_on = threading.Event(), threading.Event()

        def hold():
            with cluster._lock:
                held.set()
                go_on.wait(30)

        holder = threading.Thread(target=hold)
        holder.start()
        held.wait(10)
        try:
            assert in_child(cluster.shutdown) is None
        finally:
            go_on.set()
            holder.join()


def test_the_node_sees_the_end_when_the_parent_closes_while_a_child_lives_on(nodes):
    cluster = Cluster(**nodes.options)
    cluster.connect()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(writing)
        os.read(reading, 1)  # until the parent has looked
        os._exit(0)
    try:
        cluster.shutdown()
        assert eventually(lambda: not nodes.nodes[0].clients)
    finally:
        os.close(writing)
        os.close(reading)
        os.waitpid(child, 0)


def test_it_is_an_error_of_the_driver_and_of_the_program():
    assert issubclass(ForkedError, RuntimeError)
