"""Accepted regressions: reviewed lines of a file in the repository, each with an end.

::

    [[accepted]]
    benchmark = "decode_rows.time_one_row"   # as asv names it; no pattern: each one is a decision.
                                             # Or a suite, for what it is as a whole: "decode_rows"
    meter = "instructions"                   # or a list: ["instructions", "wall"]
    impl = "python"                          # without it: all variants
    amount = 0.03                            # the most that it may have become slower: 3 %
    reason = "answers are checked now (#123)"
    until = 2027-01-31                       # the last day on which it holds

What becomes of an entry in a gate:

============  =====================================================================================
used          it covers a regression: the gate shows it, and does not fail for it
undecided     wall time cannot tell this time whether there is something to cover
near          what it names is slower by more than half of a limit, and not by all of it: another
              run may find the regression again
exceeded      the regression is larger than the amount: it is not accepted
not asked     what it names was left out of this gate (`--bench`, `--meters`, `--impl`)
in the base   the base is a recorded pass that it was used for, and nothing regressed since: it
              stays in view until its day, and what it covered there counts against its amount
expired       an error: its day has passed, so somebody has to decide anew
unmatched     an error: there is no such benchmark, or nothing regressed there any more. A line that
              covers nothing would let the next regression through
============  =====================================================================================
"""

import datetime as dt
import math
from collections.abc import Collection, Mapping, MutableMapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal

from . import files, noise, toml
from .errors import AcceptedError
from .meters import METERS

State = Literal[
    "used", "undecided", "near", "exceeded", "not asked", "in the base", "expired", "unmatched",
]  # fmt: skip
#: States with which a gate cannot pass.
ERRORS: tuple[State, ...] = ("expired", "unmatched")
#: Of the file, which says none as long as it is the first.
SCHEMA = 1


@dataclass(frozen=True)
class Entry:
    """One accepted regression.

    Attributes:
        benchmark: its name.
        meters: which may have become worse.
        impl: in which variant, or None for all.
        amount: the largest accepted change, as 0.03 for 3 %.
        reason: why, for a reader.
        until: the last day on which it holds.
        line: of its header in the file; 0 of an entry that is only in the record of a pass.
        passed: what it covered when the gate passed at the base: a ratio by "IMPL METER".
    """

    benchmark: str
    meters: tuple[str, ...]
    impl: str | None
    amount: float
    reason: str
    until: dt.date
    line: int
    passed: Mapping[str, float] = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """It in JSON's types, as records, documents and the record of a pass have it."""
        return asdict(self) | {"meters": list(self.meters), "until": self.until.isoformat()}

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Entry":
        """The entry of such a row; what else a document says of it is left."""
        known = {each.name: row[each.name] for each in fields(cls) if each.name in row}
        until = dt.date.fromisoformat(row["until"])
        return cls(**{**known, "meters": tuple(row["meters"]), "until": until})

    def same_as(self, other: "Entry") -> bool:
        """Whether both are about the same regression."""
        mine = self.benchmark, sorted(self.meters), self.impl
        return mine == (other.benchmark, sorted(other.meters), other.impl)

    def covers(self, case: Mapping[str, Any]) -> bool:
        """Whether a case of a gate is the one that is meant."""
        return bool(case["name"] == self.benchmark and self.impl in {None, case.get("impl")})


