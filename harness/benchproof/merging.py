"""Shards and repeated runs of one comparison, from one machine or several, as one.

A run has an identity, so that what comes twice counts once. The blocks and layouts of each run get
places of their own; values of both sides are paired by place, so that a ratio is formed within a
run, and with it within a host. What cannot be one comparison is refused in a line.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypeVar

from .collected import Collected, Sampled, Samples
from .errors import BenchproofError
from .meters import METERS
from .plan import SIDES
from .verdict import Looks

#: Why a case has no verdict whose runs do not agree about a side.
DIFFERENT = "two runs of the same side give different answers"


_T = TypeVar("_T")
#: What a run counts from its own beginning.
Kind = Literal["blocks", "layouts"]
_KINDS: tuple[Kind, ...] = ("blocks", "layouts")
#: A run in a stream, as a document's ``runs`` has it: its identity (``run``), where its ``blocks``
#: and ``layouts`` begin, and its ``provenance``.
_Run = Mapping[str, Any]
#: Where a block or a layout of a stream goes.
_Moved = Callable[[Kind, int], int]


def merge(streams: Mapping[str, Samples]) -> Samples:
    """All streams as one.

    Args:
        streams: by the name by which each is told.

    Raises:
        BenchproofError: they are no runs of one comparison, were measured by different tools,
            interpreters or processors, or hold different values for one place.
    """
    (name, first), *others = streams.items()
    for other, samples in others:
        _refuse_other(name, first, other, samples)
    runs = {other: _runs(samples) for other, samples in streams.items()}
    starts = _starts(streams, runs)
    merged: dict[tuple[str, str], Sampled] = {}
    for other, samples in streams.items():
        place = partial(_place, runs[other], starts)
        for each in (*samples.variants, *samples.controls):
            new = Sampled(name=each.name, control=each.control, same=True)
            _add(other, each, merged.setdefault((each.name, each.control), new), place)
    for each in merged.values():
        # As they are found: functions by name, then what a person or the tool named.
        each.cases.sort(key=lambda case: (not case.benchmark, case))
        each.got.untimed = {
            case: why for case, why in each.got.untimed.items() if not each.got.paired("wall", case)
        }
        if len(starts) > 1 and each.looks is not None:
            # One budget for the tests of all: each run has spent its own for its own cases. What a
            # look found early is found again at the last one, which has all the data.
            each.looks.family = max(each.looks.family, len(each.cases))
            each.looks.said = {}
    found = list(streams.values())
    return Samples(
        _about([samples.about for samples in found], starts), first.settings,
        [each for each in merged.values() if not each.control],
        list(dict.fromkeys(entry for samples in found for entry in samples.entries)),
        list(dict.fromkeys(case for samples in found for case in samples.known)),
        any(samples.partial for samples in found),
        [each for each in merged.values() if each.control],
    )  # fmt: skip


def _refuse_other(name: str, first: Samples, other: str, samples: Samples) -> None:
    """Refuse what is no run of the same comparison.

    Raises:
        BenchproofError: it is none.
    """
    for side in SIDES:
        one, two = (each.about[side] for each in (first, samples))
        if one["content"] != two["content"]:
            raise BenchproofError(
                f"{other} is of another comparison than {name}: {side} is {two['description']}, "
                f"and not {one['description']}"
            )
    if first.settings.describe() != samples.settings.describe():
        raise BenchproofError(f"{other} was measured with other settings than {name}")
    one, two = (_measured_by(each.about["provenance"]) for each in (first, samples))
    if one != two:
        raise BenchproofError(
            f"{other} was measured by {', '.join(two)}, and {name} by {', '.join(one)}: results of "
            "different tools, interpreters or processors are not mixed; merge each kind by itself"
        )


def _measured_by(provenance: Mapping[str, Any]) -> tuple[str, ...]:
    """What must be the same of two runs, in words: tool, interpreter, processor."""
    tool = provenance.get("packages", {}).get("benchproof")
    parts = (f"benchproof {tool}" if tool else "", provenance.get("python", ""),
             provenance.get("cpu", ""))  # fmt: skip
    return tuple(filter(None, parts))


def _runs(samples: Samples) -> list[_Run]:
    """The runs of a stream, which may have been merged before, in the order of their places."""
    about = samples.about
    if "runs" in about:
        return list(about["runs"])
    # Streams of before runs had an identity.
    known = about.get("run") or f"{about['created']} {about['seed']} {about['provenance']}"
    return [{"run": known, "blocks": 0, "layouts": 0, "provenance": about["provenance"]}]


def _starts(
    streams: Mapping[str, Samples], runs: Mapping[str, Sequence[_Run]]
) -> dict[str, _Run]:  # fmt: skip
    """Where each run begins once all of them are one, by its identity."""
    sizes: dict[str, dict[Kind, int]] = {}
    known: dict[str, _Run] = {}
    for name, samples in streams.items():
        nexts: list[_Run] = [*runs[name][1:], _ends(samples)]
        for run, behind in zip(runs[name], nexts, strict=True):
            known.setdefault(run["run"], run)
            had = sizes.setdefault(run["run"], dict.fromkeys(_KINDS, 0))
            for kind in _KINDS:
                had[kind] = max(had[kind], behind[kind] - run[kind])
    starts: dict[str, _Run] = {}
    start = dict.fromkeys(_KINDS, 0)
    for key, run in known.items():
        starts[key] = {**run} | start
        start = {kind: start[kind] + sizes[key][kind] for kind in _KINDS}
    return starts


def _kind(meter: str) -> Kind:
    """What the processes of a meter are numbered by."""
    return "layouts" if METERS[meter].exact else "blocks"


def _ends(samples: Samples) -> dict[str, int]:
    """Behind the last block, and the last layout, of a stream."""
    ends: dict[str, int] = dict.fromkeys(_KINDS, 0)
    for each in (*samples.variants, *samples.controls):
        thrown = (block + 1 for block in each.got.thrown)
        ends["blocks"] = max(ends["blocks"], each.got.blocks, *thrown)
        for meter, _, _, spot, _ in each.got:
            ends[_kind(meter)] = max(ends[_kind(meter)], spot.process + 1)
    return ends


def _place(runs: Sequence[_Run], starts: Mapping[str, _Run], kind: Kind, number: int) -> int:
    """Where a block or a layout of a stream goes, from its runs and where each of them begins."""
    run = next(run for run in reversed(runs) if run[kind] <= number)
    return int(number - run[kind] + starts[run["run"]][kind])


def _same(stream: str, had: _T, value: _T, what: str) -> _T:
    """A value, which may have come before, and then must be the same.

    Raises:
        BenchproofError: it is not.
    """
    if had != value:
        raise BenchproofError(
            f"{stream}: {what} has come before in the same run, with another value"
        )
    return value


def _add(stream: str, each: Sampled, target: Sampled, place: _Moved) -> None:
    """Add a variant of a stream, or a control, to what others said of it.

    Raises:
        BenchproofError: what it holds of a run or of a benchmark is not what others hold.
    """
    target.sides = target.sides or each.sides
    target.same = target.same and each.same
    known = {case.name: case for case in target.cases}
    for case in each.cases:
        had = known.get(case.name, case)
        if had.version != case.version:
            raise BenchproofError(
                f"{stream} has another version of the benchmark {case.name} than what it "
                "is merged with: measure all of them with the same benchmarks"
            )
        known[case.name] = _same(stream, had, case, f"the benchmark {case.name}")
    target.cases = list(known.values())
    target.profiles = {**each.profiles, **target.profiles}
    if each.looks is not None:
        spent = target.looks or each.looks
        target.looks = Looks(spent.alpha, max(spent.family, each.looks.family))
        target.looks.said = {**spent.said, **each.looks.said}
        target.looks.paid = max(spent.paid, each.looks.paid, key=len)
    _add_got(stream, each.got, target.got, place)


def _add_got(stream: str, got: Collected, target: Collected, place: _Moved) -> None:
    """Add what workers answered."""
    for meter, side, name, spot, values in got:
        kind = _kind(meter)
        at = spot._replace(process=place(kind, spot.process))
        what = f"{kind[:-1]} {spot.process} of {name}, {meter}, {side},"
        had = target.taken(meter, side, name).get(at, values)
        target.keep(meter, side, name, _same(stream, had, values, what), at)
    for side in SIDES:
        for name, row in got.proofs.get(side, {}).items():
            _add_proof(target, side, name, row)
    target.loops = {**got.loops, **target.loops}
    target.failures = {**got.failures, **target.failures}
    target.untimed = {**got.untimed, **target.untimed}
    target.thrown |= {place("blocks", block): why for block, why in got.thrown.items()}
    if got.blocks:
        target.blocks = max(target.blocks, place("blocks", got.blocks - 1) + 1)


def _add_proof(target: Collected, side: Any, name: str, row: dict[str, Any]) -> None:  # noqa: ANN401
    """Add what a side answered: what keeps a case from being measured in one run stays."""
    rows = target.proofs.setdefault(side, {})
    had = rows.get(name, row)
    digests = {one["proof"]["digest"] for one in (had, row) if "proof" in one} - {""}
    if len(digests) > 1:
        target.failures[name] = DIFFERENT
    rows[name] = had if "proof" not in had else row


def _about(abouts: Sequence[Mapping[str, Any]], runs: Mapping[str, _Run]) -> dict[str, Any]:
    """What is known beside the samples."""
    found = dict(abouts[0])
    found["created"] = min(each["created"] for each in abouts)
    for key in ("impls", "excluded", "trouble"):
        rows = [row for each in abouts for row in each[key]]
        found[key] = [row for number, row in enumerate(rows) if row not in rows[:number]]
    asked = {name for each in abouts for name in each["asked"]}
    found["asked"] = [name for name in METERS if name in asked]
    found["meters"] = {
        name: next(
            (each["meters"][name] for each in abouts if not each["meters"][name]["why"]), one
        )
        for name, one in abouts[0]["meters"].items()
    }
    if len(runs) > 1:
        found.pop("run", None)
        found["runs"] = list(runs.values())
    return found
