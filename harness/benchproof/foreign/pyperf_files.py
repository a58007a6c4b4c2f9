"""pyperf's JSON files: a process that gave values is a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyperf

from benchproof.errors import BenchproofError

from .readings import Reading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def read(file: Path) -> Iterator[Reading]:
    """The runs of a file.

    Raises:
        BenchproofError: it is none of pyperf's.
    """
    try:
        suite = pyperf.BenchmarkSuite.load(str(file))
    except Exception as error:  # (pyperf raises what its parser meets)
        raise BenchproofError(f"{file}: no file of pyperf ({error})") from error
    for each in suite:
        timed = each.get_unit() == "second"
        for run in each.get_runs():
            about = run.get_metadata()
            host = str(about.get("cpu_model_name") or about.get("platform") or "an unnamed machine")
            if timed and run.values:
                yield Reading(each.get_name(), "", "wall", "", run.values, host)
            for value in () if timed else run.values:
                yield Reading(each.get_name(), "", "track", each.get_unit(), (value,), host)
