"""Events are collected for a while, and cause as few refreshes as will do."""

import asyncio

from control_core import on_a_loop, until
from hypothesis import given
from hypothesis import strategies as st

from driver.cluster.event_window import (
    MOST_SINGLE_REFRESHES,
    EventWindow,
    fewest_refreshes,
    schema_event_key,
)


class Handler:
    def __init__(self):
        self.handled = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.running = 0
        self.most_running = 0
        self.fails = False

    async def __call__(self, events):
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await self.gate.wait()
        await asyncio.sleep(0)
        self.handled.append(events)
        self.running -= 1
        if self.fails:
            raise ValueError("cannot")


@on_a_loop
async def test_events_of_one_window_are_handled_together_each_key_once():
    handler = Handler()
    window = EventWindow(0.01, handler)
    for key, event in [("a", 1), ("b", 2), ("a", 3)]:
        window.put(key, event)
    await until(lambda: handler.handled)
    assert handler.handled == [[2, 3]]
    window.put("a", 4)
    await until(lambda: len(handler.handled) == 2)
    assert handler.handled[1] == [4]


@on_a_loop
async def test_an_event_that_is_discarded_is_not_handled():
    handler = Handler()
    window = EventWindow(0.01, handler)
    window.put("a", 1)
    window.put("b", 2)
    window.discard("a")
    await until(lambda: handler.handled)
    assert handler.handled == [[2]]
    window.put("a", 1)
    window.discard("a")
    await asyncio.sleep(0.03)
    window.put("c", 3)
    await until(lambda: len(handler.handled) == 2)
    assert handler.handled[1] == [3]


@on_a_loop
async def test_a_negative_window_means_to_ignore_events():
    handler = Handler()
    window = EventWindow(-1, handler)
    window.put("a", 1)
    await asyncio.sleep(0.01)
    assert not window.is_enabled
    assert handler.handled == []


@on_a_loop
async def test_events_that_come_while_others_are_handled_wait_for_their_turn():
    handler = Handler()
    handler.gate.clear()
    window = EventWindow(0, handler)
    window.put("a", 1)
    await until(lambda: handler.running)
    for event in range(10):
        window.put("b", event)
        await asyncio.sleep(0)
    handler.gate.set()
    await until(lambda: len(handler.handled) == 2)
    assert handler.handled == [[1], [9]]
    assert handler.most_running == 1


@on_a_loop
async def test_a_handler_that_fails_is_called_for_the_next_events(caplog):
    handler = Handler()
    handler.fails = True
    window = EventWindow(0, handler)
    window.put("a", 1)
    await until(lambda: handler.handled)
    window.put("a", 2)
    await until(lambda: len(handler.handled) == 2)
    assert "ValueError('cannot')" in caplog.text


@on_a_loop
async def test_closing_forgets_events_and_ends_what_handles_them():
    handler = Handler()
    handler.gate.clear()
    window = EventWindow(0, handler)
    window.put("a", 1)
    await until(lambda: handler.running)
    window.put("a", 2)
    await window.close()
    window.put("a", 3)
    await asyncio.sleep(0.01)
    assert handler.handled == []
    await window.close()


def table(keyspace, name, change="UPDATED"):
    return {"change_type": change, "target_type": "TABLE", "keyspace": keyspace, "table": name}


def keyspace(name, change="UPDATED"):
    return {"change_type": change, "target_type": "KEYSPACE", "keyspace": name}


def test_a_keyspace_that_is_read_brings_its_tables_along():
    events = [table("a", "t"), keyspace("a"), table("b", "t")]
    assert fewest_refreshes(events) == [
        {"target_type": "KEYSPACE", "keyspace": "a"},
        table("b", "t"),
    ]


def test_many_changes_in_a_keyspace_are_read_as_a_whole():
    events = [table("a", f"t{i}") for i in range(MOST_SINGLE_REFRESHES)]
    assert fewest_refreshes(events) == events
    events.append(table("a", "one too many"))
    assert fewest_refreshes(events) == [{"target_type": "KEYSPACE", "keyspace": "a"}]


def test_many_keyspaces_are_read_with_everything_else():
    events = [keyspace(f"k{i}") for i in range(MOST_SINGLE_REFRESHES + 1)]
    assert fewest_refreshes(events) == [{}]


schema_events = st.lists(
    st.builds(table, st.sampled_from("abc"), st.sampled_from("tuv"))
    | st.builds(keyspace, st.sampled_from("abcdefghijk")),
    max_size=40,
)


@given(schema_events)
def test_everything_that_changed_is_read(events):
    unique = {schema_event_key(event): event for event in events}
    refreshes = fewest_refreshes(unique.values())
    whole = {r["keyspace"] for r in refreshes if r.get("target_type") == "KEYSPACE"}
    for event in unique.values():
        assert {} in refreshes or event["keyspace"] in whole or event in refreshes
    assert len(refreshes) <= len(unique)
