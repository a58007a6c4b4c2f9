"""The gate's own statistics on recorded blocks: many gates in minutes.

A resampled gate is the gate's own (`timing.run`, with its looks and pauses), but for its processes,
which were recorded, and its clock: a block of some of the cases is taken to last as long as that
part of a whole one.

*A/A*: it takes blocks of one build, in both implementations, from any of them on, and draws anew
who is left and who is right, by the plan that the gate draws by. Blocks stay whole and in their
order, so that whatever the two processes of a minute share they share here too.

*Slowed builds*: each half of a recording of a build that really does more work, alone, and in a
gate of all benchmarks, whose other cases are those of an A/A recording. No number is edited.

*A part added*: A/A gates in which the numbers of some cases are made larger on the right: a
simulation, for sizes that no build was made for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any, cast

from benchproof import judge, noise, plan, stats, timing, verdict
from benchproof.collected import Collected, Spot
from benchproof.plan import SIDES
from benchproof.progress import Teller
from benchproof.suite import Case
from calibration.gates import ALARMS

if TYPE_CHECKING:
    from benchproof.bench import Bench
    from benchproof.settings import Settings
    from calibration.clock import Clock
    from calibration.recorded import Recording

#: Seconds of measuring one implementation of a suite, for detection: half of five minutes.
SUITE_SECONDS = 150.0
#: Of a block's seconds, those of starting its processes: with three cases it took 0.45.
STARTING = 0.45
#: Slow-downs that are added, and of how many cases each gate has one.
ADDED, ONE_IN = (0.02, 0.03, 0.05, 0.1), 20

#: What an exact meter says of a slow-down that it does not see.
_SAME_WORK = {"verdict": "equivalent", "ratio": 1.0}
#: By side and case, the numbers of a block.
Numbers = Mapping[str, Mapping[str, float]]


@dataclass
class Played:
    """Recorded blocks in place of a bench that runs processes.

    Attributes:
        blocks: in the order in which they are played.
        seconds: that a block of all its cases takes.
        settings: limits and error budget.
        time: of all benches of a gate.
        cases: of its blocks.
        got: what has been played.
    """

    blocks: Sequence[Numbers]
    seconds: float
    settings: Settings
    time: list[float]
    cases: list[Case] = field(init=False)
    got: Collected = field(default_factory=Collected)

    def __post_init__(self) -> None:
        """Its cases are those of any block."""
        names = {name for block in self.blocks for side in SIDES for name in block[side]}
        self.cases = [Case(name, "", None, "", answers_may_differ=False) for name in sorted(names)]

    def time_block(self, block: plan.Block, cases: Sequence[Case]) -> float:
        """Play the next one. After the last one time is up."""
        played = self.blocks[self.got.blocks]
        for side in SIDES:
            for case in cases:
                if case.name in played[side]:
                    self.got.keep(
                        "wall", side, case.name, played[side][case.name], Spot(0, block.index)
                    )
        self.got.blocks += 1
        starting = min(STARTING, self.seconds)
        took = starting + (self.seconds - starting) * len(cases) / len(self.cases)
        self.time[0] += took if self.got.blocks < len(self.blocks) else math.inf
        return took


def gate(
    played: Mapping[str, tuple[Sequence[Numbers], float]], settings: Settings, seconds: float
) -> tuple[dict[tuple[str, str], dict[str, Any]], dict[str, int]]:
    """Run a gate on recorded blocks.

    Args:
        played: by implementation, blocks and the seconds of each.
        settings: limits and error budget.
        seconds: of wall time.

    Returns:
        By implementation and case, what the results file would say; and how many blocks were used.
    """
    time = [0.0]
    benches = {impl: Played(*each, settings, time) for impl, each in played.items()}
    family = sum(len(each.cases) for each in benches.values())
    budget = settings.alpha * (1 - noise.COUNTED)  # of a gate that counts, too
    timed = [
        timing.Timed(cast("Bench", each), each.cases, verdict.Looks(budget, family))
        for each in benches.values()
    ]
    timing.run(timed, 1, seconds, Teller(), quick=False, now=lambda: time[0])
    said = {
        (impl, name): answer
        for (impl, each), one in zip(benches.items(), timed, strict=True)
        for name, answer in verdict.judge_wall(
            judge.times_of(each.got, each.cases), settings, looks=one.looks
        ).items()
    }
    return said, {impl: each.got.blocks for impl, each in benches.items()}


def aa(
    recordings: Sequence[Recording],
    settings: Settings,
    clock: Clock,
    *,
    gates: int,
    seconds: float,
    seed: int,
) -> Iterator[dict[str, Any]]:
    """Resampled gates of one build against itself.

    Args:
        recordings: A/A sessions, of one or both implementations.
        settings: limits and error budget.
        clock: ends it early.
        gates: how many.
        seconds: of wall time that a gate has for all implementations together.
        seed: of the draws.

    Yields:
        What each gate said, alarms with their numbers.
    """  # fmt: skip
    for number, rng, chosen in _draws(recordings, "resampled gate", clock, gates, seed):
        drawn = {each.impl: _drawn(each, rng) for each in chosen}
        answers, used = gate({impl: each[1:] for impl, each in drawn.items()}, settings, seconds)
        yield {
            "kind": "aa", "number": number, "tests": len(answers),
            # The first one, how many, and of how many.
            "blocks": {impl: [start, used[impl], len(blocks)]
                       for impl, (start, blocks, _) in drawn.items()},
            "undecided": sum(each["verdict"] == "undecided" for each in answers.values()),
            "alarms": [
                [impl, name, each["verdict"], round(each["ratio"], 4)]
                for (impl, name), each in answers.items() if each["verdict"] in ALARMS
            ],
        }  # fmt: skip


def added(
    recordings: Sequence[Recording],
    settings: Settings,
    clock: Clock,
    *,
    gates: int,
    seconds: float,
    seed: int,
    sizes: Sequence[float] = ADDED,
    one_in: int = ONE_IN,
) -> Iterator[dict[str, Any]]:
    """Resampled gates of one build against itself, in which some cases are made slower.

    Args:
        recordings: as those that follow, what `aa` takes.
        settings: limits and error budget.
        clock: ends it early.
        gates: how many.
        seconds: of wall time that a gate has for all implementations together.
        seed: of the draws.
        sizes: slow-downs, in turns.
        one_in: of how many cases one is made slower.

    Yields:
        By gate and case, what it said of wall time; `p` is of the case alone.
    """
    for number, rng, chosen in _draws(recordings, "simulated gate", clock, gates, seed):
        drawn = {each.impl: _drawn(each, rng) for each in chosen}
        cases = [(each.impl, name) for each in chosen for name in each.cases]
        few = rng.sample(cases, math.ceil(len(cases) / one_in))
        slower = {case: sizes[place % len(sizes)] for place, case in enumerate(few)}
        played = {
            impl: ([_slower(block, impl, slower) for block in blocks], each)
            for impl, (_, blocks, each) in drawn.items()
        }
        answers, _ = gate(played, settings, seconds)
        for (impl, name), size in slower.items():
            if answer := answers.get((impl, name)):
                seen = answer["left_samples"], answer["right_samples"]
                estimate = stats.paired_ratio(*seen, verdict.CONFIDENCE)
                yield {
                    "kind": "added", "number": number, "impl": impl, "site": "added",
                    "target": name, "size": size, "predicted": size, "achieved": size,
                    "blocks": estimate.blocks,
                    "p": float(f"{stats.p_beyond(estimate, answer['limit']):.3g}"),
                    "ratio": round(answer["ratio"], 5), "low": round(answer["low"], 5),
                    "verdict": answer["verdict"],
                }  # fmt: skip


def _slower(block: Numbers, impl: str, sizes: Mapping[tuple[str, str], float]) -> Numbers:
    """A block in which the right side of some cases takes longer."""
    right = {
        name: value * (1 + sizes.get((impl, name), 0)) for name, value in block["right"].items()
    }
    return {"left": block["left"], "right": right}


def _draws(
    recordings: Sequence[Recording], what: str, clock: Clock, gates: int, seed: int
) -> Iterator[tuple[int, Random, list[Recording]]]:
    """By gate, its number, what draws for it, and the sessions of one of the builds."""
    bases = _by_base(recordings)
    weights = [sum(len(one.blocks) for one in each) for each in bases]
    for number in clock.steps(what, range(gates if bases else 0)):
        rng = Random(f"{seed} {number}")
        yield number, rng, rng.choices(bases, weights)[0]


def _drawn(recording: Recording, rng: Random) -> tuple[int, Sequence[Numbers], float]:
    """All of its blocks, from any of them on, relabelled: which, the blocks, seconds of each."""
    many = len(recording.blocks)
    start = rng.randrange(many)
    sides = [block.sides[0] for block in islice(plan.blocks(rng.getrandbits(32)), many)]
    return start, recording.relabelled(start, sides), recording.seconds


def _by_base(recordings: Sequence[Recording]) -> list[list[Recording]]:
    """The sessions of one build beside one another: one for each implementation."""
    found: dict[str, list[Recording]] = {}
    for each in recordings:
        found.setdefault(str(each.about.get("content")), []).append(each)
    return list(found.values())


def slowed(
    recordings: Sequence[Recording],
    settings: Settings,
    clock: Clock,
    *,
    seconds: float = SUITE_SECONDS,
    beside: Sequence[Recording] = (),
) -> Iterator[dict[str, Any]]:
    """Gates on both halves of recordings of slowed builds.

    Args:
        recordings: sessions of slowed builds.
        settings: limits and error budget.
        clock: ends it early.
        seconds: of wall time.
        beside: A/A sessions of all benchmarks, whose other cases fill the gate; without them the
            session is measured alone.

    Yields:
        By run of blocks and slowed case, the gate's verdict on wall time and on the case, and the
        ratio over the blocks of the session that the gate did not see. The work that was added is
        judged as if no exact meter saw it: such a case counts as the gate counts it, with its whole
        interval beyond what the place of code explains.
    """  # fmt: skip
    whole = max(_by_base(beside), key=lambda each: sum(len(one.cases) for one in each), default=[])
    played = {each.impl: (each.numbers(0, len(each.blocks)), each.seconds) for each in whole}
    for recording in clock.steps("slowed build", recordings):
        # How slow a build came out is asked of the blocks that the gate did not see.
        half = len(recording.blocks) // 2
        for start in (0, half) if half >= timing.FEWEST_BLOCKS else ():
            own = recording.numbers(start, half)
            others, lasts = played.get(recording.impl, ([{}] * half, recording.seconds))
            mixed = [_beside(*pair) for pair in zip(own, others, strict=False)]
            answers, used = gate(played | {recording.impl: (mixed, lasts)}, settings, seconds)
            yield from _found(recording, start, used[recording.impl], answers, settings,
                              kind="slowed in a gate" if whole else "slowed")  # fmt: skip


def _beside(block: Numbers, other: Numbers) -> Numbers:
    """A block with the cases of another one that it lacks."""
    return {side: {**other.get(side, {}), **block[side]} for side in SIDES}


def _found(
    recording: Recording, start: int, used: int, answers: Mapping[tuple[str, str], dict[str, Any]],
    settings: Settings, *, kind: str,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """What a gate on a run of a slowed build's blocks said of its sites."""
    truth = recording.outside(start, used)
    for site in recording.about["sites"]:
        answer = answers.get((recording.impl, site["target"]))
        if answer is None or recording.impl not in site["sizes"]:
            continue
        yield {
            "kind": kind, "session": recording.name, "start": start, "blocks": used,
            "impl": recording.impl, "site": site["site"], "target": site["target"],
            "size": site["size"], "predicted": site["sizes"][recording.impl],
            "achieved": round(_ratio(truth[site["target"]], settings) - 1, 5),
            "ratio": round(answer["ratio"], 5), "low": round(answer["low"], 5),
            "verdict": answer["verdict"],
            "case": verdict.judge_case({"instructions": _SAME_WORK, "wall": answer})[0],
            "detectable": round(answer["detectable"] - 1, 5),
        }  # fmt: skip


def _ratio(sides: tuple[Sequence[float], Sequence[float]], settings: Settings) -> float:
    """The ratio that the gate's own estimate gives to all blocks of a session."""
    (answer,) = verdict.judge_wall({"all": sides}, settings).values()
    return float(answer["ratio"])
