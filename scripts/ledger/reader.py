"""A ledger file becomes a `Ledger`, or one line that says where it is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from benchproof import toml

from .figures import COUNT, IMPLS, METRICS, UNITS, Figure, Ledger, LedgerError, Page, Row, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from .figures import Span

#: How far a page's own ratio may be from that of its rounded numbers.
ROUNDING = 0.05
#: The keys of each kind of table: those that must be there, those that may.
KEYS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "page": (frozenset({"id", "url", "title"}), frozenset({"technique"})),
    "table": (
        frozenset({"id", "page", "where", "python", "conditions"}),
        frozenset({"metric", "unit", "scope", "impl"}),
    ),
    "row": (frozenset({"id", "page", "change"}), frozenset({"of", "no_figure", "also", "cost"})),
    "figure": (
        frozenset({"id", "row", "table", "case", "metric", "unit", "scope", "impl"}),
        frozenset({"before", "after", "speedup", "saved", "saved_percent", "benchmark", "no_case",
                   "not_measured", "not_exercised", "ends_of", "note"}),
    ),
}  # fmt: skip
#: What a figure takes from its table where it does not say it itself.
INHERITED = ("metric", "unit", "scope", "impl")
_SPANS = ("before", "after", "speedup", "saved", "saved_percent")
_LISTS = ("of", "also", "ends_of")


def read(file: Path) -> Ledger:
    """Read a ledger file.

    Raises:
        LedgerError: it is not there, is no TOML, or breaks a rule; with the line.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise LedgerError(f"there is no ledger {file}: write one (docs/claims.md)") from error
    except UnicodeDecodeError as error:
        raise LedgerError(f"{file.name}: it is not UTF-8") from error
    return parse(text, file.name)


def parse(text: str, name: str = "claims.toml") -> Ledger:
    """Read a ledger's text.

    Args:
        text: TOML.
        name: of the file, for messages.

    Raises:
        LedgerError: see `read`.
    """
    file = toml.File(text, name, LedgerError)
    for number, line in enumerate(text.splitlines(), 1):
        if '"""' in line or "'''" in line:
            raise LedgerError(f"{name}:{number}: a string stands on one line")
    for kind, tables in file.data.items():
        if kind not in KEYS:
            file.refuse((kind,), f"unknown table {kind!r}: there are {', '.join(KEYS)}")
        if not isinstance(tables, list) or (kind, 0) not in file.lines:
            file.refuse((kind,), f"write each {kind} as [[{kind}]]")
    found = {kind: _entries(kind, file) for kind in KEYS}
    pages = {id_: Page(**each.data) for id_, each in found["page"].items()}
    tables = {
        id_: Table(page=each.known("page", pages),
                   **{key: each.data[key] for key in ("id", "where", "python", "conditions")})
        for id_, each in found["table"].items()
    }  # fmt: skip
    rows = {id_: _row(each, pages) for id_, each in found["row"].items()}
    figures = tuple(_figure(each, tables, rows) for each in found["figure"].values())
    known = {figure.id for figure in figures if not figure.ends_of}
    for figure in figures:
        if unknown := [each for each in figure.ends_of if each not in known]:
            found["figure"][figure.id].refuse("ends_of", f"unknown figure {unknown[0]!r}")
    told = {figure.row for figure in figures}
    for id_, entry in found["row"].items():
        row = rows[id_]
        if (row.id in told) == bool(row.no_figure):
            entry.refuse("", f"row {row.id!r} has " + (
                "figures, and says why it has none" if row.no_figure
                else "no figure: add one, or say why not (no_figure)"
            ))  # fmt: skip
        unknown = [part for part in row.of if part not in rows or rows[part].of]
        if unknown:
            entry.refuse("of", f"row {row.id!r} is the sum of {unknown[0]!r}, which is no row "
                         "with a commit of its own")  # fmt: skip
    return Ledger(pages, rows, figures)


def check_benchmarks(
    ledger: Ledger, rows: Iterable[str], known: Iterable[str], name: str = "claims.toml"
) -> dict[str, str]:
    """Find the benchmark of each expression that some rows use.

    Returns:
        Expression to benchmark name.

    Raises:
        LedgerError: one matches no benchmark, or several.
    """
    names, found = sorted(known), {}
    for expression, line in ledger.benchmarks(list(rows)).items():
        matched = [each for each in names if re.fullmatch(expression, each)]
        if len(matched) != 1:
            says = f"matches {len(matched)} of" if matched else "matches none of"
            raise LedgerError(
                f"{name}:{line}: benchmark {expression!r} {says} {len(names)} benchmarks"
                + (f": {', '.join(matched)}; a figure has one case" if matched else "")
            )
        found[expression] = matched[0]
    return found


@dataclass(frozen=True)
class _Entry:
    """One table of the file, with where it stands."""

    file: toml.File
    where: toml.Where
    data: dict[str, Any]

    @property
    def line(self) -> int:
        """Of its header."""
        return self.file.line(self.where)

    def refuse(self, key: str, words: str) -> NoReturn:
        """Say what is wrong with a key, or with all of it."""
        self.file.refuse((*self.where, key), words)

    def known(self, key: str, among: Mapping[str, Any]) -> Any:  # noqa: ANN401  (page, table or row)
        """What a key names."""
        if self.data[key] not in among:
            self.refuse(key, f"unknown {key} {self.data[key]!r}")
        return among[self.data[key]]


