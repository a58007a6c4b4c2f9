"""Histories for papers and pull requests: a benchmark's meters below each other, as one SVG.

How it looks, on any ground, is in `templates/history.svg`; here is where things go.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from benchproof import files
from benchproof.errors import SelectionError
from benchproof.render import units
from benchproof.render.view import templates_of

from . import views

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike

    from benchproof.changes.search import Change
    from benchproof.history.model import History
    from benchproof.progress import Teller

    from .pack import Group

#: How many benchmarks "changed" draws: those of the newest changes.
NEWEST = 10
#: Pixels: the whole, the margins, a meter with its title, and that alone.
_WIDTH, _LEFT, _RIGHT, _PANEL, _TITLE, _FOOT = 900, 90, 16, 220, 40, 52
#: Commits, and values of a meter, that are named.
_COMMITS, _TICKS = 8, 5


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
    try:
        found = [name for name in names if re.search(which, name)]
    except re.error as error:
        raise SelectionError(f"--pictures {which!r}: no regular expression ({error})") from error
    if names and not found:
        raise SelectionError(f"--pictures {which!r} matches no benchmark with a history")
    return found


def draw(
    benchmarks: Sequence[str],
    groups: Sequence[Group],
    history: History,
    changes: Sequence[Change],
    folder: Path,
    tell: Teller,
) -> dict[str, str]:
    """Draw benchmarks.

    Args:
        benchmarks: their names.
        groups: the series of all.
        history: with their commits.
        changes: to mark.
        folder: of the site's files; the pictures go into ``pictures`` below it.
        tell: hears how far it is.

    Returns:
        By benchmark, the stem of its file.
    """
    stems = {}
    for number, name in enumerate(benchmarks, start=1):
        tell.stage(f"drawing, {number} of {len(benchmarks)}")
        own = [group for group in groups if group.benchmark == name]
        machine = max(own, key=lambda each: sum(map(len, each.series.values()))).machine
        shown = [group for group in own if group.machine == machine]
        marked = [c for c in changes if c.key.benchmark == name and c.key.machine == machine]
        stems[name] = units.slug(name)
        text = picture(shown, history, marked)
        files.write(text, folder / "pictures" / f"{stems[name]}.svg")
    return stems


def picture(groups: Sequence[Group], history: History, changes: Sequence[Change]) -> str:
    """One benchmark: an axis a meter, both implementations with their bands, changes marked.

    Commits stand side by side in their order: dates bunch, and a rebase turns them around.
    """
    order = views.in_order(group.meter for group in groups)
    places = sorted({int(at) for g in groups for s in g.series.values() for at in s.index})
    right = _WIDTH - _RIGHT

    def across(index: ArrayLike) -> Any:  # noqa: ANN401  (of the type of its argument)
        at = np.searchsorted(places, index) / max(len(places) - 1, 1)
        return np.round(_LEFT + at * (right - _LEFT), 1)

    panels = [
        _panel(
            group, [c for c in changes if c.key.meter == group.meter], across, _TITLE + n * _PANEL
        )
        for n, group in enumerate(sorted(groups, key=lambda g: order.index(g.meter)))
    ]
    days = sorted(views.day(history.commits[place].date) for place in places)
    step = max(1, -(-len(places) // _COMMITS))
    return templates_of("benchproof.site").get_template("history.svg").render(
        title=groups[0].benchmark, panels=panels, views=views, left=_LEFT, right=right,
        impls=sorted({impl for group in groups for impl in group.series}),
        named=[(history.commits[place], across(place)) for place in places[::step]],
        span=f"{len(places)} commits, {days[0]} to {days[-1]}",
        width=_WIDTH, height=panels[-1]["bottom"] + _FOOT,
    )  # fmt: skip


def _panel(
    group: Group, changes: Sequence[Change], across: Callable[[ArrayLike], Any], start: int
) -> dict[str, Any]:
    """One meter: its lines, bands, marks and ticks, in pixels."""
    top, bottom = start + _TITLE, start + _PANEL
    ends = [end for s in group.series.values() for end in (s.low.min(), s.high.max())]
    low, high = min(ends), max(ends)
    free = 0.06 * (high - low) or abs(high) or 1.0

    def down(values: ArrayLike) -> Any:  # noqa: ANN401  (of the type of its argument)
        part = (np.asarray(values, float) - low + free) / (high - low + 2 * free)
        return np.round(bottom - part * (bottom - top), 1)

    lines = []
    for impl, series in sorted(group.series.items()):
        x = across(series.index)
        back = zip(x[::-1], down(series.high)[::-1], strict=True)
        marks = [
            ("platform" if change.kind == "platform" else "worse" if change.ratio > 1 else "better",
             across(change.likely), down(value))
            for change in changes
            if (change.key.meter, change.key.impl) == (group.meter, impl)
            and (value := series.at(change.likely)) is not None
        ]  # fmt: skip
        lines.append((impl, _points(zip(x, down(series.value), strict=True)),
                      _points([*zip(x, down(series.low), strict=True), *back]), marks))  # fmt: skip
    ticks = [(value, down(value)) for value in _ticks(low - free, high + free)]
    return {"group": group, "top": top, "bottom": bottom, "lines": lines, "ticks": ticks}


def _points(pairs: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in pairs)


def _ticks(low: float, high: float) -> list[float]:
    """Round values between two others."""
    rough = 10 ** np.floor(np.log10((high - low) / _TICKS))
    step = next(rough * n for n in (1, 2, 5, 10) if (high - low) / (rough * n) <= _TICKS)
    return [float(n * step) for n in range(int(np.ceil(low / step)), int(high // step) + 1)]
