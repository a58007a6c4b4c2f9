"""Builds that are slower by the clock: extra work sized by wall time.

An instruction of extra work costs less time than an average one of the driver, or more. How much
is measured: trials of `tune` are timed against the base, and the slow-down by the clock over the
slow-down in instructions is a site's *worth*. Sizes of recorded slow-downs are then by the clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from benchproof import stats
from calibration import gates, inject
from calibration.record import Session, about
from calibration.sites import families
from calibration.tune import IMPLS
from calibration.work import finest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from calibration.clone import Clone
    from calibration.recorded import Recording
    from calibration.sites import Site
    from calibration.tune import Costs

#: Slow-downs by the clock that are recorded.
SIZES = (0.01, 0.02, 0.05)
#: Blocks in which a trial is timed: of a slow-down of 15 % that leaves a few parts in a hundred.
TRIAL_BLOCKS = 12
#: What a worth that was measured must at least be: else noise would ask for endless work.
LEAST, MOST = 0.25, 4.0


def trial_sessions(clone: Clone, trials: Iterable[Mapping[str, Any]], seed: int) -> list[Session]:
    """Sessions that time the trials of the finest forms.

    Args:
        clone: with the trials' commits.
        trials: rows of `tune`.
        seed: of the order.
    """
    fine = {finest(cython=cython).name for cython in (False, True)}
    return [
        Session(
            f"trial {row['trial']} {row['content'][:8]} {row['table']}", row["commit"], row["impl"],
            gates.pattern(row["counts"]), TRIAL_BLOCKS, seed,
            {"kind": "trial", "content": row["content"], "base": clone.base,
             "targets": row["targets"],
             "instructions": {case: right / left - 1
                              for case, (left, right) in row["counts"].items()}},
        )
        for row in trials
        if row.get("form") in fine and row["trial"].endswith("x1")
    ]  # fmt: skip


def worths(recordings: Iterable[Recording]) -> dict[tuple[str, str], float]:
    """By site and target, slow-down by the clock over slow-down in instructions."""
    found = {}
    for each in recordings:
        if each.about["kind"] != "trial":
            continue
        samples = each.samples(0, len(each.blocks))
        for site, cases in each.about["targets"].items():
            for case in cases:
                share = each.about["instructions"].get(case, 0.0)
                if case not in samples or share < 0.03 or len(samples[case][0]) < stats.FEWEST:
                    continue
                ratio = stats.paired_ratio(*samples[case], 0.95).ratio
                found[site, case] = min(MOST, max(LEAST, (ratio - 1) / share))
    return found


@dataclass(frozen=True)
class Wanted:
    """Slowed builds to record.

    Attributes:
        sizes: slow-downs by the clock.
        variants: builds of each size, with other sites and targets.
        blocks: of each session.
        seed: of the draws.
    """

    sizes: tuple[float, ...]
    variants: int
    blocks: int
    seed: int


def planned(
    variant: int,
    size: float,
    seed: int,
    sites: Sequence[Site],
    costs: Costs,
    worth: Mapping[tuple[str, str], float],
) -> list[inject.Slowed]:
    """The sites of a build that is slower by the clock.

    Args:
        variant: of the sites and targets.
        size: as 0.05.
        seed: of the draws.
        sites: the table.
        costs: from `tune`.
        worth: from `worths`.
    """  # fmt: skip
    rng = Random(f"{seed} wall {variant} {size}")
    usable = [
        site for site in sites
        if any((site.name, target) in worth for _, target in inject.sizable(site, costs))
    ]  # fmt: skip
    chosen = []
    for among in families(usable).values():
        site = rng.choice(among)
        impl, target = rng.choice([
            pair for pair in inject.sizable(site, costs) if (site.name, pair[1]) in worth
        ])  # fmt: skip
        each = worth[site.name, target]
        form = finest(cython=site.cython).name
        amounts = costs.amounts(site, target, impl, size / each, form)
        predicted = {
            name: costs.size(site, target, name, amounts) * each
            for name in site.impls if (name, target) in costs.base
        }  # fmt: skip
        near = {
            name: value for name, value in predicted.items()
            if inject.is_near(value, size)
        }  # fmt: skip
        if near:
            chosen.append(inject.Slowed(site.name, target, impl, size, amounts, rng.random(), near))
    return chosen


def sessions(
    clone: Clone,
    content: str,
    sites: Sequence[Site],
    costs: Costs,
    worth: Mapping[tuple[str, str], float],
    wanted: Wanted,
) -> list[Session]:
    """Sessions of slowed builds, committed as they are named."""  # fmt: skip
    found, seed = [], wanted.seed
    for variant in range(wanted.variants):
        for size in wanted.sizes:
            chosen = planned(variant, size, seed, sites, costs, worth)
            rng = Random(f"{seed} wall {variant} {size} beside")
            subject = f"Slower by the clock on purpose, {size * 100:g} %, {seed}.{variant}"
            commit, _ = inject.committed(clone, sites, chosen, subject, rng)
            for impl in IMPLS:
                there = [each for each in chosen if impl in each.sizes]
                if not there:
                    continue
                found.append(Session(
                    f"slower {size * 100:g} % {variant} {impl} {content[:8]}", commit, impl,
                    gates.pattern(each.target for each in there), wanted.blocks, seed,
                    {"kind": "slowed", "content": content, "size": size, **about(there)},
                ))  # fmt: skip
    return found
