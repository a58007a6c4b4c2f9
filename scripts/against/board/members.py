"""Who is on the board: each driver in each way that it has, in an environment of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from against.sides import Side, SideError, environment

from . import clients

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: Seconds for one process, which takes 30 where the machine is busy.
LIMIT = 240.0
OURS = "cqlpath"
#: The same once more: what two runs of one driver differ by.
AGAIN = "cqlpath again"
#: Released versions of others, as PyPI has them.
OTHERS = (
    "cassandra-driver==3.30.1", "scylla-driver==3.29.12", "scylladb-rs-driver==0.2.0",
    "rsylla==0.1.1", "acsylla==1.2.0", "scyllapy==1.3.3",
)  # fmt: skip
#: Which clients have each way, and what to say of a driver that is not among them.
WAYS = {
    "threads": (clients.BLOCKING, "has no call that blocks"),
    "futures": (clients.BLOCKING, "has no futures outside of an event loop"),
    "asyncio": (clients.AWAITED, "has nothing to await"),
}


@dataclass(frozen=True)
class Member:
    """A driver in one way.

    Attributes:
        name: of the driver, with its version; the same in every way.
        way: a key of `ways.WAYS`.
        side: how its processes are started.
        module: what they run.
    """

    name: str
    way: str
    side: Side
    module: str = "board.client"

    def command(self, task: str, **asked: object) -> list[str]:
        """The command line of a process that does a task."""
        return self.side.command(task, self.module, way=self.way, **asked)


def all_members(
    cache: Path, tell: Callable[[str], None], only: str = "", impl: str = "cython"
) -> tuple[list[Member], dict[str, dict[str, str]]]:
    """Everybody, this driver first; and by way and name, why somebody is not there.

    Args:
        cache: where environments are kept.
        tell: hears what is done.
        only: what the name of a driver has to contain, of the others.
        impl: of this driver.
    """
    found: list[Member] = []
    missing: dict[str, dict[str, str]] = {way: {} for way in WAYS}
    for wanted in (OURS, AGAIN, *(each for each in OTHERS if only in each)):
        driver, _, _ = wanted.partition("==")
        driver = OURS if driver == AGAIN else driver
        name = wanted.replace("==", " ")
        try:
            if driver == OURS:
                side = Side(name, driver, {"DRIVER_IMPL": impl}, limit=LIMIT)
            else:
                tell(f"installing {wanted}, unless it is there")
                side = Side(name, driver, python=environment(wanted, cache), limit=LIMIT)
        except SideError as error:
            for way in WAYS:
                missing[way][name] = str(error)
            continue
        for way, (known, why) in WAYS.items():
            if driver in known:
                found.append(Member(name, way, side))
            else:
                missing[way][name] = f"{driver} {why}"
    return found, missing
