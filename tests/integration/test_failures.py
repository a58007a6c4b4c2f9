"""Nodes that die, freeze and come back under load: nothing acknowledged is lost, nothing hangs."""

import asyncio
import contextlib
import threading
import time

import pytest

from driver import aio
from driver.policies import ConstantReconnectionPolicy
from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.errors import DriverException
from driver.statements import SimpleStatement
from tests.integration.disturbed import (
    NOTICED,
    REQUEST_TIMEOUT,
    Heard,
    connected_to,
    control_index,
    in_flight,
    says_where_and_why,
)
from tests.integration.leaks import eventually, sockets, threads
from tests.integration.writers import TABLE, Writers, number_of

CONCURRENCY = 64
#: A timer is late on a busy machine; a request that hangs is later than that.
LATE = 10.0


def writers_of(session, keyspace, concurrency=CONCURRENCY, **options):
    return Writers(session, f"{keyspace}.t", concurrency, **options)


def assert_kept(writers, session):
    """The promises: what was acknowledged is there, the rest ended in time and told why."""
    writers.finish(within=REQUEST_TIMEOUT + LATE)
    assert writers.lost() == []
    assert writers.missed == []
    assert writers.slowest < REQUEST_TIMEOUT + LATE
    silent = [
        failure.error for failure in writers.failures if not says_where_and_why(failure.error)
    ]
    assert silent == []
    assert session.execute("SELECT key FROM system.local").one()[0] == "local"


@pytest.mark.parametrize(
    "whose",
    [
        # Half a minute of waiting for a server, and the other case goes the same way.
        pytest.param("a node", marks=[pytest.mark.once, pytest.mark.nightly]),
        "the control connection's node",
    ],
)
def test_a_node_is_killed_under_load_and_comes_back(loaded, three_nodes, keyspace_name, whose):
    addresses = three_nodes.addresses
    control = control_index(loaded, addresses)
    victim = control if whose == "the control connection's node" else control % 3 + 1
    heard = Heard()
    loaded.cluster.register_listener(heard)
    before = sockets()
    with writers_of(loaded, keyspace_name) as writers:
        writers.wait_for_more(300, within=60)
        three_nodes.kill(victim)
        writers.wait_for_more(1000, within=NOTICED)
        assert eventually(lambda: addresses[victim - 1] not in connected_to(loaded), NOTICED)
        assert eventually(lambda: control_index(loaded, addresses) not in {0, victim}, NOTICED)
        three_nodes.restart(victim)
        assert eventually(lambda: connected_to(loaded) == set(addresses), NOTICED)
        writers.wait_for_more(300, within=60)
        assert_kept(writers, loaded)
    address = addresses[victim - 1]
    assert heard.events.index(("down", address)) < len(heard.events) - 1
    assert ("up", address) in heard.events[heard.events.index(("down", address)) :]
    assert {name for name, _ in heard.events} == {"up", "down"}
    assert eventually(lambda: sockets() <= before), (sockets(), before)


def test_a_node_that_freezes_under_load_costs_a_timeout_and_no_more(
    loaded, three_nodes, keyspace_name
):
    addresses = three_nodes.addresses
    victim = control_index(loaded, addresses) % 3 + 1
    before = sockets()
    with writers_of(loaded, keyspace_name) as writers:
        writers.wait_for_more(300, within=60)
        three_nodes.pause(victim)
        # Everything that waits for the frozen node ends by its timeout; the others go on.
        writers.wait_for_more(300, within=NOTICED)
        time.sleep(REQUEST_TIMEOUT)
        three_nodes.resume(victim)
        writers.wait_for_more(1000, within=NOTICED)
        assert eventually(lambda: connected_to(loaded) == set(addresses), NOTICED)
        assert_kept(writers, loaded)
    assert eventually(lambda: in_flight(loaded) == 0, NOTICED)
    assert eventually(lambda: sockets() <= before), (sockets(), before)


