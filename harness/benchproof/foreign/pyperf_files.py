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
        yield from list(_of(pyperf.BenchmarkSuite.load(str(file))))
    except Exception as error:  # (pyperf raises what its parser meets)
        why = " ".join(str(error).split())
        raise BenchproofError(f"{file}: no file of pyperf ({why})") from error


def _of(suite: pyperf.BenchmarkSuite) -> Iterator[Reading]:
    """The runs of all benchmarks."""
    for each in suite:
        name, timed = each.get_name(), each.get_unit() == "second"
        if not isinstance(name, str):
            raise TypeError(f"the name {name!r} is no text")
        for run in each.get_runs():
            about = run.get_metadata()
            host = str(about.get("cpu_model_name") or about.get("platform") or "an unnamed machine")
            if timed and run.values:
                yield Reading(name, "", "wall", "", run.values, host)
            for value in () if timed else run.values:
                yield Reading(name, "", "track", each.get_unit(), (value,), host)
