"""Colours and shapes of the pictures: Okabe and Ito's colours, and a shape for each, on any ground.

A picture is drawn once, in the light colours on a transparent ground; the dark variant is the same
SVG with the colours of ``DARK`` in their place, so that the two can't drift apart. That takes
colours that occur for one purpose only: no two values of ``LIGHT`` are equal.
"""

from __future__ import annotations

from dataclasses import dataclass

#: What is drawn with which colour, on a light ground.
LIGHT = {
    "ink": "#1c2330",
    "muted": "#5a6372",
    "grid": "#d6dbe3",
    "band": "#e9edf2",
    "ground": "#fefefe",
    "wall": "#0072b2",
    "instructions": "#e69f00",
    "allocations": "#cc79a7",
    "left": "#8a93a3",
    "right": "#0173b3",
}

#: The same on a dark ground.
DARK = {
    "ink": "#e7eaf0",
    "muted": "#a6aebb",
    "grid": "#39414f",
    "band": "#262d38",
    "ground": "#14181f",
    "wall": "#56b4e9",
    "instructions": "#e69f00",
    "allocations": "#cc79a7",
    "left": "#98a1b0",
    "right": "#57b5ea",
}


@dataclass(frozen=True)
class Mark:
    """How one meter is drawn."""

    meter: str
    label: str
    shape: str
    size: float
    offset: float


#: The meters of the ratio picture, from the top of a row to its foot (offset in rows).
MARKS = (
    Mark("wall", "time", "o", 6.5, -0.24),
    Mark("instructions", "instructions", "s", 5.2, 0.04),
    Mark("allocations", "allocations", "^", 5.8, 0.29),
)


def darken(svg: str) -> str:
    """The dark variant of an SVG that was drawn with the colours of ``LIGHT``."""
    for name, colour in LIGHT.items():
        # Through a placeholder: a dark colour may equal a light one that is still to come.
        svg = svg.replace(colour, f"@{name}@")
    for name, colour in DARK.items():
        svg = svg.replace(f"@{name}@", colour)
    return svg
