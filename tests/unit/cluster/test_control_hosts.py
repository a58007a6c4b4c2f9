"""The host registry: hosts go up when their pools are open, and down when they are convicted."""

import asyncio
import contextlib
import itertools

import pytest
from control_core import FakeCore, is_reconnecting, on_a_loop, until

from driver.cluster import reconnection
from driver.net.errors import ConnectionException
from driver.protocol.errors import AuthenticationFailed, OperationTimedOut


@contextlib.asynccontextmanager
async def core_with(*addresses, **options):
    core = FakeCore(**options)
    try:
        yield (core, *[await added(core, address) for address in addresses])
    finally:
        await core.close()


async def added(core, address):
    host = core.host(address)
    core.hosts.add(host)
    await core.settle()
    return host


@on_a_loop
async def test_a_new_host_is_up_when_its_pools_are_open_and_not_before():
    async with core_with() as (core,):
        host = core.host()
        core.gate.clear()
        core.hosts.add(host)
        await asyncio.sleep(0.01)
        assert (host.is_up, core.listener.told) == (None, [])
        core.gate.set()
        await core.settle()
        assert host.is_up
        assert core.pools == {host}
        assert core.prepared_on == ["a"]
        assert core.listener.of("a") == ["on_add"]
        assert core.profile_manager.of("a") == ["on_add"]


@on_a_loop
async def test_on_up_waits_until_the_pools_are_open():
    async with core_with("a") as (core, host):
        core.unreachable["a"] = ConnectionException("no")
        core.lose(host)
        await until(lambda: host.is_up is False)
        core.gate.clear()
        core.unreachable.clear()
        going_up = asyncio.ensure_future(core.hosts.on_up(host))
        await asyncio.sleep(0.01)
        assert not going_up.done()
        core.gate.set()
        assert await going_up is True
        assert core.pools == {host}


@on_a_loop
async def test_a_host_whose_connections_fail_is_down_until_it_answers():
    async with core_with("a") as (core, host):
        core.unreachable["a"] = ConnectionException("no")
        core.lose(host)
        await until(lambda: len(core.attempts) > 2)
        assert (host.is_up, is_reconnecting(core, host)) == (False, True)
        assert core.profile_manager.live == set()
        core.unreachable.clear()
        await until(lambda: host.is_up)
        await core.settle()
        assert core.listener.of("a") == ["on_add", "on_down", "on_up"]
        assert core.profile_manager.of("a") == ["on_add", "on_down", "on_up"]
        assert not is_reconnecting(core, host)
        assert core.closed_connections == 1


@on_a_loop
async def test_a_failure_that_convicts_nobody_leaves_the_host_up():
    async with core_with("a") as (core, host):
        assert not core.hosts.signal_connection_failure(host, OperationTimedOut())
        await core.settle()
        assert host.is_up


@on_a_loop
async def test_hearsay_about_a_host_to_which_there_are_connections_is_ignored():
    async with core_with("a") as (core, host):
        await core.hosts.on_down(host)
        assert host.is_up
        await core.hosts.on_down(host, expect_host_to_be_down=True)
        assert host.is_up is False
        assert not core.pools


@on_a_loop
async def test_a_new_host_that_cannot_be_reached_is_added_and_down():
    async with core_with() as (core,):
        core.unreachable["a"] = ConnectionException("no")
        host = await added(core, "a")
        assert host.is_up is False
        assert is_reconnecting(core, host)
        assert core.listener.of("a") == ["on_add", "on_down"]
        core.unreachable.clear()
        await until(lambda: host.is_up)
        assert core.listener.of("a") == ["on_add", "on_down", "on_up"]


@on_a_loop
async def test_a_host_said_to_be_up_that_is_not_goes_down_again_without_a_word_to_listeners():
    async with core_with("a") as (core, host):
        core.unreachable["a"] = ConnectionException("no")
        core.lose(host)
        await until(lambda: is_reconnecting(core, host))
        assert await core.hosts.on_up(host) is False
        assert core.listener.of("a") == ["on_add", "on_down"]
        assert core.profile_manager.of("a") == ["on_add", "on_down", "on_up", "on_down"]
        assert is_reconnecting(core, host)


@on_a_loop
async def test_a_host_that_goes_down_while_it_goes_up_is_down():
    async with core_with("a") as (core, host):
        core.unreachable["a"] = ConnectionException("no")
        core.lose(host)
        await until(lambda: host.is_up is False)
        core.gate.clear()
        going_up = asyncio.ensure_future(core.hosts.on_up(host))
        await asyncio.sleep(0.005)
        await core.hosts.on_down(host)
        assert await going_up is False
        core.gate.set()
        await core.settle()
        assert host.is_up is False
        assert is_reconnecting(core, host)
        assert core.profile_manager.live == set()


