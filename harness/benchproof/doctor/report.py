"""The doctor's report: a table for people, JSON for machines, an exit status for scripts."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from benchproof import renamed
from benchproof import toolchain as tools_of_the_build
from benchproof.errors import COULD_NOT_MEASURE
from benchproof.grids import borderless, print_whole, say
from benchproof.suite import TIMED

from . import machine, project, tools
from .machine import COMMITS, COMPILED, Finding

#: What can be measured.
PARTS = (*TIMED, COMPILED, COMMITS)
#: A sign and a style for each state; the sign does without colours.
_SIGNS = {"ok": ("+", "green"), "degraded": ("~", "yellow"), "missing": ("-", "bold red")}


def diagnose() -> list[Finding]:
    """Look at this machine, these tools, and the checkout around the current directory.

    Returns:
        One finding for each thing looked at, also if there is nothing to do about it.
    """
    place = Path.cwd()
    found = tools_of_the_build.find()
    forms = project.forms(place)
    cache = Path(renamed.variable("BENCHPROOF_CACHE") or place / ".benchproof")
    return [
        *tools.check(found, compiled="compiled" in forms),
        *project.check(place, found),
        *machine.check(cache=cache),
    ]


def exit_status(findings: Sequence[Finding]) -> int:
    """0 if the main job can run, 2 if it cannot."""
    return COULD_NOT_MEASURE if any(f.stops_the_main_job for f in findings) else 0


def parts_of() -> tuple[str, ...]:
    """What can be measured of a project: every meter, commits, implementations if it has both."""
    both = len(project.forms(Path.cwd())) > 1
    return tuple(part for part in PARTS if part != COMPILED or both)


def verdicts(findings: Sequence[Finding], parts: Sequence[str] = PARTS) -> dict[str, str]:
    """For each part of what can be measured: the worst state among what affects it.

    What stops everything makes everything missing.
    """
    if exit_status(findings):
        return dict.fromkeys(parts, "missing")
    order = ("ok", "degraded", "missing")
    return {
        part: max((f.state for f in findings if part in f.affects), key=order.index, default="ok")
        for part in parts
    }


def as_json(findings: Sequence[Finding], parts: Sequence[str] = PARTS) -> dict[str, Any]:
    """The report as data."""
    return {
        "schema": 1,
        "kind": "doctor",
        "main_job": exit_status(findings) == 0,
        "can_measure": verdicts(findings, parts),
        "findings": [asdict(finding) for finding in findings],
    }


def show(findings: Sequence[Finding], console: Console, parts: Sequence[str] = PARTS) -> None:
    """Print the table, then what it comes to."""
    grid = borderless("sign", "name", "detail", gap=2, fold="detail", header=False)
    for finding in findings:
        sign, style = _SIGNS[finding.state]
        words = Text(finding.detail)
        if finding.affects:
            words.append(f"\naffects {', '.join(finding.affects)}", style="dim")
        if finding.remedy:
            words.append(f"\n→ {finding.remedy}", style="bold")
        grid.add_row(Text(sign, style=style), Text(finding.name, style=style), words)
    print_whole(console, grid)
    console.print()
    for part, state in verdicts(findings, parts).items():
        _, style = _SIGNS[state]
        said = {"ok": "yes", "degraded": "yes, not at its best", "missing": "no"}[state]
        console.print(Text.assemble(f"{part:<22}", (said, style)))
    console.print()
    if exit_status(findings) == 0:
        say(console, "This project can be measured here: benchproof run", "bold green")
        return
    reasons = [f.name for f in findings if f.stops_the_main_job]
    if reasons == ["benchmarks"]:
        say(
            console,
            "No benchmark can be measured here: see above. Commands and imports need none: "
            "benchproof compare HEAD~1 HEAD --command 'python -m mypkg --version' --import mypkg",
            "bold red",
        )
        return
    say(console, f"Nothing can be measured here: see {', '.join(reasons)} above", "bold red")
