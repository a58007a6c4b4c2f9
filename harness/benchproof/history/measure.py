"""Measure one commit in one variant: build it, prove its cases, count.

What makes counts of separate runs comparable: fixed loop counts (`loops`), hash seed, addresses and
environment; paths of the same length; and each case in a fork of the same process (`bench.Bench`),
so that it does not matter which others were asked for.
"""

import contextlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchproof import builds, files, noise, provenance
from benchproof.bench import Bench
from benchproof.build import Built
from benchproof.checkout import Place
from benchproof.collected import Spot
from benchproof.errors import BuildError, TargetError, WorkerError
from benchproof.meters import METERS, instructions
from benchproof.meters.counts import price_of
from benchproof.processes import Crew
from benchproof.suite import Case

from .loops import Loops
from .model import CANARY
from .writing import ABSENT, CANARY_VERSION, FAILED, Value

_FOLDERS = re.compile(r"(?<![\w/])/(?:[^\s/:'\"()]+/)+")
#: Of a reason that is kept.
_LONGEST = 200
#: Measured beside the others, and before the package is imported.
CANARY_CASE = Case(CANARY, "", None, CANARY_VERSION, answers_may_differ=False, kind="canary")

#: In the place of a meter, where only the proof of a benchmark's path is asked for.
PROOF = "proof"

#: A benchmark and a meter.
Key = tuple[str, str]


def count_numbers(values: Mapping[Key, Value]) -> int:
    """How many of some values are numbers of benchmarks; the canary's are of none."""
    return sum(
        name != CANARY and each.value is not None and not each.absent
        for (name, _), each in values.items()
    )


@dataclass
class Measured:
    """What was found out about a commit in an implementation.

    Attributes:
        values: by benchmark and meter.
        why: by benchmark, why it has no number.
        host: the name of the machine that measured it, if it is not this one.
    """

    values: dict[Key, Value] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    host: str = ""

    def none_of(self, keys: Iterable[Key], value: Value, why: str) -> "Measured":
        """Nothing could be measured, for one reason."""
        self.values |= dict.fromkeys(keys, value)
        self.why[""] = clean(why)
        return self


@dataclass(frozen=True)
class Asked:
    """What is to be found out.

    Attributes:
        commit: hash.
        impl: a variant; "" of a project that names none.
        keys: benchmarks (the canary may be among them) and meters.
    """

    commit: str
    impl: str
    keys: frozenset[Key]

    def names(self, meters: Collection[str] = ()) -> set[str]:
        """The benchmarks of which some meters (or any) are asked for."""
        return {name for name, meter in self.keys if not meters or meter in meters}


