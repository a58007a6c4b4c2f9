"""How many instructions extra work costs where it stands: measured, so that sizes are true.

A trial puts a known amount of one form of work into one site of every family, and counts the
targets. From trials come the cost of each form in a call of a function, and for each site and
target how many such calls a call of the case makes.
"""

from __future__ import annotations

import hashlib
import math
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchproof import targets
from calibration import gates
from calibration.insert import inserted
from calibration.pairs import proven
from calibration.sites import families
from calibration.work import FORMS, finest, lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchproof.compare import Place
    from calibration.clone import Clone
    from calibration.kept import Kept
    from calibration.scene import Scene
    from calibration.sites import Site

#: How much slower a trial should make its targets.
TRIAL = 0.15
#: A trial that moved its target by less says nothing about costs.
LEAST = 0.02
Key = tuple[str, str]
IMPLS: tuple[str, ...] = ("python", "cython")


@dataclass(frozen=True)
class Trial:
    """A form of work in one site of every family.

    Attributes:
        number: which of each family's sites.
        form: the form's name.
        factor: of the amount; two amounts tell a form's fixed cost from that of one unit.
    """

    number: int
    form: str
    factor: int = 1

    @property
    def impl(self) -> str:
        """The implementation that runs it: pure Python builds fast, and costs the same there."""
        return "cython" if FORMS[self.form].cython else "python"

    @property
    def name(self) -> str:
        """For the records."""
        return f"{self.form} {self.number} x{self.factor}"

    def sites(self, sites: Sequence[Site]) -> list[Site]:
        """One site of each family that has so many."""
        cython = FORMS[self.form].cython
        chosen = families(site for site in sites if site.cython is cython)
        return [each[self.number] for each in chosen.values() if self.number < len(each)]


@dataclass
class Costs:
    """What is known.

    Attributes:
        base: instructions of a call of a case, by implementation and case.
        unit: instructions of one amount of a form, in one call of a function.
        fixed: instructions of a form whatever the amount, likewise.
        calls: by site and target, calls of the function in a call of the case.
    """

    base: dict[Key, float] = field(default_factory=dict)
    unit: dict[str, float] = field(default_factory=dict)
    fixed: dict[str, float] = field(default_factory=dict)
    calls: dict[Key, float] = field(default_factory=dict)

    def one(self, form: str, amount: int) -> float:
        """Instructions of an amount of a form in one call of a function."""
        return self.fixed.get(form, 0.0) + self.unit[form] * amount if amount else 0.0

    def amounts(self, site: Site, target: str, impl: str, size: float, form: str) -> dict[str, int]:
        """The amounts that make a case slower by a size: of a form, filled up with the finest."""
        wanted = size * self.base[impl, target] / self.calls[site.name, target]
        fine = finest(cython=site.cython).name
        coarse = 0
        if form != fine:
            coarse = int((wanted - self.fixed.get(form, 0.0)) / self.unit[form])
            coarse = max(0, min(coarse, FORMS[form].most))
        rest = max(0.0, wanted - self.one(form, coarse))
        # Rounded up: a size is never less than it says.
        return {form: coarse, fine: min(FORMS[fine].most, math.ceil(rest / self.unit[fine]))}

    def size(self, site: Site, target: str, impl: str, amounts: Mapping[str, int]) -> float:
        """By how much some amounts make a case slower."""
        cost = sum(self.one(form, number) for form, number in amounts.items())
        return cost * self.calls[site.name, target] / self.base[impl, target]


def trials(sites: Sequence[Site]) -> list[Trial]:
    """All trials: each form in the first sites, with two amounts; the finest in all of them."""
    found = []
    for cython in (False, True):
        among = families(site for site in sites if site.cython is cython)
        number = max((len(each) for each in among.values()), default=0)
        forms = [form.name for form in FORMS.values() if form.cython is cython]
        found += [Trial(0, form, factor) for form in forms for factor in (1, 2) if number]
        found += [Trial(index, form) for index in range(1, number) for form in forms[:2]]
    return found


def tune(scene: Scene, sites: Sequence[Site], kept: Kept) -> Costs:
    """The costs in a base: read what is kept of it, and measure what is missing.

    Raises:
        BenchproofError: a trial could not be measured.
    """
    # Trials of another driver, or of another table of sites, say nothing about this one.
    key = {"content": content_of(scene.clone), "table": table(sites)}
    known = {row["trial"]: row for row in kept.rows() if row | key == row}
    for impl in IMPLS:
        name = f"base {impl}"
        wanted = sorted({case for site in sites if impl in site.impls for case, _ in site.targets})
        if name not in known and wanted and usable(scene.outside, impl):
            scene.tell.stage(f"tuning: counting {len(wanted)} targets, {impl}")
            counts = count(scene, scene.clone.base, impl, wanted)
            known[name] = key | {"trial": name, "counts": counts}
            kept.add(known[name])
    costs = Costs(base=dict(_bases(known.values())))
    for trial in trials(sites):
        if trial.name in known or not usable(scene.outside, trial.impl):
            continue
        scene.tell.stage(f"tuning: {trial.name}")
        known[trial.name] = one_trial(trial, scene, sites, costs)
        known[trial.name] |= key | {"trial": trial.name}
        kept.add(known[trial.name])
    fit(costs, sites, [known[trial.name] for trial in trials(sites) if trial.name in known])
    return costs


