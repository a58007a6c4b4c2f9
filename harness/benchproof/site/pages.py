"""The pages: what each template is told, and what every page loads: style, scripts, uPlot."""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from importlib import resources
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from benchproof.errors import SiteError
from benchproof.render.view import templates_of

from . import claimed, views

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .pack import Group
    from .sources import Gathered

#: Every page, with its name in the navigation; one without a name is linked from elsewhere.
PAGES = {
    "index.html": "Overview", "benchmarks.html": "Benchmarks", "changes.html": "Changes",
    "compare.html": "Compare", "implementations.html": "Cython against pure",
    "ledger.html": "Claims", "leaderboard.html": "Others", "calibration.html": "Calibration",
    "machines.html": "Machines", "benchmark.html": "", "left-out.html": "",
}  # fmt: skip
#: The vendored library, and the SHA-256 of its files: they are those of its release, unchanged.
UPLOT = "1.6.32"
SUMS = {
    "uplot/uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uplot/uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "uplot/LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
}
#: How many changes the overview and their own page show, and files the page of those left out.
NEWEST, MOST_CHANGES, MOST_FILES = 10, 500, 2000


def write(
    folder: Path, site: dict[str, Any], parts: Gathered, groups: Sequence[Group], *, has_run: bool
) -> None:
    """Write all pages.

    Args:
        folder: of the new site.
        site: what every page knows: what `publication` counts and where things are.
        parts: what is shown.
        groups: the series of the history, as the data files have them.
        has_run: whether the page of the newest `benchproof run` lies beside it.
    """
    templates = templates_of("benchproof.site")
    common = {
        "site": site | {"pages": [(file, name) for file, name in PAGES.items() if name]},
        "history": parts.history, "views": views, "left_out": parts.left_out,
        "history_why": parts.why.get("history", ""),
    }  # fmt: skip
    for file, told in _contexts(parts, groups, has_run=has_run).items():
        text = templates.get_template(file).render(**common, **told, here=file)
        (folder / file).write_text(text, encoding="utf-8")


def _contexts(
    parts: Gathered, groups: Sequence[Group], *, has_run: bool
) -> dict[str, dict[str, Any]]:
    """By page, what it alone is told."""
    regressions = views.open_regressions(parts.changes)
    newest = views.newest_first(parts.changes)
    history = parts.history
    kept = {page: {"why": parts.why.get(page, ""), **told} for page, told in parts.kept.items()}
    states = views.suites(history, parts.changes, regressions)
    return {
        "index.html": {
            "regressions": regressions, "changes": newest[:NEWEST], "gate": parts.gate,
            "run": parts.run if has_run else (),
            "claims": claimed.card(parts.kept["ledger.html"]), "suites": states,
            "since": [impl for impl in views.IMPLS if any(each.since.get(impl) for each in states)],
        },
        "benchmarks.html": {
            "suites": views.by_suite(groups),
            "open": Counter(each.change.key.benchmark for each in regressions),
        },
        "changes.html": {
            "regressions": regressions[:MOST_CHANGES], "changes": newest, "most": MOST_CHANGES,
        },
        "compare.html": {},
        "implementations.html": {"suites": views.pairs(groups)},
        "calibration.html": {"rates": parts.calibration},
        "machines.html": {
            "machines": sorted({*history.machines, *(key.machine for key in history.series)}),
            "series": Counter(key.machine for key in history.series),
        },
        "benchmark.html": {"uplot_style": uplot_style()},
        "left-out.html": {"most": MOST_FILES}, **kept,
    }  # fmt: skip


def put_static(folder: Path) -> None:
    """Copy the static files into a folder.

    Raises:
        SiteError: the vendored library is not the one that was pinned.
    """
    source = resources.files("benchproof.site") / "static"
    with resources.as_file(source) as static:
        check(static)
        shutil.copytree(static, folder, dirs_exist_ok=True)


def uplot_style() -> Markup:
    """The library's style sheet, to stand in a page."""
    sheet = resources.files("benchproof.site") / "static" / "uplot" / "uPlot.min.css"
    return Markup(sheet.read_text(encoding="utf-8"))  # noqa: S704  (pinned by its sum)


def check(static: Path) -> None:
    """Hold the vendored files against their sums.

    Raises:
        SiteError: one differs.
    """
    for name, known in SUMS.items():
        if hashlib.sha256((static / name).read_bytes()).hexdigest() != known:
            raise SiteError(f"{name} is not that of uPlot {UPLOT}: install benchproof again")
