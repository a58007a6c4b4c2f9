"""A gate as Markdown for a pull request: the verdict first, the rest folded, never too long.

A pull request chooses the names of its benchmarks, its commits' subjects and what its exceptions
say. Where a job with a token repeats them, they must not become markup, links or mentions: so all
of them are shown as code, in which nothing is.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from benchproof.render import units

from . import words
from .words import Document, Moved, Row

#: By its first line a comment is found again, so that it is changed and never repeated.
MARK = "<!-- benchproof gate -->"
#: What GitHub takes is 65,536 characters.
LIMIT = 60_000
#: Of so many cases the disagreement of their meters is told.
NOTED = 10
#: Functions that the commit reaches are told for so many cases; the JSON has them all.
PROFILED = 12
#: The longest piece of a run's text that is shown.
LONGEST = 160
#: Words that no renderer turns into anything else.
_HARMLESS = re.compile(r"(?!.*(www\.|:/))[\w ,.;:()%+=?/-]*", re.ASCII | re.IGNORECASE)
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


@dataclass
class _Section:
    """A part of the text: what must stand, and lines that may be left out at the end.

    Attributes:
        head: always there.
        lines: cut from the end when there is no room.
        foot: always there.
        rank: sections of a higher rank lose lines first.
        more: what lines are called where some were left out.
        left_out: how many those are.
    """

    head: list[str]
    lines: list[str] = field(default_factory=list)
    foot: Sequence[str] = ()
    rank: int = 0
    more: str = "these"
    left_out: int = 0

    def cut(self, over: int) -> None:
        """Leave out lines with so many characters, if there are as many."""
        # The line that says so needs some room, too.
        over += 200
        while self.lines and over > 0:
            over -= len(self.lines.pop()) + 1
            self.left_out += 1

    @property
    def text(self) -> str:
        """The section as it is by now."""
        cut = ["", f"{self.left_out} more of {self.more}: see the JSON."] if self.left_out else []
        return "".join(f"{line}\n" for line in (*self.head, *self.lines, *cut, *self.foot))


def _part(
    title: str, lines: Sequence[str], rank: int, *, columns: str = "", foot: Sequence[str] = (),
    more: str = "these",
) -> list[_Section]:  # fmt: skip
    """A section with a heading and perhaps a table's head; none without lines.

    Args:
        title: the heading.
        lines: those that may be left out.
        rank: which sections lose lines first.
        columns: names of a table's columns, one that ends in ``:`` to the right.
        foot: what stands behind it.
        more: what lines are called where some were left out.
    """
    head = ["", f"### {title}", "", *table_head(columns)]
    return [_Section(head, [*lines], foot, rank, more)] if lines else []


def table_head(columns: str) -> list[str]:
    """The head of a table of these columns; none of no table."""
    names = columns.split("|")
    marks = ["--:" if each.endswith(":") else ":--" for each in names]
    head = [table_row(each.rstrip(":") for each in names), f"|{'|'.join(marks)}|"]
    return head if columns else []


def table_row(cells: Iterable[str]) -> str:
    """A row of a table, of cells in which no bar is."""
    return f"| {' | '.join(cells)} |"


def render(document: Document, limit: int = LIMIT) -> str:
    """Write a gate's document as Markdown.

    Args:
        document: as ``harness/benchproof/schema.json`` describes it.
        limit: the most characters.

    Returns:
        Text that begins with `MARK` and ends in a newline.
    """
    moved, explained = words.moved(document), words.explained(document)
    hidden = [f"{len(explained) - PROFILED} more cases have a profile in the JSON.", ""]
    noted = [f"- {code(name)}: {prose(note, 400)}" for name, note in words.noted(document)]
    said = [*words.error_rates(document), words.undecided(document),
            *words.not_measured_meters(document)]  # fmt: skip
    when, where = prose(document["created"], 40), prose(words.conditions(document), 600)
    sections = [
        _Section([MARK, *_headline(document)]),
        # A compiler's last lines may be among it.
        *_part("Trouble", [f"- {code(line)}" for line in words.troubles(document)], 1),
        *_part("What moved", [_moved_line(case) for case in moved], 1, more="what moved",
               columns=f"|benchmark|{'|'.join(_COLUMNS)}",
               foot=["", *noted[:NOTED]] if noted else ()),
        *([] if moved else [_Section(["", "Nothing moved beyond its limit."])]),
        *_part("Suites that moved as a whole",
               [_suite_line(suite) for suite in words.moved_suites(document)], 1),
        _Section(["", *(f"- {prose(line, 400)}" for line in said if line)]),
        *_part("Where the instructions went",
               [_profile(row, opened=not number)
                for number, row in enumerate(explained[:PROFILED])], 2,
               foot=[*hidden[: 2 * (len(explained) > PROFILED)], words.READING]),
        *_part("Accepted regressions", [_accepted_line(each) for each in document["accepted"]], 3,
               columns="benchmark|variant|meters|at most:|until|reason|now"),
        *_part("Not measured",
               [f"- {_named(row)}: {code(row['status'], 30)} {code(row['why'])}"
                for row in words.unmeasured(document)], 4),
        *_part("Excluded",
               [f"- {_named(row)}: {code(row['why'])}" for row in document["excluded"]], 4),
        *(each for impl in document["impls"] for each in _everything(document, impl)),
        _Section(["", f"Measured {when}: {where}."]),
    ]  # fmt: skip
    for section in sorted(sections, key=lambda each: each.rank)[::-1]:
        if (over := sum(len(each.text) for each in sections) - limit) > 0:
            section.cut(over)
    return "".join(each.text for each in sections)


def _headline(document: Document) -> list[str]:
    """The verdict, and what was held against what."""
    verdict = document["verdict"]
    status = words.STATUS[verdict["exit"]]
    partial = " (stopped before the end)" if document["partial"] else ""
    sides = [
        f"{side} {code(commit, 40)} {code(subject, 80)}".rstrip()
        for side, commit, subject in words.against(document)
    ]
    return [
        f"## {words.LIGHTS[verdict['exit']]} benchproof: {status}{partial}", "",
        f"**{prose(verdict['summary'], 400)}**", "",
        *(f"- {side}" for side in sides),
    ]  # fmt: skip


def _suite_line(suite: Row) -> str:
    """A suite that moved as a whole."""
    word = "accepted" if suite.get("accepted") else suite["verdict"]
    return f"- {words.SIGNS[word]} {word}: {_named(suite)}: {prose(words.whole(suite), 200)}"


#: What is told of each meter that moved.
_COLUMNS = ("meter", "change:", "interval", "confidence", "a call:")


def _moved_line(case: Moved) -> str:
    """One case, with a line in each cell for each meter that moved."""
    cells = case.cells
    if case.kind in {"regressed", "trade-off"}:
        cells["change"] = [
            f"**{change}**" if about["verdict"] == "regressed" else change
            for about, change in zip(case.meters.values(), cells["change"], strict=True)
        ]
    return table_row([
        f"{words.SIGNS[case.kind]} {case.kind}", _named(case.row),
        *("<br>".join(cells[title.rstrip(":")]) for title in _COLUMNS),
    ])  # fmt: skip


def _profile(row: Row, *, opened: bool) -> str:
    """One case's functions, folded: first C by instructions, then Python by bytecodes and calls."""
    known = html(row["name"]), html(row.get("pretty_name") or ""), html(row["impl"], 20)
    name = ", ".join(filter(None, known))
    lines = [f"<details{' open' * opened}><summary>{name}</summary>"]
    for unit, changes in words.by_unit(row["profile"]).items():
        lines += ["", *table_head(f"{words.PROFILES[unit]}|change:|before:|after:|share:")]
        for change in changes:
            left, right = (f"{change[side]:,.6g}" for side in ("left", "right"))
            where = f"{code(change['function'], 100)} {code(change['file'], 100)}"
            share = f"{change['share'] * 100:.0f}\N{NO-BREAK SPACE}%"
            amount = words.profile_unit(unit, change["change"])
            lines.append(table_row((where, amount, left, right, share)))
    return "\n".join([*lines, "", "</details>", ""])


