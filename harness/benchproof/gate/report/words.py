"""What a comparison's document says: its rows in their order, its sentences, its numbers.

Terminal, Markdown, JUnit, pages and pictures are told from here, so that all of them say the same.
Needs nothing but the standard library: a job with a token can tell a result without installing
anything.
"""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchproof import meters, notes
from benchproof.errors import counted, meant
from benchproof.render import units

Document = Mapping[str, Any]
Row = Mapping[str, Any]
#: Every state of a case, in the order in which they are told, with a sign that needs no colour.
SIGNS = {
    "regressed": "▲",
    "accepted": "△",
    "different answers": "≠",
    "proof failed": "!",
    "error": "!",
    "trade-off": "⇄",
    "changed": "⇎",
    "undecided": "?",
    "improved": "▼",
    "equivalent": "=",
    "not applicable": "-",
}
_ORDER = {state: number for number, state in enumerate(SIGNS)}
#: What a case that moved is called, in the order in which those are told.
MOVED = ("regressed", "trade-off", "changed", "improved")
#: What a maintainer has to look at.
TO_LOOK_AT = {"regressed", "different answers", "proof failed", "error", "trade-off"}
#: Drift is told of so many benchmarks.
DRIFTED = 3
#: What each exit status is called, and its sign.
STATUS = {0: "no regression", 1: "regression", 2: "could not measure", 3: "cannot decide"}
LIGHTS = {0: "✅", 1: "❌", 2: "⚠️", 3: "⚠️"}
#: The status of several comparisons, the gravest first; and those that have no verdict, in words.
GRAVEST = ("regression", "could not measure", "cannot decide", "no regression", "information")
NO_VERDICT = {"information": "No commits were compared", "nothing": "Nothing was compared"}
#: What a meter that was left out on purpose says.
NOT_ASKED_FOR = "not asked for"


@dataclass(frozen=True)
class Moved:
    """A case that moved.

    Attributes:
        row: the case.
        meters: by name, what the document says of those that moved.
    """

    row: Row
    meters: Mapping[str, Mapping[str, Any]]

    @property
    def kind(self) -> str:
        """What it is called."""
        word = str(self.row["verdict"])
        return "accepted" if word != "improved" and self.row.get("accepted") else word

    @property
    def cells(self) -> dict[str, list[str]]:
        """What is told of each meter, by the title of a table's column."""
        told = self.meters.items()
        return {
            "meter": [label(meter) for meter, _ in told],
            "change": [units.change(about["ratio"]) for _, about in told],
            "interval": [interval(about) for _, about in told],
            "confidence": [confidence(meter, about) for meter, about in told],
            "a call": [values(meter, about) for meter, about in told],
        }

    @property
    def place(self) -> tuple[int, float, str, str]:
        """Where it stands among those that moved: what got worse first, by how much."""
        every = self.meters.values()
        worse = [about for about in every if about["verdict"] == "regressed"]
        ratios = [about["ratio"] for about in worse or every]
        size = max(max(ratio, 1 / ratio) if ratio else math.inf for ratio in ratios)
        return _ORDER[self.kind], -size, self.row["name"], self.row.get("impl", "")


def moved(document: Document) -> list[Moved]:
    """The cases that moved, with the meters that did.

    Open regressions first, then accepted ones, trade-offs, improvements; the largest change first.
    """
    found = []
    for row in document["cases"]:
        each = {
            meter: row["meters"][meter] for meter in shown_meters([row])
            if row["meters"][meter]["verdict"] in {"regressed", "improved", "changed"}
        }  # fmt: skip
        # Wall time that moved by no more than an accident could is no change of the case.
        if each and row["verdict"] in MOVED:
            found.append(Moved(row, each))
    return sorted(found, key=lambda case: case.place)


