"""reports/originals.md: what each figure claims, what was measured for it, and the verdict."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from .judging import COUNTS, ORDER, Judged, judge, worst
from .measuring import kept

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from .table import Change, Figure, Table

_HEAD = """\
# Published figures, measured in the original repositories

Written by `scripts/originals`; edits are lost.
[How a figure is judged](../docs/claims.md#in-the-original-repositories),
[raw data](results/originals), [the table of commits and figures](../claims-originals.toml).

What was measured is the code of the pull requests themselves: the head of each, as it was on
20 August 2026, against its merge base, in its own repository; where a commit is a change, commit by
commit. *Ours* is our own implementation of the same idea in this driver,
[measured by itself](claims.md).

**Instructions are not time.** A claimed time is judged by the ratio of instructions, after /
before, with the interval over layouts of memory; no clock was read: the machine was busy. The pages
name CPython 3.14 mostly. This is {python}, the interpreter of this project's environment, on
{days}, and another one gives other ratios; the 3.14.7 that
was compiled for [tests of threads](../docs/reliability.md#threads) came a day later, and is one
without the interpreter's lock. *Reproduced* is a gain of 80 to 125 % of the claimed one; more has
*exceeded* it, and the number says how many times. A case that takes next to nothing is ten calls of
it: so are its allocations. Ranges over figures that stand here are no figures of their own.
"""
#: Of a figure that no benchmark can stand for.
NO_CASE = "not measurable here"
_IMPLS = {"python": "pure", "cython": "compiled"}


def write(table: Table, folder: Path, ours: Path) -> str:
    """The page.

    Args:
        table: of commits and figures.
        folder: of the samples that are kept.
        ours: folder of the results of the ledger, `reports/results/claims`.
    """
    documents = {
        (each.id, build): kept(folder, each.id, build)
        for each in table.changes.values() for build in each.builds
    }  # fmt: skip
    found = [(each, _verdicts(each, table, documents)) for each in table.figures]
    hosts = [each["provenance"] for each in documents.values() if each and "provenance" in each]
    python = ", ".join(sorted({each["python"] for each in hosts})) or "not measured yet"
    missing = [f"{name}, {_IMPLS[build]}" for (name, build), each in documents.items() if not each]
    days = sorted(each["created"][:10] for each in documents.values() if each and "created" in each)
    span = " to ".join(dict.fromkeys((*days[:1], *days[-1:]))) or "no day yet"
    lines = [_HEAD.format(python=python, days=span), *_totals(found), *_hosts(hosts)]
    if missing:
        lines.insert(-1, f"- not measured: {'; '.join(missing)}")
    for pull, about in table.pulls.items():
        lines += [
            f"## {pull}: {about['title']}", "", f"<{table.repository}/pull/{pull}>", "",
            *([f"The page: {about['says']}.", ""] if "says" in about else []),
            *_changes([each for each in table.changes.values() if each.pull == pull]),
            *_figures([each for each in found if each[0].pull == pull], documents, ours),
        ]  # fmt: skip
    return "\n".join(lines).rstrip() + "\n"


def _verdicts(figure: Figure, table: Table, documents: Mapping[Any, Any]) -> dict[str, Judged]:
    """By build; nothing where no case can stand for it."""
    if figure.why:
        return {}
    builds = table.changes[figure.change].builds
    asked = figure.says.get("impl", "any")
    chosen = [each for each in builds if asked in {"any", each}] or list(builds)
    found = {}
    # A build that nobody measured yet says nothing of a figure that another one has.
    for build in [each for each in chosen if documents[figure.change, each]] or chosen:
        document = documents[figure.change, build]
        if document is not None and "cases" not in document:
            found[build] = Judged("does not build")
        else:
            found[build] = judge(figure.says, _row(document, figure.benchmark))
    return found


def _row(document: Mapping[str, Any] | None, name: str) -> dict[str, Any] | None:
    """A benchmark of a document."""
    rows = (document or {}).get("cases", ())
    return next((each for each in rows if each["name"] == name), None)


def _totals(found: list[tuple[Figure, dict[str, Judged]]]) -> Iterator[str]:
    """How many figures have which verdict, and how many of those our ledger has, too."""
    said = [(_told(verdicts), each.in_ledger) for each, verdicts in found]
    known = [verdict for verdict, in_ledger in said if in_ledger]
    yield f"**{len(said)} published figures: {_counts([each for each, _ in said])}.**"
    yield f"Of the {len(known)} that the ledger has, too: {_counts(known)}."
    yield "A figure that was measured in two builds counts once, by the worse verdict.\n"


def _counts(verdicts: list[str]) -> str:
    said = Counter(verdicts)
    return ", ".join(f"{said[name]} {name}" for name in (*reversed(ORDER), NO_CASE) if said[name])


def _told(verdicts: Mapping[str, Judged]) -> str:
    return worst([each.verdict for each in verdicts.values()]) if verdicts else NO_CASE


def _hosts(hosts: list[Mapping[str, Any]]) -> Iterator[str]:
    """What it was measured on."""
    machines = {(each["python"], each["compiler"], each["cpu"], each["valgrind"]) for each in hosts}
    for machine in sorted(machines):
        yield f"- measured on {', '.join(machine)}"
    yield ""


def _changes(changes: list[Change]) -> Iterator[str]:
    """The commits of a pull request."""
    if changes:
        yield from ("| measured | change | base | head |", "|:--|:--|:--|:--|")
    for each in changes:
        yield f"| {each.id} | {each.about} | `{each.base[:10]}` | `{each.head[:10]}` |"
    yield ""


def _figures(
    found: list[tuple[Figure, dict[str, Judged]]], documents: Mapping[Any, Any], ours: Path
) -> Iterator[str]:
    """The figures of a pull request, and the benchmarks beside them."""
    rows, notes = [], []
    for figure, verdicts in found:
        if not verdicts:
            notes.append(f"- {figure.says['case']} ({figure.says['where']}): {figure.why}")
            continue
        for number, (build, judged) in enumerate(verdicts.items()):
            row = _row(documents[figure.change, build], figure.benchmark)
            first = not number
            rows.append([
                figure.change if first else "", figure.says["case"] if first else "",
                figure.says["where"] if first else "", _claimed(figure) if first else "",
                _IMPLS[build], _measured(figure.says, row), _allocations(row),
                _verdict(judged), _ours(figure, build, ours),
            ])  # fmt: skip
            why = (documents[figure.change, build] or {}).get("why")
            if why:
                notes.append(f"- {figure.change}, {_IMPLS[build]}: {why}")
        if figure.note:
            notes.append(f"- {figure.says['case']}: {figure.note}")
    if rows:
        head = ("change", "case", "stands in", "claimed", "build", "measured", "allocations",
                "verdict", "ours")  # fmt: skip
        yield from (_line(head), "|" + ":--|" * len(head), *map(_line, rows), "")
    yield from _beside(found, documents)
    yield from (*dict.fromkeys(notes), "") if notes else ()


def _beside(
    found: list[tuple[Figure, dict[str, Judged]]], documents: Mapping[Any, Any]
) -> Iterator[str]:
    """Benchmarks that are measured and not judged."""
    seen = {}
    for figure, verdicts in found:
        for name in figure.also:
            for build in verdicts:
                row = _row(documents[figure.change, build], name)
                seen[figure.change, name, _IMPLS[build]] = [
                    _measured({"metric": "time"}, row), _allocations(row),
                ]  # fmt: skip
    if seen:
        yield from (_line(("change", "beside them", "build", "instructions", "allocations")),
                    "|:--|:--|:--|:--|:--|")  # fmt: skip
    for (change, name, build), cells in seen.items():
        yield _line((change, f"`{name}`", build, *cells))
    if seen:
        yield ""


def _claimed(figure: Figure) -> str:
    """What a page says, as it says it."""
    says, words = figure.says, []
    unit = says.get("unit", "")
    unit = "" if unit in {"", "1"} else f" {unit}"
    if "before" in says:
        words.append(f"{_text(says['before'])} → {_text(says['after'])}{unit}")
    if "speedup" in says:
        words.append(f"{_text(says['speedup'])}x")
    if "saved_percent" in says:
        words.append(f"{_text(says['saved_percent'])} % less")
    if "saved" in says:
        words.append(f"{_text(says['saved'])}{unit} less")
    part = ", a part" if says.get("scope") == "part" else ""
    return f"{', '.join(words)} ({says['metric']}{part})"


def _text(value: float | list[float]) -> str:
    if isinstance(value, list):
        return f"{_text(value[0])} to {_text(value[1])}"
    return f"{value:,}"


def _measured(says: Mapping[str, Any], row: Mapping[str, Any] | None) -> str:
    """The ratio of instructions with its interval, or how many went away."""
    if row is None:
        return "-"
    if row["status"] != "measured":
        return row["status"]
    if says["metric"] in COUNTS:
        about = row["meters"][COUNTS[says["metric"]]]
        gone = about["left"] - about["right"]
        unit = " B" if says["metric"] == "bytes" else ""
        return f"{abs(gone):,.0f}{unit} {'less' if gone >= 0 else 'more'}"
    about = row["meters"]["instructions"]
    low, high = (f"{about[end]:.3f}" for end in ("low", "high"))
    return f"{about['ratio']:.3f}" + (f" ({low} to {high})" if low != high else "")


def _allocations(row: Mapping[str, Any] | None) -> str:
    """Before and after."""
    if row is None or row["status"] != "measured":
        return "-"
    about = row["meters"]["allocations"]
    return f"{about['left']:,.0f} → {about['right']:,.0f}"


def _verdict(judged: Judged) -> str:
    """With how much of the claimed gain there was."""
    if judged.times is None or judged.verdict in {"reproduced", "undecided"}:
        return judged.verdict
    if judged.verdict == "not reproduced" and judged.times < 0:
        return "not reproduced: dearer"
    if judged.verdict == "exceeded":
        return f"exceeded: {judged.times:.2g} times the gain"
    return f"{judged.verdict}: {max(judged.times, 0):.0%} of the gain"


def _ours(figure: Figure, build: str, folder: Path) -> str:
    """The same of our own implementation, where it has a commit of its own."""
    if figure.ours is None:
        return "-"
    if "not_exercised" in figure.says:
        return "not exercised"
    row, name = figure.ours
    file = folder / f"{row}.json.gz"
    runs = json.loads(gzip.decompress(file.read_bytes()))["runs"] if file.is_file() else ()
    for run in runs:
        if run["impl"] == build and run.get("document"):
            return _measured(figure.says, _ours_row(run["document"], name))
    return "-"


def _ours_row(document: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    row = _row(document, name)
    return {"status": "measured", **row} if row and row.get("meters") else None


def _line(cells: Any) -> str:  # noqa: ANN401  (a row)
    return "| " + " | ".join(cells) + " |"