@dataclass(frozen=True)
class Measurer:
    """Measures commits of a place.

    Attributes:
        place: the checkout, its suites, its builds.
        cases: all that the suites have.
        loops: the plan.
        crew: runs the workers.
    """

    place: Place
    cases: Sequence[Case]
    loops: Loops
    crew: Crew

    def measure(self, asked: Asked, layouts: int = 1) -> Measured:
        """Count what is asked for; instructions in so many layouts of memory.

        Raises:
            NoSpaceError: the disk is full.
        """
        with files.scratch(self.crew.scratch) as scratch:
            bench, found = self.prepare(asked, scratch)
            if bench is None:
                return found
            try:
                self._count(asked, bench, found, layouts)
            except WorkerError as error:
                return found.none_of(asked.keys, FAILED, str(error))
        for name, meter in asked.keys:
            if (name, meter) not in found.values:
                found.values[name, meter] = FAILED
                found.why.setdefault(name, clean(bench.got.failures.get(name, "")))
        return found

    def prove(self, asked: Asked) -> Measured:
        """Only look whether the benchmarks run: the value of one that does is 1.

        Raises:
            NoSpaceError: the disk is full.
        """
        with files.scratch(self.crew.scratch) as scratch:
            _, found = self.prepare(asked, scratch)
        return found

    def prepare(self, asked: Asked, scratch: Path) -> tuple[Bench | None, Measured]:
        """Build, let every case prove its path, plan its loops; None if nothing can be measured.

        Raises:
            NoSpaceError: the disk is full.
        """
        found = Measured()
        try:
            built = build(self.place, self.crew, asked.commit, asked.impl)
            if built.impl != asked.impl:
                return None, found.none_of(asked.keys, ABSENT, built.why_pure)
            suites = self.place.suites.resolve()
            bench = Bench({"right": built}, suites, self.crew, scratch, provenance.pinned_core(),
                          suited=self.cases)  # fmt: skip
            bench.prove(self.chosen(found, asked.names() - {CANARY}))
        except TargetError as error:
            return None, found.none_of(asked.keys, ABSENT, str(error))
        except (BuildError, WorkerError) as error:
            return None, found.none_of(asked.keys, FAILED, str(error))
        for name, row in bench.got.proofs["right"].items():
            if "proof" in row:
                found.values |= {key: Value(1) for key in asked.keys if key == (name, PROOF)}
                continue
            value = ABSENT if "absent" in row else FAILED
            found.values |= {key: value for key in asked.keys if key[0] == name}
            found.why[name] = clean(row.get("absent") or row.get("refused") or row["error"])
        self._plan(asked, bench)
        return bench, found

    def chosen(self, found: Measured, names: Collection[str]) -> list[Case]:
        """Of some benchmarks those that proved their path, the canary first."""
        ready = [case for case in self.cases if case.name in names and case.name not in found.why]
        return [CANARY_CASE] * (CANARY in names) + ready

    def _plan(self, asked: Asked, bench: Bench) -> None:
        """Plan the loops of cases that were never seen: by counting a call, where that can be.

        Raises:
            NoSpaceError: the disk is full.
        """
        proved = {name: row for name, row in bench.got.proofs["right"].items() if "proof" in row}
        new = {name for name in proved if self.loops.lacks(name, asked.impl)}
        bench.got.prices.clear()
        if asked.names(METERS) and new and not instructions.why_not():
            with contextlib.suppress(WorkerError):
                bench.price([case for case in self.cases if case.name in new])
        for name in new:
            seconds, worked, number = (proved[name][key] for key in ("seconds", "worked", "number"))
            price = bench.got.prices.get(name) or price_of(worked)
            self.loops.take(name, asked.impl, seconds, price, number)
        for name in (*proved, CANARY):
            bench.got.loops[name] = self.loops.known(name, asked.impl)

    def _count(self, asked: Asked, bench: Bench, found: Measured, layouts: int) -> None:
        """Use the exact meters on what has proved its path."""
        if cases := self.chosen(found, asked.names(("allocations", "bytes"))):
            bench.count_allocations(cases)
        if cases := self.chosen(found, asked.names(("instructions",))):
            for layout in range(layouts):
                bench.count_instructions(cases, Spot(0, layout))
        for name, meter in asked.keys - found.values.keys():
            taken = [value for (value,) in bench.got.taken(meter, "right", name).values()]
            if len(taken) == (layouts if meter == "instructions" else 1):
                found.values[name, meter] = Value(noise.typical(taken))


def build(place: Place, crew: Crew, commit: str, impl: str) -> Built:
    """Build a commit, or find it built.

    Raises:
        TargetError: it has no driver.
        BuildError: it does not build.
        NoSpaceError: the disk is full.
    """
    # What a side without a name becomes where it can; a side that cannot is told apart.
    mark = "" if impl == place.checkout.variants[0].name else f"@impl:{impl}"
    return builds.one(commit + mark, place, crew)


def clean(words: str) -> str:
    """The first line of a reason, without the folders of this machine: it is kept in files."""
    line = words.strip().splitlines()[0] if words.strip() else "no reason was given"
    return _FOLDERS.sub("", line)[:_LONGEST]
