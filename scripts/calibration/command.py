"""The parts of `scripts/calibrate`, with what each needs."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import benchproof
from benchproof import error_rates, provenance, settings
from benchproof.errors import SelectionError
from calibration import aa, gates, inject, recorded, resample, stalls, tune, walls
from calibration import record as recording
from calibration.clock import Clock
from calibration.clone import Clone, clone
from calibration.kept import Kept
from calibration.scene import Scene
from calibration.sites import IMPLEMENTATIONS, SITES

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from benchproof.compare import Place
    from benchproof.progress import Teller
    from calibration.sites import Site

TOOLS = ("bare", "asv", "pyperf")
#: Runs of a part unless a person says otherwise.
RUNS = {"aa": 20, "neutral": 20, "inject": 40, "stall": 12, "resample": 400, "exact": 10,
        "others": 40}  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """What a person asked for.

    Attributes:
        reports: the reports folder.
        budget: seconds, or None for as long as it takes.
        runs: how many gates there should be in the end, or None for the part's own number.
        seed: of all draws.
        bench: the expression that chooses benchmarks in whole gates and recordings.
        meters: of whole gates.
        impls: implementations.
        gate_budget: seconds of wall time in a whole gate, or None for the gate's own.
        blocks: of a recorded session.
        variants: of slowed builds.
        sizes: of slow-downs; None for those of each part.
        tools: of the part "others".
        base: the commit that everything is measured against.
        sites: where extra work can go.
        scheduler: address of dask's, whose workers run the whole gates; "": this machine does.
    """

    reports: Path
    budget: float | None = None
    runs: int | None = None
    seed: int = 1
    bench: str = ""
    meters: tuple[str, ...] = ("instructions", "allocations", "bytes", "wall")
    impls: tuple[str, ...] = IMPLEMENTATIONS
    gate_budget: float | None = None
    blocks: int = 240
    variants: int = 7
    sizes: tuple[float, ...] | None = None
    tools: tuple[str, ...] = TOOLS
    base: str = "HEAD"
    sites: tuple[Site, ...] = SITES
    scheduler: str = ""


#: Blocks of one session that are recorded one after the other.
CHUNK = 30


class Calibration:
    """One run of some parts."""

    def __init__(self, asked: Asked, place: Place, tell: Teller) -> None:
        """Nothing is measured yet."""
        self.asked, self.tell = asked, tell
        self.clock = Clock(asked.budget, tell)
        impls = tuple(impl for impl in asked.impls if tune.usable(place, impl))
        self.impls, self.place = impls, place

    @cached_property
    def scene(self) -> Scene:
        """What every campaign needs."""
        return Scene(self.clone, self.place, self.clock, self.stamp)

    @cached_property
    def clone(self) -> Clone:
        """The scratch clone, in the cache."""
        folder = self.place.cache / "calibrate" / "clone"
        return clone(self.place.checkout, folder, self.asked.base)

    @cached_property
    def stamp(self) -> dict[str, Any]:
        """What goes into rows: rates of other rules, or of another machine, are other rates."""
        facts = provenance.gather(self.place.toolchain)
        keys = ("cpu", "cores", "python", "valgrind")
        return {"policy": policy(), "machine": {key: facts[key] for key in keys}}

    @cached_property
    def content(self) -> str:
        """What the base's driver is."""
        return tune.content_of(self.clone)

    @cached_property
    def costs(self) -> tune.Costs:
        """What extra work costs in the base."""
        return tune.tune(self.scene, self.asked.sites, self.kept("tuning"))

    def kept(self, name: str) -> Kept:
        """The file of a part."""
        file = Kept(self.asked.reports / error_rates.FOLDER / f"{name}.jsonl.gz")
        file.mend()
        return file

    def runs(self, part: str) -> int:
        """How many runs of a part there should be."""
        return RUNS[part] if self.asked.runs is None else self.asked.runs

    @property
    def like(self) -> gates.Ask:
        """The gates that were asked for, but for their sides, implementations and seeds."""
        return gates.Ask("", "", self.asked.bench, self.asked.meters, budget=self.asked.gate_budget)

    def exact(self) -> None:
        """The same wheel counted again and again."""
        file = self.kept("exact")
        recording.exact_again(
            self.scene, self.impls, file, runs=self.runs("exact"), bench=self.asked.bench
        )
        file.pack()

    def whole(self, kind: str) -> None:
        """Whole gates of one kind."""
        file = self.kept("gates")
        aa.run(
            kind, self.scene, file, replace(self.like, impls=self.impls),
            runs=self.runs("aa" if kind == "same" else kind), seed=self.asked.seed,
            scheduler=self.asked.scheduler,
        )  # fmt: skip
        file.pack()

    def slower(
        self, part: str, name: str, run: Callable[..., None], sizes: tuple[float, ...]
    ) -> None:
        """Slow-downs of one kind, end to end."""
        file = self.kept(name)
        run(
            self.scene, self.asked.sites, self.costs, file, self.like,
            runs=self.runs(part), seed=self.asked.seed, sizes=self.asked.sizes or sizes,
        )  # fmt: skip
        file.pack()

    def record(self) -> None:
        """Wall times of one build, and of slowed ones."""
        file = self.kept("walls")
        sessions = [
            recording.Session(
                f"same {impl} {self.content[:8]}", self.clone.base, impl, self.asked.bench,
                self.asked.blocks, self.asked.seed, {"kind": "aa", "content": self.content},
            )
            for impl in self.impls
        ]  # fmt: skip
        if self.asked.sizes != ():
            sessions += self._slowed(file)
        self._record(sessions, file)
        file.pack()

    def _slowed(self, file: Kept) -> list[recording.Session]:
        """Sessions of slowed builds, after their trials have been timed."""
        costs = self.costs
        key = {"content": self.content, "table": tune.table(self.asked.sites)}
        trials = [
            tune.there(row, self.clone, self.asked.sites)
            for row in self.kept("tuning").rows()
            if row | key == row
        ]
        self._record(walls.trial_sessions(self.clone, trials, self.asked.seed), file)
        worth = walls.worths(recorded.read(file.rows()))
        return walls.sessions(
            self.clone, self.content, self.asked.sites, costs, worth,
            walls.Wanted(self.asked.sizes or walls.SIZES, self.asked.variants,
                         self.asked.blocks // 2, self.asked.seed),
        )  # fmt: skip

    def _record(self, sessions: list[recording.Session], file: Kept) -> None:
        recording.record(self.scene, sessions, file, chunk=CHUNK)

    def resample(self) -> None:
        """The gate's statistics on what was recorded; written anew, because it takes seconds."""
        recordings = recorded.read(self.kept("walls").rows())
        if not recordings:
            raise SelectionError("nothing is recorded yet: run scripts/calibrate record first")
        chosen = settings.load(self.place.checkout.root)
        same = [each for each in recordings if each.about["kind"] == "aa"]
        slow = [each for each in recordings if each.about["kind"] == "slowed"]
        budget = self.asked.gate_budget or chosen.budget
        rows = list(resample.slowed(slow, chosen, self.clock))
        if same:
            rows += resample.slowed(slow, chosen, self.clock, seconds=budget, beside=same)
        for kind in (resample.aa, resample.added):
            rows += kind(
                same, chosen, self.clock, gates=self.runs("resample"), seconds=budget,
                seed=self.asked.seed,
            )  # fmt: skip
        self.kept("resampled").replace([self.stamp | row for row in rows])

    def others(self) -> None:
        """Other tools on the same commits."""
        from calibration.others import run as others  # noqa: PLC0415  (it loads asv)

        others.run(self)

    def report(self) -> None:
        """Rates, words and a picture."""
        from calibration import report  # noqa: PLC0415  (it loads matplotlib)

        report.write(self.asked.reports, policy(), settings.load(self.place.checkout.root))


#: Parts in the order in which they make sense.
PARTS: dict[str, Callable[[Calibration], None]] = {
    "exact": Calibration.exact,
    "aa": lambda each: each.whole("same"),
    "neutral": lambda each: each.whole("neutral"),
    "inject": lambda each: each.slower("inject", "injected", inject.inject, inject.SIZES),
    "stall": lambda each: each.slower("stall", "stalled", stalls.stall, stalls.SIZES),
    "record": Calibration.record,
    "resample": Calibration.resample,
    "others": Calibration.others,
    "report": Calibration.report,
}


def sizes(text: str) -> tuple[float, ...] | None:
    """Read slow-downs in percent; None where nobody chose.

    Raises:
        SelectionError: one is no number above 0.
    """
    if not text:
        return None
    try:
        found = tuple(float(part) / 100 for part in text.split(",") if text != "none")
    except ValueError:
        found = (0.0,)
    if not all(0 < size < 1 for size in found):
        raise SelectionError(f"--sizes {text!r}: write percents, as 1,2,5, or none")
    return found


def tools(text: str) -> tuple[str, ...]:
    """Read the list of other tools.

    Raises:
        SelectionError: one is unknown.
    """
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    if not found or set(found) - set(TOOLS):
        raise SelectionError(f"--tools {text!r}: choose from {', '.join(TOOLS)}")
    return found


def document(asked: Asked) -> dict[str, Any]:
    """What `run` left: the rates of everything that is kept."""
    file = asked.reports / error_rates.FOLDER / error_rates.SUMMARY
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def policy() -> str:
    """A short name of the harness's rules."""
    return gates.policy(Path(benchproof.__file__).parent)


def run(parts: tuple[str, ...], asked: Asked, place: Place, tell: Teller, out: Console) -> int:
    """Run some parts; what is kept is always reported in the end.

    Raises:
        SelectionError: a part does not exist.
    """
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        raise SelectionError(f"no part {unknown[0]!r}: choose from {', '.join(PARTS)}")
    if asked.scheduler and (asked.budget or not {*parts} <= {"aa", "neutral", "report"}):
        raise SelectionError("--scheduler is for aa and neutral, without --budget: whole gates")
    calibration = Calibration(asked, place, tell)
    for part in [part for part in PARTS if part in parts and part != "report"]:
        PARTS[part](calibration)
    calibration.report()
    words = Path(asked.reports, error_rates.FOLDER, "calibration.md")
    out.print(words.read_text(encoding="utf-8"), markup=False, highlight=False, soft_wrap=True)
    out.print(str(words), markup=False, highlight=False, soft_wrap=True)
    return 0
