"""The gate's own statistics on recorded blocks: hundreds of gates in seconds.

*A/A*: a resampled gate takes a run of neighbouring blocks of one build, in both implementations,
as many as the gate's budget buys, and draws anew who is left and who is right, by the plan that
the gate draws by. Blocks stay whole and in their order, so that whatever the two processes of a
minute share they share here too.

*Slowed builds*: runs of blocks that do not overlap, of a build that really does more work: as many
as five minutes of measuring a suite alone buy, and as many as a gate of all suites has for its
budget, judged in a family of its size. No number is edited.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from benchproof import noise, plan, timing, verdict
from calibration.gates import ALARMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchproof.settings import Settings
    from calibration.clock import Clock
    from calibration.recorded import Recording, Samples

#: Seconds of measuring one implementation of a suite, for detection: half of five minutes.
SUITE_SECONDS = 150.0


#: What an exact meter says of a slow-down that it does not see.
_SAME_WORK = {"verdict": "equivalent", "ratio": 1.0}


@dataclass(frozen=True)
class Schedule:
    """What a gate would do with its time for wall time: `timing.run` on paper.

    Attributes:
        looks: (part of the sampling, blocks until then); the last one is the end.
    """

    looks: tuple[tuple[float, int], ...]

    @property
    def blocks(self) -> int:
        """How many blocks it takes."""
        return self.looks[-1][1]


def schedule(seconds: float, each: float) -> Schedule:
    """The looks of a gate.

    Args:
        seconds: of its budget.
        each: seconds of a block, of all implementations together.
    """
    bought = seconds / each
    end = max(timing.FEWEST_BLOCKS, min(timing.MOST_BLOCKS, int(bought)))
    early = [(part, math.ceil(part * bought)) for part in timing.LOOKS]
    return Schedule((
        *((part, blocks) for part, blocks in early if timing.FEWEST_BLOCKS <= blocks < end),
        (1.0, end),
    ))  # fmt: skip


def judged(
    samples: Mapping[str, Samples],
    settings: Settings,
    looks: Sequence[tuple[float, int]],
    family: int = 0,
) -> dict[tuple[str, str], dict[str, Any]]:
    """Judge the wall times of a gate as the gate does, look by look.

    Args:
        samples: by implementation and case.
        settings: limits and error budget.
        looks: (part of the sampling, blocks until then); the last one is the end.
        family: how many tests share the error budget, if more than there are samples of.

    Returns:
        By implementation and case, what the results file would say.
    """
    family = max(family, sum(len(cases) for cases in samples.values()))
    budget = settings.alpha * (1 - noise.COUNTED)  # of a gate that counts, too
    spending = {impl: verdict.Looks(budget, family) for impl in samples}
    stopped: dict[tuple[str, str], int] = {}
    said: dict[tuple[str, str], dict[str, Any]] = {}
    for fraction, blocks in looks:
        for impl, cases in samples.items():
            seen = {}
            for name, (left, right) in cases.items():
                upto = stopped.get((impl, name), blocks)
                seen[name] = (left[:upto], right[:upto])
            answers = verdict.judge_wall(seen, settings, looks=spending[impl], fraction=fraction)
            for name, answer in answers.items():
                said[impl, name] = answer
                if answer["verdict"] != "undecided":
                    # Decided cases are not timed any longer; what they have is judged again.
                    stopped.setdefault((impl, name), len(seen[name][0]))
    return said


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
    bases = _by_base(recordings)
    for number in clock.steps("resampled gate", range(gates if bases else 0)):
        rng = Random(f"{seed} {number}")
        chosen = rng.choices(bases, weights=[sum(len(r.blocks) for r in each) for each in bases])[0]
        plan_of_it = schedule(seconds, sum(each.seconds for each in chosen))
        samples, drawn = {}, {}
        for each in chosen:
            many = min(plan_of_it.blocks, len(each.blocks))
            start = rng.randint(0, len(each.blocks) - many)
            sides = [
                block.sides[0]
                for block in itertools.islice(plan.blocks(rng.getrandbits(32)), many)
            ]  # fmt: skip
            samples[each.impl] = each.relabelled(start, many, sides)
            drawn[each.impl] = [start, many]
        answers = judged(samples, settings, plan_of_it.looks)
        yield {
            "kind": "aa", "number": number, "blocks": drawn, "tests": len(answers),
            "undecided": sum(each["verdict"] == "undecided" for each in answers.values()),
            "alarms": [
                [impl, name, each["verdict"], round(each["ratio"], 4)]
                for (impl, name), each in answers.items() if each["verdict"] in ALARMS
            ],
        }  # fmt: skip


def _by_base(recordings: Sequence[Recording]) -> list[list[Recording]]:
    """The sessions of one build beside one another: one for each implementation."""
    found: dict[str, list[Recording]] = {}
    for each in recordings:
        found.setdefault(str(each.about.get("content")), []).append(each)
    return list(found.values())


def whole_gate(recordings: Sequence[Recording]) -> tuple[float, int]:
    """Seconds of a block of all benchmarks in all implementations, and how many tests they are.

    Args:
        recordings: A/A sessions, which time all benchmarks.
    """
    largest = max(_by_base(recordings), key=lambda each: sum(len(one.cases) for one in each))
    return sum(each.seconds for each in largest), sum(len(each.cases) for each in largest)


def slowed(
    recordings: Sequence[Recording],
    settings: Settings,
    clock: Clock,
    *,
    seconds: float = SUITE_SECONDS,
    block: float = 0.0,
    family: int = 0,
) -> Iterator[dict[str, Any]]:
    """Gates on runs of blocks of slowed builds.

    Args:
        recordings: sessions of slowed builds.
        settings: limits and error budget.
        clock: ends it early.
        seconds: of wall time.
        block: seconds that a block takes, if not as long as the recorded ones.
        family: how many tests share the error budget, if not those of the session alone.

    Yields:
        By run of blocks and slowed case, the gate's verdict on wall time and on the case, and the
        ratio over the blocks of the session that the gate did not see. The work that was added is
        judged as if no exact meter saw it: such a case counts as the gate counts it, with its whole
        interval beyond what the place of code explains.
    """  # fmt: skip
    runs = [
        (each, start, timed)
        for each in recordings
        for lasts in [block or each.seconds]
        # Half a session at most: how slow a build came out is asked of the other half.
        for bought in [min(seconds, (len(each.blocks) // 2 + 0.5) * lasts)]
        for timed in [schedule(bought, lasts)]
        for start in range(0, len(each.blocks) - timed.blocks + 1, timed.blocks)
    ]
    for recording, start, timed in clock.steps("resampled slow-down", runs):
        answers = judged(
            {recording.impl: recording.samples(start, timed.blocks)}, settings, timed.looks, family
        )
        truth = recording.outside(start, timed.blocks)
        for site in recording.about["sites"]:
            answer = answers.get((recording.impl, site["target"]))
            if answer is None or recording.impl not in site["sizes"]:
                continue
            yield {
                "kind": "slowed in a gate" if family else "slowed",
                "session": recording.name, "start": start, "blocks": timed.blocks,
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