def _accepted_line(entry: Row) -> str:
    """A regression that reviewers accepted, and what became of the entry."""
    return table_row((
        code(entry["benchmark"]), code(entry["impl"] or "all", 20),
        code(", ".join(entry["meters"]), 60), units.change(1 + entry["amount"]),
        code(entry["until"], 10), code(entry["reason"]), code(entry["state"], 20),
    ))  # fmt: skip


def _named(row: Mapping[str, Any]) -> str:
    """A case or suite, what its project calls it, and its variant, if it has them."""
    parts = code(row["name"]), prose(row.get("pretty_name") or ""), code(row["impl"] or "", 20)
    return " ".join(filter(None, parts))


def _everything(document: Document, impl: str) -> list[_Section]:
    """All cases of a variant, folded."""
    rows = [row for row in document["cases"] if row["impl"] == impl]
    meters = words.shown_meters(rows)
    if not meters:
        return []
    of = f", {html(impl, 20)}" if impl else ""
    columns = "|".join(["benchmark", "verdict", *(f"{words.label(meter)}:" for meter in meters)])
    head = ["", f"<details><summary>All {len(rows)} cases{of}</summary>", "", *table_head(columns)]
    lines = []
    for row in rows:
        cells = [_named({**row, "impl": ""}), code(words.state_of(row), 30)]
        for meter in meters:
            about = row["meters"].get(meter)
            mark = "?" * words.is_undecided(row, meter)
            cells.append(units.change(about["ratio"]) + mark if about else "")
        lines.append(table_row(cells))
    return [_Section(head, lines, ["", "</details>"], rank=5, more="these cases")]


def plain(text: object, longest: int = LONGEST) -> str:
    """One line without control, formatting and unassigned characters, cut to a length."""
    visible = (
        " " if character.isspace() else character
        for character in str(text)
        if character.isspace() or unicodedata.category(character)[0] != "C"
    )
    line = " ".join("".join(visible).split())
    return line if len(line) <= longest else line[: longest - 1] + ELLIPSIS


def code(text: object, longest: int = LONGEST) -> str:
    """A run's text as code that holds also in a table's cell; empty for nothing."""
    line = plain(text, longest).replace("`", "'").replace("|", "\N{BROKEN BAR}")
    return f"`{line}`" if line else ""


def prose(text: object, longest: int = LONGEST) -> str:
    """A run's text as it is where it is harmless words, else as code."""
    line = plain(text, longest)
    return line if _HARMLESS.fullmatch(line) and "_" not in line else code(line, longest)


def html(text: object, longest: int = LONGEST) -> str:
    """A run's text inside HTML, where code needs a tag."""
    line = escape(plain(text, longest).replace("`", "'"), quote=False).replace("|", "&#124;")
    return f"<code>{line}</code>" if line else ""
