"""The doctor's report: a table for people, JSON for machines, an exit status for scripts."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchproof import renamed
from benchproof import toolchain as tools_of_the_build
from benchproof.errors import COULD_NOT_MEASURE
from benchproof.meters import METERS

from . import machine, project, tools
from .finding import COMMITS, COMPILED, Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

#: A sign and a style for each state; the sign does without colours.
_SIGNS = {"ok": ("+", "green"), "degraded": ("~", "yellow"), "missing": ("-", "bold red")}


def diagnose(place: Path | None = None) -> list[Finding]:
    """Look at this machine, these tools, and the checkout around a directory.

    Args:
        place: A directory inside the checkout; the current one if it is None.

    Returns:
        One finding for each thing looked at, also if there is nothing to do about it.
    """
    place = place or Path.cwd()
    found = tools_of_the_build.find()
    cache = Path(renamed.variable("BENCHPROOF_CACHE") or place / ".benchproof")
    return [
        *tools.check(found),
        *project.check(place, found),
        *machine.check(cache=cache),
    ]


def doctor_command(json_output: bool = False) -> int:
    """Print what this machine can and cannot measure, and what to do about it.

    Args:
        json_output: Print JSON instead of the table.

    Returns:
        The exit status: 0 if the main job can run, 2 if it cannot.
    """
    findings = diagnose()
    if json_output:
        print(json.dumps(as_json(findings), indent=1))  # noqa: T201  (rich would wrap the lines)
    else:
        show(findings, Console())
    return exit_status(findings)


def exit_status(findings: Sequence[Finding]) -> int:
    """0 if the main job can run, 2 if it cannot."""
    return COULD_NOT_MEASURE if any(f.stops_the_main_job for f in findings) else 0


def verdicts(findings: Sequence[Finding]) -> dict[str, str]:
    """For each meter and each half of the main job: the worst state among what affects it.

    What stops the main job makes everything missing.
    """
    order = ("ok", "degraded", "missing")
    stopped = exit_status(findings) != 0
    return {
        part: "missing"
        if stopped
        else max((f.state for f in findings if part in f.affects), key=order.index, default="ok")
        for part in (*METERS, COMPILED, COMMITS)
    }


def as_json(findings: Sequence[Finding]) -> dict[str, Any]:
    """The report as data."""
    return {
        "schema": 1,
        "kind": "doctor",
        "main_job": exit_status(findings) == 0,
        "can_measure": verdicts(findings),
        "findings": [asdict(finding) for finding in findings],
    }


def show(findings: Sequence[Finding], console: Console) -> None:
    """Print the table, then what it comes to."""
    grid = Table(box=None, pad_edge=False, padding=(0, 1), show_header=False)
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for finding in findings:
        sign, style = _SIGNS[finding.state]
        words = Text(finding.detail)
        if finding.affects:
            words.append(f"\naffects {', '.join(finding.affects)}", style="dim")
        if finding.remedy:
            words.append(f"\n→ {finding.remedy}", style="bold")
        grid.add_row(Text(sign, style=style), Text(finding.name, style=style), words)
    console.print(grid)
    console.print()
    for part, state in verdicts(findings).items():
        _, style = _SIGNS[state]
        said = {"ok": "yes", "degraded": "yes, not at its best", "missing": "no"}[state]
        console.print(Text.assemble(f"{part:<22}", (said, style)))
    console.print()
    if exit_status(findings) == 0:
        console.print(Text("The main job can run here: make bench", style="bold green"))
        return
    reasons = [f.name for f in findings if f.stops_the_main_job]
    console.print(
        Text(f"The main job cannot run here: see {', '.join(reasons)} above", style="bold red")
    )