def largest(found: Sequence[Moved], most: int) -> list[Moved]:
    """Those for which there is room: what got worse first, and a third of it for what improved."""
    better = [case for case in found if case.kind == "improved"]
    worse = [case for case in found if case.kind != "improved"]
    worse = worse[: most - min(len(better), most // 3)]
    return worse + better[: most - len(worse)]


def shown_meters(rows: Iterable[Row]) -> list[str]:
    """The meters of which some rows have a number, in the order in which they are told."""
    seen = {meter for row in rows for meter in row["meters"]}
    return [meter for meter in meters.SPEAKING if meter in seen]


def by_suite(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    """Rows by suite and variant, in their order."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row["suite"], row.get("impl") or ""), []).append(row)
    return found


def wholes(document: Document) -> dict[tuple[str, str], Row]:
    """What was judged of each suite as a whole, by suite and variant, as in `by_suite`."""
    judged = document.get("suites") or ()
    return {(each["name"], each.get("impl") or ""): each for each in judged}


def state_of(row: Row) -> str:
    """The one state that a case ended in: its verdict if it was measured, else its status."""
    return str(row["verdict"] or row["status"])


def tally(rows: Iterable[Row]) -> dict[str, int]:
    """How many cases ended in which state, without those that none did."""
    found = Counter(map(state_of, rows))
    return {state: found[state] for state in SIGNS if found[state]}


def tallies(rows: Iterable[Row]) -> str:
    """The same in words: ``1 regressed, 25 equivalent``."""
    return ", ".join(f"{number} {state}" for state, number in tally(rows).items())


def to_look_at(document: Document) -> list[Row]:
    """The cases that need a person: what is wrong, and whose meters contradict each other."""
    found = [
        row for row in document["cases"]
        if state_of(row) in TO_LOOK_AT
        or {"regressed", "improved"} <= {about["verdict"] for about in row["meters"].values()}
    ]  # fmt: skip
    return sorted(found, key=lambda row: _ORDER[state_of(row)])


def status(document: Document) -> str:
    """The verdict's status; one that is not known here is not good news.

    A comparison that does not gate (``gates`` is false: Cython against pure Python, say) has no
    regression to report: its ratios are information. It can still fail to measure.
    """
    found = (document.get("verdict") or {}).get("status")
    if found not in STATUS.values():
        return "could not measure"
    if document.get("gates", True):
        return str(found)
    failed = found == "could not measure" or is_unmeasured(document)
    return "could not measure" if failed else "information"


def headline(documents: Iterable[Document]) -> tuple[str, str]:
    """The gravest status among comparisons (``nothing`` if there are none), and it in words.

    Good news is about what was compared and nothing else: if something was stopped early, the
    words say so.
    """
    found = {status(each): each.get("partial") for each in documents}
    gravest = next((each for each in GRAVEST if each in found), "nothing")
    partial = gravest == "no regression" and any(found.values())
    told = NO_VERDICT.get(gravest, gravest.capitalize())
    return gravest, told + " in what was compared" * partial


def about(row: Row, meter: str) -> Mapping[str, Any]:
    """What a case says of a meter; nothing where it has no such figure."""
    return row["meters"].get(meter) or {}


def ratio_of(row: Row, meter: str) -> float | None:
    """A case's ratio right / left in a meter; None without a positive number."""
    value: float | None = about(row, meter).get("ratio")
    return value or None


def is_undecided(row: Row, meter: str) -> bool:
    """Whether a case has a figure in a meter that decides nothing."""
    return about(row, meter).get("verdict") == "undecided"


class Mean(NamedTuple):
    """The geometric mean of a meter's ratios: whether it is a figure, that, and over what."""

    meter: str
    decided: bool
    figure: str
    over: str

    @property
    def text(self) -> str:
        """Figure and cases."""
        return f"{self.figure} ({self.over})" if self.over else self.figure


#: The meters whose ratios are summed up.
SUMMED = ("wall", "instructions", "allocations", "bytes")


def means(rows: Iterable[Row]) -> list[Mean]:
    """The geometric mean of each meter's ratios, and how many of the measured cases have one.

    A case whose ratio is zero (all allocations gone) or has no value has no logarithm: it is left
    out, and the text says over how many of the cases the mean is taken. There is no figure where
    the meter is undecided in most cases: then the figure is noise.
    """
    measured = [row for row in rows if row["status"] == "measured"]
    found = []
    for meter in SUMMED:
        having = [row for row in measured if ratio_of(row, meter)]
        value = units.geometric_mean([ratio_of(row, meter) or 0 for row in having])
        doubt = sum(is_undecided(row, meter) for row in having)
        if value is None:
            found.append(Mean(meter, False, "not measured", ""))
        elif 2 * doubt >= len(having):
            over = f"in {doubt} of {len(having)} cases"
            found.append(Mean(meter, False, "undecided", over))
        else:
            part = f"{len(having)} of {len(measured)} cases" * (len(having) != len(measured))
            over = ", ".join(filter(None, (part, f"undecided in {doubt}" * bool(doubt))))
            found.append(Mean(meter, True, units.ratio(value), over))
    return found


def ratio(about: Mapping[str, Any]) -> str:
    """The ratio right / left of a meter, with a doubt where it decides nothing."""
    doubt = "? " * bool(about["verdict"] == "undecided")
    return doubt + ("no ratio" if about["ratio"] is None else units.ratio(about["ratio"]))


def remark(about: Mapping[str, Any]) -> str:
    """What stands behind a verdict that claims no change, or claims nothing."""
    if about["verdict"] == "equivalent":
        return f"within {units.percent(about['limit'])}" if about["limit"] else "equal"
    if about["verdict"] == "undecided":
        return f"undecided; could see {units.seen(about['detectable'])}"
    return ""


def deciding(row: Row) -> str | None:
    """The meter that gave a case its verdict: of a trade-off, what improved."""
    word = "improved" if row["verdict"] == "trade-off" else row["verdict"]
    said = {name: about["verdict"] for name, about in row["meters"].items()}
    return next((name for name in meters.SPEAKING if said.get(name) == word), None)


def named(row: Row) -> str:
    """A case or suite, with its implementation where there are several."""
    return f"{row['name']} [{row['impl']}]" if row.get("impl") else str(row["name"])


def titled(row: Row, name: str = "") -> str:
    """The same for people: also what the project calls it.

    Args:
        row: the case or suite.
        name: what to call it instead of by its whole name.
    """
    pretty = f' "{row["pretty_name"]}"' if row.get("pretty_name") else ""
    impl = f" [{row['impl']}]" if row.get("impl") and not name else ""
    return f"{name or row['name']}{pretty}{impl}"


def excuse(entry: Mapping[str, Any]) -> str:
    """Why a regression is accepted, and until when."""
    return f"accepted until {entry['until']}: {entry['reason']}"


def unused(entry: Mapping[str, Any], rows: Iterable[Row]) -> str:
    """The state of an entry that accepts nothing, and where the file is wrong, what to do."""
    names = {row["name"] for row in rows}
    if entry["state"] == "expired":
        return f"expired on {entry['until']}: delete it, or give it another day"
    if entry["state"] != "unmatched":
        return str(entry["state"])
    if entry["benchmark"] in names:
        return "unmatched: nothing regressed there any more; delete it"
    return f"unmatched: no benchmark has that name{meant(entry['benchmark'], names)}"


def standing(entry: Mapping[str, Any]) -> str:
    """An accepted regression that is part of the base, with what it came to there."""
    came = ", ".join(f"{key} {units.change(ratio)}" for key, ratio in entry["passed"].items())
    most = units.change(1 + entry["amount"])
    return f"{entry['benchmark']}: {came or 'nothing'} of at most {most}: {entry['reason']}"


def moved_suites(document: Document) -> list[Row]:
    """The suites that moved as a whole, the worse ones first."""
    found = [row for row in wholes(document).values() if row["verdict"] in MOVED]
    return sorted(found, key=lambda row: MOVED.index(row["verdict"]))


def as_a_whole(suite: Row) -> str:
    """How a suite moved: ``bind as a whole regressed: instructions +0.21 % (26 of 26 ...)``."""
    excused = " (accepted)" * bool(suite.get("accepted"))
    return f"{named(suite)} as a whole {suite['verdict']}{excused}: {whole(suite)}"


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
        note = notes.but_undecided(case.row.get("note") or "")
        if note:
            yield titled(case.row), note


def fails(document: Document, row: Row) -> bool:
    """Whether a case or suite fails the gate."""
    failing = {"regressed"}
    if document["settings"].get("trade_off") == "fail":
        failing.add("trade-off")
    return row["verdict"] in failing and not row.get("accepted")


def explained(document: Document) -> list[Row]:
    """The cases with a profile, the worst regression first."""
    order = {id(case.row): number for number, case in enumerate(moved(document))}
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
    how = meters.METERS[meter]
    if how.exact and about["low"] == about["high"]:
        return "exact"
    if about["confidence"] is None:
        return "all counts"
    told = f"{about['confidence'] * 100:.3g}\N{NO-BREAK SPACE}%"
    return f"{told}, {len(about['left_samples'])} {how.repeated}" if how.exact else told


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
    each = [
        f"{named(row)} {label(row['meter'])} {units.change(row['ratio'])}"
        for row in worse[:DRIFTED]
    ]
    more = [f"{len(worse) - DRIFTED} more"] if len(worse) > DRIFTED else []
    yield (
        f"Drift since {found['since']}, {found['passes']} pass{'es' * (found['passes'] != 1)} ago: "
        f"{len(worse)} worse, {better} better{': ' * bool(each)}{', '.join([*each, *more])}."
    )


def error_rates(document: Document) -> list[str]:
    """Its controls, and how often it is wrong as calibration measured it; one sentence each."""
    rates = document["error_rates"]
    told = [*controls(document), *drift(document)]
    if not rates:
        return [*told, "How often this gate errs has not been measured here."]
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


def undecided(document: Document, needed: int = 0) -> str:
    """How much wall time could not decide, and what it would have taken; or nothing.

    Args:
        document: of the comparison.
        needed: blocks of processes without which so many cases cannot be told apart, if known.
    """
    walls = [row["meters"]["wall"] for row in document["cases"] if "wall" in row["meters"]]
    seen = [wall["detectable"] for wall in walls if wall["verdict"] == "undecided"]
    if not seen:
        return ""
    blocks = max(len(wall["left_samples"]) for wall in walls)
    if blocks < needed:
        number = "1 benchmark needs" if len(walls) == 1 else f"{len(walls)} benchmarks need"
        why = f"{number} {needed} blocks of processes or more, and had {blocks}"
    else:
        change = units.seen(statistics.median(seen))
        why = f"half of those would have needed a change of {change} or more"
    return f"wall time is undecided (?) in {len(seen)} of {len(walls)}: {why}"


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
    facts = dict(document["provenance"])
    cores, load, builds = facts.get("cores"), facts.get("load"), document["builds"]
    facts["cores"] = cores and counted(cores, "core")
    facts["load"] = None if load is None else f"load {load}"
    names = ("python", "compiler", "cpu", "cores", "kernel", "valgrind", "load")
    said = [str(facts[name]) for name in names if facts.get(name)]
    wall = document["meters"].get("wall") or {}
    if wall.get("measured"):
        said.append(f"{wall['processes']} processes a side for wall time")
    return ", ".join([*said, f"{counted(builds, 'build')} a side",
                      f"seed {document['seed']}"])  # fmt: skip


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
    """A number of a profile's row: ``+1,110``, ``-22``."""
    digits = 0 if unit == "instructions" or number == round(number) else 2
    return f"{number:+,.{digits}f}"


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
