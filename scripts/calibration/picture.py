"""The picture: found slow-downs by size, with their intervals, for the gate and other tools."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from benchproof.render.view import palette
from calibration.summary import found_by_meter

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The rule of each tool that is drawn: its default, or the best one that it has.
DRAWN = (
    ("asv", "factor 1.1"), ("asv", "factor 1.01"), ("pyperf", "significant"), ("bare", "0.3 %"),
)  # fmt: skip
SHAPES = ("o", "s", "^", "D", "v", "P")


def draw(summary: Mapping[str, Any]) -> str:
    """The picture as SVG, or nothing where nothing was injected."""
    series = _series(summary)
    if not any(points for _, points in series):
        return ""
    import matplotlib as mpl  # noqa: PLC0415  (slow to import)
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context({"svg.hashsalt": "benchproof", "font.size": 9}):
        figure = Figure(figsize=(7, 3.6), layout="constrained")
        axes = figure.add_subplot()
        light = palette("light")
        colours = [light[name] for name in ("instructions", "wall", "muted", "left", "allocations",
                                            "ink")]  # fmt: skip
        for index, (name, points) in enumerate(series):
            if not points:
                continue
            # Beside one another, so that intervals can be told apart.
            sizes = [float(size) * 100 * (1 + 0.04 * (index - 2)) for size, _ in points]
            found = [about["rate"] * 100 for _, about in points]
            below = [(about["rate"] - about["low"]) * 100 for _, about in points]
            above = [(about["high"] - about["rate"]) * 100 for _, about in points]
            axes.errorbar(
                sizes, found, yerr=[below, above], label=name, color=colours[index % 6],
                marker=SHAPES[index % 6], capsize=2, linewidth=1,
                linestyle="-" if index < 2 else ":",
            )  # fmt: skip
        ticks = sorted({float(size) * 100 for _, points in series for size, _ in points})
        axes.set_xscale("log")
        axes.set_xticks(ticks, [f"{tick:g} %" for tick in ticks])
        axes.set_xticks([], minor=True)
        axes.set_ylim(-3, 103)
        axes.set_xlabel("injected slow-down")
        axes.set_ylabel("found, % (95 % interval)")
        axes.grid(visible=True, color=light["grid"], linewidth=0.5)
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def _series(summary: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, Any]]]]:
    """Names and points, the gate's two meters first."""
    found = [
        (f"gate: {title}", list(found_by_meter(summary)[meter].items()))
        for meter, title in (("instructions", "instructions"), ("wall", "wall time"))
    ]
    for tool, rule in DRAWN:
        for row in summary["others"]:
            if (row["tool"], row["rule"]) == (tool, rule):
                points = [(size, about) for size, about in row["detection"].items() if about]
                found.append((f"{tool}: {rule}", points))
    return found
