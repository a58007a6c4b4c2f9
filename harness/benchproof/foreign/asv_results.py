"""asv's result files: a file is a run, since it does not say which process gave a sample."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

from benchproof import files, suite
from benchproof.errors import BenchproofError

from .readings import Reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

#: The version of asv's result files that is read.
VERSION = 2
_TIMED = ("time_", "timeraw_", "Time", "TimeRaw")


def read(file: Path) -> Iterator[Reading]:
    """The benchmarks of a file, each with its parameters.

    Raises:
        BenchproofError: it is none of asv's, or of another version.
    """
    try:
        found = files.read_json(file)
        version = found.get("version")
        if version != VERSION:
            raise BenchproofError(f"{file}: asv's results of version {version!r}, and {VERSION} is "
                                  "read: `asv update` brings older ones up to it")  # fmt: skip
        units, about = _units(file), found.get("params") or {}
        host = " ".join(str(about[key]) for key in ("machine", "cpu") if about.get(key))
        for name, row in found["results"].items():
            columns = dict(zip(found["result_columns"], row, strict=False))
            yield from _of(name, columns, units.get(name, "unit"), host or "an unnamed machine")
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise BenchproofError(f"{file}: no result file of asv ({error})") from error


def _units(file: Path) -> Mapping[str, str]:
    """The units that asv wrote down beside the results; none without that file."""
    listed = file.parent.parent / "benchmarks.json"
    rows: Mapping[str, Any] = files.read_json(listed) if listed.exists() else {}
    return {name: str(row.get("unit") or "unit") for name, row in rows.items()
            if isinstance(row, dict)}  # fmt: skip


def _of(name: str, columns: Mapping[str, Any], unit: str, host: str) -> Iterator[Reading]:
    """The numbers of a benchmark: one for each combination of its parameters."""
    taken, samples = columns.get("result") or (), columns.get("samples") or ()
    combinations = itertools.product(*(columns.get("params") or ()))
    for index, (combination, number) in enumerate(zip(combinations, taken, strict=False)):
        params = f"({', '.join(combination)})" if combination else ""
        if number is None or math.isnan(number):
            continue  # it failed, or was skipped
        if suite.parts(name)[1].startswith(_TIMED):
            values = samples[index] if index < len(samples) and samples[index] else [number]
            yield Reading(name, params, "wall", "", [float(each) for each in values], host)
        else:
            yield Reading(name, params, "track", unit, (number,), host)
