"""What the kept history knows of a change: where to begin, so that fewer builds are needed.

It is a hint, never an answer: both ends of what it names are built and counted, and if they do not
differ the whole range is searched.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchproof.changes import find
from benchproof.errors import BenchproofError
from benchproof.history.asv_files import load

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchproof.checkout import Checkout

    from .line import Stop


def hint(
    results: Path, checkout: Checkout, stops: Sequence[Stop], bench: str, meter: str, impl: str
) -> tuple[int, int] | None:
    """The stops between which the largest change of a series lies, as the history has it.

    Args:
        results: asv's folder of results.
        checkout: that holds the commits.
        stops: of the range.
        bench: the benchmark's name; an expression finds nothing here.
        meter: its meter.
        impl: its implementation.

    Returns:
        Places in `stops`, closer together than its ends; None if the history does not know.
    """
    if not results.is_dir():
        return None
    try:
        history = load(results, checkout, stops[-1].commits[-1])
    except BenchproofError:
        return None
    places = {commit: at for at, stop in enumerate(stops) for commit in stop.commits}
    found: list[tuple[float, int, int]] = []
    for series in history.of(bench):
        if (series.key.meter, series.key.impl) != (meter, impl):
            continue
        for change in find(series, history.commits):
            before = places.get(history.commits[change.before].hash)
            after = places.get(history.commits[change.after].hash)
            if before is not None and after is not None and before < after:
                size = abs(math.log(change.ratio)) if 0 < change.ratio < math.inf else math.inf
                found.append((size, before, after))
    if not found:
        return None
    _, before, after = max(found)
    return None if (before, after) == (0, len(stops) - 1) else (before, after)
