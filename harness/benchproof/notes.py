"""Who disagrees with whom: the words beside a case's verdict."""

from collections.abc import Mapping
from typing import Any

from .meters import METERS, allocations
from .render import units

#: How a note begins that says so of wall time.
UNDECIDED = "wall time undecided"
#: What it usually means where instructions and wall time move apart, and which to believe.
_WAITING = "for memory or wrongly predicted branches: if a second run says so too, believe the time"
MEANING = {
    ("regressed", "improved"): f"more instructions in less time usually wait less {_WAITING}",
    ("improved", "regressed"): f"fewer instructions in more time usually wait more {_WAITING}",
}


#: Why wall time is not believed alone.
NO_MORE = "by no more than where the code lies can explain"


def note(
    exact: Mapping[str, str],
    wall: str | None,
    meters: Mapping[str, Mapping[str, Any]],
    *,
    unsure: bool,
) -> str:
    """Who disagrees with whom, and who cannot tell.

    Args:
        exact: verdicts of the exact meters.
        wall: of wall time, or None.
        meters: everything that the results file says of them.
        unsure: whether wall time's change is too small to speak alone.
    """
    notes = []
    if {"regressed", "improved"} <= set(exact.values()):
        notes += [
            f"{name} {v} ({units.change(meters[name]['ratio'])})"
            for name, v in exact.items() if v in {"regressed", "improved"}
        ]  # fmt: skip
    for name, verdict in exact.items():
        if verdict == "undecided":
            low, high = (units.change(meters[name][end]) for end in ("low", "high"))
            disagree = f"{METERS[name].repeated} disagree"
            why = "counts scatter" if name in allocations.METERS else disagree
            notes.append(f"{name} undecided: {why} ({low} to {high})")
    lead = next((v for v in exact.values() if v != "equivalent"), "equivalent")
    if exact and wall is not None and wall != lead:
        moved = f"{wall} ({units.change(meters['wall']['ratio'])})"
        other = _elsewhere(meters["wall"])
        if wall == "undecided":
            seen = units.seen(meters["wall"]["detectable"])
            notes.append(f"{UNDECIDED} (could have seen {seen})")
        elif unsure:
            notes.append(f"wall time disagrees: {moved}, {other or NO_MORE}")
        else:
            notes.append(f"wall time disagrees: {moved}{other and ', ' + other}")
            if not other:
                notes += filter(None, [MEANING.get((exact.get("instructions", ""), wall))])
    if "tail" in meters and meters["tail"]["verdict"] in {"regressed", "improved"}:
        tail = meters["tail"]
        notes.append(f"its slowest calls {tail['verdict']} ({units.change(tail['ratio'])})")
    return "; ".join(notes)


def _elsewhere(wall: Mapping[str, Any]) -> str:
    """What builds say in which the code lies elsewhere, or nothing."""
    other = wall.get("elsewhere")
    if not other:
        return ""
    low, high = (units.change(other[end]) for end in ("low", "high"))
    said = f"{units.change(other['ratio'])} ({low} to {high}) where the code lies elsewhere"
    return f"and {said}" if other["verdict"] == "regressed" else f"but {said}, which may be why"


def but_undecided(note: str) -> str:
    """A case's note without what one line says for all cases: that wall time is undecided."""
    return "; ".join(part for part in note.split("; ") if not part.startswith(UNDECIDED))