@on_a_loop
async def test_however_many_say_that_a_host_is_up_its_pools_are_opened_once():
    async with core_with("a") as (core, host):
        core.unreachable["a"] = ConnectionException("no")
        core.lose(host)
        await until(lambda: host.is_up is False)
        core.unreachable.clear()
        core.prepared_on.clear()
        assert await asyncio.gather(*(core.hosts.on_up(host) for _ in range(5))) == [True] * 5
        assert core.prepared_on == ["a"]


@on_a_loop
async def test_however_often_a_host_fails_there_is_one_reconnector():
    async with core_with("a") as (core, host):
        core.unreachable["a"] = ConnectionException("no")
        before = len(asyncio.all_tasks())
        for _ in range(10):
            core.lose(host)
            await core.settle()
        assert len(asyncio.all_tasks()) == before + 1
        assert core.listener.of("a") == ["on_add", "on_down"]


@on_a_loop
async def test_a_host_that_is_removed_while_it_is_down_is_forgotten():
    async with core_with("a") as (core, host):
        core.unreachable["a"] = ConnectionException("no")
        core.lose(host)
        await until(lambda: len(core.attempts) > 1)
        core.hosts.remove(host)
        await core.settle()
        await asyncio.sleep(0)
        core.attempts.clear()
        await asyncio.sleep(0.1)
        assert core.attempts == []
        assert core.listener.of("a") == ["on_add", "on_down", "on_remove"]
        assert await core.hosts.on_up(host) is False


@on_a_loop
async def test_a_host_that_is_removed_while_it_goes_up_has_no_pools():
    async with core_with() as (core,):
        core.gate.clear()
        host = core.host()
        core.hosts.add(host)
        await asyncio.sleep(0.005)
        core.hosts.remove(host)
        core.gate.set()
        await core.settle()
        assert (core.pools, core.profile_manager.live) == (set(), set())
        # It was gone before anybody could be told that it is there.
        assert core.listener.told == []


@on_a_loop
async def test_nobody_tries_to_reach_a_host_that_is_ignored():
    async with core_with("a") as (core, host):
        core.profile_manager.ignored.add("a")
        core.unreachable["a"] = ConnectionException("no")
        core.lose(host)
        await until(lambda: host.is_up is False)
        await asyncio.sleep(0.1)
        assert core.attempts == []
        core.unreachable.clear()
        assert await core.hosts.on_up(host)


@on_a_loop
async def test_a_new_host_that_is_ignored_is_neither_up_nor_down():
    async with core_with() as (core,):
        core.profile_manager.ignored.add("a")
        host = await added(core, "a")
        assert host.is_up is None
        assert core.listener.of("a") == ["on_add"]
        assert await core.hosts.on_up(host)


@on_a_loop
async def test_after_a_refused_password_the_host_is_tried_again_much_later(monkeypatch):
    waits = []

    async def sleep(seconds, *_):
        waits.append(seconds)
        await until(lambda: len(waits) > 5)

    monkeypatch.setattr(reconnection, "_wait", sleep)
    async with core_with() as (core,):
        core.unreachable["a"] = AuthenticationFailed("bad credentials")
        await added(core, "a")
        await asyncio.sleep(0.05)
        assert waits == [reconnection.AUTHENTICATION_DELAY]
        assert core.attempts == []


@on_a_loop
async def test_a_policy_that_says_not_to_wait_does_not_make_a_busy_loop():
    async with core_with("a") as (core, host):
        core.unreachable["a"] = ConnectionException("no")
        core.options.reconnection_policy.delay = 0
        started = asyncio.get_running_loop().time()
        core.lose(host)
        await until(lambda: len(core.attempts) >= 4)
        passed = asyncio.get_running_loop().time() - started
        assert len(core.attempts) <= passed / reconnection.LEAST_DELAY + 1


@on_a_loop
async def test_when_the_reconnection_policy_gives_up_an_event_still_brings_the_host_up(caplog):
    async with core_with("a") as (core, host):
        core.options.reconnection_policy.max_attempts = 2
        core.unreachable["a"] = ConnectionException("no")
        core.lose(host)
        await until(lambda: len(core.attempts) == 2)
        await until(lambda: not is_reconnecting(core, host))
        assert "Gave up reconnecting to a:9042" in caplog.text
        core.unreachable.clear()
        assert await core.hosts.on_up(host)


