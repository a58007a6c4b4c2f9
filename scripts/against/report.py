"""What was measured, as a document and as a page."""

from __future__ import annotations

import gzip
import json
import statistics
from typing import TYPE_CHECKING, Any

from benchproof import files, provenance, results, toolchain

from .measuring import ratio

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

METERS = ("instructions", "allocations")
#: What is measured of requests to a node, and the tables' titles.
REQUESTS = {
    "processor": "A request to a real node, processor time of the client",
    "elapsed": "A request to a real node, elapsed time",
}


def document(
    said: Mapping[str, Any],
    counted: Mapping[str, Any],
    times: Mapping[str, Any],
    requests: Mapping[str, Any],
) -> dict[str, Any]:
    """Everything that was measured, raw.

    Args:
        said: by side, what it answered.
        counted: by side, meter and operation, a number a call.
        times: by side and operation, seconds a call of each process.
        requests: by side, meter and load, seconds a request of each process; empty without a node.
    """
    return {
        "schema": 1, "created": results.now(),
        "provenance": provenance.gather(toolchain.find()),
        "sides": {name: {"modules": each["modules"]} for name, each in said.items()},
        "digests": next(iter(said.values()))["digests"],
        "counts": counted, "seconds": times, "requests": requests,
    }  # fmt: skip


def markdown(done: Mapping[str, Any]) -> str:
    """A page: the conditions, then a table of times, of each counted meter, and of requests."""
    names, about = list(done["sides"]), done["provenance"]
    lines = [
        "# Beside other drivers",
        "",
        "Written by `scripts/against-peers`, not by hand: the same steps of a request, on the same",
        "recorded frames, timed and counted after every driver had given the same answer.",
        (
            f"{about['python']}, {about['cpu']}, {about['cores']} cores, load {about['load']}, "
            f"{done['created'][:10]}."
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
    for meter, title in REQUESTS.items():
        asked = {name: done["requests"].get(name, {}).get(meter, {}) for name in names}
        lines += _timed(title, names, asked)
    return "\n".join(lines) + "\n"


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
        name: [*(_ratio(values, times[other][name]) for other in others),
               _time(statistics.median(values))]
        for name, values in mine.items()
    })  # fmt: skip


def _counted(
    title: str, names: Sequence[str], counts: Mapping[str, Mapping[str, float]]
) -> list[str]:
    """A table of ratios of counts."""
    ours, *others = names
    return _table(title, [*others, ours], {
        name: [*(_times(counts[other][name], mine) for other in others), f"{mine:,.0f}"]
        for name, mine in counts[ours].items()
    })  # fmt: skip


def _table(title: str, columns: Sequence[str], rows: Mapping[str, Sequence[str]]) -> list[str]:
    """A heading and a table."""
    head = ["", f"## {title}", "", f"|  | {' | '.join(columns)} |", "|:--|" + "--:|" * len(columns)]
    return [*head, *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items())]


def _ratio(ours: Sequence[float], theirs: Sequence[float]) -> str:
    found = ratio(ours, theirs)
    return f"**{found.ratio:.2f}** ({found.low:.2f} to {found.high:.2f})"


def _times(theirs: float, ours: float) -> str:
    return f"{theirs / ours:.2f}" if ours else f"{theirs:,.0f} : 0"


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:,.2f} µs" if seconds < 0.001 else f"{seconds * 1e3:,.2f} ms"
