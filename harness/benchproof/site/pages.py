"""The pages: what each template is told."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from benchproof.gate.report import words
from benchproof.render import units
from benchproof.render.view import templates_of

from . import assets, claimed, views

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from benchproof.changes.search import Change

    from .pack import Group
    from .sources import Gathered

#: Every page, with its name in the navigation; one without a name is linked from elsewhere.
PAGES = {
    "index.html": "Overview", "benchmarks.html": "Benchmarks", "changes.html": "Changes",
    "compare.html": "Compare", "implementations.html": "Cython against pure",
    "ledger.html": "Claims", "calibration.html": "Calibration", "machines.html": "Machines",
    "benchmark.html": "", "left-out.html": "",
}  # fmt: skip
#: How many changes the overview and their own page show, and files the page of those left out.
NEWEST, MOST_CHANGES, MOST_FILES = 10, 500, 2000


def write(
    folder: Path,
    site: dict[str, Any],
    parts: Gathered,
    groups: Sequence[Group],
    run: dict[str, Any] | None,
) -> None:
    """Write all pages.

    Args:
        folder: of the new site.
        site: what every page knows: what `publication` counts and where things are.
        parts: what is shown.
        groups: the series of the history, as the data files have them.
        run: what the overview says of the newest `benchproof run`, or None.
    """
    templates = templates_of("benchproof.site")
    common = {
        "site": site | {"pages": [(file, name) for file, name in PAGES.items() if name]},
        "history_why": parts.why.get("history", ""),
        "changes_why": parts.why.get("history", parts.why.get("changes", "")),
    }
    for file, told in _contexts(site, parts, groups, run).items():
        text = templates.get_template(file).render(**common, **told, here=file)
        (folder / file).write_text(text, encoding="utf-8")


def _contexts(
    site: dict[str, Any], parts: Gathered, groups: Sequence[Group], run: dict[str, Any] | None
) -> dict[str, dict[str, Any]]:
    regressions = views.open_regressions(parts.changes)
    newest = views.newest_first(parts.changes)

    def told(changes: Sequence[Change]) -> list[dict[str, Any]]:
        return [views.change(each, parts.history.commits, site["commit_url"]) for each in changes]

    return {
        "index.html": _overview(parts, regressions, told, run)
        | {"changes": told(newest[:NEWEST])},
        "benchmarks.html": {"suites": _benchmarks(groups, regressions)},
        "changes.html": {
            "open": told([each.change for each in regressions[:MOST_CHANGES]]),
            "changes": told(newest[:MOST_CHANGES]),
            "shown": _how_many(len(newest), "changes", MOST_CHANGES),
        },
        "compare.html": {},
        "implementations.html": {"suites": _implementations(parts, groups)},
        "ledger.html": claimed.page(parts.claims, parts.why.get("claims", ""), site["commit_url"]),
        "calibration.html": {
            "rates": words.error_rates({"error_rates": parts.calibration}),
        },
        "machines.html": _machines(parts),
        "benchmark.html": {"uplot_style": assets.uplot_style()},
        "left-out.html": {
            "left_out": parts.left_out[:MOST_FILES],
            "more": f", the first {MOST_FILES} of {len(parts.left_out)}"
            if len(parts.left_out) > MOST_FILES else "",
            "aside": parts.history.aside[:MOST_FILES],
        },
    }  # fmt: skip


def _overview(
    parts: Gathered,
    regressions: Sequence[views.Regression],
    told: Callable[[Sequence[Change]], list[dict[str, Any]]],
    run: dict[str, Any] | None,
) -> dict[str, Any]:
    commits = parts.history.commits
    states = views.suites(parts.history, parts.changes, regressions)
    since = [impl for impl in views.IMPLS if any(each.since.get(impl) for each in states)]
    worst = regressions[0] if regressions else None
    return {
        "worst": worst and {
            "view": told([worst.change])[0], "remaining": views.percent(worst.remaining),
        },
        "open": len(regressions),
        "gate": _gate(parts),
        "run": run,
        "claims": claimed.card(parts.claims),
        "summed": views.meter(views.SUMMED),
        "since": [views.impl(impl) for impl in since],
        "suites": [
            {
                "name": each.name, "benchmarks": each.benchmarks, "open": len(each.open),
                "changes": each.changes, "commit": commits[each.newest].hash[:10],
                "date": views.day(commits[each.newest].date),
                "worst": told([each.open[0].change])[0]["url"] if each.open else "",
                "since": [
                    "" if (mean := each.since.get(impl)) is None else units.ratio(mean)
                    for impl in since
                ],
            }
            for each in states
        ],
    }  # fmt: skip


def _gate(parts: Gathered) -> dict[str, str] | None:
    """The newest gate, as far as its document says something."""
    if not parts.gate:
        return None
    verdict = parts.gate.get("verdict") or {}
    base, head = (words.side_of(parts.gate, word) for word in ("base", "head"))
    status = str(verdict.get("status", "unknown"))
    looks = {"no regression": "improved", "regression": "regressed"}
    return {
        "status": status[:1].upper() + status[1:], "look": looks.get(status, "broken"),
        "summary": str(verdict.get("summary", "")), "created": str(parts.gate.get("created", "")),
        "base": str(base.get("spec", "")), "head": str(head.get("spec", "")),
    }  # fmt: skip


def _benchmarks(
    groups: Sequence[Group], regressions: Sequence[views.Regression]
) -> list[dict[str, Any]]:
    suites: dict[str, dict[str, list[Group]]] = defaultdict(lambda: defaultdict(list))
    for group in groups:
        suites[views.suite_of(group.benchmark)][group.benchmark].append(group)
    many: dict[str, int] = defaultdict(int)
    for each in regressions:
        many[each.change.key.benchmark] += 1
    return [
        {
            "name": suite,
            "benchmarks": [
                {
                    "url": views.benchmark(name), "case": views.case_of(name), "open": many[name],
                    "meters": ", ".join(
                        views.meter(each) for each in views.in_order({g.meter for g in own})
                    ),
                }
                for name, own in sorted(benchmarks.items())
            ],
        }
        for suite, benchmarks in sorted(suites.items())
    ]  # fmt: skip


def _implementations(parts: Gathered, groups: Sequence[Group]) -> list[dict[str, Any]]:
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for group in groups:
        if {"python", "cython"} <= set(group.series):
            rows[views.suite_of(group.benchmark)].append(views.latest(group, parts.history))
    told = []
    for suite, own in sorted(rows.items()):
        order = views.in_order({row["group"].meter for row in own})
        own.sort(key=lambda row: (row["case"], order.index(row["group"].meter)))
        means = []
        for meter in order:
            values = [row["ratio"] for row in own if row["group"].meter == meter and row["ratio"]]
            if (mean := units.geometric_mean(values)) is not None:
                means.append(f"{views.meter(meter)} {units.ratio(mean)}")
        words = f"geometric means: {', '.join(means)}" if means else "no ratio"
        told.append({"name": suite, "rows": own, "means": words})
    return told


def _machines(parts: Gathered) -> dict[str, Any]:
    history = parts.history
    names = sorted({*history.machines, *(key.machine for key in history.series)})
    return {
        "machines": [
            {
                "name": name,
                "facts": [
                    *((key, value) for key, value in history.machines.get(name, {}).items()
                      if key not in {"machine", "version"} and value),
                    ("series", sum(key.machine == name for key in history.series)),
                ],
            }
            for name in names
        ],
        "platforms": [list(each.items()) for each in history.platforms],
        "canaries": [
            {
                "meter": views.meter(key.meter), "impl": views.impl(key.impl),
                "machine": key.machine, "commits": len(series),
                "least": views.figure(key.meter, float(series.value.min()), series.unit),
                "most": views.figure(key.meter, float(series.value.max()), series.unit),
            }
            for key, series in sorted(history.canaries.items()) if len(series)
        ],
    }  # fmt: skip


def _how_many(number: int, what: str, most: int) -> str:
    return f"{number} {what}, the newest first" + (f"; the newest {most}" if number > most else "")
