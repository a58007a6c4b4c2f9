"""Several threads wait for answers over one connection: each gets its own, come what may."""

import os
import random
import signal
import sys
import threading
import time

import pytest
from cql_cluster import CqlCluster
from cql_node import SILENCE, error, rows, schema_event
from loops import eventually_here as eventually

import driver
from driver.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from driver.net.errors import ConnectionException
from driver.policies import FallthroughRetryPolicy
from driver.protocol.errors import DriverException, InvalidRequest, OperationTimedOut
from driver.results.rows import tuple_factory
from driver.types import Int32Type, UTF8Type

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs epoll")

compiled = pytest.mark.skipif(
    driver.IMPL != "cython" or not getattr(sys, "_is_gil_enabled", lambda: True)(),
    reason="compiled, with the interpreter's lock",
)
LONG = 60


def number_of(request):
    return int(request.text.split()[2])


def own(request):
    """The row that tells whose request it was."""
    return rows([("n", Int32Type)], [(number_of(request),)])


class Connected:
    """A session with one connection to one node, and threads that use it."""

    def __init__(self, nodes, **options):
        self.nodes = nodes
        (self.node,) = nodes.nodes
        nodes.when("SELECT own", own)
        once = ExecutionProfile(retry_policy=FallthroughRetryPolicy(), row_factory=self.factory)
        self.cluster = Cluster(
            **{**nodes.options, **options}, execution_profiles={EXEC_PROFILE_DEFAULT: once}
        )
        self.session = self.cluster.connect()
        (host,) = self.session.hosts
        (self.connection,) = self.session.core.pool_for(host)._connections
        self.transport = self.connection._transport
        self.wrong, self.made_on = [], []

    def factory(self, names, found):
        self.made_on.append(threading.get_ident())
        return tuple_factory(names, found)

    def ask(self, number, text="SELECT own {}", timeout=LONG):
        found = self.session.execute(text.format(number), timeout=timeout).one()
        if found[0] != number:
            self.wrong.append((number, found))

    def run(self, count, work):
        """Run threads, each with its number; what they raised."""
        failed = []

        def guarded(number):
            try:
                work(number)
            except Exception as raised:  # noqa: BLE001  (the test looks at all of them)
                failed.append(raised)

        threads = [threading.Thread(target=guarded, args=(n,), daemon=True) for n in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LONG)
        assert not any(thread.is_alive() for thread in threads)
        return failed

    def is_at_rest(self):
        """Whether nothing is left of the requests, and the loop reads."""
        streams = self.connection._streams
        return (
            not self.connection._requests
            and not self.connection.in_flight
            and self.transport._reader is None
            and not self.transport._reading.locked()
            and not self.session.core.timers.pending
            and len(set(streams.free)) == len(streams.free)
        )

    def close(self):
        eventually(self.is_at_rest)
        assert not self.wrong
        assert self.session.execute_async("SELECT own 7").result().one() == (7,)
        self.cluster.shutdown()


@pytest.fixture
def connected():
    opened = []

    def connect(version=5, **options):
        nodes = CqlCluster(1, versions=(version,), compressions=("lz4",))
        opened.append(nodes.__enter__())
        options = {"protocol_version": version, "compression": False, **options}
        opened.append(Connected(nodes, **options))
        return opened[-1]

    yield connect
    for each in reversed(opened):
        each.close() if isinstance(each, Connected) else each.__exit__(None, None, None)


