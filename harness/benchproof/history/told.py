"""What `benchproof history` says at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchproof.errors import COULD_NOT_MEASURE, NO_REGRESSION

if TYPE_CHECKING:
    from rich.console import Console

    from .progress import Outcome

#: Reasons that are listed; the rest is counted.
_MOST = 12


def show(outcome: Outcome, out: Console) -> None:
    """Print what was done and what has no number."""
    words = [
        f"{outcome.measured} measured",
        f"{outcome.shared} shared with a commit that has the same driver",
        f"{outcome.known} known before",
    ]
    if outcome.left:
        words.append(f"{outcome.left} left")
    _line(out, f"commits in an implementation: {', '.join(words)}")
    for (commit, impl), why in outcome.failed.items():
        _line(out, f"  {commit[:10]} {impl}: {why}")
    reasons = sorted(outcome.reasons.items(), key=lambda item: -item[1])
    for why, count in reasons[:_MOST]:
        _line(out, f"  {count} without a number: {why}")
    if len(reasons) > _MOST:
        rest = sum(count for _, count in reasons[_MOST:])
        _line(out, f"  {rest} more, for {len(reasons) - _MOST} other reasons")
    if outcome.is_empty:
        _line(out, "could not measure: no benchmark of any of these commits gave a number")


def document(outcome: Outcome) -> dict[str, Any]:
    """The same as data: what was measured, and what has no number and why."""
    return {
        "schema": 1, "kind": "history", "measured": outcome.measured, "shared": outcome.shared,
        "known": outcome.known, "left": outcome.left, "reasons": outcome.reasons,
        "failed": [
            {"commit": commit, "impl": impl, "why": why}
            for (commit, impl), why in outcome.failed.items()
        ],
    }  # fmt: skip


def status(outcome: Outcome) -> int:
    """The exit status."""
    return COULD_NOT_MEASURE if outcome.left or outcome.is_empty else NO_REGRESSION


def _line(out: Console, text: str) -> None:
    out.print(text, highlight=False, markup=False, soft_wrap=True)
