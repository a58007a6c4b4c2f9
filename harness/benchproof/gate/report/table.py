"""A gate on a terminal, readable at 80 columns: what moved, why, how sure, and the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchproof import grids
from benchproof.grids import say
from benchproof.profile import change

from . import words

if TYPE_CHECKING:
    from rich.console import Console

    from .words import Document

OUTCOME = {0: "bold green", 1: "bold red", 2: "bold yellow", 3: "bold yellow"}
#: Regressions that are explained here; `--json` explains all.
EXPLAINED = 4


def show(document: Document, console: Console, *, everything: bool = False) -> None:
    """Print a gate, the verdict last: that is what a prompt leaves on the screen.

    Args:
        document: of the gate.
        console: as wide as the tables may be.
        everything: whether the cases that did not move are wanted too.
    """
    console.print()
    for side, commit, subject in words.against(document):
        say(console, f"{side:<5} {commit} {subject}", "bold")
    grids.show(document, console, everything=everything)
    for name, note in words.noted(document):
        say(console, f"{name}: {note}", "dim")
    _profiles(document, console)
    _accepted(document, console)
    _missing(document, console)
    for line in words.error_rates(document):
        say(console, line, "dim")
    if document["partial"]:
        say(console, "PARTIAL: stopped before the end", "bold yellow")
    if document["cases"] and not everything:
        say(console, "--all shows every benchmark", "dim")
    verdict = document["verdict"]
    say(console, f"{verdict['status']}: {verdict['summary']}", OUTCOME[verdict["exit"]])


def _accepted(document: Document, console: Console) -> None:
    """What is accepted, and the entries that accept nothing."""
    for row in (*document["cases"], *document.get("suites", ())):
        if row["accepted"]:
            why = row["accepted"]
            say(console, f"accepted until {why['until']}: {words.named(row)}: {why['reason']}",
                "yellow")  # fmt: skip
    for entry in document["accepted"]:
        if entry["state"] != "used":
            say(console, f"accepted.toml:{entry['line']}: {entry['benchmark']}: {entry['state']}",
                 "yellow")  # fmt: skip


def _missing(document: Document, console: Console) -> None:
    """What has no numbers, and what wall time could not decide."""
    for line in words.troubles(document):
        say(console, line, "bold yellow")
    for row in [*words.unmeasured(document), *document["excluded"]]:
        impl, status = row["impl"] or "both", row.get("status", "excluded")
        say(console, f"{row['name']} [{impl}]: {status}: {row['why']}", "yellow")
    for line in (*words.not_measured_meters(document), words.undecided(document)):
        if line:
            say(console, line, "yellow")


def _profiles(document: Document, console: Console) -> None:
    """Where the instructions of the worst regressions went."""
    lost = [row for row in words.explained(document) if row["verdict"] != "improved"]
    for row in lost[:EXPLAINED]:
        console.print()
        say(console, f"{row['name']} [{row['impl']}] spends more in", "bold")
        console.print(change.table(row["profile"]))
    console.print()
    if len(lost) > EXPLAINED:
        say(console, f"{len(lost) - EXPLAINED} more regressions are explained by --markdown and "
             "--json", "dim")  # fmt: skip
