"""Slow-downs that only the clock sees: stalls on both sides, asleep in one, awake in the other.

Base and head of such a gate hold the same extra code. In the base a walk through memory stays in
the first cache, branches can be foretold, an add is a plain one, and nobody calls the kernel; in
the head the walk misses all caches, half of the branches are mispredicted, each add locks its cache
line, each call is a system call. So the instructions of both sides are the same but for a call's
few, and the clock has to find it alone. How much of a stall makes a case slower by a size is worked
out from what one costs, timed in a loop of its own outside of the gate, and from the case's time in
the base.
"""

from __future__ import annotations

import ctypes
import math
import statistics
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from benchproof import toolchain
from benchproof.errors import BenchproofError
from benchproof.meters import wall
from benchproof.plan import SIDES, blocks
from calibration import gates
from calibration.inject import is_near
from calibration.insert import inserted
from calibration.pairs import proven
from calibration.sites import families

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibration.clone import Clone
    from calibration.kept import Kept
    from calibration.scene import Scene
    from calibration.sites import Site
    from calibration.tune import Costs

#: Slow-downs by the clock. A case in which only the clock moved counts beyond 5 %.
SIZES = (0.05, 0.1, 0.2)
#: What a stall is, by the name of its C function.
STALLS = {"misses": "cache misses", "branches": "mispredicted branches", "locks": "locked adds",
          "kernel": "system calls"}  # fmt: skip
IMPL = "cython"
#: Stalls in a loop that times one, and how often that is done.
_TURNS, _LOOPS = 50_000, 9
#: Blocks that tell a case's time in the base: its size needs no more than a few parts in a hundred.
_BLOCKS = 4
#: 64 MiB, twice the largest cache of the machines that this was made on, one line of a cache each.
_SOURCE = """\
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>
#define STALL_LINES (1u << 20)
/* Calls with other constants may not get a form of their own: what is asleep would be shorter. */
#ifdef __clang__
#define STALL static __attribute__((noinline, optnone, unused))
#else
#define STALL static __attribute__((noipa, unused))
#endif
static uint32_t (*stall_lines)[16];
static uint32_t stall_at, stall_state = 1;
static volatile uint32_t stall_sum;
static uint32_t stall_next(void) { return stall_state = stall_state * 1664525u + 1013904223u; }
/* Each line names the next one of a single cycle through all of them (Sattolo's shuffle). */
static void stall_fill(void) {
    stall_lines = aligned_alloc(64, sizeof *stall_lines * STALL_LINES);
    if (!stall_lines) abort();
    for (uint32_t i = 0; i < STALL_LINES; i++) stall_lines[i][0] = i;
    for (uint32_t i = STALL_LINES - 1; i > 0; i--) {
        uint32_t j = (uint32_t)(((uint64_t)stall_next() * i) >> 32), kept = stall_lines[i][0];
        stall_lines[i][0] = stall_lines[j][0];
        stall_lines[j][0] = kept;
    }
}
STALL void stall_misses(unsigned turns, unsigned awake) {
    if (!stall_lines) stall_fill();
    uint32_t mask = awake ? STALL_LINES - 1 : 15, at = stall_at;
    while (turns--) at = stall_lines[at & mask][0];
    stall_at = at;
}
STALL void stall_branches(unsigned turns, unsigned awake) {
    while (turns--) {
        /* Asleep they alternate, awake nobody can tell; either way half of them are taken. */
        if ((((stall_next() >> 16) & awake) ^ (turns & (awake ^ 1))) & 1)
            __asm__ volatile("nop; nop" ::: "memory");
        else
            __asm__ volatile("nop" ::: "memory");
    }
}
STALL void stall_locks(unsigned turns, unsigned awake) {
#if defined(__x86_64__)
    if (awake) while (turns--) __asm__ volatile("lock; addl $1, %0" : "+m"(stall_sum));
    else while (turns--) __asm__ volatile("addl $1, %0" : "+m"(stall_sum));
#else
    while (turns--) __atomic_fetch_add(&stall_sum, 1, awake ? __ATOMIC_SEQ_CST : __ATOMIC_RELAXED);
#endif
}
STALL void stall_kernel(unsigned turns, unsigned awake) {
    while (turns--) if (awake) stall_sum = (uint32_t)syscall(SYS_getppid);
}
"""


@dataclass(frozen=True)
class Stalled:
    """A site with stalls.

    Attributes:
        site: its name.
        target: the benchmark that they were sized for.
        stall: of STALLS.
        size: the slow-down by the clock that was wanted.
        turns: stalls in a call of the function.
        place: 0 to 1, among the places in the function.
        predicted: the slow-down that the cost of a stall and the target's time give.
    """

    site: str
    target: str
    stall: str
    size: float
    turns: int
    place: float
    predicted: float


def costs_of_one() -> dict[str, float]:
    """Seconds that each stall takes longer awake than asleep: the median of some timed loops.

    Raises:
        BenchproofError: no compiler works here.
    """
    with tempfile.TemporaryDirectory(prefix="benchproof-stalls-") as folder:
        source, library = Path(folder, "stalls.c"), Path(folder, "stalls.so")
        source.write_text(_SOURCE.replace("STALL void", "void"))
        why_not = toolchain.compile_library(source, library, "-O2")
        if why_not:
            raise BenchproofError(f"stalls do not compile: {why_not}")
        loaded = ctypes.CDLL(str(library))
        return {name: _cost(loaded[f"stall_{name}"]) for name in STALLS}


def _cost(stall: Any) -> float:  # noqa: ANN401  (a C function)
    longer = []
    for _ in range(_LOOPS):
        taken = []
        for awake in (0, 1):
            start = time.perf_counter()
            stall(_TURNS, awake)
            taken.append(time.perf_counter() - start)
        longer.append((taken[1] - taken[0]) / _TURNS)
    return statistics.median(longer)


