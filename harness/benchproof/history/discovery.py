"""The benchmarks that a history is of, as asv finds them, and their versions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchproof import asv_conf, files, suite
from benchproof.errors import BenchproofError, HistoryError

from . import measure, names
from .model import CANARY

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from benchproof.compare import Place
    from benchproof.processes import Crew
    from benchproof.progress import Teller
    from benchproof.suite import Case

    from .measure import Key


@dataclass(frozen=True)
class Suites:
    """What the suites have.

    Attributes:
        cases: as the harness finds them.
        timed: the same, as asv describes them.
    """

    cases: list[Case]
    timed: list[dict[str, Any]]


def discover(place: Place, crew: Crew, wanted: Sequence[str], tell: Teller) -> Suites:
    """What asv finds in the suites, beside the first driver that builds.

    Raises:
        BenchproofError: none of them builds, or the suites cannot be imported.
    """
    asv_conf.require(place.suites)
    tell.stage("finding the benchmarks")
    first: BenchproofError | None = None
    for commit in dict.fromkeys(("HEAD", *wanted)):
        with files.scratch(crew.scratch) as scratch:
            folder = scratch / "describe"
            try:
                built = measure.build(place, crew, commit, "python")
                request = {"side": built.folder, "impl": built.impl, "task": "describe",
                           "suites": str(place.suites.resolve())}  # fmt: skip
                rows = measure.run(crew, request, folder)
                found, left_out = kept(rows)
                timed = json.loads((folder / "asv.json").read_text(encoding="utf-8"))
            except (BenchproofError, OSError, ValueError) as error:
                first = first or (error if isinstance(error, BenchproofError) else None)
                continue
        if left_out:
            tell.line(suite.told(left_out))
        named = {case.name for case in found}
        return Suites(found, [each for each in timed if each.get("name") in named])
    raise first or HistoryError(f"the benchmarks in {place.suites} cannot be found")


def kept(rows: Sequence[dict[str, Any]]) -> tuple[list[Case], list[dict[str, str | None]]]:
    """The benchmarks that a history can be of, and the others: asv's files are written for those.

    Args:
        rows: as a worker describes what it found.
    """
    why = "a history is of benchmarks without parameters"
    told = [
        row if row.get("index") is None else {"excluded": row["name"], "why": why} for row in rows
    ]
    return suite.from_rows(told), suite.left_out(told, suite.expression(""))


def versions(suites: Suites, keys: Collection[Key]) -> dict[str, str]:
    """The version of each of asv's benchmarks that are asked for."""
    of_case = {case.name: case.version for case in suites.cases}
    of_case[CANARY] = str(names.canary_entry()["version"])
    return {names.stored(*key): names.version(of_case[key[0]], key[1]) for key in keys}
