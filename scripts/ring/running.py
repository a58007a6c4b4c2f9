"""Nodes together: which there are, starting some of them, stopping them."""

from __future__ import annotations

import re
import signal
import time
from typing import TYPE_CHECKING

from .failure import Failure
from .node import Node
from .place import FOLDER, START_SECONDS, STOP_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .shape import Shape


def existing_nodes() -> list[Node]:
    """The nodes that have a folder."""
    found = (re.fullmatch(r"node(\d)", path.name) for path in FOLDER.glob("node?"))
    return sorted((Node(int(match[1])) for match in found if match), key=lambda node: node.index)


def start(nodes: list[Node], shape: Shape, seconds: float = START_SECONDS) -> None:
    """Start nodes; return when they and all running ones serve clients and see each other.

    Raises:
        Failure: a node ended, or they are not ready within some seconds.
    """
    running = [node for node in existing_nodes() if node.pid() and not node.is_paused()]
    marks = {node.index: node.log_size() for node in running}
    # The log of a node that is started begins anew.
    marks |= {node.index: 0 for node in nodes}
    for node in nodes:
        node.write_settings(shape)
        node.spawn(shape)
    started = {node.index for node in nodes}
    everyone = sorted([*running, *nodes], key=lambda node: node.index)
    end = time.monotonic() + seconds
    while True:
        for node in nodes:
            if node.pid() is None:
                tail = "\n".join(node.log_text().splitlines()[-20:])
                raise Failure(f"node {node.index} ended; its log ends with\n{tail}")
        missing = {node.index: _lacks(node, everyone, started, marks, shape) for node in everyone}
        if not any(missing.values()):
            return
        if time.monotonic() > end:
            late = [node for node in everyone if missing[node.index]]
            why = "; ".join(
                f"node {node.index} {missing[node.index]}, its log is {node.log}" for node in late
            )
            raise Failure(f"not ready after {seconds:g} s: {why}; --timeout SECONDS waits longer")
        time.sleep(0.2)


def _lacks(
    node: Node, everyone: list[Node], started: set[int], marks: dict[int, int], shape: Shape
) -> str:
    """Why a node is not ready yet; empty when it is."""
    others = [other for other in everyone if other is not node]
    unseen = [
        other.address
        for other in others
        if not {node.index, other.index}.isdisjoint(started)
        and not node.sees_up(other, marks[node.index])
    ]
    return f"does not see {unseen}" if unseen else node.does_not_serve(shape, others)


def stop(nodes: Iterable[Node], first: signal.Signals = signal.SIGTERM) -> None:
    """End nodes: SIGTERM, and SIGKILL for what is left after STOP_SECONDS."""
    nodes = list(nodes)
    for number, seconds in ((first, STOP_SECONDS), (signal.SIGKILL, 5.0)):
        for node in nodes:
            node.signal(number)
            node.signal(signal.SIGCONT)  # a paused process does not hear SIGTERM
        end = time.monotonic() + seconds
        while time.monotonic() < end and any(node.pid() for node in nodes):
            time.sleep(0.05)
    if any(node.pid() for node in nodes):
        raise Failure("a node survived SIGKILL")
