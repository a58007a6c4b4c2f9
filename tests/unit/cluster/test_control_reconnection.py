"""Reconnection: schedules of a policy, kept from spinning and from storming."""

import asyncio
import itertools

import pytest
from control_core import on_a_loop

from driver.cluster import reconnection
from driver.cluster.reconnection import at_least, for_ever, new_schedule, try_again
from driver.net.errors import ConnectionException
from driver.protocol.errors import AuthenticationFailed, NoHostAvailable

REFUSED = AuthenticationFailed("bad credentials")
LOST = ConnectionException("lost")


def caused_by(error):
    outer = ConnectionException("outer")
    outer.__cause__ = error
    return outer


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (None, reconnection.LEAST_DELAY),
        (LOST, reconnection.LEAST_DELAY),
        (REFUSED, reconnection.AUTHENTICATION_DELAY),
        (caused_by(REFUSED), reconnection.AUTHENTICATION_DELAY),
        (NoHostAvailable("none", {"a": REFUSED}), reconnection.AUTHENTICATION_DELAY),
        (NoHostAvailable("none", {"a": REFUSED, "b": LOST}), reconnection.LEAST_DELAY),
        (NoHostAvailable("none", {}), reconnection.LEAST_DELAY),
    ],
    ids=str,
)
def test_the_shortest_wait_depends_on_what_went_wrong(error, seconds):
    assert at_least(0, error) == seconds
    assert at_least(1000, error) == 1000


def test_a_schedule_goes_on_with_its_last_delay():
    assert list(itertools.islice(for_ever([1, 2]), 4)) == [1, 2, 2, 2]
    assert list(itertools.islice(for_ever([]), 2)) == [1.0, 1.0]


def test_a_policy_that_raises_means_once_a_second(caplog):
    class Broken:
        def new_schedule(self):
            raise ValueError("no idea")

    assert list(itertools.islice(new_schedule(Broken()), 2)) == [1.0, 1.0]
    assert "no idea" in caplog.text


class Attempts:
    def __init__(self, *errors):
        self.errors = list(errors)
        self.count = 0

    async def __call__(self):
        self.count += 1
        if self.errors:
            raise self.errors.pop(0)


@on_a_loop
async def test_it_is_tried_until_it_works():
    attempt = Attempts(LOST, LOST)
    assert await try_again([0] * 5, attempt, "it")
    assert attempt.count == 3


@on_a_loop
async def test_it_is_given_up_when_the_delays_end(caplog):
    attempt = Attempts(LOST, LOST, LOST)
    assert not await try_again([0, 0], attempt, "it")
    assert attempt.count == 2
    assert "Gave up it" in caplog.text


@on_a_loop
async def test_who_is_in_a_hurry_does_not_wait():
    hurry = asyncio.Event()
    attempt = Attempts(LOST)
    trying = asyncio.ensure_future(try_again([1000, 0], attempt, "it", hurry=hurry))
    await asyncio.sleep(0.01)
    assert attempt.count == 0
    hurry.set()
    assert await trying
    assert attempt.count == 2
