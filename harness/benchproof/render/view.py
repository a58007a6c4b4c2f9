"""From the JSON of a comparison to what the page shows: a text for every figure and every gap.

The templates know nothing of missing keys. A meter that was not measured, a case without a number,
a ratio over zero: each becomes words here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from types import SimpleNamespace
from typing import Any, Literal

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from benchproof.gate.report import words

from . import units

#: What templates are told: names and values.
Shown = SimpleNamespace
#: Key in the JSON, name for people, formatter of one side's value.
METERS: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("wall", "time", units.seconds),
    ("instructions", "instructions", units.count),
    ("allocations", "allocations", units.count),
    ("bytes", "bytes allocated", units.size),
)

#: Every state that a case can end in, worst first, with a sign that does not need colour.
SIGNS = {
    "regressed": "▲",
    "different answers": "≠",
    "proof failed": "!",
    "error": "!",
    "trade-off": "⇄",
    "changed": "⇎",
    "undecided": "?",
    "improved": "▼",
    "equivalent": "=",
    "not judged": "·",
    "not applicable": "-",
}
#: The page's headline for each status of a comparison, the gravest first.
HEADLINES = {
    "regression": "Regression",
    "could not measure": "Could not measure",
    "cannot decide": "Cannot decide",
    "no regression": "No regression",
    "information": "No commits were compared",
    "nothing": "Nothing was compared",
}
STATUSES = tuple(HEADLINES)
#: What a maintainer has to look at.
TO_LOOK_AT = ("regressed", "different answers", "proof failed", "error", "trade-off")


def group_by_suite(cases: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The cases a suite, suites and cases in the order in which they were planned."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for case in cases:
        suite = str(case.get("suite") or str(case.get("name", "")).partition(".")[0])
        groups.setdefault(suite, []).append(case)
    return groups


def side_name(data: Mapping[str, Any], side: str) -> str:
    """What a person typed for a side: ``HEAD~1``, ``.@impl:python``."""
    return str((data.get(side) or {}).get("spec") or side)


def case_name(case: Mapping[str, Any]) -> str:
    """The short name of a case, without suite and ``time_``."""
    return str(case.get("case") or str(case.get("name", "?")).rpartition(".")[2])


def state_of(case: Mapping[str, Any]) -> str:
    """The one state that a case ended in: its verdict if it was measured, else its status."""
    status = str(case.get("status", "error"))
    state = status if status != "measured" else str(case.get("verdict") or "not judged")
    return state if state in SIGNS else "not judged"


def about(case: Mapping[str, Any], meter: str) -> Mapping[str, Any]:
    """What a case says of a meter; nothing where it has no such figure."""
    return (case.get("meters") or {}).get(meter) or {}


def ratio_of(case: Mapping[str, Any], meter: str) -> float | None:
    """A case's ratio right / left in a meter; None without a number (0 / 0 and n / 0 too)."""
    value = about(case, meter).get("ratio")
    return float(value) if units.usable(value) else None


def status_of(data: Mapping[str, Any]) -> str:
    """The verdict's status; one that this page does not know is not good news.

    A comparison that does not gate (``gates`` is false: Cython against pure Python, say) has no
    regression to report: its ratios are information. It can still fail to measure.
    """
    status = (data.get("verdict") or {}).get("status")
    if status not in STATUSES:
        return "could not measure"
    if data.get("gates", True):
        return str(status)
    unmeasured = status == "could not measure" or words.is_unmeasured(data)
    return "could not measure" if unmeasured else "information"


def answer_of(data: Mapping[str, Any]) -> str:
    """What the harness says, and which suites regressed as a whole."""
    said = [str((data.get("verdict") or {}).get("summary") or "No verdict was recorded")]
    if data.get("gates", True):
        said += [f"{suite['name']} as a whole regressed" for suite in data.get("suites") or []
                 if suite.get("verdict") == "regressed"]  # fmt: skip
    return "; ".join(said)


def undecided(case: Mapping[str, Any], meter: str) -> bool:
    """Whether a case has a figure in a meter that decides nothing."""
    return about(case, meter).get("verdict") == "undecided"


def why_not(meter: Mapping[str, Any] | None) -> str:
    """Why a meter has no figures; empty if it was measured."""
    if meter is None:
        return "this comparison did not ask for it"
    if meter.get("measured"):
        return ""
    return str(meter.get("why") or "no reason was recorded")


