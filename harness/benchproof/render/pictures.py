"""Which pictures there are: two a suite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import canvas, units
from .ratios import draw_cases, draw_samples, drawable, has_samples

if TYPE_CHECKING:
    from pathlib import Path

    from .view import Comparison, Suite


@dataclass(frozen=True)
class Picture:
    """A picture on the disk: the stem of its files and the text for those who can't see it."""

    stem: str
    alt: str

    @property
    def files(self) -> tuple[str, ...]:
        """The names of its files."""
        return tuple(self.stem + ending for ending in canvas.ENDINGS)


def draw_suite(suite: Suite, shown: Comparison, folder: Path) -> dict[str, Picture]:
    """Draw the pictures of a suite.

    Args:
        suite: The suite.
        shown: The comparison that it is part of.
        folder: Where the files go; it exists.

    Returns:
        The pictures called ``ratios`` and ``samples``; one without anything to draw is absent.
    """
    stem = f"{shown.slug}-{units.slug(suite.name)}"
    left, right = shown.left, shown.right
    measured = [case for case in suite.cases if case.get("status") == "measured"]
    drawn: dict[str, Picture] = {}
    if cases := [case for case in measured if drawable(case)]:
        drawn["ratios"] = Picture(f"{stem}-ratios", _ratios_in_words(suite, shown))
        canvas.save(
            lambda layout: draw_cases(cases, left, right, layout), folder, drawn["ratios"].stem
        )
    if sampled := [case for case in measured if has_samples(case)]:
        drawn["samples"] = Picture(
            f"{stem}-samples",
            f"{suite.name}: the wall time of each process, {left} above {right}, in "
            f"{len(sampled)} cases. The raw data hold every figure.",
        )
        canvas.save(
            lambda layout: draw_samples(sampled, left, right, layout), folder, drawn["samples"].stem
        )
    return drawn


def _ratios_in_words(suite: Suite, shown: Comparison) -> str:
    means = "; ".join(f"{mean.label} {mean.text}" for mean in suite.means if mean.cases)
    states = ", ".join(f"{tally.number} {tally.state}" for tally in suite.tallies)
    return (
        f"{suite.name}: {shown.right} divided by {shown.left} for each case. "
        f"Geometric means: {means}. Cases: {states}. The table below has every figure."
    )