def one_trial(trial: Trial, scene: Scene, sites: Sequence[Site], costs: Costs) -> dict[str, Any]:
    """Put a trial's work in, and count."""
    amounts: dict[str, int] = {}
    form, moved = FORMS[trial.form], {}
    for site in trial.sites(sites):
        target, calls = next(
            ((case, calls) for case, calls in site.targets if (trial.impl, case) in costs.base),
            ("", 0),
        )
        if not target:
            continue
        wanted = TRIAL * costs.base[trial.impl, target] / (form.cost * calls)
        amounts[site.name] = max(1, min(round(wanted), form.most // 2)) * trial.factor
        moved[site.name] = [
            case for case, _ in site.targets if (trial.impl, case) in costs.base
        ]  # fmt: skip
    commit = commit_of(trial.name, form.name, amounts, scene.clone, sites)
    wanted_cases = sorted({case for names in moved.values() for case in names})
    counts = count(scene, commit, trial.impl, wanted_cases)
    return {
        "form": trial.form, "impl": trial.impl, "commit": commit, "amounts": amounts,
        "targets": moved, "counts": counts,
    }  # fmt: skip


def commit_of(
    name: str, form: str, amounts: Mapping[str, int], clone: Clone, sites: Sequence[Site]
) -> str:
    """Commit a trial; the same commit on the same base, whenever it is made.

    Args:
        name: of the trial.
        form: of work.
        amounts: by site.
        clone: takes the commit.
        sites: the table.
    """
    sources: dict[str, str] = {}
    for site in (each for each in sites if each.name in amounts):
        text = sources.get(site.file) or clone.text(site.file)
        work = lines({form: amounts[site.name]})
        sources[site.file] = inserted(text, site.function, work, 0.0, cython=site.cython)
    return clone.commit(sources, f"A trial: {name}")


def there(row: dict[str, Any], clone: Clone, sites: Sequence[Site]) -> dict[str, Any]:
    """A kept trial with its commit in a clone: the cache that held it may be gone."""
    if "form" not in row or clone.has(row["commit"]):
        return row
    made = commit_of(row["trial"], row["form"], row["amounts"], clone, sites)
    return row | {"commit": made}


def fit(costs: Costs, sites: Sequence[Site], known: Sequence[Mapping[str, Any]]) -> None:
    """Costs from trials: those of forms first, then the calls of each site."""
    seen = [
        (row["form"], site, case, row["amounts"][site], row["counts"][case])
        for row in known
        for site, cases in row["targets"].items()
        for case in cases
        if case in row["counts"]
    ]
    rough = {site.name: dict(site.targets) for site in sites}
    for name in FORMS:
        points = [
            (amount, (right - left) / rough[site][case])
            for form, site, case, amount, (left, right) in seen
            if form == name and rough.get(site, {}).get(case) == 1 and right > left * (1 + LEAST)
        ]
        _fit_form(costs, name, points)
    best: dict[Key, float] = {}
    for form, site, case, amount, (left, right) in seen:
        if form not in costs.unit:
            continue
        moved = (right - left) / left
        if moved > best.get((site, case), LEAST / 2):
            best[site, case] = moved
            costs.calls[site, case] = (right - left) / costs.one(form, amount)


def _fit_form(costs: Costs, name: str, points: Sequence[tuple[int, float]]) -> None:
    """A line through the costs of a form; through zero where the amounts are too much alike."""
    if not points:
        # No site that is called once: count the form as one of its lines, and calls in it.
        costs.unit.setdefault(name, FORMS[name].cost)
        return
    if len({amount for amount, _ in points}) > 1:
        fitted = statistics.linear_regression([x for x, _ in points], [y for _, y in points])
        if fitted.slope > 0:
            costs.unit[name] = fitted.slope
            costs.fixed[name] = max(0.0, fitted.intercept)
            return
    costs.unit[name] = statistics.median(cost / amount for amount, cost in points)


def count(
    scene: Scene, commit: str, impl: str, cases: Sequence[str]
) -> dict[str, tuple[float, float]]:
    """Instructions of some cases in the base and in a commit: counted once, judged by nobody."""
    pair = (scene.clone.base, commit, impl)
    with proven(scene, pair, gates.pattern(cases)) as (bench, ready):
        scene.tell.stage(f"counting instructions of {len(ready)} benchmarks")
        bench.count_instructions(ready)
        counted = {case.name: bench.got.numbers("instructions", case.name) for case in ready}
    return {name: (left[0], right[0]) for name, (left, right) in counted.items() if left}


def table(sites: Sequence[Site]) -> str:
    """A short name of a table of sites and of the forms of work."""
    forms = [(form.name, form.lines(2)) for form in FORMS.values()]
    return hashlib.sha256(repr((tuple(sites), forms)).encode()).hexdigest()[:8]


def usable(place: Place, impl: str) -> bool:
    """Whether an implementation can be built here."""
    return impl == "python" or place.toolchain.compiles


def content_of(clone: Clone) -> str:
    """What the base's driver is, whatever its commit."""
    return targets.content_of(clone.checkout, clone.base)


def _bases(rows: Any) -> Iterator[tuple[Key, float]]:  # noqa: ANN401  (a view of rows)
    for row in rows:
        if row["trial"].startswith("base "):
            impl = row["trial"].removeprefix("base ")
            for case, (left, _) in row["counts"].items():
                yield (impl, case), left
