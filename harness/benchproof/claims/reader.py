"""A ledger file becomes a `Ledger`, or one line that says where it is wrong."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from benchproof.errors import LedgerError

from .ledger import COUNT, IMPLS, METRICS, UNITS, Figure, Ledger, Page, Row, Table
from .lines import Place, places

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from .ledger import Span

#: How far a page's own ratio may be from that of its rounded numbers.
ROUNDING = 0.05
#: The keys of each kind of table: those that must be there, those that may.
KEYS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "page": (frozenset({"id", "url", "title"}), frozenset()),
    "table": (
        frozenset({"id", "page", "where", "python", "conditions"}),
        frozenset({"metric", "unit", "scope", "impl"}),
    ),
    "row": (frozenset({"id", "page", "change"}), frozenset({"of", "no_figure", "also"})),
    "figure": (
        frozenset({"id", "row", "table", "case", "metric", "unit", "scope", "impl"}),
        frozenset({"before", "after", "speedup", "saved", "saved_percent", "benchmark", "no_case",
                   "note"}),
    ),
}  # fmt: skip
#: What a figure takes from its table where it does not say it itself.
INHERITED = ("metric", "unit", "scope", "impl")
_SPANS = ("before", "after", "speedup", "saved", "saved_percent")
_LISTS = ("of", "also")


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
    return _Reader(name, text).ledger()


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

    kind: str
    data: dict[str, Any]
    place: Place


class _Reader:
    """The state of one reading."""

    def __init__(self, name: str, text: str) -> None:
        """Parse the TOML.

        Raises:
            LedgerError: it is none.
        """
        self._name = name
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            at = re.search(r"\(at line (\d+)", str(error))
            line = at[1] if at else str(len(text.splitlines()))
            raise LedgerError(f"{name}:{line}: no TOML: {error}") from error
        for number, line in enumerate(text.splitlines(), 1):
            if '"""' in line or "'''" in line:
                self._refuse(number, "a string stands on one line")
        found = places(text)
        self._entries: dict[str, list[_Entry]] = {kind: [] for kind in KEYS}
        for kind, tables in document.items():
            line = (found.get(kind) or [Place(found[""][0].of(kind))])[0].line
            if kind not in KEYS:
                self._refuse(line, f"unknown table {kind!r}: there are {', '.join(KEYS)}")
            if not isinstance(tables, list) or len(tables) != len(found.get(kind, [])):
                self._refuse(line, f"write each {kind} as [[{kind}]]")
            self._entries[kind] = [
                _Entry(kind, data, place)
                for data, place in zip(tables, found[kind], strict=True)
            ]  # fmt: skip

    def ledger(self) -> Ledger:
        """Everything, checked.

        Raises:
            LedgerError: a rule is broken.
        """
        self._tables = {str(e.data.get("id")): e for e in self._entries["table"]}
        for entries in self._entries.values():
            ids: dict[str, int] = {}
            for entry in entries:
                self._check_known_keys(entry)
                self._check_texts(entry)
                self._inherit(entry)
                self._check_missing_keys(entry)
                key = entry.data["id"]
                if key in ids:
                    self._refuse(entry.place.of("id"),
                                 f"duplicate id {key!r}: line {ids[key]} has it")  # fmt: skip
                ids[key] = entry.place.of("id")
        pages = {e.data["id"]: Page(**e.data) for e in self._entries["page"]}
        tables = {e.data["id"]: self._table(e, pages) for e in self._entries["table"]}
        rows = {e.data["id"]: self._row(e, pages) for e in self._entries["row"]}
        figures = tuple(self._figure(e, tables, rows) for e in self._entries["figure"])
        told = {figure.row for figure in figures}
        for entry in self._entries["row"]:
            row = rows[entry.data["id"]]
            if (row.id in told) == bool(row.no_figure):
                self._refuse(row.line, f"row {row.id!r} has " + (
                    "figures, and says why it has none" if row.no_figure
                    else "no figure: add one, or say why not (no_figure)"
                ))  # fmt: skip
            unknown = [part for part in row.of if part not in rows or rows[part].of]
            if unknown:
                self._refuse(entry.place.of("of"), f"row {row.id!r} is the sum of {unknown[0]!r}, "
                             "which is no row with a commit of its own")  # fmt: skip
        return Ledger(pages, rows, figures)

    def _inherit(self, entry: _Entry) -> None:
        """Give a figure what its table says for all of its figures."""
        if entry.kind != "figure" or "table" not in entry.data:
            return
        table = self._known(entry, "table", self._tables).data
        for key in INHERITED:
            if key in table:
                entry.data.setdefault(key, table[key])

    def _check_known_keys(self, entry: _Entry) -> None:
        must, may = KEYS[entry.kind]
        for key in entry.data:
            if key not in must | may:
                self._refuse(entry.place.of(key), f"unknown key {key!r} in a {entry.kind}")

    def _check_missing_keys(self, entry: _Entry) -> None:
        for key in sorted(KEYS[entry.kind][0], key=lambda key: (key in INHERITED, key)):
            if key not in entry.data:
                self._refuse(entry.place.line, f"missing key {key!r} in a {entry.kind}")

    def _check_texts(self, entry: _Entry) -> None:
        for key, value in entry.data.items():
            if key in _SPANS:
                continue
            texts = value if key in _LISTS else [value]
            if (
                not isinstance(texts, list)
                or not texts
                or not all(isinstance(text, str) and text.strip() for text in texts)
            ):
                kind = "a list of texts" if key in _LISTS else "a text"
                self._refuse(entry.place.of(key), f"{key} must be {kind}, not {value!r}")

    def _table(self, entry: _Entry, pages: dict[str, Page]) -> Table:
        page = self._known(entry, "page", pages)
        own = {key: entry.data[key] for key in ("id", "where", "python", "conditions")}
        return Table(page=page, **own)

    def _row(self, entry: _Entry, pages: dict[str, Page]) -> Row:
        about = dict(entry.data) | {key: tuple(entry.data.get(key, ())) for key in _LISTS}
        about["page"] = self._known(entry, "page", pages)
        return Row(**about, line=entry.place.line)

    def _figure(self, entry: _Entry, tables: dict[str, Table], rows: dict[str, Row]) -> Figure:
        data = dict(entry.data)
        data["table"] = self._known(entry, "table", tables)
        self._known(entry, "row", rows)
        for key in _SPANS:
            if key in data:
                data[key] = self._span(entry, key)
        if data["impl"] not in {*IMPLS, "any"}:
            self._refuse(entry.place.of("impl"), "impl must be python, cython or any")
        if data["scope"] not in {"whole", "part"}:
            self._refuse(entry.place.of("scope"), "scope must be whole or part")
        data["impl"] = None if data["impl"] == "any" else data["impl"]
        figure = Figure(**data, line=entry.place.line)
        self._check_case(entry, figure)
        self._check_numbers(entry, figure)
        return figure

    def _check_case(self, entry: _Entry, figure: Figure) -> None:
        """A figure has a case or says why not; a case has a meter for it."""
        if bool(figure.benchmark) == bool(figure.no_case):
            self._refuse(entry.place.line, f"figure {figure.id!r} must have a benchmark, or say "
                         "why no case can stand for it (no_case): one of the two")  # fmt: skip
        if not figure.benchmark:
            return
        if figure.metric not in METRICS:
            self._refuse(entry.place.of("metric"), f"no meter measures {figure.metric!r}: there "
                         f"are {', '.join(METRICS)}")  # fmt: skip
        units = UNITS.get(figure.metric, {COUNT: 1.0})
        if figure.unit not in units:
            self._refuse(entry.place.of("unit"), f"{figure.metric} is told in "
                         f"{', '.join(units)}, not {figure.unit!r}")  # fmt: skip
        try:
            re.compile(figure.benchmark)
        except re.error as error:
            self._refuse(entry.place.of("benchmark"), f"no regular expression: {error}")

    def _check_numbers(self, entry: _Entry, figure: Figure) -> None:
        """The numbers claim something, claim no loss, and do not contradict one another."""
        place = entry.place
        if (figure.before is None) != (figure.after is None):
            self._refuse(place.line, f"figure {figure.id!r} must have both before and after")
        if figure.ratio is None and figure.saving is None:
            self._refuse(place.line, f"figure {figure.id!r} has no number: before and after, "
                         "speedup, saved_percent or saved")  # fmt: skip
        if figure.before and figure.before[0] <= 0:
            self._refuse(place.of("before"), "before must be above 0")
        if figure.basis == "ratio" and figure.ratio and figure.ratio[0] <= 0:
            self._refuse(place.of("after"), 'nothing is left of the whole? say scope = "part"')
        weakest = figure.ratio[1] if figure.ratio else 0.0
        if weakest > 1 or (figure.saving and figure.saving[0] < 0):
            self._refuse(place.line, f"figure {figure.id!r} claims a loss: after above before")
        own, computed = figure.ratio, figure.quotient
        if own and computed and own != computed:
            near = (computed[0] * (1 - ROUNDING), computed[1] * (1 + ROUNDING))
            if own[1] < near[0] or own[0] > near[1]:
                self._refuse(place.line, f"figure {figure.id!r} contradicts itself: its numbers "
                             "give another ratio than it says")  # fmt: skip

    def _span(self, entry: _Entry, key: str) -> Span:
        value = entry.data[key]
        ends = value if isinstance(value, list) else [value, value]
        usable = [isinstance(e, int | float) and not isinstance(e, bool) and e >= 0 for e in ends]
        if len(ends) != 2 or not all(usable) or not ends[0] <= ends[1] < float("inf"):
            self._refuse(entry.place.of(key), f"{key} must be a number, or [least, most]")
        if key == "speedup" and ends[0] <= 0:
            self._refuse(entry.place.of(key), "a speedup is above 0")
        return (float(ends[0]), float(ends[1]))

    def _known(self, entry: _Entry, key: str, among: dict[str, Any]) -> Any:  # noqa: ANN401  (page, table or row)
        value = entry.data[key]
        if value not in among:
            self._refuse(entry.place.of(key), f"unknown {key} {value!r}")
        return among[value]

    def _refuse(self, line: int, why: str) -> NoReturn:
        raise LedgerError(f"{self._name}:{line}: {why}")
