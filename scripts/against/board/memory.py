"""How much memory sessions, requests in flight and rows take, each in a process of its own.

Memory is PSS: what a process has for itself, and its part of what it shares with others.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from against.sides import SideError

from .node import LoadNode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from .members import Member

#: Requests in flight that nobody answers, and pages of rows that are kept.
FLYING, PAGES = (1000, 32_768), 60


def measure(
    members: Sequence[Member],
    cache: Path,
    tell: Callable[[str], None],
    flying: Sequence[int] = FLYING,
    pages: int = PAGES,
) -> dict[str, dict[str, Any]]:
    """Measure everybody whose requests are futures or tasks.

    Returns:
        By way and name, bytes: of a bare interpreter, an idle session, more with requests in
        flight (and how many of them reached the node), and of a kept row; or why not.
    """
    found: dict[str, dict[str, Any]] = {}
    for member in members:
        if member.way == "threads":  # its requests are those of futures, and threads are not ours
            continue
        tell(f"memory of {member.name}, {member.way}")
        about: dict[str, Any] = {"flying": {}, "rows": {}}
        for number in flying:
            with LoadNode(cache, hold=True) as node:
                said = _told(member, "hold", node, number=number)
            if isinstance(said, str):
                about["flying"][str(number)] = said
                continue
            about |= {key: said[key]["pss"] for key in ("bare", "idle")}
            more = [look["pss"] - said["before"]["pss"] for look in said["flying"]]
            about["flying"][str(number)] = {"bytes": statistics.median(more), "held": node.held}
        for tuples in (False, True):
            with LoadNode(cache) as node:
                said = _told(member, "keep", node, pages=pages, tuples=tuples)
            row = said if isinstance(said, str) else [said["kind"], said["bytes"]["pss"]]
            about["rows"]["as tuples" if tuples else "by default"] = row
        found.setdefault(member.way, {})[member.name] = about
    return found


def _told(member: Member, task: str, node: LoadNode, **more: Any) -> Any:  # noqa: ANN401  (JSON)
    """What a process says, or why it does not."""
    try:
        return member.side.run(member.command(task, host=node.host, port=node.port, **more))
    except SideError as error:
        return str(error).partition(": ")[2]
