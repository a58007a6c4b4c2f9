"""claims-originals.toml: the commits that are measured, and a benchmark for each figure."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_OF_LEDGER = ("case", "metric", "unit", "scope", "impl", "python", "where", "before", "after",
              "speedup", "saved", "saved_percent", "no_case", "not_exercised",
              "row")  # fmt: skip


class TableError(Exception):
    """The table cannot be meant as it stands; one line."""


@dataclass(frozen=True)
class Change:
    """Two commits, and the builds in which they are measured."""

    id: str
    pull: str
    about: str
    base: str
    head: str
    builds: tuple[str, ...]


@dataclass(frozen=True)
class Figure:
    """A published number.

    Attributes:
        pull: the pull request.
        change: that is measured for it, or "".
        says: what the page says, as claims.toml has it: case, before, after, metric and the like.
        benchmark: that is judged, or "".
        also: benchmarks that are shown beside it.
        note: a remark for the reader.
        why: it cannot be measured, or "".
        ours: the row of claims.toml and the benchmark of our own implementation, or None.
        in_ledger: whether claims.toml has it.
    """

    id: str
    pull: str
    change: str
    says: dict[str, Any]
    benchmark: str
    also: tuple[str, ...]
    note: str
    why: str
    ours: tuple[str, str] | None
    in_ledger: bool = False


@dataclass(frozen=True)
class Table:
    """All of it."""

    repository: str
    builds: dict[str, dict[str, str]]
    pulls: dict[str, dict[str, str]]
    changes: dict[str, Change]
    figures: tuple[Figure, ...] = field(default=())

    def benchmarks(self, change: str) -> list[str]:
        """What is measured for a change."""
        found = [each for each in self.figures if each.change == change]
        return sorted({name for each in found for name in (each.benchmark, *each.also)})


def read(file: Path, ledger: Path) -> Table:
    """Read the table, and the figures of the ledger that it names.

    Raises:
        TableError: it cannot be meant.
    """
    found = tomllib.loads(file.read_text(encoding="utf-8"))
    pulls = {each["id"]: each for each in found["pull"]}
    changes = {
        each["id"]: Change(**{**each, "builds": tuple(each["builds"])}) for each in found["change"]
    }
    known = _ledger(ledger, {each["pull"] for each in found["change"]})
    figures = [_figure(each, changes, known) for each in found["figure"]]
    told = [each.id for each in figures]
    for name in {each for each in told if told.count(each) > 1}:
        raise TableError(f"{file.name}: the figure {name} stands there twice")
    # What the ledger says that nothing can measure need not be said again.
    figures += [_figure({"is": name}, changes, known) for name in known if name not in told]
    order = list(pulls)
    figures.sort(key=lambda each: order.index(each.pull))
    return Table(found["repository"], found["builds"], pulls, changes, tuple(figures))


def _ledger(file: Path, pulls: set[str]) -> dict[str, dict[str, Any]]:
    """The figures of the ledger that are of these pull requests, by id.

    Without its ranges, whose cases are figures of their own.
    """
    found = tomllib.loads(file.read_text(encoding="utf-8"))
    tables = {each["id"]: each for each in found["table"]}
    pages = {each["id"]: each["page"] for each in found["row"]}
    return {
        each["id"]: {**tables[each["table"]], **each, "page": pages[each["row"]]}
        for each in found["figure"]
        if pages[each["row"]] in pulls and "ends_of" not in each
    }


def _figure(
    given: dict[str, Any], changes: dict[str, Change], known: dict[str, dict[str, Any]]
) -> Figure:
    """One of them, with what the ledger says of it.

    Raises:
        TableError: it names what there is not, or no benchmark and no reason.
    """
    of = given.get("is", "")
    if of and of not in known:
        raise TableError(f"no figure of the ledger is {of!r}")
    ledger = known.get(of, {})
    name, change = given.get("id", of), given.get("change", "")
    if change and change not in changes:
        raise TableError(f"{name}: there is no change {change!r}")
    why = given.get("no_case", "") or ("" if change else ledger.get("no_case", ""))
    if bool(why) == bool(given.get("benchmark")):
        raise TableError(f"{name}: either a change and a benchmark, or no_case")
    return Figure(
        name,
        changes[change].pull if change else given.get("pull", ledger.get("page", "")),
        change,
        {key: (given if key in given else ledger)[key]
         for key in _OF_LEDGER if key in given or key in ledger},
        given.get("benchmark", ""), tuple(given.get("also", ())), given.get("note", ""), why,
        (ledger["row"], ledger["benchmark"]) if "benchmark" in ledger else None,
        bool(ledger),
    )  # fmt: skip
