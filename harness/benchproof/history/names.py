"""How one benchmark's meters are called in asv's files.

========================  ==========================================================
meter                     asv's benchmark
========================  ==========================================================
wall                      ``decode_rows.time_one_row``, as asv itself measures it
instructions, …           ``decode_rows.track_one_row_instructions``, a `track` one
========================  ==========================================================

asv drops what it knows of a benchmark whose version differs from the newest. A tracked benchmark
has the version of its timed function, which is set by hand, and the number of the method below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .model import CANARY, UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Raised when counts of before and after a change of the way of counting cannot be compared.
METHOD = 1
EXACT = ("instructions", "allocations", "bytes")
#: Of an entry of asv's benchmarks.json that does not go into a tracked one's.
_OF_TIMES = (
    "min_run_count", "number", "repeat", "rounds", "sample_time", "warmup_time", "timeout",
)  # fmt: skip


def stored(benchmark: str, meter: str) -> str:
    """The name in asv's files of a meter of a timed benchmark."""
    if meter == "wall":
        return benchmark
    suite, dot, function = benchmark.rpartition(".")
    return f"{suite}{dot}track_{function.removeprefix('time_')}_{meter}"


def meant(name: str) -> tuple[str, str] | None:
    """The timed benchmark and the meter behind a name in asv's files; None for another's."""
    suite, dot, function = name.rpartition(".")
    if function.startswith("time_"):
        return name, "wall"
    if not function.startswith("track_"):
        return None
    case, _, meter = function.removeprefix("track_").rpartition("_")
    return (f"{suite}{dot}time_{case}", meter) if case and meter in EXACT else None


def version(of_case: str, meter: str) -> str:
    """The version of a meter of a case: of the case, and of the way of counting."""
    return of_case if meter == "wall" else f"{of_case}-{METHOD}"


def entries(timed: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """A timed benchmark's entries for benchmarks.json: its own, and one an exact meter.

    Args:
        timed: as asv's discovery describes it.
    """
    name = str(timed["name"])
    found = {name: dict(timed)}
    label = str(timed.get("pretty_name") or "")
    for meter in EXACT:
        tracked = {key: value for key, value in timed.items() if key not in _OF_TIMES} | {
            "name": stored(name, meter),
            "type": "track",
            "code": f"# {meter} of a call of {name}, counted by benchproof history",
            "unit": UNITS[meter],
            "version": version(str(timed["version"]), meter),
        }
        if label:
            tracked["pretty_name"] = f"{label}, {meter}"
        found[tracked["name"]] = tracked
    return found


def canary_entry() -> dict[str, Any]:
    """The canary, described as asv's discovery describes a timed function."""
    return {
        "code": "def time_interpreter(): ...  # of the harness; no commit can move it",
        "name": CANARY,
        "param_names": [],
        "params": [],
        "pretty_name": "interpreter and C only",
        "timeout": 120,
        "type": "time",
        "unit": "seconds",
        "version": "1",
        "min_run_count": 2,
        "number": 0,
        "repeat": 0,
        "rounds": 2,
        "sample_time": 0.01,
        "warmup_time": -1,
    }
