"""What `scripts/claims` does: find, measure, judge, keep, tell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchproof import files
from benchproof.errors import SelectionError, meant
from benchproof.grids import tell_line
from benchproof.targets import content_of

from . import carried as trailers
from . import judge, markdown, measure, page, picture, policy, reader, store, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rich.console import Console

    from benchproof.compare import Place, Request
    from benchproof.progress import Teller

    from .carried import Carried
    from .figures import Impl, Ledger
    from .judge import RowFindings
    from .store import Run


@dataclass(frozen=True)
class Asked:
    """What a person asked for.

    Attributes:
        rows: the rows, or none for all.
        ledger: the ledger's file.
        impls: implementations to measure.
        request: meters, seed, quick; its budget is of all comparisons, 0 for the usual one.
        reports: folder of reports, or None to write none.
        json: where to keep this run's results, or None.
        stored: results to judge instead of measuring, or None.
    """

    rows: tuple[str, ...]
    ledger: Path
    impls: tuple[Impl, ...]
    request: Request
    reports: Path
    json: Path | None = None
    stored: Path | None = None


def run(asked: Asked, place: Place, tell: Teller, out: Console) -> int:
    """Measure and judge, or judge what was kept; print, write, and give the exit status.

    Raises:
        BenchproofError: something that a person can mend.
    """
    ledger = reader.read(asked.ledger)
    rows = chosen(ledger, asked.rows)
    carried: dict[str, Carried] = {}
    if asked.stored:
        runs = store.load(asked.stored)
    else:
        carried = trailers.find(list(ledger.rows.values()), ledger, place.checkout)
        needed = set(rows).union(*(carried[row].apart for row in rows))
        places = {row: where for row, where in carried.items() if row in needed}
        runs = measured(asked, ledger, places, place, tell)
    found = judge.judge(ledger, runs, rows, {row: where.why for row, where in carried.items()})
    table.show(found, out)
    if asked.json:
        store.save(runs, asked.json)
    for path in write(asked, ledger, runs, carried, place):
        tell_line(out, str(path))
    return policy.exit_status([f.verdict for row in found for f in row.findings] + unfigured(found))


def chosen(ledger: Ledger, rows: Sequence[str]) -> list[str]:
    """The rows that were named, in the ledger's order; all if none was.

    Raises:
        SelectionError: one is not in the ledger.
    """
    unknown = [row for row in rows if row not in ledger.rows]
    if unknown:
        raise SelectionError(
            f"the ledger has no row {unknown[0]!r}: it has {', '.join(ledger.rows)}"
            f"{meant(unknown[0], ledger.rows)}"
        )
    return [row for row in ledger.rows if row in rows or not rows]


def measured(
    asked: Asked, ledger: Ledger, carried: Mapping[str, Carried], place: Place, tell: Teller
) -> list[Run]:
    """Measure what the chosen rows need.

    Raises:
        LedgerError: a benchmark that a row names is not there.
        BenchproofError: the benchmarks cannot be found.
    """
    names: dict[str, str] = {}
    if ledger.benchmarks(list(carried)):
        known = measure.known_benchmarks(place, tell)
        names = reader.check_benchmarks(ledger, carried, known, asked.ledger.name)
    steps = measure.plan(ledger, carried, names, asked.impls)
    usual = measure.QUICK_BUDGET if asked.request.quick else measure.BUDGET
    budget = asked.request.budget or usual * len(steps)
    return list(measure.run(steps, replace(asked.request, budget=budget), place, tell))


def unfigured(found: Sequence[RowFindings]) -> list[policy.Verdict]:
    """What rows without figures add to the exit status: whether they were measured."""
    return [
        "not measured" if row.why or any(run.why for run in row.runs.values()) else "reproduced"
        for row in found if not row.findings
    ]  # fmt: skip


def write(
    asked: Asked,
    ledger: Ledger,
    runs: Sequence[Run],
    carried: Mapping[str, Carried],
    place: Place,
) -> list[Path]:
    """Keep the runs, and write the report and the document of everything that is kept; their paths.

    A quick run is a try: it is neither kept nor in the report.
    """
    if asked.request.quick:
        return []
    reasons = {row: where.why for row, where in carried.items()}
    rows, shown = list(ledger.rows), list(runs)
    if asked.stored is None:
        folder = asked.reports / "results" / "claims"
        store.keep([r for r in runs if r.document and not r.document["partial"]], folder)
        kept = store.load(folder) if any(folder.glob("*.json.gz")) else []
        shown = [*fresh(kept, carried, place), *(run for run in runs if run.why)]
    found = judge.judge(ledger, shown, rows, reasons)
    pictures = picture.draw(found, asked.reports / "claims")
    report, document = asked.reports / "claims.md", asked.reports / page.FILE
    files.write(markdown.report(found, pictures), report)
    files.write(page.text(found), document)
    return [report, document]


def fresh(runs: Sequence[Run], carried: Mapping[str, Carried], place: Place) -> list[Run]:
    """The kept runs that measured what the history says now: the same sources on both sides."""
    return [
        run for run in runs
        if (where := carried.get(run.rows[0])) and not where.why
        and all(run.document[side]["content"] == content_of(place.checkout, commit)
                for side, commit in (("left", where.left), ("right", where.right)))
    ]  # fmt: skip
