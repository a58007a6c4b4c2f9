"""What templates print: changes, regressions and values, in words, and where they lead."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from benchproof.errors import BenchproofError
from benchproof.render import units, view

from . import pack
from .pack import SHORT
from .state import NOTHING, suite_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchproof.changes.model import Change
    from benchproof.checkout import Checkout
    from benchproof.history.model import Commit, History

    from .pack import Group

#: Hosts that show a commit below the address of its repository, and how.
HOSTS = {
    "github.com": "commit", "gitlab.com": "-/commit", "codeberg.org": "commit",
    "bitbucket.org": "commits",
}  # fmt: skip
_REMOTE = re.compile(
    r"(?:https?://(?:[^@/]*@)?|git@|ssh://git@)(?P<host>[^:/]+)[:/](?P<path>.+?)(?:\.git)?/?$"
)
#: Implementations, in the order of every table, and how people call them.
IMPLS = {"python": "pure", "cython": "Cython", "": "measured"}
#: Meters, in the order of every table, and how people call them.
METERS = {key: label for key, label, _ in view.METERS}
_FORMATS = {key: formatter for key, _, formatter in view.METERS}


def benchmark(name: str, **choice: str | None) -> str:
    """The permalink of a benchmark's page; what is not chosen, the page chooses.

    Args:
        name: The benchmark.
        choice: Of ``meter``, ``impl``, ``machine``, ``at``, ``from``, ``to``.
    """
    chosen = {key: value for key, value in choice.items() if value}
    return "benchmark.html#" + urlencode({"name": name} | chosen)


def comparison(left: str, right: str) -> str:
    """The page that compares two commits."""
    return "compare.html#" + urlencode({"left": left[:SHORT], "right": right[:SHORT]})


def of_commits(checkout: Checkout, configured: str = "") -> str:
    """The beginning of the address at which the host shows a commit; empty if none is known.

    Args:
        checkout: Its remote ``origin`` is asked, and believed if it is a host known to be public.
        configured: ``show_commit_url`` of asv's settings, which counts first.
    """
    if configured:
        return configured
    try:
        remote = checkout.ask("config", "--get", "remote.origin.url")
    except BenchproofError:
        return ""
    return of_remote(remote)


def of_remote(remote: str) -> str:
    """The same for the address of a remote."""
    match = _REMOTE.match(remote)
    if match is None or match["host"] not in HOSTS:
        return ""
    return f"https://{match['host']}/{match['path']}/{HOSTS[match['host']]}/"


def meter(name: str) -> str:
    """A meter as people call it."""
    return METERS.get(name, name)


def in_order(meters: Iterable[str]) -> list[str]:
    """Meters in the order of every table; those that it does not know stand last."""
    known = list(METERS)
    return sorted(
        meters, key=lambda each: (known.index(each) if each in known else len(known), each)
    )


def impl(name: str) -> str:
    """An implementation as people call it."""
    return IMPLS.get(name, name)


def case_of(benchmark: str) -> str:
    """A benchmark's short name: without its suite and asv's ``time_``."""
    return benchmark.rpartition(".")[2].removeprefix("time_")


def figure(name: str, value: float, unit: str = "") -> str:
    """A value of a meter with its unit."""
    if name in _FORMATS:
        return _FORMATS[name](value)
    return f"{units.count(value)} {unit}".strip()


def day(milliseconds: int) -> str:
    """The day of a commit, in UTC."""
    return dt.datetime.fromtimestamp(milliseconds / 1000, dt.UTC).date().isoformat()


def percent(ratio: float) -> str:
    """A ratio as what it adds: 1.023 is ``+2.3 %``."""
    if not ratio < NOTHING:
        return "from nothing"
    added = 100 * (ratio - 1)
    digits = 0 if abs(added) >= 99.5 else 1 if abs(added) >= 0.95 else 2
    return f"{added:+.{digits}f}\N{NO-BREAK SPACE}%".replace("-", "\N{MINUS SIGN}")


def change(found: Change, commits: Sequence[Commit], commit_base: str) -> dict[str, Any]:
    """A change in words."""
    key, before, after = found.key, commits[found.before], commits[found.after]
    worse = found.ratio > 1
    ends = percent(found.low), percent(found.high)
    platform = found.kind == "platform"
    return {
        "suite": suite_of(key.benchmark), "case": case_of(key.benchmark),
        "meter": meter(key.meter), "impl": impl(key.impl), "machine": key.machine,
        "sign": "◆" if platform else "▲" if worse else "▼",
        "look": "platform" if platform else "regressed" if worse else "improved",
        "size": percent(found.ratio),
        "interval": " to ".join(ends) if ends[0] != ends[1] else "",
        "kind": found.kind, "exact": found.exact,
        "commit": after.hash[: pack.SHORT], "before": before.hash[: pack.SHORT],
        "subject": after.subject, "date": day(after.date),
        "url": benchmark(key.benchmark, meter=key.meter, impl=key.impl, machine=key.machine,
                         at=after.hash[: pack.SHORT]),
        "compare": comparison(before.hash, after.hash),
        "commit_url": commit_base + after.hash if commit_base else "",
    }  # fmt: skip


def latest(group: Group, history: History) -> dict[str, Any]:
    """The newest values of a group: each implementation's, and their ratio at one commit."""
    ratio, commit = None, ""
    if {"python", "cython"} <= set(group.series):
        python, cython = group.series["python"], group.series["cython"]
        place = int(min(python.index[-1], cython.index[-1]))
        pure, compiled = python.at(place), cython.at(place)
        if pure is not None and compiled is not None and pure > 0 and compiled > 0:
            ratio, commit = compiled / pure, history.commits[place].hash[: pack.SHORT]
    return {
        "group": group,
        "url": benchmark(group.benchmark, meter=group.meter, machine=group.machine),
        "case": case_of(group.benchmark), "meter": meter(group.meter),
        "newest": {
            name: figure(group.meter, float(series.value[-1]), group.unit)
            for name, series in group.series.items()
        },
        "ratio": ratio, "ratio_text": "" if ratio is None else units.ratio(ratio),
        "commit": commit, "look": "" if ratio is None else "improved" if ratio < 0.99
        else "regressed" if ratio > 1.01 else "equivalent",
    }  # fmt: skip
