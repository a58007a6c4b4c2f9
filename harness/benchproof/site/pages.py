"""The pages: what each template is told, and what every page loads: style, scripts, uPlot."""

import base64
import shutil
from collections import Counter
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from markupsafe import Markup

from benchproof.render.view import templates_of

from . import claimed, views
from .pack import Group
from .sources import Gathered

#: Every page, with its name in the navigation; one without a name is linked from elsewhere.
PAGES = {
    "index.html": "Overview", "benchmarks.html": "Benchmarks", "changes.html": "Changes",
    "compare.html": "Compare", "implementations.html": "Cython against pure",
    "ledger.html": "Claims", "leaderboard.html": "Others", "calibration.html": "Calibration",
    "machines.html": "Machines", "benchmark.html": "", "left-out.html": "",
}  # fmt: skip
#: How many changes the overview and their own page show, and files the page of those left out.
NEWEST, MOST_CHANGES, MOST_FILES = 10, 500, 2000


def write(
    folder: Path, site: dict[str, Any], parts: Gathered, groups: Sequence[Group], reports: Path,
    *, has_run: bool,
) -> None:  # fmt: skip
    """Write all pages.

    Args:
        folder: of the new site.
        site: what every page knows: what `publication` counts and where things are.
        parts: what is shown; what turns out to be something else is left out of it.
        groups: the series of the history, as the data files have them.
        reports: the folder that the parts are of.
        has_run: whether the page of the newest `benchproof run` lies beside it.
    """
    templates = templates_of("benchproof.site")
    templates.filters["base64"] = lambda text: base64.b64encode(text.encode()).decode()
    site = site | {"pages": [(file, name) for file, name in PAGES.items() if name]}

    def show(file: str, **told: object) -> None:
        text = templates.get_template(file).render(
            site=site | {"left_out": len(parts.left_out)}, history=parts.history, views=views,
            left_out=parts.left_out, history_why=parts.why.get("history", ""), here=file, **told,
        )  # fmt: skip
        (folder / file).write_text(text, encoding="utf-8")

    # The other pages say what these leave out.
    for page, (name, *_) in claimed.KEPT.items():
        with parts.reading(name, reports, page):
            claimed.card(parts.kept.get("ledger.html"))  # as the overview will
            show(page, kept=parts.kept.get(page), why=parts.why[page], verdicts=claimed.VERDICTS)
        if page not in parts.kept:
            show(page, kept=None, why=parts.why[page], verdicts=claimed.VERDICTS)
    for page, told in _contexts(parts, groups, has_run=has_run).items():
        show(page, **told)


def _contexts(
    parts: Gathered, groups: Sequence[Group], *, has_run: bool
) -> dict[str, dict[str, Any]]:
    """By page, what it alone is told."""
    regressions = views.open_regressions(parts.changes)
    newest = views.newest_first(parts.changes)
    history = parts.history
    states = views.suites(history, parts.changes, regressions)
    return {
        "index.html": {
            "regressions": regressions, "changes": newest[:NEWEST], "gate": parts.gate,
            "run": parts.run if has_run else (),
            "claims": claimed.card(parts.kept.get("ledger.html")), "suites": states,
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
        "left-out.html": {"most": MOST_FILES},
    }  # fmt: skip


def put_static(folder: Path) -> None:
    """Copy the static files into a folder."""
    with resources.as_file(resources.files("benchproof.site") / "static") as static:
        shutil.copytree(static, folder, dirs_exist_ok=True)


def uplot_style() -> Markup:
    """The library's style sheet, to stand in a page."""
    sheet = resources.files("benchproof.site") / "static" / "uplot" / "uPlot.min.css"
    return Markup(sheet.read_text(encoding="utf-8"))  # noqa: S704  (as it was released)
