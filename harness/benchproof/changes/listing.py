"""`benchproof changes`: what of the history changed, chosen, as JSON and as a table by commit."""

import math
import re
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchproof import results
from benchproof.checkout import Checkout
from benchproof.errors import BenchproofError
from benchproof.grids import borderless, print_whole, say
from benchproof.history import asv_files
from benchproof.history.model import Commit, History
from benchproof.noise import FLOORS
from benchproof.progress import Teller
from benchproof.render import units

from .search import ALPHA, find_all
from .sizes import Change

SCHEMA = 1
#: Changes that are shown of a commit, the largest first.
_MOST = 4


def search(
    span: str, alpha: float, checkout: Checkout, folder: Path, tell: Teller
) -> tuple[History, list[Change]]:
    """The kept history, and its changes.

    Args:
        span: ``A..B``, whose commits' changes are wanted; "" for all.
        alpha: the part of the list that may be false.
        checkout: whose history it is.
        folder: asv's folder of results.
        tell: hears what is done.

    Raises:
        BenchproofError: there is no history.
    """
    if not folder.is_dir():
        raise BenchproofError(f"{folder} holds no history: measure one with `benchproof history`")
    history = asv_files.load(folder, checkout)
    for left in history.left_out:
        tell.line(f"left out: {left.file}: {left.why}")
    if not history.series:
        raise BenchproofError(f"{folder} holds no numbers yet: measure with `benchproof history`")
    changes = find_all(history, alpha, tell=tell)
    if span:
        named = set(checkout.ask("rev-list", "--first-parent", span).split())
        places = {at for at, commit in enumerate(history.commits) if commit.hash in named}
        changes = within(changes, places)
    return history, changes


def within(changes: Iterable[Change], places: set[int]) -> list[Change]:
    """The changes that commits at some places may have made."""
    return [
        each for each in changes
        if not places.isdisjoint(range(each.before + 1, each.after + 1))
    ]  # fmt: skip


def chosen(
    changes: Iterable[Change], bench: re.Pattern[str], meters: Collection[str], impl: str = "",
    least: float = 0.0, kind: str = "",
) -> list[Change]:  # fmt: skip
    """The changes that a person wants to see.

    Args:
        changes: of which.
        bench: found in the benchmark's name.
        meters: names.
        impl: of the implementation; "" for all.
        least: the smallest size, as a part of 1.
        kind: `code`, `platform`, or "" for both.
    """
    return [
        each for each in changes
        if bench.search(each.key.benchmark) and each.key.meter in meters
        and impl in {"", each.key.impl} and each.size >= least and kind in {"", each.kind}
    ]  # fmt: skip


def document(changes: Sequence[Change], history: History, alpha: float = ALPHA) -> dict[str, Any]:
    """The list in JSON's types."""
    return {
        "kind": "changes",
        "schema": SCHEMA,
        "created": results.now(),
        "alpha": alpha,
        "floors": {meter: {"ratio": floor.ratio, "unit": floor.unit, "why": floor.why}
                   for meter, floor in FLOORS.items()},
        "commits": len(history.commits),
        "series": len(history.series),
        "changes": [change.told(history.commits) for change in changes],
    }  # fmt: skip


def show(changes: Sequence[Change], history: History, console: Console) -> None:
    """Print the list, the newest commit last."""
    if not changes:
        say(console, f"no change in {len(history.series)} series")
        return
    grid = borderless("benchmark", "impl", "meter", "change:", "", fold="benchmark")
    for _, same in groupby(changes, key=lambda change: change.likely):
        _add(grid, sorted(same, key=lambda change: -change.size), history.commits)
    print_whole(console, grid)
    code = sum(change.kind == "code" for change in changes)
    say(console, f"{len(changes)} changes in {len(history.series)} series: {code} of code, "
        f"{len(changes) - code} of the platform")  # fmt: skip


def _add(grid: Table, group: Sequence[Change], commits: Sequence[Commit]) -> None:
    """The changes of one commit."""
    commit = commits[group[0].likely]
    claims = f" [{', '.join(commit.claims)}]" if commit.claims else ""
    grid.add_row(Text(f"{commit.hash[:10]} {commit.subject}{claims}", style="bold"))
    for change in group[:_MOST]:
        style = "red" if change.ratio > 1 else "green"
        style = "yellow" if change.kind == "platform" else style
        grid.add_row(
            Text(" " + change.key.benchmark), Text(change.key.impl), Text(change.key.meter),
            Text(_size(change), style=style), Text(_notes(change), style="dim"),
        )  # fmt: skip
    if len(group) > _MOST:
        grid.add_row(Text(f" and {len(group) - _MOST} more", style="dim"))


def _size(change: Change) -> str:
    """How far it went, and how far its interval reaches."""
    told = units.change(change.ratio)
    if not 0 < change.ratio < math.inf:
        return told
    return (
        f"{told} \N{PLUS-MINUS SIGN}{(change.high / change.ratio - 1) * 100:.1g}\N{NO-BREAK SPACE}%"
    )


def _notes(change: Change) -> str:
    """What is special about it."""
    several = "" if change.exact else f"one of {change.after - change.before} commits"
    return ", ".join(filter(None, (change.kind.removeprefix("code"), several)))
