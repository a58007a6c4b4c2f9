"""Measure the board from beginning to end; record answers for the load-test node."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import answers, bare, memory, recorder, results, running
from .members import Member, all_members
from .node import LoadNode

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Tell = Callable[[str], None]


def measure(
    cache: Path,
    tell: Tell,
    *,
    real: tuple[str, int] | None,
    blocks: int,
    scale: float = 1.0,
    seed: int = 1,
    only: str = "",
) -> dict[str, Any]:
    """Everybody against a load-test node, and a real one if there is one; a document.

    Args:
        cache: where environments and the compiled node are kept.
        tell: hears what is done.
        real: address and port of a node; it gets a keyspace, `against_peers`.
        blocks: of a process of everybody.
        scale: of the number of requests.
        seed: of the order of processes.
        only: what the names of other drivers have to contain.

    Raises:
        SideError: a node does not run, or somebody got another answer.
    """
    load = round(os.getloadavg()[0], 2)
    members, missing = all_members(cache, tell, only)
    nodes = {}
    with LoadNode(cache / "board") as node:
        asked = running.Asked(node.host, node.port, node.process, True, blocks, scale)
        nodes["load-test"] = _of_node(members, asked, tell, seed)
    if real:
        running.fill(members[0], *real)
        asked = running.Asked(*real, blocks=blocks, scale=scale)
        nodes["real"] = _of_node(members, asked, tell, seed)
    kept = memory.measure(members, cache / "board", tell)
    known: dict[str, list[str]] = {}
    for member in members:
        known.setdefault(member.way, []).append(member.name)
    return results.document(
        load=load, scale=scale, seed=seed, members=known, missing=missing, nodes=nodes, memory=kept
    )


def _of_node(members: list[Member], asked: running.Asked, tell: Tell, seed: int) -> dict[str, Any]:
    checked = running.check(members, asked, tell)
    socket = Member(bare.NAME, bare.WAY, members[0].side, "board.bare")
    can = {bare.NAME: {"looked": dict.fromkeys(bare.CASES, 0), "failed": {}}}
    known = {**checked, bare.WAY: {**checked[bare.WAY], **can}}
    numbers = running.measure([*members, socket], known, asked, tell, seed)
    return {"blocks": asked.blocks, "checked": checked, "numbers": numbers}


def record(cache: Path, host: str, port: int, tell: Tell) -> None:
    """Ask a real node, empty but for what is needed, whatever clients ask; keep its answers.

    Raises:
        SideError: a driver is not here, or could not connect.
    """
    members, _ = all_members(cache, tell)
    answers.keep(recorder.record(host, port, members, tell))