@pytest.mark.once
def test_awaited_requests_survive_a_killed_node(three_nodes, keyspace_name, belongings):
    """The same promises on an event loop: each write is acknowledged or tells why not.

    Once: half a minute of waiting for a server; waiting on a loop has no compiled form.
    """
    assert belongings
    table = f"{keyspace_name}.t"
    outcomes = {}

    async def write(session, insert, stop):
        while not stop.is_set():
            identity = len(outcomes)
            outcomes[identity] = None
            try:
                async with asyncio.timeout(REQUEST_TIMEOUT + LATE):
                    await session.execute(insert, (identity, number_of(identity), ""))
                outcomes[identity] = True
            except DriverException as error:
                outcomes[identity] = error

    async def write_while_a_node_dies(session):
        insert = await session.prepare(f"INSERT INTO {table} (id, number, words) VALUES (?, ?, ?)")
        insert.consistency_level = ConsistencyLevel.QUORUM
        stop = asyncio.Event()
        tasks = [asyncio.create_task(write(session, insert, stop)) for _ in range(32)]
        await asyncio.sleep(0.5)
        await asyncio.to_thread(three_nodes.kill, 3)
        before = len(outcomes)
        await asyncio.sleep(2)
        assert len(outcomes) > before + 100
        stop.set()
        await asyncio.gather(*tasks)

    async def main():
        async with aio.Cluster(
            three_nodes.addresses, reconnection_policy=ConstantReconnectionPolicy(1.0, None)
        ) as cluster:
            session = await cluster.connect(wait_for_all_pools=True)
            await session.execute(
                f"CREATE KEYSPACE {keyspace_name} WITH replication = "
                "{'class': 'SimpleStrategy', 'replication_factor': 3}"
            )
            await session.execute(TABLE.format(table))
            await write_while_a_node_dies(session)
            # Until its peers miss it, they wait for the dead node when they are to read a range.
            await asyncio.to_thread(three_nodes.heal)
            read = SimpleStatement(
                f"SELECT id, number FROM {table}", consistency_level=ConsistencyLevel.QUORUM
            )
            found = {row.id: row.number async for row in session.stream(read, timeout=30)}
            await session.execute(f"DROP KEYSPACE {keyspace_name}", timeout=30)
            return found

    found = asyncio.run(main())
    acknowledged = {identity for identity, outcome in outcomes.items() if outcome is True}
    lost = [identity for identity in acknowledged if found.get(identity) != number_of(identity)]
    assert lost == []
    assert all(says_where_and_why(error) for error in outcomes.values() if error is not True)


@pytest.mark.once
@pytest.mark.nightly
@pytest.mark.within(300)
def test_all_nodes_are_restarted_in_turn_while_keyspaces_come_and_go(
    loaded, three_nodes, keyspace_name
):
    """Once: two minutes of waiting for servers; what it exercises has no compiled form."""
    addresses = three_nodes.addresses
    stop, made, failed = threading.Event(), [], []

    def keyspaces():
        number = 0
        while not stop.is_set():
            name = f"{keyspace_name}_{number}"
            number += 1
            try:
                loaded.execute(
                    f"CREATE KEYSPACE {name} WITH replication = "
                    "{'class': 'SimpleStrategy', 'replication_factor': 3}",
                    timeout=20,
                )
                loaded.execute(f"CREATE TABLE {name}.t (k int PRIMARY KEY)", timeout=20)
                made.append(name)
                loaded.execute(f"DROP KEYSPACE {name}", timeout=20)
            except Exception as error:  # noqa: BLE001  (looked at below)
                failed.append(error)
            stop.wait(0.5)

    before_sockets, before_threads = sockets(), threads()
    changer = threading.Thread(target=keyspaces, name="keyspaces")
    with writers_of(loaded, keyspace_name) as writers:
        changer.start()
        try:
            for victim in (1, 2, 3):
                writers.wait_for_more(200, within=NOTICED)
                three_nodes.restart(victim)
                assert eventually(lambda: connected_to(loaded) == set(addresses), NOTICED)
        finally:
            stop.set()
            changer.join(60)
        assert not changer.is_alive()
        writers.wait_for_more(300, within=NOTICED)
        assert_kept(writers, loaded)
    assert made
    assert all(says_where_and_why(error) for error in failed)
    assert eventually(lambda: sockets() <= before_sockets), (sockets(), before_sockets)
    assert eventually(lambda: len(threads()) <= len(before_threads)), threads()
    for name in loaded.cluster.metadata.keyspaces.copy():
        if name.startswith(f"{keyspace_name}_"):
            with contextlib.suppress(Exception):
                loaded.execute(f"DROP KEYSPACE IF EXISTS {name}", timeout=30)
