"""Slow-downs on purpose: real extra work in copies of the driver, then the gate, end to end.

A repetition is a commit with one site of each family slowed down, each by a size of its own, with
other sites, targets, forms and places of the work, and neutral edits beside it, in every
repetition. The gate runs on all cases, as on any commit, so that its error budget is shared by as
many tests. What counts is its verdict of each target whose work was sized for it.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

from calibration import gates, neutral
from calibration.insert import inserted
from calibration.sites import families
from calibration.tune import IMPLS
from calibration.work import FORMS, lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from calibration.clone import Clone
    from calibration.kept import Kept
    from calibration.scene import Scene
    from calibration.sites import Site
    from calibration.tune import Costs

#: Slow-downs, as a part of a case's instructions.
SIZES = (0.003, 0.004, 0.005, 0.01, 0.02, 0.05, 0.1)
#: That can see extra work which allocates nothing.
METERS = ("instructions", "wall")
#: Neutral edits beside the extra work: none, one, or two.
MOST_EDITS = 2
#: In the implementation that it was not sized for, work counts if it is this near to its size.
NEAR = (0.95, 1.25)


@dataclass(frozen=True)
class Slowed:
    """One site of a repetition.

    Attributes:
        site: its name.
        target: the benchmark that the work was sized for.
        impl: the implementation that it was sized in.
        size: the slow-down that was wanted.
        amounts: of the forms of work.
        place: 0 to 1, among the places in the function.
        sizes: the slow-down of the target that the costs predict, by implementation.
    """

    site: str
    target: str
    impl: str
    size: float
    amounts: dict[str, int]
    place: float
    sizes: dict[str, float]


def planned(
    number: int, seed: int, sites: Sequence[Site], costs: Costs, sizes: Sequence[float] = SIZES
) -> list[Slowed]:
    """The sites of a repetition: always the same ones for a number and a seed."""
    rng = Random(f"{seed} {number}")
    chosen = []
    for index, among in enumerate(families(sites).values()):
        # In turns, so that every size has equally many repetitions in every family.
        size = sizes[(number + index) % len(sizes)]
        drawn = next(draws(rng, among, costs, size), None)
        if drawn is not None:
            chosen.append(drawn)
    return chosen


def draws(rng: Random, among: Sequence[Site], costs: Costs, size: float) -> Iterator[Slowed]:
    """Sites of one family in a drawn order, slowed down by a size; those that can be, exactly.

    A case of a thousand instructions cannot be slowed down by five in Python: its finest statement
    costs more.
    """
    for site in rng.sample(among, len(among)):
        possible = sizable(site, costs)
        for impl, target in rng.sample(possible, len(possible)):
            usable = [each for each in FORMS.values() if each.cython is site.cython]
            form = rng.choice([each.name for each in usable if each.name in costs.unit])
            amounts = costs.amounts(site, target, impl, size, form)
            predicted = {
                each: costs.size(site, target, each, amounts)
                for each in site.impls if (each, target) in costs.base
            }  # fmt: skip
            if is_near(predicted[impl], size):
                yield Slowed(site.name, target, impl, size, amounts, rng.random(), predicted)


def is_near(predicted: float, size: float) -> bool:
    """Whether a slow-down may stand for a size."""
    return size * NEAR[0] <= predicted <= size * NEAR[1]


def sizable(site: Site, costs: Costs) -> list[tuple[str, str]]:
    """Implementations and targets of a site for which the costs are known."""
    return [
        (impl, target)
        for impl in site.impls for target, _ in site.targets
        if (impl, target) in costs.base and (site.name, target) in costs.calls
    ]  # fmt: skip


def committed(
    clone: Clone, sites: Sequence[Site], chosen: Iterable[Slowed], subject: str, rng: Random
) -> tuple[str, list[str]]:
    """Commit extra work and neutral edits beside it; the commit, and what the edits are."""
    by_name = {site.name: site for site in sites}
    sources: dict[str, str] = {}
    for each in chosen:
        site = by_name[each.site]
        text = sources.get(site.file) or clone.text(site.file)
        work = lines(each.amounts)
        sources[site.file] = inserted(text, site.function, work, each.place, cython=site.cython)
    told = []
    for _ in range(rng.randint(0, MOST_EDITS)):
        edit = neutral.edit(clone, rng.choice(neutral.KINDS), rng, sources)
        sources[edit.file] = edit.text
        told.append(f"{edit.kind} in {edit.file}: {edit.what}")
    return clone.commit(sources, subject), told


def commit_of(
    number: int, seed: int, clone: Clone, sites: Sequence[Site], chosen: Sequence[Slowed]
) -> tuple[str, list[str]]:
    """The commit of a repetition."""
    rng = Random(f"{seed} {number} beside")
    return committed(clone, sites, chosen, f"Slower on purpose, {seed}.{number}", rng)


def there(row: Mapping[str, Any], clone: Clone, sites: Sequence[Site]) -> str:
    """The commit of a kept repetition, made again if the cache that held it is gone."""
    if clone.has(row["commit"]):
        return str(row["commit"])
    chosen = [Slowed(**each) for each in row["sites"]]
    return commit_of(row["number"], row["seed"], clone, sites, chosen)[0]


def inject(
    scene: Scene,
    sites: Sequence[Site],
    costs: Costs,
    kept: Kept,
    like: gates.Ask,
    *,
    runs: int,
    seed: int,
    sizes: Sequence[float] = SIZES,
) -> None:
    """Run the repetitions that are missing.

    Args:
        scene: with the base.
        sites: the table.
        costs: from `tune`.
        kept: gets a row a repetition.
        like: the gate to ask for, but for its sides, implementations and seed.
        runs: repetitions that there should be.
        seed: of all draws.
        sizes: slow-downs, in turns.
    """  # fmt: skip
    clone = scene.clone
    todo = kept.missing(runs, like.meters, seed=seed, policy=scene.stamp["policy"])
    for number in scene.clock.steps("injected gate", todo, runs - len(todo)):
        chosen = planned(number, seed, sites, costs, sizes)
        commit, edits = commit_of(number, seed, clone, sites, chosen)
        started = time.time()
        impls = tuple(impl for impl in IMPLS if any(impl in each.sizes for each in chosen))
        ask = replace(like, base=clone.base, head=commit, impls=impls, seed=seed + number)
        document = gates.run(ask, scene)
        kept.add(scene.stamp | {
            "seed": seed, "number": number, "asked": ask.meters,
            "base": clone.base, "commit": commit, "edits": edits,
            "sites": [asdict(each) for each in chosen],
            "found": answers(document, chosen, ask.meters),
            **gates.kept(document, started),
        })  # fmt: skip


def answers(
    document: Mapping[str, Any], chosen: Sequence[Slowed], asked: Sequence[str]
) -> list[dict[str, Any]]:
    """What the gate said of each target, in each implementation in which the size is right.

    Args:
        document: the gate's.
        chosen: the sites.
        asked: meters of the gate; instructions and wall time can see the work.
    """
    rows = {(row["name"], row["impl"]): row for row in document["cases"]}
    found = []
    for each in chosen:
        for impl, size in each.sizes.items():
            if not is_near(size, each.size):
                continue
            row = rows.get((each.target, impl), {})
            about = {"site": each.site, "target": each.target, "impl": impl, "size": each.size,
                     "predicted": round(size, 6), "case": row.get("verdict")}  # fmt: skip
            found += [
                about | {"meter": meter} | gates.answer(row, meter)
                for meter in METERS if meter in asked
            ]  # fmt: skip
    return found
