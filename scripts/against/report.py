"""What was measured, as a document and as a page."""

from __future__ import annotations

import gzip
import json
import statistics
from typing import TYPE_CHECKING, Any

from benchproof import files, provenance, results, toolchain

from .board import page
from .measuring import ratio

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

METERS = ("instructions", "allocations")


def document(
    said: Mapping[str, Any], counted: Mapping[str, Any], times: Mapping[str, Any]
) -> dict[str, Any]:
    """Everything that was measured of the steps of a request, raw.

    Args:
        said: by side, what it answered.
        counted: by side, meter and operation, a number a call.
        times: by side and operation, seconds a call of each process.
    """
    return {
        "schema": 1, "created": results.now(),
        "provenance": provenance.gather(toolchain.find()),
        "sides": {name: {"modules": each["modules"]} for name, each in said.items()},
        "digests": next(iter(said.values()))["digests"],
        "counts": counted, "seconds": times,
    }  # fmt: skip


def markdown(done: Mapping[str, Any]) -> str:
    """A page: whole requests, and the steps of one, whichever were measured."""
    lines = ["# Beside other drivers", "", "Written by `scripts/against-peers`, not by hand."]
    if "board" in done:
        lines += page.markdown(done["board"])
    if "sides" in done:
        lines += _steps(done)
    return "\n".join(lines) + "\n"


def _steps(done: Mapping[str, Any]) -> list[str]:
    """The conditions, then a table of times and of each counted meter."""
    names, about = list(done["sides"]), done["provenance"]
    lines = [
        "",
        "## Steps of a request",
        "",
        "The same recorded frames for all, timed and counted after every driver had given the same",
        (
            f"answer. {about['python']}, {about['cpu']}, {about['cores']} cores, load "
            f"{about['load']}, {done['created'][:10]}."
        ),
        "",
        f"Numbers are multiples of {names[0]}: above 1, the other needs more. Its own are in the",
        "last column, of this machine and for orientation. Intervals are of 99 %, from pairs of",
        "processes of one block.",
    ]
    lines += _timed("Time", names, done["seconds"])
    for meter in METERS:
        counts = {name: done["counts"].get(name, {}).get(meter) for name in names}
        if all(counts.values()):
            lines += _counted(meter.capitalize(), names, counts)
    return lines


def read(stem: Path) -> dict[str, Any]:
    """What was written before; empty if nothing was."""
    file = stem.with_suffix(".json.gz")
    done: dict[str, Any] = json.loads(gzip.decompress(file.read_bytes())) if file.exists() else {}
    return done


def write(done: Mapping[str, Any], stem: Path) -> None:
    """Write the page and the raw data beside it.

    Raises:
        BenchproofError: they cannot be written.
    """
    text = json.dumps(done, separators=(",", ":")).encode()
    files.write(gzip.compress(text, mtime=0), stem.with_suffix(".json.gz"))
    files.write(markdown(done), stem.with_suffix(".md"))


def _timed(
    title: str, names: Sequence[str], times: Mapping[str, Mapping[str, Sequence[float]]]
) -> list[str]:
    """A table of ratios of times, if there are any; in the last column the median."""
    ours, *others = names
    mine = times.get(ours) or {}
    if not mine:
        return []
    blocks = len(next(iter(mine.values())))
    return _table(f"{title}, {blocks} blocks", [*others, ours], {
        name: [*(_ratio(values, times[other].get(name)) for other in others),
               _time(statistics.median(values))]
        for name, values in mine.items()
    })  # fmt: skip


def _counted(
    title: str, names: Sequence[str], counts: Mapping[str, Mapping[str, float]]
) -> list[str]:
    """A table of ratios of counts."""
    ours, *others = names
    return _table(title, [*others, ours], {
        name: [*(_times(counts[other].get(name), mine) for other in others), f"{mine:,.0f}"]
        for name, mine in counts[ours].items()
    })  # fmt: skip


def _table(title: str, columns: Sequence[str], rows: Mapping[str, Sequence[str]]) -> list[str]:
    """A heading and a table."""
    head = ["", f"## {title}", "", f"|  | {' | '.join(columns)} |", "|:--|" + "--:|" * len(columns)]
    return [*head, *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items())]


def _ratio(ours: Sequence[float], theirs: Sequence[float] | None) -> str:
    if theirs is None:
        return "-"
    found = ratio(ours, theirs)
    return f"**{found.ratio:.2f}** ({found.low:.2f} to {found.high:.2f})"


def _times(theirs: float | None, ours: float) -> str:
    if theirs is None:
        return "-"
    return f"{theirs / ours:.2f}" if ours else f"{theirs:,.0f} : 0"


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:,.2f} µs" if seconds < 0.001 else f"{seconds * 1e3:,.2f} ms"