def read(data: Mapping[str, Any], position: int) -> Shown:
    """What the page shows of one comparison.

    Args:
        data: A comparison as JSON.
        position: Its place on the page, from 1; it makes anchors and file names unique.
    """
    title = str(data.get("title") or "untitled comparison")
    slug = f"{position}-{units.slug(title)}"
    cases = list(data.get("cases") or [])
    meters = data.get("meters") or {}
    wholes = {str(each.get("name")): each for each in data.get("suites") or []}
    suites = [_suite(name, group, meters, slug, wholes.get(name))
              for name, group in group_by_suite(cases).items()]  # fmt: skip
    rows = [row for suite in suites for row in suite.rows]
    status = status_of(data)
    return Shown(
        slug=slug, title=title, status=status, answer=answer_of(data),
        note=str(data.get("note") or ""), partial=bool(data.get("partial")),
        created=str(data.get("created", "")),
        sides=[_side(side, data[side]) for side in ("left", "right") if data.get(side)],
        left=side_name(data, "left"), right=side_name(data, "right"),
        conditions=_conditions(data.get("provenance") or {}, meters),
        not_measured=[(label, why_not(meters.get(key))) for key, label, _ in METERS
                      if suites and why_not(meters.get(key))],
        tallies=_tally(rows), means=means(cases), suites=suites,
        attention=sorted((row for row in rows if row.state in TO_LOOK_AT or row.contradictory),
                         key=lambda row: list(SIGNS).index(row.state)),
    )  # fmt: skip


def means(cases: Sequence[Mapping[str, Any]]) -> list[Shown]:
    """The geometric mean of each meter's ratios, and how many of the measured cases have one.

    A case whose ratio is zero (all allocations gone) or has no value has no logarithm: it is left
    out, and the text says over how many of the cases the mean is taken. There is no figure where
    the meter is undecided in most cases: then the figure is noise.
    """
    measured = [case for case in cases if case.get("status") == "measured"]
    found = []
    for key, label, _ in METERS:
        having = [case for case in measured if (ratio_of(case, key) or 0) > 0]
        value = units.geometric_mean([ratio_of(case, key) or 0 for case in having])
        doubt = sum(undecided(case, key) for case in having)
        decided = value is not None and 2 * doubt < len(having)
        figure, over = "not measured", ""
        if decided and value is not None:
            part = f"{len(having)} of {len(measured)} cases" * (len(having) != len(measured))
            figure = units.ratio(value)
            over = ", ".join(filter(None, (part, f"undecided in {doubt}" * bool(doubt))))
        elif value is not None:
            figure, over = "undecided", f"in {doubt} of {len(having)} cases"
        text = f"{figure} ({over})" if over else figure
        found.append(Shown(label=label, value=value, cases=len(having), decided=decided,
                           figure=figure, over=over, text=text))  # fmt: skip
    return found


def _suite(
    name: str, cases: list[dict[str, Any]], meters: Mapping[str, Any], slug: str,
    whole: Mapping[str, Any] | None,
) -> Shown:  # fmt: skip
    """The cases of one suite, with the raw ones for the pictures."""
    rows = [_row(case, meters, slug) for case in cases]
    state = str(whole["verdict"]) if whole else ""
    told = ": ".join(filter(None, (state, words.whole(whole)))) if whole else ""
    return Shown(name=name, rows=rows, tallies=_tally(rows), means=means(cases), cases=cases,
                 whole=told, state=state)  # fmt: skip


def _row(case: Mapping[str, Any], meters: Mapping[str, Any], slug: str) -> Shown:
    """One case: a row of the table."""
    name, state, proof = str(case.get("name", "?")), state_of(case), case.get("proof") or {}
    verdicts = {about(case, key).get("verdict") for key, _, _ in METERS}
    return Shown(
        anchor=f"{slug}-{units.slug(name)}", name=name, case=case_name(case), state=state,
        sign=SIGNS[state], why=str(case.get("why") or ""), note=str(case.get("note") or ""),
        contradictory={"regressed", "improved"} <= verdicts,
        cells=[_cell(case, key, label, text, why_not(meters.get(key)))
               for key, label, text in METERS],
        proof=json.dumps(proof, indent=2, sort_keys=True) if proof else "",
    )  # fmt: skip


