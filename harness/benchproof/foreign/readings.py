"""From what other tools measured, a run at a time, to the samples of a comparison.

A run is what such a tool says is one: a line of Go's, a process of pyperf's, a result file of
asv's. The runs of both sides are paired in their order, and only within a host: a ratio is never
of two machines.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchproof import judge, meters, results, stats
from benchproof.collected import Sampled, Samples, Spot
from benchproof.errors import BenchproofError, few
from benchproof.meters import METERS
from benchproof.plan import SIDES, SideName
from benchproof.settings import Settings
from benchproof.suite import Case

Runs = dict[tuple[Case, str], dict[str, list[Sequence[float]]]]

#: What stands for a proof: nothing is known of what ran.
_UNSEEN = {"proof": {"grade": "unseen", "modules": {}, "probe": {}, "digest": ""}}
#: Meters of functions that are timed; every other number is a value in its own unit.
_OF_TIMED = ("wall", "allocations", "bytes")
_FEW = 3


class Reading(NamedTuple):
    """What one run gave of one benchmark and meter.

    Attributes:
        benchmark: its name without parameters.
        params: the rest of its name.
        meter: of `METERS`.
        unit: of a value whose meter has none.
        values: in the unit of the meter; of wall time perhaps several.
        host: what is known of the machine.
    """

    benchmark: str
    params: str
    meter: str
    unit: str
    values: Sequence[float]
    host: str


def _sorted(readings: Iterable[Reading]) -> Runs:
    """All runs of a side, by what they are of."""
    runs: Runs = {}
    cases: dict[tuple[str, ...], Case] = {}
    for each in readings:
        # A file has few benchmarks and many runs of each.
        key = (each.benchmark, each.params, each.unit)
        case = cases.get(key) or cases.setdefault(key, _case(each))
        hosts = runs.setdefault((case, each.meter), defaultdict(list))
        hosts[each.host].append(each.values)
    return runs


def _hosts(runs: Runs) -> set[str]:
    """On which machines a side was measured."""
    return {host for hosts in runs.values() for host in hosts}


def _case(each: Reading) -> Case:
    """The case of a reading; numbers in units of their own are cases of their own."""
    name = each.benchmark + each.params
    if each.meter in _OF_TIMED:
        return Case(name, each.benchmark, None, "1", answers_may_differ=False)
    return Case(f"{name} ({each.unit})", each.benchmark, None, "1", answers_may_differ=False,
                kind="track", unit=each.unit)  # fmt: skip


def samples(
    readings: Mapping[SideName, Iterable[Reading]], named: Mapping[SideName, Sequence[Path]],
    tool: str,
) -> Samples:  # fmt: skip
    """A comparison of both sides, by the default limits and error budget.

    Args:
        readings: of each side, in the order of their runs.
        named: the files of each side.
        tool: that wrote them.

    Raises:
        BenchproofError: a side has nothing, or the sides have no benchmark or no host in common.
    """
    sides = {side: _sorted(readings[side]) for side in SIDES}
    for side, each in sides.items():
        if not each:
            raise BenchproofError(f"{few(named[side], 1)}: no benchmark of {tool} in it")
    _refuse_apart(sides, named)
    sampled = Sampled(name="", sides={side: _described(named[side]) for side in SIDES})
    found = {case for each in sides.values() for case, _ in each}
    sampled.cases, got = sorted(found), sampled.got
    places: dict[tuple[str, int], int] = {}
    for side, each in sides.items():
        got.proofs[side] = {
            case.name: {"name": case.name, **_UNSEEN} for case in {case for case, _ in each}
        }
        for (case, meter), hosts in each.items():
            for host, runs in hosts.items():
                for number, values in enumerate(runs):
                    block = places.setdefault((host, number), len(places))
                    kept = list(values) if meter == "wall" else values[0]
                    got.keep(meter, side, case.name, kept, Spot(0, block))
    got.blocks = len(places)
    for side, other in (SIDES, SIDES[::-1]):
        for name in got.proofs[other].keys() - got.proofs[side].keys():
            absent = f"it is not in {few(named[side], 1)}"
            got.proofs[side][name] = {"name": name, "absent": absent}
    _note_few(sampled)
    about = _about(sides, named, tool, sampled.sides)
    return Samples(about, Settings(), [sampled], known=[case.name for case in sampled.cases])


def _note_few(sampled: Sampled) -> None:
    """Say of which cases there are too few runs for an interval of wall time."""
    got = sampled.got
    for case in sampled.cases:
        pairs = len(got.paired("wall", case.name))
        if case.kind == "time" and pairs < stats.FEWEST:
            words = f"wall time of {pairs} runs a side: {stats.FEWEST} or more have an interval"
            counted = any(got.numbers(meter, case.name)[0] for meter in _OF_TIMED)
            (got.untimed if counted else got.failures)[case.name] = words


def _refuse_apart(sides: Mapping[SideName, Runs], named: Mapping[SideName, Sequence[Path]]) -> None:
    """Refuse what gives no ratio.

    Raises:
        BenchproofError: the sides have no host, or no benchmark in common.
    """
    left, right = (sides[side] for side in SIDES)
    if not _hosts(left) & _hosts(right):
        raise BenchproofError(
            f"the sides were measured on different machines, and a ratio would be of those: left "
            f"on {'; '.join(sorted(_hosts(left)))}, right on {'; '.join(sorted(_hosts(right)))}"
        )
    if not left.keys() & right.keys():
        one, other = (
            ", ".join(sorted(case.name for case, _ in side)[:_FEW]) for side in (left, right)
        )
        raise BenchproofError(
            f"no benchmark is on both sides: {few(named['left'], 1)} has {one}, "
            f"{few(named['right'], 1)} has {other}"
        )


def _described(files: Sequence[Path]) -> dict[str, Any]:
    """A side, as a document describes it."""
    content = hashlib.sha256()
    for file in files:
        content.update(file.read_bytes())
    return {
        "spec": str(files[0]), "commit": None, "subject": "", "dirty": False, "impl": "",
        "content": content.hexdigest(), "wheel_sha256": None, "kind": "",
        "description": few(files, 1), "why_pure": "",
    }  # fmt: skip


def _about(
    sides: Mapping[SideName, Runs], named: Mapping[SideName, Sequence[Path]], tool: str,
    described: dict[str, dict[str, Any]],
) -> dict[str, Any]:  # fmt: skip
    """What the document says beside verdicts."""
    used = {meter for each in sides.values() for _, meter in each}
    return {
        "schema": judge.SCHEMA, "kind": judge.KIND, "gate": False,
        "title": f"{few(named['left'], 1)} against {few(named['right'], 1)}",
        "created": results.now(), "seed": 0,
        "run": " ".join(described[side]["content"] for side in SIDES), "impls": [""], "builds": 1,
        "provenance": {
            "cpu": "; ".join(sorted(_hosts(sides["left"]) & _hosts(sides["right"]))),
            "imported": tool, "packages": {}, "debug": [],
        },
        "asked": [*METERS],
        "meters": {
            name: {"measured": False, "why": "" if name in used else f"not in files of {tool}",
                   "unit": meter.unit, "processes": 0}
            for name, meter in METERS.items() if meter.task in meters.ALWAYS
        },
        "error_rates": None, "trouble": [],
        "excluded": [
            {"name": host, "impl": None, "why": "a machine that measured one side alone"}
            for host in sorted(_hosts(sides["left"]) ^ _hosts(sides["right"]))
        ],
        "unmeasured": {"files": {}, "all_of_it": False},
        **described,
    }  # fmt: skip