@pytest.mark.parametrize("count", [2, 3, 8, 40])
@pytest.mark.parametrize(
    ("version", "compression"), [(3, False), (4, False), (4, "lz4"), (5, False), (5, "lz4")]
)
def test_each_gets_its_own(connected, version, compression, count):
    threads = connected(version, compression=compression)

    def work(number):
        for n in range(number * 1000, number * 1000 + 240 // count + 10):
            threads.ask(n)

    assert not threads.run(count, work)


@pytest.mark.parametrize("cut", [1, "random"])
@pytest.mark.parametrize("version", [4, 5])
def test_answers_in_pieces(connected, version, cut):
    threads = connected(version)
    threads.node.cut = cut
    assert not threads.run(5, lambda number: [threads.ask(number * 100 + n) for n in range(8)])


@pytest.mark.parametrize("version", [4, 5])
def test_answers_in_any_order_and_many_at_once(connected, version):
    """A node that collects requests, and sends the answers to all of them in one piece."""
    count, held, drawn = 6, [], random.Random(1)
    threads = connected(version)

    def hold(request):
        held.append(request)
        if len(held) == count:
            drawn.shuffle(held)
            for each in held:
                each.client.send(own(each), each.stream)
            held.clear()
        return SILENCE

    threads.nodes.when("SELECT held", hold)
    assert not threads.run(
        count, lambda number: [threads.ask(number + 10 * n, "SELECT held {}") for n in range(40)]
    )


@compiled
@pytest.mark.parametrize("version", [4, 5])
def test_rows_are_made_by_who_waits_for_them(connected, version):
    threads, idents = connected(version), {}
    meet = threading.Barrier(4)

    def work(number):
        idents[number] = threading.get_ident()
        meet.wait(LONG)
        for n in range(25):
            threads.ask(number * 100 + n)

    assert not threads.run(4, work)
    assert len(threads.made_on) == 100
    # The loop reads where they began, and where none is there for a moment.
    assert sum(each in idents.values() for each in threads.made_on) > 90


def test_requests_that_nobody_waits_for_and_events_between(connected):
    threads, ended = connected(), threading.Event()
    threads.nodes.when("SELECT wrong", error(0x2200, "no such table"))

    def work(number):
        if number == 0:
            while not ended.is_set():
                asked = range(10_000, 10_007)
                futures = [threads.session.execute_async(f"SELECT own {n}") for n in asked]
                found = [future.result().one()[0] for future in futures]
                threads.wrong += [] if found == list(asked) else [found]
                threads.node.send_event(schema_event("UPDATED", "KEYSPACE", "ks"))
            return
        for n in range(60):
            threads.ask(number * 1000 + n)
            if n % 20 == 0:
                with pytest.raises(InvalidRequest):
                    threads.session.execute("SELECT wrong FROM t", timeout=LONG)
        if number == 1:
            ended.set()

    assert not threads.run(5, work)


def test_they_read_again_after_an_answer_that_was_the_loops(connected):
    threads, gone_on = connected(), threading.Event()

    def work(number):
        n = 0
        while not gone_on.is_set():
            threads.ask(number * 100_000 + n)
            n += 1
            if number == 0 and n == 5:
                threads.session.execute_async("SELECT own 1").result()
                threads.made_on.clear()
            if number == 0 and n == 400:
                gone_on.set()

    assert not threads.run(3, work)
    if driver.IMPL == "cython":
        loop = threads.transport._thread
        assert threads.made_on[-50:].count(loop) < 25


def test_one_gives_up_and_the_others_get_theirs(connected):
    threads, held = connected(), []
    threads.nodes.when("SELECT held", lambda request: held.append(request) or SILENCE)

    def work(number):
        if number < 2:
            with pytest.raises(OperationTimedOut):
                threads.ask(number, "SELECT held {}", timeout=0.2)
            return
        for n in range(30):
            threads.ask(number * 100 + n)
            time.sleep(0.02)

    assert not threads.run(4, work)
    assert threads.connection.orphaned_request_ids == {each.stream for each in held}
    for each in held:
        threads.node.answer_later(each, own(each))
    eventually(lambda: not threads.connection.orphaned_request_ids)


@pytest.mark.parametrize("how", ["the node", "the cluster", "garbage"])
def test_the_connection_ends_while_all_wait(connected, how):
    threads, held, failed = connected(), [], []
    threads.nodes.when("SELECT held", lambda request: held.append(request) or SILENCE)
    sock, heard = threads.transport._sock, threads.transport._heard_by_loop

    def end():
        eventually(lambda: len(held) == 5)
        if how == "the node":
            threads.node.drop_connections()
        elif how == "garbage":
            threads.node.do(lambda: held[0].client.transport.write(b"\x00" * 40))
        else:
            threads.cluster.shutdown()

    ending = threading.Thread(target=end)
    ending.start()
    failed = threads.run(5, lambda number: threads.ask(number, "SELECT held {}"))
    ending.join()
    assert len(failed) == 5
    assert all(isinstance(each, (DriverException, ConnectionException)) for each in failed)
    assert not any(isinstance(each, OperationTimedOut) for each in failed)
    eventually(lambda: sock.fileno() == -1)
    assert heard.closed
    threads.close = threads.cluster.shutdown


@pytest.mark.parametrize("before", [0, 3])
def test_ctrl_c_in_one_that_waits(connected, before):
    """In the last one that came, and in the first, by whom the others are there."""
    threads, held, found = connected(), [], []

    def slow(request):
        held.append(request)
        if len(held) == 4:
            os.kill(os.getpid(), signal.SIGINT)
        return SILENCE

    def ask(number):
        eventually(lambda: len(held) >= (before == 0))
        found.append(threads.ask(number, "SELECT held {}"))

    threads.nodes.when("SELECT held", slow)
    others = [threading.Thread(target=ask, args=(n,)) for n in range(3)]
    for each in others:
        each.start()
    eventually(lambda: len(held) == before)
    with pytest.raises(KeyboardInterrupt):
        threads.ask(3, "SELECT held {}")
    assert threads.transport._reader is not None or driver.IMPL == "python"
    for each in held:
        threads.node.answer_later(each, own(each))
    for each in others:
        each.join(LONG)
    assert len(found) == 3


def test_the_loops_own_thread_must_not_wait(connected):
    threads, held, raised = connected(), [], []
    threads.nodes.when("SELECT held", lambda request: held.append(request) or SILENCE)

    def call_back(_):
        try:
            threads.session.execute("SELECT own 1")
        except RuntimeError as error:
            raised.append(error)

    def work(number):
        if number < 2:
            threads.ask(number, "SELECT held {}")
            return
        eventually(lambda: len(held) == 2)
        future = threads.session.execute_async("SELECT own 2")
        future.add_callback(call_back)
        eventually(lambda: raised)
        for each in held:
            threads.node.answer_later(each, own(each))

    assert not threads.run(3, work)
    assert "wait" in str(raised[0])


@pytest.mark.parametrize("version", [4, 5])
def test_a_node_that_does_not_read_for_a_while(connected, version):
    """Requests that do not fit into the socket, from several threads, arrive whole."""
    threads = connected(version)
    filler = "x" * 100_000
    began = threading.Barrier(7)

    def work(number):
        began.wait(LONG)
        if number == 6:
            time.sleep(0.3)
            threads.node.resume()
            return
        for n in range(6):
            size = len(filler) if n % 2 else 10
            threads.ask(number * 100 + n, f"SELECT own {{}} /* {filler[:size]} */")

    threads.node.pause()
    assert not threads.run(7, work)


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("size", [20_000, 400_000])
def test_large_answers(connected, version, size):
    threads = connected(version)
    threads.nodes.when(
        "SELECT large",
        lambda request: rows(
            [("n", Int32Type), ("x", UTF8Type)], [(number_of(request), "x" * size)]
        ),
    )

    def work(number):
        for n in range(6):
            threads.ask(number * 100 + n, "SELECT large {}" if n % 2 else "SELECT own {}")

    assert not threads.run(4, work)


def test_threads_that_come_and_go(connected):
    """Who has its answer need not come back: the others go on without it."""
    threads = connected()

    def work(number):
        for n in range(15):
            threads.ask(number * 100 + n)
            time.sleep(random.random() / 200)

    began = time.monotonic()
    for _ in range(4):
        assert not threads.run(12, work)
    assert time.monotonic() - began < LONG


@compiled
def test_beside_a_thread_that_computes(connected):
    threads, ended = connected(), threading.Event()

    def work(number):
        if number == 0:
            while not ended.is_set():
                sum(range(1000))
            return
        try:
            for n in range(20):
                threads.ask(number * 100 + n)
        finally:
            if number == 1:
                ended.set()

    assert not threads.run(5, work)
