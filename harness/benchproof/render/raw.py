"""Questions to the JSON of a comparison, answered also where keys or figures are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import units

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


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
#: The statuses of a comparison, the gravest first.
STATUSES = (
    "regression", "could not measure", "cannot decide", "no regression", "information", "skipped",
)  # fmt: skip
#: What must not happen, in a comparison of any kind.
UNMEASURED = ("different answers", "proof failed", "error")
#: What a maintainer has to look at.
TO_LOOK_AT = ("regressed", *UNMEASURED, "trade-off")


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


def ratio_of(case: Mapping[str, Any], meter: str) -> float | None:
    """A case's ratio right / left in a meter; None without a number (0 / 0 and n / 0 too)."""
    value = ((case.get("meters") or {}).get(meter) or {}).get("ratio")
    return float(value) if units.usable(value) else None


def status_of(data: Mapping[str, Any]) -> str:
    """The verdict's status; one that this page does not know is not good news.

    A comparison that does not gate (``gates`` is false: Cython against pure Python, say) has no
    regression to report: its ratios are information. It can still fail to measure.
    """
    if data.get("kind") == "skipped":
        return "skipped"
    status = (data.get("verdict") or {}).get("status")
    if status not in STATUSES:
        return "could not measure"
    if data.get("gates", True):
        return str(status)
    bad = any(state_of(case) in UNMEASURED for case in data.get("cases") or [])
    unmeasured = status == "could not measure" or bad or data.get("partial")
    return "could not measure" if unmeasured else "information"


def answer_of(data: Mapping[str, Any], status: str) -> str:
    """One sentence that answers the comparison's question.

    Where cases were judged it names the sides and counts; else it is what the harness says.
    """
    states = [state_of(case) for case in data.get("cases") or []]
    if status == "skipped":
        return f"Not compared: {data.get('why') or 'no reason was recorded'}"
    if not states or status == "could not measure":
        return str((data.get("verdict") or {}).get("summary") or "No verdict was recorded")
    step = f"from {side_name(data, 'left')} to {side_name(data, 'right')}"
    number = {state: states.count(state) or "none" for state in SIGNS}
    if status == "information":
        answer = (
            f"{number['improved']} of {len(states)} cases improved {step}, "
            f"{number['regressed']} regressed"
        )
    else:
        answer = f"{number['regressed']} of {len(states)} cases regressed {step}"
    answer = answer[0].upper() + answer[1:]
    for suite in data.get("suites") or []:
        if suite.get("verdict") == "regressed" and status != "information":
            answer += f"; {suite['name']} as a whole regressed"
    for state, words in (("trade-off", "trade memory for work"), ("undecided", "undecided")):
        if state in states:
            answer += f"; {states.count(state)} {words}"
    return answer


def undecided(case: Mapping[str, Any], meter: str) -> bool:
    """Whether a case has a figure in a meter that decides nothing."""
    return (((case.get("meters") or {}).get(meter)) or {}).get("verdict") == "undecided"


def disagreement(case: Mapping[str, Any]) -> str:
    """A sentence if one meter says better and another says worse."""
    said: dict[str, list[str]] = {}
    for key, label, _ in METERS:
        verdict = ((case.get("meters") or {}).get(key) or {}).get("verdict")
        said.setdefault(str(verdict), []).append(label)
    worse, better = said.get("regressed"), said.get("improved")
    if not worse or not better:
        return ""
    return f"The meters disagree: {' and '.join(worse)} regressed, {' and '.join(better)} improved."


def why_not(meter: Mapping[str, Any] | None) -> str:
    """Why a meter has no figures; empty if it was measured."""
    if meter is None:
        return "this comparison did not ask for it"
    if meter.get("measured"):
        return ""
    return str(meter.get("why") or "no reason was recorded")
