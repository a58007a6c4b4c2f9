"""Run the board: all answers are looked at, then blocks of processes, in random order.

A process connects once and goes through all cases, so that a block is one number of every case from
everybody; a ratio is that of processes of one block.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from against.sides import SideError

from . import cases

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .members import Member


@dataclass(frozen=True)
class Asked:
    """A node, and how often it is asked.

    Attributes:
        host: its address.
        port: of CQL.
        process: its id; 0 if it is not known.
        recorded: whether it is a load-test node, which knows one reading.
        blocks: of a process of each member.
        scale: how many requests, as a multiple of the usual number.
    """

    host: str
    port: int
    process: int = 0
    recorded: bool = False
    blocks: int = 10
    scale: float = 1.0

    @property
    def place(self) -> dict[str, Any]:
        """What a client has to know."""
        return {"host": self.host, "port": self.port}


def fill(member: Member, host: str, port: int) -> None:
    """Make the table and its rows.

    Raises:
        SideError: the node does not answer.
    """
    member.side.run(member.command("fill", host=host, port=port))


def check(
    members: Sequence[Member], node: Asked, tell: Callable[[str], None]
) -> dict[str, dict[str, Any]]:
    """Look at all answers to everybody: by way and name, how many were looked at, what failed.

    Raises:
        SideError: somebody got another answer, or could not connect.
    """
    found: dict[str, dict[str, Any]] = {}
    for at, member in enumerate(members):
        tell(f"looking at the answers of {member.name}, {member.way}")
        more = {"own": cases.PARTITIONS + at, "recorded": node.recorded}
        said = member.side.run(member.command("check", **node.place, **more))
        found.setdefault(member.way, {})[member.name] = said
    return found


def measure(
    members: Sequence[Member],
    checked: dict[str, dict[str, Any]],
    node: Asked,
    tell: Callable[[str], None],
    seed: int,
) -> dict[str, dict[str, dict[str, dict[str, list[float]]]]]:
    """By way, name, case and meter a number of each block.

    Raises:
        SideError: a process failed.
    """
    drawn = random.Random(seed)
    found: dict[str, Any] = {}
    for block in range(node.blocks):
        tell(f"block {block + 1} of {node.blocks}")
        for member in drawn.sample(list(members), len(members)):
            can = list(checked[member.way][member.name]["looked"])
            more = {"cases": can, "scale": node.scale, "node": node.process}
            said = member.side.run(member.command("measure", **node.place, **more))
            of_member = found.setdefault(member.way, {}).setdefault(member.name, {})
            for case, numbers in said["numbers"].items():
                for meter, number in numbers.items():
                    of_member.setdefault(case, {}).setdefault(meter, []).append(number)
            if set(said["numbers"]) != set(can):
                raise SideError(f"{member.name}: {set(can) - set(said['numbers'])} is missing")
    return found