def parse(data: bytes, name: str, variants: Sequence[str] = ()) -> list[Entry]:
    """Read the entries.

    Args:
        data: what the file holds; nothing where there is none.
        name: of the file.
        variants: names of those that an entry may be about; none to take any.

    Raises:
        AcceptedError: an entry breaks a rule; the message begins with file and line.
        NewerError: its ``schema`` is of a newer benchproof; one that says none is of any.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise AcceptedError(f"{name}: it is not UTF-8") from error
    whole = toml.File(text, name, AcceptedError)
    files.refuse_newer(whole.data, SCHEMA, name)
    for key in whole.data:
        if key not in {"accepted", "schema"}:
            whole.refuse((key,), f"unknown {key!r}: every entry is an [[accepted]]")
    rows = whole.data.get("accepted", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        whole.refuse(("accepted",), "every entry is an [[accepted]], in two brackets")
    return [_entry(whole, ("accepted", at), variants) for at in range(len(rows))]


def _entry(file: toml.File, where: tuple[str, int], variants: Sequence[str]) -> Entry:
    """Check one entry."""
    rules: toml.Rules = {
        "benchmark": (str, lambda _: True, "the name of a benchmark"),
        "meter": ((str, list), lambda given: bool(given) and all(
            each in list(METERS) for each in ([given] if isinstance(given, str) else given)
        ), f"of {', '.join(METERS)}"),
        "impl": (str, lambda given: not variants or given in variants,
                 f"one of {', '.join(variants) or 'the variants'}, or absent"),
        "amount": ((int, float), lambda given: given > 0, "the largest accepted change, as 0.03"),
        "reason": (str, lambda given: bool(given.strip()), "words for the reader"),
        # A date, not a time: a datetime is a date, too, to Python.
        "until": (dt.date, lambda given: not isinstance(given, dt.datetime),
                  "a date without quotes, as 2027-01-31"),
    }  # fmt: skip
    row = file.check(where, file.data[where[0]][where[1]], rules, rules.keys() - {"impl"})
    meters = [row["meter"]] if isinstance(row["meter"], str) else row["meter"]
    return Entry(
        row["benchmark"], tuple(meters), row.get("impl"), float(row["amount"]),
        row["reason"].strip(), row["until"], file.line(where),
    )  # fmt: skip


def with_passed(entries: Sequence[Entry], passed: Sequence[Entry]) -> list[Entry]:
    """The entries of the file, with what the record of the last pass knows of them, and its others.

    Deleting a line, or recording a pass anew, takes no regression out of view before its day.
    """
    known = [
        next((replace(entry, passed=old.passed) for old in passed if old.same_as(entry)), entry)
        for entry in entries
    ]
    return known + [old for old in passed if not any(old.same_as(entry) for entry in entries)]


def still(document: Mapping[str, Any], before: Sequence[Entry]) -> list[dict[str, Any]]:
    """What a record of a pass keeps of accepted regressions.

    Args:
        document: of the gate that passed.
        before: of the record that is replaced. The gate need not have known of them: its base may
            have been named.
    """
    kept = []
    for entry in document["accepted"]:
        covered = {
            f"{case['impl']} {meter}":
            case["meters"][meter]["ratio"] * entry["passed"].get(f"{case['impl']} {meter}", 1.0)
            for case in (*document["cases"], *document["suites"])
            if case["name"] == entry["benchmark"] and entry["impl"] in {None, case["impl"]}
            for meter in entry["meters"]
            if meter in case["meters"] and case["meters"][meter]["ratio"] is not None
        }  # fmt: skip
        kept.append(replace(Entry.of(entry), line=0, passed=entry["passed"] | covered))
    kept += [old for old in before if not any(old.same_as(each) for each in kept)]
    return [each.row() for each in kept]


def from_record(rows: Sequence[Mapping[str, Any]], today: dt.date) -> tuple[Entry, ...]:
    """The entries of the record of a pass whose day has not come."""
    return tuple(entry for entry in map(Entry.of, rows) if entry.until >= today)


def apply(
    entries: Sequence[Entry],
    cases: Sequence[MutableMapping[str, Any]],
    today: dt.date,
    known: Collection[str] | None = None,
) -> list[dict[str, Any]]:
    """Hold the entries against a gate's cases.

    Every case gets a key ``accepted``: None, or reason, until and amount where entries cover all
    meters that regressed in it.

    Args:
        entries: of the file.
        cases: rows of a gate: name, impl, verdict, meters with their verdicts; changed in place.
        today: an entry holds until the end of its last day.
        known: names of all benchmarks that exist, if not all of them are among the cases.

    Returns:
        The entries with their states, in the order of the file.
    """
    names = {case["name"] for case in cases} | set(known or ())
    states = [_state(entry, cases, today, names) for entry in entries]
    valid = [e for e, state in zip(entries, states, strict=True) if state != "expired"]
    for case in cases:
        case["accepted"] = _acceptance(valid, case)
    return [entry.row() | {"state": state} for entry, state in zip(entries, states, strict=True)]


def _state(
    entry: Entry, cases: Sequence[Mapping[str, Any]], today: dt.date, names: Collection[str]
) -> State:
    """What becomes of an entry."""
    if today > entry.until:
        return "expired"
    nothing: State = "in the base" if entry.passed else "unmatched"
    if entry.benchmark not in names:
        return nothing
    measured = [
        (case, meter)
        for case in cases if entry.covers(case)
        for meter in entry.meters if meter in case["meters"]
    ]  # fmt: skip
    said = [case["meters"][meter]["verdict"] for case, meter in measured]
    if not measured:
        return "not asked"
    regressed = [each for each, word in zip(measured, said, strict=True) if word == "regressed"]
    if regressed:
        return "used" if all(_within(*each, entry) for each in regressed) else "exceeded"
    if "undecided" in said:
        return "undecided"
    return "near" if any(_is_near(case["meters"][meter]) for case, meter in measured) else nothing


def _is_near(about: Mapping[str, Any]) -> bool:
    """Whether a change is within its limit, and not by so much that chance could not do it."""
    ratio, limit = about["ratio"], about.get("limit")
    return bool(ratio and limit and ratio - 1 > noise.NEAR * limit)


def _acceptance(entries: Sequence[Entry], case: Mapping[str, Any]) -> dict[str, str | float] | None:
    """What accepts a case, if every meter that regressed in it is covered."""
    regressed = [m for m, about in case["meters"].items() if about["verdict"] == "regressed"]
    found = [
        next((each for each in entries if each.covers(case) and meter in each.meters
              and _within(case, meter, each)), None)
        for meter in regressed
    ]  # fmt: skip
    covering = [entry for entry in found if entry]
    if not covering or None in found:
        return None
    return {
        "reason": "; ".join(dict.fromkeys(entry.reason for entry in covering)),
        "until": min(entry.until for entry in covering).isoformat(),
        "amount": min(entry.amount for entry in covering),
    }


def _within(case: Mapping[str, Any], meter: str, entry: Entry) -> bool:
    """Whether a change is not shown to be larger than what is left of the accepted amount."""
    low = case["meters"][meter]["low"]
    before = entry.passed.get(f"{case.get('impl')} {meter}", 1.0)
    return bool((math.inf if low is None else low) * before <= 1 + entry.amount)
