"""A gate as Markdown for a pull request: the verdict first, the rest folded, never too long.

A pull request chooses the names of its benchmarks, its commits' subjects and what its exceptions
say. Where a job with a token repeats them, they must not become markup, links or mentions: so all
of them are shown as code, in which nothing is.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from benchproof.meters import SPEAKING
from benchproof.render import units

from . import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .words import Document, Moved, Row

#: By its first line a comment is found again, so that it is changed and never repeated.
MARK = "<!-- benchproof gate -->"
#: What GitHub takes is 65,536 characters.
LIMIT = 60_000
#: Of so many cases the disagreement of their meters is told.
NOTED = 10
#: Functions that the commit reaches are told for so many cases; the JSON has them all.
PROFILED = 12
_SIGNS = {
    "regressed": "\N{BLACK UP-POINTING TRIANGLE}",
    "accepted": "\N{WHITE UP-POINTING TRIANGLE}",
    "trade-off": "\N{BLACK DIAMOND}",
    "changed": "\N{BLACK DIAMOND}",
    "improved": "\N{BLACK DOWN-POINTING TRIANGLE}",
}


#: The longest piece of a run's text that is shown.
LONGEST = 160
#: Words that no renderer turns into anything else.
_HARMLESS = re.compile(r"(?!.*(www\.|:/))[\w ,.;:()%+=?/-]*", re.ASCII | re.IGNORECASE)
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


@dataclass
class _Section:
    """A part of the text: what must stand, and lines that may be left out at the end.

    Attributes:
        title: for the line that says how many were left out.
        head: always there.
        lines: cut from the end when there is no room.
        foot: always there.
        rank: sections of a higher rank lose lines first.
    """

    title: str
    head: list[str]
    lines: list[str] = field(default_factory=list)
    foot: list[str] = field(default_factory=list)
    rank: int = 0

    def text(self, count: int) -> list[str]:
        """The section with so many of its lines."""
        left = len(self.lines) - count
        cut = ["", f"{left} more of {self.title}: see the JSON."] if left else []
        return [*self.head, *self.lines[:count], *cut, *self.foot]


def _part(
    title: str, lines: Sequence[str], rank: int, more: str = "these", *,
    columns: str = "", foot: Sequence[str] = (),
) -> _Section:  # fmt: skip
    """A section with a heading and perhaps a table's head; nothing at all without lines.

    Args:
        title: the heading.
        lines: those that may be left out.
        rank: which sections lose lines first.
        more: what lines are called where some were left out.
        columns: names of a table's columns, one that ends in ``:`` to the right.
        foot: what stands behind it.
    """
    if not lines:
        return _Section("", [])
    return _Section(more, ["", f"### {title}", "", *_head(columns)], [*lines], [*foot], rank)


def _head(columns: str) -> list[str]:
    """The head of a table of these columns; none of no table."""
    names = [each.strip() for each in columns.split("|")] if columns else []
    marks = ["--:" if each.endswith(":") else ":--" for each in names]
    titles = " | ".join(each.rstrip(":") for each in names)
    return [f"| {titles} |", f"|{'|'.join(marks)}|"] if names else []


def render(document: Document, limit: int = LIMIT) -> str:
    """Write a gate's document as Markdown.

    Args:
        document: as ``harness/benchproof/schema.json`` describes it.
        limit: the most characters.

    Returns:
        Text that begins with `MARK` and ends in a newline.
    """
    explained = words.explained(document)
    more = len(explained) - PROFILED
    noted = [f"- {code(name)}: {prose(note, 400)}" for name, note in words.noted(document)]
    said = [*words.error_rates(document), words.undecided(document),
            *words.not_measured_meters(document)]  # fmt: skip
    when, where = prose(document["created"], 40), prose(words.conditions(document), 600)
    conditions = f"Measured {when}: {where}."
    sections = [
        _Section("", [MARK, *_headline(document)]),
        # A compiler's last lines may be among it.
        _part("Trouble", [f"- {code(line)}" for line in words.troubles(document)], 1),
        _part("What moved", [_moved_line(case) for case in words.moved(document)], 1, "what moved",
              columns="|benchmark|meter|change:|interval|confidence|a call:",
              foot=["", *noted[:NOTED]] if noted else [])
        if words.moved(document)
        else _Section("what moved", ["", "Nothing moved beyond its limit."]),
        _part("Suites that moved as a whole",
              [_suite_line(suite) for suite in words.moved_suites(document)], 1, "these suites"),
        _Section("", ["", *(f"- {prose(line, 400)}" for line in said if line)]),
        _part("Where the instructions went",
              [_profile(row, opened=not number) for number, row in enumerate(explained[:PROFILED])],
              2, "these profiles",
              foot=[*[f"{more} more cases have a profile in the JSON.", ""][: 2 * (more > 0)],
                    words.READING]),
        _part("Accepted regressions", [_accepted_line(each) for each in document["accepted"]], 3,
              columns="benchmark|variant|meters|at most:|until|reason|now"),
        _part("Not measured",
              [f"- {_named(row)}: {code(row['status'], 30)} {code(row['why'])}"
               for row in words.unmeasured(document)], 4),
        _part("Excluded", [f"- {_named(row)}: {code(row['why'])}" for row in document["excluded"]],
              4),
        *(_everything(document, impl) for impl in document["impls"]),
        _Section("", ["", conditions]),
    ]  # fmt: skip
    return _fitted([section for section in sections if section.head], limit)


def _fitted(sections: Sequence[_Section], limit: int) -> str:
    """Join the sections, with as many of their lines as there is room for."""
    counts = [len(section.lines) for section in sections]

    def joined() -> str:
        parts = zip(sections, counts, strict=True)
        return "\n".join(line for section, count in parts for line in section.text(count)) + "\n"

    text = joined()
    order = sorted(range(len(sections)), key=lambda number: (-sections[number].rank, -number))
    for number in order:
        while len(text) > limit and counts[number]:
            over = len(text) - limit
            # What is left out makes room, and the line that says so needs some.
            while counts[number] and over > -200:
                counts[number] -= 1
                over -= len(sections[number].lines[counts[number]]) + 1
            text = joined()
    return text


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
        f"## {words.SIGNS[verdict['exit']]} benchproof: {status}{partial}", "",
        f"**{prose(verdict['summary'], 400)}**", "",
        *(f"- {side}" for side in sides),
    ]  # fmt: skip


def _suite_line(suite: Row) -> str:
    """A suite that moved as a whole."""
    word = "accepted" if suite.get("accepted") else suite["verdict"]
    return f"- {_SIGNS[word]} {word}: {_named(suite)}: {prose(words.whole(suite), 200)}"


def _moved_line(case: Sequence[Moved]) -> str:
    """One case, with a line in each cell for each meter that moved."""
    row, kind = case[0].row, words.kind(case)
    changes = [units.change(each.about["ratio"]) for each in case]
    if kind in {"regressed", "trade-off"}:
        changes = [f"**{c}**" if each.worse else c for each, c in zip(case, changes, strict=True)]
    columns = (
        [f"{_SIGNS[kind]} {kind}"],
        [_named(row)],
        [words.label(each.meter) for each in case],
        changes,
        [words.interval(each.about) for each in case],
        [words.confidence(each.meter, each.about) for each in case],
        [words.values(each.meter, each.about) for each in case],
    )
    return f"| {' | '.join(map('<br>'.join, columns))} |"


def _profile(row: Row, *, opened: bool) -> str:
    """One case's functions, folded: first C by instructions, then Python by bytecodes and calls."""
    name = ", ".join(filter(None, (html(row["name"]), html(row["impl"], 20))))
    lines = [f"<details{' open' * opened}><summary>{name}</summary>"]
    for unit, changes in words.by_unit(row["profile"]).items():
        lines += ["", *_head(f"{words.PROFILES[unit]}|change:|before:|after:|share:")]
        for change in changes:
            left, right = (f"{change[side]:,.6g}" for side in ("left", "right"))
            lines.append(
                f"| {code(change['function'], 100)} {code(change['file'], 100)} "
                f"| {words.profile_unit(unit, change['change'])} | {left} | {right} "
                f"| {change['share'] * 100:.0f}\N{NO-BREAK SPACE}% |"
            )
    return "\n".join([*lines, "", "</details>", ""])