@on_a_loop
async def test_a_host_that_flaps_ends_up_as_it_was_last():
    async with core_with("a") as (core, host):
        for _ in range(20):
            core.lose(host)
            await asyncio.sleep(0)
            upping = asyncio.ensure_future(core.hosts.on_up(host))
            await asyncio.sleep(0)
        await upping
        await core.settle()
        await until(lambda: host.is_up)
        assert core.pools == {host}
        assert core.profile_manager.live == {host}
        told = core.listener.of("a")
        assert told[0] == "on_add"
        assert all(one != other for one, other in itertools.pairwise(told))


@on_a_loop
async def test_a_host_that_moves_leaves_and_enters_the_plans_in_this_order():
    async with core_with("a") as (core, host):
        seen = []
        core.profile_manager.told = _Spy(seen, host)
        core.hosts.relocate(host, "dc2", "r9")
        assert seen == [("on_down", "dc1"), ("on_up", "dc2")]
        assert (host.datacenter, host.rack) == ("dc2", "r9")
        core.unreachable["a"] = ConnectionException("no")
        core.lose(host)
        await core.settle()
        seen.clear()
        core.hosts.relocate(host, "dc3", "r9")
        assert (seen, host.datacenter) == ([], "dc3")


class _Spy(list):
    def __init__(self, seen, host):
        super().__init__()
        self.seen, self.host = seen, host

    def append(self, told):
        self.seen.append((told[0], self.host.datacenter))


@on_a_loop
async def test_before_the_cluster_is_open_nobody_hears_of_hosts():
    async with core_with() as (core,):
        core.is_open = False
        hosts = [core.host("a"), core.host("b")]
        core.profile_manager.ignored.add("b")
        for host in hosts:
            core.hosts.add(host)
        await core.hosts.on_down(hosts[0])
        assert (core.listener.told, core.profile_manager.told) == ([], [])
        core.is_open = True
        core.hosts.start()
        assert core.listener.told == [("on_add", "a"), ("on_add", "b")]
        assert [host.is_up for host in hosts] == [True, None]


@on_a_loop
async def test_a_listener_that_raises_keeps_nobody_from_hearing(caplog):
    class Broken:
        def on_add(self, host):
            raise ValueError(f"cannot bear {host}")

    async with core_with() as (core,):
        core.listeners.unregister(core.listener)
        core.listeners.register(Broken())
        core.listeners.register(core.listener)
        await added(core, "a")
        assert core.listener.of("a") == ["on_add"]
        assert "cannot bear a:9042" in caplog.text


@on_a_loop
async def test_a_node_that_was_replaced_has_a_host_of_its_own():
    async with core_with("a") as (core, old):
        new = core.host("a")
        core.hosts.remove(old)
        core.hosts.add(new)
        await core.settle()
        assert (old.is_up, new.is_up) == (False, True)
        assert core.listener.of("a") == ["on_add", "on_remove", "on_add"]
        await core.hosts.on_down(old, expect_host_to_be_down=True)
        assert new.is_up


@pytest.mark.parametrize("state", ["down", "going_up", "reconnecting"])
def test_closing_ends_everything_and_nothing_starts_after_it(state):
    @on_a_loop
    async def run():
        core = FakeCore()
        host = await added(core, "a")
        core.unreachable["a"] = ConnectionException("no")
        if state != "going_up":
            core.lose(host)
        if state == "reconnecting":
            core.gate.clear()
            await until(lambda: core.attempts)
        if state == "going_up":
            core.gate.clear()
            core.hosts.add(core.host("b"))
        await core.close()
        core.lose(host)
        core.hosts.add(core.host("c"))
        await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) == 1

    run()


@on_a_loop
async def test_a_statement_that_cannot_be_prepared_keeps_no_host_down(caplog):
    async def prepare_statements(host):
        raise ConnectionException(f"{host} does not know the table")

    async with core_with() as (core,):
        core.prepare_statements = prepare_statements
        host = await added(core, "a")
        assert host.is_up
        assert "does not know the table" in caplog.text


@on_a_loop
async def test_a_policy_that_raises_keeps_no_host_from_coming_or_going(caplog):
    def broken(host):
        raise ValueError(f"cannot bear {host}")

    async with core_with() as (core,):
        core.profile_manager.on_add = broken
        core.profile_manager.on_down = broken
        host = await added(core, "a")
        assert host.is_up
        await core.hosts.on_down(host, expect_host_to_be_down=True)
        assert host.is_up is False
        assert caplog.text.count("cannot bear a:9042") == 2


@on_a_loop
async def test_a_host_that_fails_while_it_is_added_is_announced_first():
    async with core_with() as (core,):
        core.gate.clear()
        host = core.host()
        core.hosts.add(host)
        await asyncio.sleep(0.005)
        await core.hosts.on_down(host, is_host_addition=True)
        core.gate.set()
        assert core.listener.of("a")[:2] == ["on_add", "on_down"]
