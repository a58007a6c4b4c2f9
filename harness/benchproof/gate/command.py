"""`benchproof gate`: runs a gate, shows it, writes it for machines, and keeps where it passed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchproof import files, provenance, table, targets, variants
from benchproof.compare import compare
from benchproof.errors import BenchproofError

from . import passed
from .report import junit, markdown

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from benchproof.compare import Outcome, Place, Request
    from benchproof.progress import Teller


@dataclass(frozen=True)
class Outputs:
    """Where a gate is written to, each only if it is named.

    Attributes:
        json: the document.
        markdown: for a pull request.
        junit: for CI systems.
        records: all samples.
    """

    json: Path | None = None
    markdown: Path | None = None
    junit: Path | None = None
    records: Path | None = None


def run(
    asked: Request,
    place: Place,
    outputs: Outputs,
    reports: Path,
    tell: Teller,
    out: Console,
    *,
    record: bool,
    pin: str = "",
    everything: bool = False,
) -> int:
    """Run a gate; the exit status.

    Args:
        asked: what to gate; without a base, against the commit at which the gate passed last.
        place: the checkout, its suites and its builds.
        outputs: the files to write.
        reports: the folder with the record of the last pass.
        tell: hears of it.
        out: for the table.
        record: write down a pass.
        pin: and count drift from it, by this name.
        everything: show the cases that did not move, too.

    Raises:
        BenchproofError: the gate cannot begin, or a file cannot be written.
    """
    kept = reports / passed.FILE
    warned, since = None, None
    if not asked.left:
        last = passed.load(kept)
        warned = last.elsewhere(provenance.cpu_model())
        base, words = passed.base(last, place.checkout, asked.right)
        asked, since = replace(asked, left=base, passed=last.accepted), last.pin
        if words:
            tell.line(words)
    if record:
        _refuse_part(asked, place)
    outcome = compare(asked, place, tell)
    document = outcome.document
    document["warnings"] += filter(None, [warned])
    document["drift"] = since.drift(document) if since else None
    table.show(document, out, everything=everything)
    _write(outcome, outputs)
    status = int(document["verdict"]["exit"])
    if record and not status:
        commit = passed.record(document, kept, pin).commit
        out.print(f"recorded: the gate passed at {commit[:10]}; commit {kept}", highlight=False)
    return status


def _write(outcome: Outcome, outputs: Outputs) -> None:
    """Write the files that were named, and the raw samples of wall time beside the document.

    Raises:
        BenchproofError: one cannot be written.
    """
    document = outcome.document
    if outputs.json is not None:
        outcome.save(outputs.json)
    if outputs.markdown is not None:
        files.write(markdown.render(document), outputs.markdown)
    if outputs.junit is not None:
        junit.write(document, outputs.junit)
    if outputs.records is not None:
        outcome.save_records(outputs.records)


def _refuse_part(asked: Request, place: Place) -> None:
    """Refuse to call a part of a gate a pass.

    Raises:
        BenchproofError: some benchmarks, exact meters or an implementation were left out.
    """
    whole = {"instructions", "allocations", "bytes"} <= set(asked.meters)
    spec = targets.parse(asked.right)
    tree = spec.revision == targets.WORKING_TREE
    had = variants.of(place.checkout, None if tree else place.checkout.commit(spec.revision))
    if asked.bench or not whole or not set(had) <= set(asked.impls):
        raise BenchproofError(
            "--record needs the whole gate: all benchmarks, every implementation, all exact meters"
        )
