"""What a figure claims against what was measured: by the interval, never by a point.

A ratio is judged by its gain, before / after - 1; what went away (objects, bytes) by its number.
Both by the same bounds, 80 and 125 % of what is claimed; of a published range from the weaker end
to the stronger. Objects have no upper bound: an object takes one allocation or several.

==================  ===============================================================================
verdict             when
==================  ===============================================================================
reproduced          the whole interval lies within the bounds
exceeded            it lies above them
smaller             a gain beyond the meter's limit, and it lies below them
not reproduced      no such gain, or a loss
undecided           the interval spans two of these
nothing to compare  the page gives a saving of time only: nanoseconds of two machines, and of
                    instructions and time, are not compared
not exercised       the function that the change is about did not run
answers differ      the two sides gave different answers
does not build      one of the sides
not measured        a case raised, or was not run
==================  ===============================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ledger.policy import ENOUGH as LEAST
from ledger.policy import MOST

#: The meter of a figure that is no time, and the least that counts as a change of it.
COUNTS = {"objects": "allocations", "allocations": "allocations", "bytes": "bytes"}
_HALF = 0.5
#: In which a figure of several builds is told: the worst first.
ORDER = ("does not build", "answers differ", "not exercised", "not measured", "not reproduced",
         "smaller", "undecided", "nothing to compare", "exceeded", "reproduced")  # fmt: skip
_KILO = {"KB": 1000.0, "KiB": 1024.0, "MB": 1e6}


@dataclass(frozen=True)
class Judged:
    """A verdict, and how many times the claimed gain was measured (None: not comparable)."""

    verdict: str
    times: float | None = None


def claimed_gain(says: dict[str, Any]) -> tuple[float, float] | None:
    """The claimed gain, before / after - 1, from the weaker end to the stronger; None: no ratio."""
    if "before" in says and "after" in says:
        before, after = _ends(says["before"]), _ends(says["after"])
        # A range is of several runs, whose ends belong together.
        found = [b / a - 1 for b, a in zip(before, after, strict=True)]
    elif "speedup" in says:
        found = [each - 1 for each in _ends(says["speedup"])]
    elif "saved_percent" in says:
        found = [1 / (1 - each / 100) - 1 for each in _ends(says["saved_percent"])]
    else:
        return None
    return min(found), max(found)


def claimed_number(says: dict[str, Any]) -> tuple[float, float]:
    """How many went away, in bytes or pieces."""
    unit = _KILO.get(says.get("unit", ""), 1.0)
    if "saved" in says:
        least, most = _ends(says["saved"])
        return least * unit, most * unit
    return tuple(
        (b - a) * unit
        for b, a in zip(_ends(says["before"]), _ends(says["after"]), strict=True)
    )  # fmt: skip


def judge(says: dict[str, Any], row: dict[str, Any] | None) -> Judged:
    """Judge a figure by a row of a comparison's document, or None if there is none."""
    failed = _failed(row)
    if failed:
        return Judged(failed)
    meters = row["meters"]
    if says["metric"] in COUNTS:
        about = meters[COUNTS[says["metric"]]]
        least, most = claimed_number(says)
        gone = about["left"] - about["right"]
        if not most:
            return Judged("reproduced" if abs(gone) < _HALF else "not reproduced")
        if says["metric"] == "objects":
            most = max(most, gone)
        return _bounded((gone, gone), (least, most), _HALF)
    gain = claimed_gain(says)
    if gain is None:
        return Judged("nothing to compare")
    about = meters["instructions"]
    limit = 1 / (1 - about["limit"]) - 1
    return _bounded((1 / about["high"] - 1, 1 / about["low"] - 1), gain, limit)


def _failed(row: dict[str, Any] | None) -> str:
    """Why a row has no numbers, or ""."""
    if row is None:
        return "not measured"
    if row["status"] == "measured":
        return ""
    if "did not reach" in row["why"]:
        return "not exercised"
    return "answers differ" if row["status"] == "different answers" else "not measured"


def _bounded(measured: tuple[float, float], claimed: tuple[float, float], limit: float) -> Judged:
    """Where an interval lies."""
    bounds = (limit, LEAST * claimed[0], MOST * claimed[1])
    names = ("not reproduced", "smaller", "reproduced", "exceeded")
    low, high = (names[sum(each > bound for bound in bounds)] for each in measured)
    middle = sum(measured) / 2
    nearest = claimed[1] if middle > claimed[1] else claimed[0]
    times = 0.0 if abs(middle) <= limit else middle / nearest
    return Judged(low if low == high else "undecided", times)


def worst(verdicts: list[str]) -> str:
    """The verdict of a figure that was measured in several builds."""
    return min(verdicts, key=ORDER.index)


def _ends(value: float | list[float]) -> tuple[float, float]:
    return (value[0], value[1]) if isinstance(value, list) else (value, value)
