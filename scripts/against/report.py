"""What was measured, as a document and as a page."""

from __future__ import annotations

import gzip
import json
import statistics
from typing import TYPE_CHECKING, Any

from harness import provenance, results, toolchain

from .measuring import ratio

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

METERS = ("instructions", "allocations")


def document(
    said: Mapping[str, Any], counted: Mapping[str, Any], times: Mapping[str, Any], blocks: int
) -> dict[str, Any]:
    """Everything that was measured, raw.

    Args:
        said: by side, what it answered.
        counted: by side, meter and operation, a number a call.
        times: by side and operation, seconds a call of each process.
        blocks: how many there were.
    """
    return {
        "schema": 1, "created": results.now(), "blocks": blocks,
        "provenance": provenance.gather(toolchain.find()),
        "sides": {name: {"modules": each["modules"]} for name, each in said.items()},
        "digests": next(iter(said.values()))["digests"],
        "counts": counted, "seconds": times,
    }  # fmt: skip


def markdown(done: Mapping[str, Any]) -> str:
    """A page: the conditions, a table of times, and one of each counted meter."""
    names, operations = list(done["sides"]), list(done["digests"])
    ours, others = names[0], names[1:]
    about = done["provenance"]
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
        f"Numbers are multiples of {ours}: above 1, the other needs more. Its own are in the last",
        "column, of this machine and for orientation.",
    ]
    if done["blocks"]:
        words = f"Time, {done['blocks']} blocks of a process each, with intervals of 99 %"
        times = done["seconds"]
        lines += _table(words, [*others, ours], {
            name: [*(_ratio(times[ours][name], times[other][name]) for other in others),
                   _time(statistics.median(times[ours][name]))]
            for name in operations
        })  # fmt: skip
    for meter in METERS:
        counts = {name: done["counts"].get(name, {}).get(meter) for name in names}
        if all(counts.values()):
            lines += _table(meter.capitalize(), [*others, ours], {
                name: [*(_times(counts[other][name], counts[ours][name]) for other in others),
                       f"{counts[ours][name]:,.0f}"]
                for name in operations
            })  # fmt: skip
    return "\n".join(lines) + "\n"


def write(done: Mapping[str, Any], stem: Path) -> None:
    """Write the page and the raw data beside it."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    stem.with_suffix(".md").write_text(markdown(done), encoding="utf-8")
    text = json.dumps(done, separators=(",", ":")).encode()
    stem.with_suffix(".json.gz").write_bytes(gzip.compress(text, mtime=0))


def _table(title: str, columns: Sequence[str], rows: Mapping[str, Sequence[str]]) -> list[str]:
    """A heading and a table."""
    lines = [
        "",
        f"## {title}",
        "",
        f"|  | {' | '.join(columns)} |",
        "|:--|" + "--:|" * len(columns),
    ]
    return lines + [f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items()]


def _ratio(ours: Sequence[float], theirs: Sequence[float]) -> str:
    found = ratio(ours, theirs)
    return f"**{found.ratio:.2f}** ({found.low:.2f} to {found.high:.2f})"


def _times(theirs: float, ours: float) -> str:
    return f"{theirs / ours:.2f}" if ours else f"{theirs:,.0f} : 0"


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:,.2f} µs" if seconds < 0.001 else f"{seconds * 1e3:,.2f} ms"
