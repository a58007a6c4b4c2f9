"""Histories for papers and pull requests: a benchmark's meters below each other, by matplotlib.

A picture is an SVG for light grounds, one for dark ones, and a PNG.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from benchproof import suite
from benchproof.errors import SelectionError
from benchproof.gate.report import words
from benchproof.render import units
from benchproof.render.view import palette

from . import views

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from benchproof.changes.sizes import Change
    from benchproof.history.model import Commit, History
    from benchproof.progress import Teller

    from .pack import Group
    from .sources import Gathered

#: How many benchmarks "changed" draws: those of the newest changes.
NEWEST = 10
#: Inches: the whole width, and the height of one meter.
_WIDTH, _HEIGHT = 9.0, 2.3
_STYLES = {"python": "--", "cython": "-", "": "-"}
ENDINGS: dict[Literal["light", "dark"], str] = {"light": ".svg", "dark": "-dark.svg"}
_SIGNS = {True: "^", False: "v"}


def chosen(which: str, groups: Sequence[Group], changes: Sequence[Change]) -> list[str]:
    """The benchmarks that a person asked for.

    Args:
        which: ``changed``, ``all``, or an expression that is searched in names.
        groups: what there is.
        changes: what changed.

    Raises:
        SelectionError: it is no expression, or matches nothing.
    """
    names = list(dict.fromkeys(group.benchmark for group in groups))
    if which == "all":
        return names
    if which == "changed":
        newest = dict.fromkeys(each.key.benchmark for each in views.newest_first(changes))
        return list(newest)[:NEWEST]
    pattern = suite.expression(which, "--pictures")
    found = [name for name in names if pattern.search(name)]
    if names and not found:
        raise SelectionError(f"--pictures {which!r} matches no benchmark with a history")
    return found


def draw(
    which: str, groups: Sequence[Group], parts: Gathered, folder: Path, tell: Teller
) -> dict[str, str]:
    """Draw benchmarks.

    Args:
        which: of them, as for `chosen`.
        groups: the series of all.
        parts: with their commits, and the changes to mark.
        folder: of the site's files; the pictures go into ``pictures`` below it.
        tell: hears how far it is.

    Returns:
        By benchmark, the stem of its files.

    Raises:
        SelectionError: as `chosen`.
    """
    benchmarks = chosen(which, groups, parts.changes)
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    stems = {}
    for number, name in enumerate(benchmarks, start=1):
        tell.stage(f"drawing, {number} of {len(benchmarks)}")
        own = [group for group in groups if group.benchmark == name]
        machine = max(own, key=lambda each: sum(map(len, each.series.values()))).machine
        shown = [group for group in own if group.machine == machine]
        marked = [c for c in parts.changes if c.key.benchmark == name and c.key.machine == machine]
        stems[name] = units.slug(name)
        _save(shown, parts.history, marked, folder / "pictures" / stems[name])
    return stems


def _save(groups: Sequence[Group], history: History, changes: Sequence[Change], stem: Path) -> None:
    """Write a benchmark's pictures: the same data give the same files, and the font comes along."""
    for scheme, ending in ENDINGS.items():
        colours = palette(scheme)
        ink, muted, grid = (colours[name] for name in ("ink", "muted", "grid"))
        with mpl.rc_context({
            "svg.fonttype": "path", "svg.hashsalt": "benchproof", "font.family": "DejaVu Sans",
            "font.size": 8, "text.color": ink, "axes.labelcolor": ink, "axes.labelsize": 8.5,
            "axes.edgecolor": grid, "axes.grid": True, "grid.color": grid, "grid.linewidth": 0.6,
            "xtick.color": grid, "ytick.color": grid, "xtick.labelcolor": muted,
            "ytick.labelcolor": muted, "axes.facecolor": "none", "savefig.facecolor": "none",
            "legend.frameon": False, "lines.linewidth": 1.2,
        }):  # fmt: skip
            figure = picture(groups, history, changes, colours)
            figure.savefig(f"{stem}{ending}", format="svg", metadata={"Date": None})
            if scheme == "light":
                figure.savefig(f"{stem}.png", dpi=160, facecolor=colours["ground"])


def picture(
    groups: Sequence[Group], history: History, changes: Sequence[Change], colours: dict[str, str]
) -> Figure:
    """One benchmark: an axis a meter, both implementations with their bands, changes marked.

    Commits stand side by side in their order: dates bunch, and a rebase turns them around.
    """
    order = views.in_order(group.meter for group in groups)
    figure = Figure(figsize=(_WIDTH, 0.9 + _HEIGHT * len(groups)), layout="constrained")
    figure.suptitle(groups[0].benchmark, fontsize=11, x=0.01, ha="left")
    axes = figure.subplots(len(groups), 1, sharex=True, squeeze=False)[:, 0]
    places = sorted({int(at) for g in groups for s in g.series.values() for at in s.index})
    for one, group in zip(axes, sorted(groups, key=lambda g: order.index(g.meter)), strict=True):
        _draw(one, group, places, [c for c in changes if c.key.meter == group.meter], colours)
    _name_commits(axes[-1], [history.commits[place] for place in places])
    axes[0].legend(loc="upper right", ncols=2)
    return figure


def _draw(
    axes: Axes, group: Group, places: Sequence[int], changes: Sequence[Change],
    colours: dict[str, str],
) -> None:  # fmt: skip
    """One meter."""
    for impl, series in sorted(group.series.items()):
        at = np.searchsorted(places, series.index)
        colour = colours.get(impl, colours["cython"])
        axes.fill_between(at, series.low, series.high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(at, series.value, _STYLES[impl], color=colour, label=views.impl(impl))
        for change in changes:
            value = series.at(change.likely)
            if change.key.impl == impl and value is not None:
                axes.plot(
                    [places.index(change.likely)], [value], "D" if change.kind == "platform"
                    else _SIGNS[change.ratio > 1], color=colour, markeredgecolor=colours["ink"],
                    markersize=7, markeredgewidth=0.8,
                )  # fmt: skip
    axes.set_ylabel(words.label(group.meter))
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_formatter(lambda value, _: views.figure(group.meter, value, group.unit))


def _name_commits(axes: Axes, commits: Sequence[Commit]) -> None:
    """Short hashes below the lowest axis, and from when to when they are."""

    def name(at: float, _: object) -> str:
        known = at == int(at) and 0 <= at < len(commits)
        return commits[int(at)].hash[:7] if known else ""

    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.xaxis.set_major_formatter(name)
    days = sorted(views.day(commit.date) for commit in commits)
    axes.set_xlabel(f"{len(commits)} commits, {days[0]} to {days[-1]}",
                    color=mpl.rcParams["xtick.labelcolor"], fontsize=8)  # fmt: skip