def _accepted_line(entry: Row) -> str:
    """A regression that reviewers accepted, and what became of the entry."""
    cells = (
        code(entry["benchmark"]), code(entry["impl"] or "all", 20),
        code(", ".join(entry["meters"]), 60), units.change(1 + entry["amount"]),
        code(entry["until"], 10), code(entry["reason"]), code(entry["state"], 20),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _named(row: Mapping[str, Any]) -> str:
    """A case or suite, and its variant if it has one."""
    return " ".join(filter(None, (code(row["name"]), code(row["impl"] or "", 20))))


def _everything(document: Document, impl: str) -> _Section:
    """All cases of a variant, folded."""
    rows = [row for row in document["cases"] if row["impl"] == impl]
    meters = [name for name in SPEAKING if any(name in row["meters"] for row in rows)]
    if not rows or not meters:
        return _Section("", [])
    of = f", {html(impl, 20)}" if impl else ""
    columns = "|".join(["benchmark", "verdict", *(f"{words.label(meter)}:" for meter in meters)])
    head = ["", f"<details><summary>All {len(rows)} cases{of}</summary>", "", *_head(columns)]
    lines = []
    for row in rows:
        cells = [code(row["name"]), code(row["verdict"] or row["status"], 30)]
        for meter in meters:
            about = row["meters"].get(meter)
            mark = "?" if about and about["verdict"] == "undecided" else ""
            cells.append(units.change(about["ratio"]) + mark if about else "")
        lines.append(f"| {' | '.join(cells)} |")
    return _Section("these cases", head, lines, ["", "</details>"], rank=5)


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
