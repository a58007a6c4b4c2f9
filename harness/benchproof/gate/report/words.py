"""What a gate's document says, in words and numbers, for every form in which it is told.

Needs nothing but the standard library, so that a job with a token can tell a result without
installing anything.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchproof import meters, notes
from benchproof.meters import SPEAKING
from benchproof.render import units

Document = Mapping[str, Any]
Row = Mapping[str, Any]
#: What a case that moved is called, in the order in which those are told.
MOVED = ("regressed", "trade-off", "changed", "improved")
KINDS = ("regressed", "accepted", "trade-off", "changed", "improved")
#: And where each verdict stands among all.
ORDER = {word: number for number, word in enumerate((*MOVED, "undecided", "equivalent"))}
#: Drift is told of so many benchmarks.
DRIFTED = 3
#: What each exit status is called, and its sign.
STATUS = {0: "no regression", 1: "regression", 2: "could not measure", 3: "cannot decide"}
SIGNS = {
    0: "\N{WHITE HEAVY CHECK MARK}", 1: "\N{CROSS MARK}", 2: "\N{WARNING SIGN}\ufe0f",
    3: "\N{WARNING SIGN}\ufe0f",
}  # fmt: skip
#: What a meter that was left out on purpose says.
NOT_ASKED_FOR = "not asked for"


@dataclass(frozen=True)
class Moved:
    """One meter of one case that moved.

    Attributes:
        row: the case.
        meter: its name.
        about: what the document says of it.
    """

    row: Row
    meter: str
    about: Mapping[str, Any]

    @property
    def worse(self) -> bool:
        """Whether it regressed."""
        return bool(self.about["verdict"] == "regressed")


def moved(document: Document) -> list[list[Moved]]:
    """The cases that moved, with the meters that did.

    Open regressions first, then accepted ones, trade-offs, improvements; the largest change first.
    """
    found = []
    for row in document["cases"]:
        each = [
            Moved(row, meter, row["meters"][meter])
            for meter in SPEAKING
            if meter in row["meters"]
            and row["meters"][meter]["verdict"] in {"regressed", "improved", "changed"}
        ]
        # Wall time that moved by no more than an accident could is no change of the case.
        if each and row["verdict"] in MOVED:
            found.append(each)
    return sorted(found, key=_place)


def largest(found: Sequence[list[Moved]], most: int) -> list[list[Moved]]:
    """Those for which there is room: what got worse first, and a third of it for what improved."""
    better = [case for case in found if kind(case) == "improved"]
    worse = [case for case in found if kind(case) != "improved"]
    worse = worse[: most - min(len(better), most // 3)]
    return worse + better[: most - len(worse)]


def _place(case: Sequence[Moved]) -> tuple[int, float, str, str]:
    """Where a case stands among those that moved."""
    row = case[0].row
    worse = [each for each in case if each.worse]
    sizes = [_size(each.about["ratio"]) for each in worse or case]
    return KINDS.index(kind(case)), -max(sizes), row["name"], row.get("impl", "")


def _size(ratio: float | None) -> float:
    """How large a change is, whichever way it goes."""
    return max(ratio, 1 / ratio) if ratio else math.inf


def kind(case: Sequence[Moved]) -> str:
    """What a case that moved is called."""
    row = case[0].row
    word = str(row["verdict"])
    return "accepted" if word != "improved" and row.get("accepted") else word


def deciding(row: Row) -> str | None:
    """The meter that gave a case its verdict: of a trade-off, what improved."""
    word = "improved" if row["verdict"] == "trade-off" else row["verdict"]
    said = {name: about["verdict"] for name, about in row["meters"].items()}
    return next((name for name in SPEAKING if said.get(name) == word), None)


def named(row: Row) -> str:
    """A case or suite, with its implementation where there are several."""
    return f"{row['name']} [{row['impl']}]" if row.get("impl") else str(row["name"])


def standing(entry: Mapping[str, Any]) -> str:
    """An accepted regression that is part of the base, with what it came to there."""
    came = ", ".join(f"{key} {units.change(ratio)}" for key, ratio in entry["passed"].items())
    most = units.change(1 + entry["amount"])
    return f"{entry['benchmark']}: {came or 'nothing'} of at most {most}: {entry['reason']}"


def moved_suites(document: Document) -> list[Row]:
    """The suites that moved as a whole, the worse ones first."""
    found = [row for row in document.get("suites") or () if row["verdict"] in MOVED]
    return sorted(found, key=lambda row: MOVED.index(row["verdict"]))


def whole(suite: Row) -> str:
    """How far a suite moved as a whole: ``instructions +0.21 % (26 of 26 cases went up)``."""
    told = []
    for meter, about in suite["meters"].items():
        if about["verdict"] in MOVED:
            way, number = ("up", about["up"]) if about["ratio"] > 1 else ("down", about["down"])
            told.append(f"{label(meter)} {units.change(about['ratio'])} "
                        f"({number} of {about['cases']} cases went {way})")  # fmt: skip
    return ", ".join(told)


def noted(document: Document) -> Iterator[tuple[str, str]]:
    """The cases that moved and whose meters disagree, and the words about it."""
    for case in moved(document):
        row = case[0].row
        note = notes.but_undecided(row.get("note") or "")
        if note:
            yield named(row), note


def fails(document: Document, row: Row) -> bool:
    """Whether a case or suite fails the gate."""
    failing = {"regressed"}
    if document["settings"].get("trade_off") == "fail":
        failing.add("trade-off")
    return row["verdict"] in failing and not row.get("accepted")


def tallies(rows: Iterable[Row]) -> str:
    """How many cases were called what: ``1 regressed, 25 equivalent``."""
    said = [row["verdict"] or row["status"] for row in rows]
    order = sorted(dict.fromkeys(said), key=lambda word: (ORDER.get(word, len(ORDER)), word))
    return ", ".join(f"{said.count(word)} {word}" for word in order)


def explained(document: Document) -> list[Row]:
    """The cases with a profile, the worst regression first."""
    order = {id(case[0].row): number for number, case in enumerate(moved(document))}
    rows = [row for row in document["cases"] if row.get("profile")]
    return sorted(rows, key=lambda row: order.get(id(row), len(order)))


def unmeasured(document: Document) -> list[Row]:
    """The cases without numbers, and why."""
    return [row for row in document["cases"] if row["status"] != "measured"]


def interval(about: Mapping[str, Any]) -> str:
    """The interval of a change; nothing where it is a point, as far as it is written."""
    low, high = about["low"], about["high"]
    if low is None or high is None or low == high:
        return ""
    ends = dict.fromkeys((units.change(low), units.change(high)))
    return " to ".join(ends) if len(ends) > 1 else ""


def confidence(meter: str, about: Mapping[str, Any]) -> str:
    """With which confidence: exact meters count, in layouts of memory; others sample."""
    is_exact = meters.METERS[meter].exact
    if is_exact and about["low"] == about["high"]:
        return "exact"
    if about["confidence"] is None:
        return "all counts"
    told = f"{about['confidence'] * 100:.3g}\N{NO-BREAK SPACE}%"
    return f"{told}, {len(about['left_samples'])} layouts" if is_exact else told


def values(meter: str, about: Mapping[str, Any]) -> str:
    """What a call cost before and after."""
    write = meters.METERS[meter].write
    unit = f" {about['unit']}" if about.get("unit") else ""
    return f"{write(about['left'])} \N{RIGHTWARDS ARROW} {write(about['right'])}{unit}"


def label(meter: str) -> str:
    """What a meter is called in a sentence."""
    return meters.METERS[meter].label if meter in meters.METERS else meter


def controls(document: Document) -> Iterator[str]:
    """What became of the controls, if there are any."""
    for each in document.get("controls") or ():
        change = f" ({units.change(each['ratio'])})" if each["ratio"] else ""
        what = "against itself" if each["kind"] == "same build" else "slowed down on purpose"
        fails = "" if each["held"] else ", which it must not be"
        yield (
            f"Control, {each['impl'] or 'both sides'}: {each['name']} {what}{change} was called "
            f"{each['verdict'] or 'nothing'}{fails}."
        )


def drift(document: Document) -> Iterator[str]:
    """What the passes since a pinned release came to, with this gate."""
    found = document.get("drift")
    if not found:
        return
    worse = [row for row in found["rows"] if row["ratio"] > 1]
    better = len(found["rows"]) - len(worse)
    named = [
        f"{row['name']} [{row['impl']}] {label(row['meter'])} {units.change(row['ratio'])}"
        for row in worse[:DRIFTED]
    ]
    more = [f"{len(worse) - DRIFTED} more"] if len(worse) > DRIFTED else []
    yield (
        f"Drift since {found['since']}, {found['passes']} pass{'es' * (found['passes'] != 1)} ago: "
        f"{len(worse)} worse, {better} better{': ' * bool(named)}{', '.join([*named, *more])}."
    )


def error_rates(document: Document) -> list[str]:
    """Its controls, and how often it is wrong as calibration measured it; one sentence each."""
    rates = document["error_rates"]
    told = [*controls(document), *drift(document)]
    if not rates:
        return [*told, "How often this gate errs has not been measured here (docs/calibration.md)."]
    alarm = rates.get("false_alarm")
    if alarm:
        whence = f" ({alarm['from']})" if alarm.get("from") else ""
        told.append(f"False alarms: in {_rate(alarm)} of gates in which nothing changed{whence}.")
    for meter, sizes in (rates.get("detection") or {}).items():
        found = [
            f"{float(size) * 100:g} % in {_rate(about)}"
            for size, about in sorted(sizes.items(), key=lambda item: float(item[0]))
            if about
        ]
        if found:
            alone = " where instructions are not counted" * (meter == "wall")
            told.append(f"Slow-downs found by {label(meter)}{alone}: {', '.join(found)}.")
    return [*told, *_calibrated(rates.get("conditions") or {})]


def _calibrated(about: Mapping[str, Any]) -> Iterator[str]:
    """Where and when, and whether the rules were those that hold now."""
    machines = [str(each.get("cpu") or "unknown") for each in about.get("machines") or ()]
    if machines:
        days = " to ".join(dict.fromkeys(filter(None, (about.get("from"), about.get("to")))))
        yield f"Calibrated on {', '.join(dict.fromkeys(machines))}{f', {days}' * bool(days)}."
    if about.get("other_rules"):
        yield "A part of this was calibrated under other rules than those in force."


def _rate(about: Mapping[str, Any]) -> str:
    """A rate with its interval: ``0.45 % (0.01 to 2.5 %, 220 tried)``."""
    low, high = (f"{100 * about[edge]:.3g}" for edge in ("low", "high"))
    tried = f", {about['n']} tried" if about.get("n") else ""
    return f"{100 * about['rate']:.3g} % ({low} to {high} %{tried})"


def undecided(document: Document) -> str:
    """How much wall time could not decide, and what it would have taken; or nothing."""
    walls = [row["meters"]["wall"] for row in document["cases"] if "wall" in row["meters"]]
    seen = [wall["detectable"] for wall in walls if wall["verdict"] == "undecided"]
    if not seen:
        return ""
    return (f"Wall time is undecided in {len(seen)} of {len(walls)} cases: half of those would "
            f"have needed a change of {units.seen(statistics.median(seen))} or more.")  # fmt: skip


def is_unmeasured(document: Document) -> bool:
    """Whether a comparison for information failed, was stopped, or has no number."""
    states = {row.get("status", "error") for row in document.get("cases") or ()}
    failed = states - {"measured", "not applicable"}
    return bool(document.get("partial") or failed or "measured" not in states)


def troubles(document: Document) -> list[str]:
    """What kept the gate from measuring something, a line each."""
    return [
        f"{about['impl']}: {line}" if about["impl"] else line
        for about in document.get("trouble", ())
        for line in str(about["why"]).splitlines()
    ]


def not_measured_meters(document: Document) -> list[str]:
    """Which meters this machine lacks, and why."""
    return [
        f"{label(name)}: not measured: {about['why']}"
        for name, about in document["meters"].items()
        if not about["measured"] and about["why"] != NOT_ASKED_FOR
    ]


def conditions(document: Document) -> str:
    """Where and with what it was measured, on one line."""
    facts = document["provenance"]
    names = ("python", "compiler", "cpu", "cores", "kernel", "valgrind", "load")
    said = [_fact(name, facts[name]) for name in names if facts.get(name) not in {None, ""}]
    wall = document["meters"].get("wall") or {}
    if wall.get("measured"):
        said.append(f"{wall['processes']} processes a side for wall time")
    builds = document["builds"]
    said.append(f"{builds} build{'s' * (builds != 1)} a side")
    said.append(f"seed {document['seed']}")
    return ", ".join(said)


def _fact(name: str, value: object) -> str:
    if name == "cores":
        return f"{value} core{'s' * (value != 1)}"
    return f"load {value}" if name == "load" else str(value)


def is_gate(document: Document) -> bool:
    """Whether a document, of any version, is that of a gate, whose verdict decides."""
    return bool(document.get("gate") or document.get("kind") == "gate")


def side_of(document: Document, word: str) -> Row:
    """The "base" or the "head", as a document of any version describes it; empty without one."""
    return document.get(word) or document.get({"base": "left", "head": "right"}[word]) or {}


def against(document: Document) -> Iterator[tuple[str, str, str]]:
    """Both sides: the word, the commit, its subject."""
    for side in ("base", "head"):
        about = side_of(document, side)
        name = (about.get("commit") or "no commit")[:10]
        yield side, name + " with changes" * bool(about.get("dirty")), about.get("subject") or ""


def profile_unit(unit: str, number: float) -> str:
    """A number of a profile's row: ``+1,110``, ``+22``."""
    sign = "+" if number > 0 else "\N{MINUS SIGN}" if number < 0 else ""
    size = abs(number)
    whole = unit == "instructions" or size == round(size)
    return sign + (f"{size:,.0f}" if whole else f"{size:,.2f}")


#: What a profile's rows of each unit are, in a heading.
PROFILES = {
    "instructions": "C functions, instructions a call",
    "bytecodes": "Python functions, bytecodes a call",
    "calls": "calls from Python into C, a call",
}
#: How to read a profile, beneath it.
READING = (
    "What a function spends in itself in one call of the benchmark. The share is of all that grew, "
    "or of all that shrank."
)


def by_unit(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """A profile's rows by unit, in their order."""
    grouped: dict[str, list[Row]] = {}
    for row in rows:
        grouped.setdefault(row.get("unit") or "instructions", []).append(row)
    return grouped