def _entries(kind: str, file: toml.File) -> dict[str, _Entry]:
    """The tables of a kind by their ids, with what a figure takes from its table."""
    must, may = KEYS[kind]
    tables = {str(each.get("id")): each for each in file.data.get("table", ())}
    found: dict[str, _Entry] = {}
    for at, data in enumerate(file.data.get(kind, ())):
        entry = _Entry(file, (kind, at), data)
        for key, value in data.items():
            if key not in must | may:
                entry.refuse(key, f"unknown key {key!r} in a {kind}")
            texts = value if key in _LISTS else [value]
            if key not in _SPANS and not (isinstance(texts, list) and texts and all(
                isinstance(text, str) and text.strip() for text in texts
            )):  # fmt: skip
                what = "a list of texts" if key in _LISTS else "a text"
                entry.refuse(key, f"{key} must be {what}, not {value!r}")
        if kind == "figure" and "table" in data:
            about = entry.known("table", tables)
            for key in INHERITED:
                if key in about:
                    data.setdefault(key, about[key])
        for key in sorted(must, key=lambda key: (key in INHERITED, key)):
            if key not in data:
                entry.refuse("", f"missing key {key!r} in a {kind}")
        if data["id"] in found:
            entry.refuse("id", f"duplicate id {data['id']!r}: line {found[data['id']].line} has it")
        found[data["id"]] = entry
    return found


def _row(entry: _Entry, pages: Mapping[str, Page]) -> Row:
    about = entry.data | {key: tuple(entry.data.get(key, ())) for key in ("of", "also")}
    return Row(**about | {"page": entry.known("page", pages)}, line=entry.line)


def _figure(entry: _Entry, tables: Mapping[str, Table], rows: Mapping[str, Row]) -> Figure:
    data = entry.data | {"table": entry.known("table", tables)}
    entry.known("row", rows)
    data |= {key: _span(entry, key) for key in _SPANS if key in data}
    data["ends_of"] = tuple(data.get("ends_of", ()))
    if data["impl"] not in {*IMPLS, "any"}:
        entry.refuse("impl", "impl must be python, cython or any")
    if data["scope"] not in {"whole", "part"}:
        entry.refuse("scope", "scope must be whole or part")
    data["impl"] = None if data["impl"] == "any" else data["impl"]
    figure = Figure(**data, line=entry.line)
    _check_case(entry, figure)
    _check_numbers(entry, figure)
    return figure


def _check_case(entry: _Entry, figure: Figure) -> None:
    """A figure has a case or says why not; a case has a meter for it."""
    about = (figure.benchmark, figure.no_case, figure.not_measured, figure.ends_of)
    if sum(map(bool, about)) != 1:
        entry.refuse("", f"figure {figure.id!r} must have a benchmark, or say why no case can "
                     "stand for it (no_case), why nobody has measured it (not_measured) or which "
                     "figures it is a range of (ends_of): one of the four")  # fmt: skip
    if figure.not_exercised and not figure.benchmark:
        entry.refuse("not_exercised", "not_exercised is said of a benchmark")
    if not figure.benchmark:
        return
    if figure.metric not in METRICS:
        entry.refuse("metric", f"no meter measures {figure.metric!r}: there are "
                     f"{', '.join(METRICS)}")  # fmt: skip
    units = UNITS.get(figure.metric, {COUNT: 1.0})
    if figure.unit not in units:
        entry.refuse("unit", f"{figure.metric} is told in {', '.join(units)}, not {figure.unit!r}")
    try:
        re.compile(figure.benchmark)
    except re.error as error:
        entry.refuse("benchmark", f"no regular expression: {error}")


def _check_numbers(entry: _Entry, figure: Figure) -> None:
    """The numbers claim something, claim no loss, and do not contradict one another."""
    if (figure.before is None) != (figure.after is None):
        entry.refuse("", f"figure {figure.id!r} must have both before and after")
    if figure.ratio is None and figure.saving is None:
        entry.refuse("", f"figure {figure.id!r} has no number: before and after, "
                     "speedup, saved_percent or saved")  # fmt: skip
    if figure.before and figure.before[0] <= 0:
        entry.refuse("before", "before must be above 0")
    if figure.basis == "ratio" and figure.ratio and figure.ratio[0] <= 0:
        entry.refuse("after", 'nothing is left of the whole? say scope = "part"')
    weakest = figure.ratio[1] if figure.ratio else 0.0
    if weakest > 1 or (figure.saving and figure.saving[0] < 0):
        entry.refuse("", f"figure {figure.id!r} claims a loss: after above before")
    own, computed = figure.ratio, figure.quotient
    if own and computed and own != computed:
        near = (computed[0] * (1 - ROUNDING), computed[1] * (1 + ROUNDING))
        if own[1] < near[0] or own[0] > near[1]:
            entry.refuse("", f"figure {figure.id!r} contradicts itself: its numbers "
                         "give another ratio than it says")  # fmt: skip


def _span(entry: _Entry, key: str) -> Span:
    value = entry.data[key]
    ends = value if isinstance(value, list) else [value, value]
    usable = [isinstance(e, int | float) and not isinstance(e, bool) and e >= 0 for e in ends]
    if len(ends) != 2 or not all(usable) or not ends[0] <= ends[1] < float("inf"):
        entry.refuse(key, f"{key} must be a number, or [least, most]")
    if key == "speedup" and ends[0] <= 0:
        entry.refuse(key, "a speedup is above 0")
    return (float(ends[0]), float(ends[1]))
