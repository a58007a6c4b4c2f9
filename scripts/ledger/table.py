"""The table of a run of the ledger, readable at 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from benchproof.grids import borderless, say

from . import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from .judge import RowFindings
    from .policy import Verdict

STYLES: dict[Verdict, str] = {
    "exceeded": "green", "reproduced": "green", "smaller than claimed": "cyan",
    "not reproduced": "bold red", "reversed": "bold red", "not exercised": "bold yellow",
    "not measured": "bold yellow", "not measurable here": "dim", "judged case by case": "dim",
    "technique, not claim": "dim",
}  # fmt: skip


def show(rows: Sequence[RowFindings], console: Console) -> None:
    """Print each row's commit, its figures, and why a verdict is no comparison of numbers."""
    for found in rows:
        console.print()
        say(console, f"{found.row.id}  {found.row.change}", "bold")
        say(console, f"  {where(found)}", "dim")
        if found.findings:
            console.print(_grid(found))
        if found.row.cost:
            say(console, f"  its cost: {found.row.cost}")
        if found.row.no_figure:
            say(console, f"  no figure: {found.row.no_figure}", "dim")
        for name, impl, meters in found.also:
            say(console, f"  {name} [{impl}]: {words.meters(meters)}")
        for reason, cases in words.reasons(found.findings).items():
            say(console, f"  {'; '.join(cases)}: {reason}", "dim")
    console.print()
    say(console, words.summary(rows), "bold")


def where(found: RowFindings) -> str:
    """Which commit was measured, and whether it was taken back."""
    run = next(iter(found.runs.values()), None)
    if run is None:
        return found.why or "nothing of it is to be measured"
    if not run.right:
        return run.why or "its rows one by one, each against its own parent"
    back = f", taken back by {', '.join(c[:10] for c in run.taken_back)}" if run.taken_back else ""
    return f"{run.right[:10]} against {run.left[:10]}{back}"


def _grid(found: RowFindings) -> Table:
    impls = list(dict.fromkeys(impl for f in found.findings for impl in f.judged))
    grid = borderless()
    grid.add_column("  case", overflow="fold", ratio=3)
    for title in ("claimed", *impls):
        grid.add_column(title, overflow="fold", ratio=2)
    grid.add_column("verdict", overflow="fold", ratio=2)
    for finding in found.findings:
        grid.add_row(
            Text(f"  {finding.figure.case}"),
            Text(words.claimed(finding.figure)),
            *(Text(words.measured(finding.figure, finding.judged[impl], brief=True)
                   if impl in finding.judged else "-") for impl in impls),
            Text(words.verdict(finding), style=STYLES[finding.verdict]),
        )  # fmt: skip
    return grid