def _cell(
    case: Mapping[str, Any], key: str, label: str, text: Callable[[float], str], why_not: str
) -> Shown:
    """One meter of one case. ``missing`` says why there is no figure, and is empty if there is."""
    data = about(case, key)
    missing = "" if data else "not measured" if why_not else "no figure"
    if not data and case.get("status") != "measured":
        missing = str(case.get("status", "error"))
    left, right, ratio = data.get("left"), data.get("right"), data.get("ratio")
    low, high = data.get("low"), data.get("high")
    # An exact figure has no interval: it is a point.
    interval = ""
    if units.usable(low) and units.usable(high) and low != high:
        interval = f"{units.ratio(low)} to {units.ratio(high)}"
    doubt = "? " * (data.get("verdict") == "undecided")
    return Shown(
        label=label, missing=missing, verdict=str(data.get("verdict") or ""),
        ratio=doubt + units.ratio(float(ratio)) if units.usable(ratio) else "no ratio",
        interval=interval,
        sides=f"{text(left)} → {text(right)}" if units.usable(left) and units.usable(right) else "",
        remark=_remark(data),
    )  # fmt: skip


def _remark(data: Mapping[str, Any]) -> str:
    """What stands behind a verdict that claims no change, or claims nothing."""
    limit, detectable = data.get("limit"), data.get("detectable")
    if data.get("verdict") == "equivalent" and units.usable(limit):
        return f"within {units.percent(limit)}" if limit else "equal"
    if data.get("verdict") == "undecided":
        could = f"; could see {units.seen(detectable)}" if units.usable(detectable) else ""
        return f"undecided{could}"
    return ""


def _tally(rows: Sequence[Shown]) -> list[Shown]:
    """How many cases ended in each state; without those that none did."""
    states = [row.state for row in rows]
    return [Shown(state=state, sign=sign, number=states.count(state))
            for state, sign in SIGNS.items() if state in states]  # fmt: skip


def _side(name: str, side: Mapping[str, Any]) -> Shown:
    """What one side is: what was typed, and what that turned out to be."""
    dirty = " with uncommitted changes" if side.get("dirty") else ""
    hashes = {
        "content": str(side.get("content") or "")[:16],
        "wheel SHA-256": str(side.get("wheel_sha256") or "")[:16],
        "described as": str(side.get("description") or ""),
    }
    return Shown(
        name=name, spec=str(side.get("spec") or "?"),
        commit=f"{str(side.get('commit') or '')[:12]}{dirty}",
        subject=str(side.get("subject") or ""), implementation=str(side.get("impl") or ""),
        why_pure=str(side.get("why_pure") or ""),
        hashes={f"{key}, {name}": value for key, value in hashes.items() if value},
    )  # fmt: skip


def _conditions(provenance: Mapping[str, Any], meters: Mapping[str, Any]) -> dict[str, str]:
    """Where and with what it was measured, flat, every value a text."""
    shown: dict[str, str] = {}
    for key, value in provenance.items():
        if isinstance(value, dict):
            value = [f"{name} {version}" for name, version in sorted(value.items())]  # noqa: PLW2901
        if value not in (None, "", [], ()):
            many = isinstance(value, list | tuple)
            shown[key] = ", ".join(map(str, value)) if many else str(value)
    if processes := (meters.get("wall") or {}).get("processes"):
        shown["processes"] = f"{processes} a side for wall time"
    return shown


def headline(views: list[Shown]) -> tuple[str, str]:
    """The gravest status among the comparisons (``nothing`` if there are none), and it in words.

    Good news is about what was compared and nothing else: if something was stopped early, the
    words say so.
    """
    found = {shown.status for shown in views}
    status = next((status for status in STATUSES if status in found), "nothing")
    words = HEADLINES[status]
    if status == "no regression" and any(shown.partial for shown in views):
        words += " in what was compared"
    return status, words


def templates_of(package: str) -> Environment:
    """The templates of a package: everything is escaped, and a missing name is an error."""
    places = [PackageLoader(package), PackageLoader("benchproof.render")]
    return Environment(
        loader=ChoiceLoader(places), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip


def palette(scheme: Literal["light", "dark"]) -> dict[str, str]:
    """All colours of a scheme, by name."""
    file = resources.files("benchproof.render") / "templates" / "colours.css"
    _, text = file.read_text(encoding="utf-8").split(f"{{% set {scheme} %}}")
    return dict(re.findall(r"--([\w-]+): (#\w+);", text.partition("{% endset %}")[0]))
