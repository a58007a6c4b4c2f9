"""Who disagrees with whom: the words beside a case's verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

#: How a note begins that says so of wall time.
UNDECIDED = "wall time undecided"


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
        notes.append("; ".join(f"{name} {v}" for name, v in exact.items() if v != "equivalent"))
    for name, verdict in exact.items():
        if verdict == "undecided":
            low, high = (_percent(meters[name][end]) for end in ("low", "high"))
            notes.append(f"{name} undecided: layouts disagree ({low} to {high})")
    lead = next((v for v in exact.values() if v != "equivalent"), "equivalent")
    if exact and wall not in {None, lead}:
        if wall == "undecided":
            seen = (meters["wall"]["detectable"] - 1) * 100
            notes.append(f"{UNDECIDED} (could have seen +{seen:.0f} %)")
        elif unsure:
            notes.append(
                f"wall time disagrees: {wall} ({_percent(meters['wall']['ratio'])}), by no more "
                "than where the code lies can explain"
            )
        else:
            notes.append(f"wall time disagrees: {wall}")
    return "; ".join(notes)


def _percent(ratio: float | None) -> str:
    return "from 0" if ratio is None else f"{(ratio - 1) * 100:+.1f} %"
