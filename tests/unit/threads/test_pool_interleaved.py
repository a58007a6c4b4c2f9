"""Streams of a pool are lent to one thread each while connections are lost, replaced and closed.

The pool runs on an event loop whose passes are turns and whose clock is a number; what it opens are
connections that have streams, and nothing else.
"""

import asyncio
import logging
import selectors
from types import SimpleNamespace

import pytest
from interleaving import Schedule
from unit.threads.stepped import stepped

pool_module = stepped("pool.host_pool")
streams = stepped("net.streams")
errors = stepped("net.errors")
MODULES = [pool_module, streams]
Sharding = stepped("wire.features").ShardingInfo


class Selector(selectors.SelectSelector):
    """Waits for nobody: each pass of the loop is a turn, and its time goes by at once."""

    def __init__(self, schedule):
        super().__init__()
        self._schedule, self.now = schedule, 1000.0

    def select(self, timeout=None):
        self._schedule.turn(gives_way=not self._schedule.alone)
        self.now += timeout or 0
        return super().select(0)


class Connection:
    """What a pool sees of one."""

    is_encrypted = False

    def __init__(self, endpoint, on_closed, shard, sharding):
        self.endpoint, self._on_closed = endpoint, on_closed
        self.features = SimpleNamespace(shard_id=shard, sharding_info=sharding)
        self._streams = streams.StreamIds(4)
        self.is_closed, self.orphaned_request_ids = False, set()

    def get_request_id(self):
        return self._streams.take()

    def give_back(self, stream):
        self._streams.free.append(stream)

    @property
    def in_flight(self):
        return self._streams.taken

    @property
    def orphaned_threshold_reached(self):
        return len(self.orphaned_request_ids) > 1

    async def use_keyspace(self, _):
        await asyncio.sleep(0)

    def close(self, error=None):
        if not self.is_closed:
            self.is_closed = True
            asyncio.get_running_loop().call_soon(self._on_closed, self, error)


class Run:
    """A pool, threads that borrow from it, and the loop that loses its connections."""

    def __init__(self, seed, shards):
        self.schedule = Schedule(seed, MODULES)
        self.chance = self.schedule.random
        self.sharding = Sharding(0, shards, "", "", 0, 0, 0) if shards > 1 else None
        self.shards, self.opened, self.used = shards, [], set()
        self.is_open = self.closes = False
        self.lent, self.refused = 0, 0

    async def connect(self, endpoint, *, on_closed, local_port=None):
        assert local_port is None
        await asyncio.sleep(0)
        if self.is_open and self.chance.random() < 0.3:
            raise errors.ConnectionException("refused", endpoint)
        with self.schedule.locks():
            found = Connection(endpoint, on_closed, len(self.opened) % self.shards, self.sharding)
        self.opened.append(found)
        return found

    def loops(self):
        """The thread of the loop."""
        selector = Selector(self.schedule)
        loop = asyncio.SelectorEventLoop(selector)
        loop.time = lambda: selector.now
        try:
            loop.run_until_complete(self.lives(loop))
        finally:
            loop.close()

    async def lives(self, loop):
        """Open, lose connections, close when all is asked, or earlier."""
        host = SimpleNamespace(endpoint="node", sharding_info=None)
        self.pool = pool_module.HostPool(
            loop, host, 0, self.connect, connections_per_host=2, drain_timeout=0.1
        )
        await self.pool.open()
        self.is_open = True
        passes = self.chance.randrange(200) if self.chance.random() < 0.5 else None
        while not self.schedule.alone and passes != 0:
            passes = passes and passes - 1
            if self.chance.random() < 0.05:
                self.chance.choice(self.opened).close(OSError("lost"))
            if self.chance.random() < 0.02:
                await self.pool.set_keyspace("ks")
            await asyncio.sleep(0)
        if passes is None:  # in peace what was lost comes back
            for _ in range(1000):
                if not self.pool.get_state()["missing"]:
                    break
                await asyncio.sleep(1)
            assert not self.pool.get_state()["missing"]
        self.closes = True
        await self.pool.close()

    def borrows(self):
        """A thread with one request at a time."""
        while not self.is_open:
            self.schedule.turn(gives_way=True)
        for number in range(6):
            try:
                connection, stream = self.pool.borrow_connection(shard=number % self.shards)
            except errors.ConnectionShutdown:
                assert self.closes
                self.refused += 1
                return
            except (errors.NoConnectionsAvailable, errors.ConnectionBusy):
                self.refused += 1
                self.schedule.turn(gives_way=not self.schedule.alone)
                continue
            mine = (id(connection), stream)
            assert mine not in self.used
            self.lent += 1
            self.used.add(mine)
            self.schedule.turn()
            if self.chance.random() < 0.3:
                connection.orphaned_request_ids.add(stream)  # it timed out: nobody uses it again
            else:
                self.used.remove(mine)
                connection.give_back(stream)
            self.pool.return_connection(connection)


@pytest.fixture(autouse=True)
def quiet():
    """Of thousands of connections that are replaced nothing has to be logged."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("first", [0, 100])
def test_a_stream_is_lent_once_and_every_connection_is_closed_in_the_end(first, shards):
    lent = refused = 0
    for seed in range(first, first + 100):
        run = Run(seed, shards)
        run.schedule.run(run.loops, run.borrows, run.borrows)
        assert all(each.is_closed for each in run.opened), f"seed {seed}"
        lent, refused = lent + run.lent, refused + run.refused
    assert lent > 500
    assert refused