def times(scene: Scene, commit: str, cases: Sequence[str]) -> dict[str, float]:
    """Seconds that a call of some cases takes: the median of a few processes."""
    with proven(scene, (commit, commit, IMPL), gates.pattern(cases)) as (bench, ready):
        scene.tell.stage(f"timing {len(ready)} targets")
        for block in blocks(1):
            if block.index == _BLOCKS:
                break
            bench.time_block(block, ready)
        return {
            case.name: statistics.median(
                wall.number(taken)
                for side in SIDES for taken in bench.got.taken("wall", side, case.name).values()
            )
            for case in ready
        }  # fmt: skip


def planned(
    number: int, seed: int, sites: Sequence[Site], costs: Costs, one: dict[str, float],
    seconds: dict[str, float], sizes: Sequence[float] = SIZES,
) -> list[Stalled]:  # fmt: skip
    """The sites of a repetition: one of each family of compiled ones.

    Args:
        number: of the repetition; kinds of stalls and sizes take turns.
        seed: of the draws.
        sites: the table.
        costs: from `tune`: how often a case calls a function.
        one: seconds of a stall, by name.
        seconds: of a call of each target in the base.
        sizes: slow-downs by the clock.
    """
    rng = Random(f"{seed} {number} stalls")
    chosen = []
    for index, among in enumerate(families(each for each in sites if each.cython).values()):
        turn = (number + index) % len(STALLS)
        size = sizes[(number + index) % len(sizes)]
        possible = [
            (site, target) for site in among for target, _ in site.targets
            if target in seconds and (site.name, target) in costs.calls
        ]  # fmt: skip
        if not possible:
            continue
        site, target = rng.choice(possible)
        # A microsecond in the kernel is no 5 % of a case of five: the next kind takes its turn.
        for stall in [*list(STALLS)[turn:], *list(STALLS)[:turn]]:
            unit = one[stall] * costs.calls[site.name, target] / seconds[target]
            turns = max(1, math.ceil(round(size / unit, 6)))
            if is_near(turns * unit, size):
                predicted = round(turns * unit, 4)
                chosen.append(
                    Stalled(site.name, target, stall, size, turns, rng.random(), predicted)
                )
                break
    return chosen


def committed(
    clone: Clone, sites: Sequence[Site], chosen: Sequence[Stalled], subject: str, *, awake: bool
) -> str:
    """Commit the stalls of some sites; the commit."""
    by_name = {site.name: site for site in sites}
    sources: dict[str, str] = {}
    for each in chosen:
        site = by_name[each.site]
        text = sources.get(site.file) or clone.text(site.file) + declared()
        work = [f"stall_{each.stall}({each.turns}, {int(awake)})"]
        sources[site.file] = inserted(text, site.function, work, each.place, cython=True)
    return clone.commit(sources, subject)


def declared() -> str:
    """What a Cython source needs at its end to call stalls."""
    declarations = "".join(
        f"    void stall_{name}(unsigned turns, unsigned awake) noexcept nogil\n" for name in STALLS
    )
    source = "".join(f"    {line}\n" for line in _SOURCE.splitlines())
    return f'\n\ncdef extern from *:\n    """\n{source}    """\n{declarations}'


def stall(
    scene: Scene, sites: Sequence[Site], costs: Costs, kept: Kept, like: gates.Ask, *,
    runs: int, seed: int, sizes: Sequence[float] = SIZES,
) -> None:  # fmt: skip
    """Run the repetitions that are missing.

    Args:
        scene: with the base.
        sites: the table.
        costs: from `tune`.
        kept: gets a row a repetition.
        like: the gate to ask for, but for its sides, implementation and seed.
        runs: repetitions that there should be.
        seed: of all draws.
        sizes: slow-downs by the clock, in turns.
    """
    clone = scene.clone
    meters = tuple(dict.fromkeys(("instructions", "wall", *like.meters)))
    todo = kept.missing(runs, meters, seed=seed, policy=scene.stamp["policy"])
    if not todo:
        return
    one = costs_of_one()
    wanted = sorted({target for site in sites if site.cython for target, _ in site.targets})
    seconds = times(scene, clone.base, wanted)
    for number in scene.clock.steps("stalled gate", todo, runs - len(todo)):
        chosen = planned(number, seed, sites, costs, one, seconds, sizes)
        asleep, awake = (
            committed(
                clone, sites, chosen, f"Stalls, {name}, {seed}.{number}", awake=name == "awake"
            )
            for name in ("asleep", "awake")
        )
        started = time.time()
        ask = replace(
            like, base=asleep, head=awake, meters=meters, impls=(IMPL,), seed=seed + number
        )
        document = gates.run(ask, scene)
        kept.add(scene.stamp | {
            "seed": seed, "number": number, "asked": meters,
            "base": clone.base, "commits": [asleep, awake],
            "seconds_of_one": one, "sites": [asdict(each) for each in chosen],
            "found": answers(document, chosen),
            **gates.kept(document, started),
        })  # fmt: skip


def answers(document: dict[str, Any], chosen: Sequence[Stalled]) -> list[dict[str, Any]]:
    """What the gate said of each target: of its wall time, its instructions and the case."""
    rows = {row["name"]: row for row in document["cases"]}
    found = []
    for each in chosen:
        row = rows.get(each.target, {})
        counted = row.get("meters", {}).get("instructions", {})
        about = {"site": each.site, "target": each.target, "impl": IMPL, "stall": each.stall,
                 "size": each.size, "predicted": each.predicted, "case": row.get("verdict"),
                 "instructions": counted.get("ratio")}  # fmt: skip
        found.append(about | gates.answer(row, "wall"))
    return found
