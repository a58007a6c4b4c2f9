"""Runs the exact meters: every case once in each build, changes again in other layouts of memory.

Where something happens to lie decides which keys of a hash table collide, and so how many
instructions the same code takes. An unrelated edit moves it. So a count is repeated where memory
is laid out otherwise (`Spot`) before a change is believed, and the policy judges all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import families, judge, noise, plan, verdict
from .collected import FIRST, Spot
from .errors import WorkerError, counted
from .meters import METERS, allocations
from .meters.counts import RATE, TYPICAL_ROUNDS
from .plan import SIDES, SideName
from .progress import Counter
from .render import units

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from .bench import Bench
    from .suite import Case

#: Instructions a second under callgrind, and what a case takes beside its calls, in seconds.
SPEED, BESIDE = 3e7, 0.2
#: Seconds that proving a case takes, roughly.
PROVING = 0.05


def exact(
    bench: Bench, cases: Sequence[Case], tasks: Collection[str], spots: Sequence[Spot] = (FIRST,)
) -> None:
    """Count what was asked for.

    Args:
        bench: with both sides built and their cases proven.
        cases: all that were chosen; those whose proof failed are left out.
        tasks: of "instructions" and "allocations".
        spots: where instructions are counted whatever they say.
    """
    ready = measurable(bench, cases)
    if "instructions" in tasks and ready:
        rows = Rows(bench, ready)
        for number, spot in enumerate(spots, 1):
            which = f" ({number} of {len(spots)} times)" if len(spots) > 1 else ""
            counter = _counter(f"counting instructions{which}", bench, expected(bench, ready))

            def heard(
                name: str, counter: Counter = counter, first: bool = spot is spots[0]
            ) -> None:
                counter.done(name)
                if first:
                    rows.done(name)

            bench.count_instructions(ready, spot, heard)
        count_again(bench, ready, len(spots))
    ready = measurable(bench, cases)
    if "allocations" in tasks and ready:
        counter = _counter("counting allocations", bench, dict.fromkeys(names(ready), BESIDE))
        bench.count_allocations(ready, heard=counter.done)
        allocate_again(bench, ready)
    for meter, how in METERS.items() if "value" in tasks else ():
        if how.task == "value" and (giving := measurable(bench, cases, meter)):
            bench.tell.stage(f"asking {counted(len(giving), 'benchmark')} for {meter}")
            bench.take_values(meter, giving)


def _counter(words: str, bench: Bench, costs: Mapping[str, float]) -> Counter:
    """Says how far a stage is that will take some seconds a case."""
    return Counter(words, costs, bench.tell, bench.after)


def names(cases: Sequence[Case]) -> Iterator[str]:
    """What they are called."""
    return (case.name for case in cases)


def expected(bench: Bench, cases: Sequence[Case]) -> dict[str, float]:
    """By case, the seconds that counting its instructions will take, roughly."""
    costs = {}
    for case in cases:
        worked = (bench.got.proofs.get(side, {}).get(case.name, {}).get("worked") for side in SIDES)
        price = bench.got.prices.get(case.name, RATE * max(each or 0.0 for each in worked))
        calls = 0.0
        if case.name in bench.got.loops:
            counts = bench.got.loops[case.name].instructions
            calls = counts.warm + TYPICAL_ROUNDS * (counts.few + counts.many)
        costs[case.name] = BESIDE + price * calls / SPEED
    return costs


def count_again(bench: Bench, cases: Sequence[Case], counted: int = 1) -> None:
    """Count changes again in other layouts, before they are believed.

    Not where one side is compiled and the other is not: nobody asks whether they differ at all.
    """
    for layout in range(counted, noise.MOST_LAYOUTS) if bench.alike else ():
        doubtful = [case for case in cases if is_doubtful(bench, case)]
        doubtful += doubtful_together(bench, cases, doubtful)
        if not doubtful:
            return
        words = f"counting {_changed(doubtful)} again, with memory laid out differently"
        counter = _counter(f"{words} ({layout + 1})", bench, expected(bench, doubtful))
        bench.count_instructions(doubtful, Spot(layout % bench.builds, layout), counter.done)


def allocate_again(bench: Bench, cases: Sequence[Case]) -> None:
    """Count changes of memory again in processes of their own, before they are believed.

    What a benchmark allocates can depend on the clock, on addresses or on chance; where the counts
    of a side scatter, they are taken as often as those of layouts that disagree.
    """
    for layout in range(1, noise.MOST_LAYOUTS) if bench.alike else ():
        doubtful = [
            case for case in cases
            if any(_may_scatter(bench, case, meter) for meter in allocations.METERS)
        ]  # fmt: skip
        if not doubtful:
            return
        words = f"counting allocations of {_changed(doubtful)} again ({layout + 1})"
        counter = _counter(words, bench, dict.fromkeys(names(doubtful), BESIDE))
        bench.count_allocations(doubtful, Spot(layout % bench.builds, layout), counter.done)


def _changed(cases: Sequence[Case]) -> str:
    """How many there are, in words."""
    return counted(len(cases), "changed benchmark")


def _may_scatter(bench: Bench, case: Case, meter: str) -> bool:
    """Whether chance could explain what the counts of a meter say."""
    about = judged(bench, case, meter)
    if about is None or about["verdict"] == "equivalent" or case.name in bench.got.failures:
        return False
    if about["layouts"] < bench.layouts:
        return True
    limit = bench.settings.limit(meter, case.name)
    scattered = {
        verdict.judge_exact(meter, min(side), max(side), limit)["verdict"]
        for side in bench.got.numbers(meter, case.name)
    }
    return scattered != {"equivalent"}


def judged(bench: Bench, case: Case, meter: str = "instructions") -> dict[str, Any] | None:
    """What the counts of a case say so far, and of how many `layouts` they are; None without."""
    left, right = bench.got.numbers(meter, case.name)
    if not left:
        return None
    about = verdict.judge_exact(meter, left, right, bench.settings.limit(meter, case.name))
    return about | {"layouts": len(left)}


def is_doubtful(bench: Bench, case: Case) -> bool:
    """Whether an accident of layout could explain what the counts of a case say."""
    about = judged(bench, case)
    left, _ = bench.got.numbers("instructions", case.name)
    if about is None or not min(left) or case.name in bench.got.failures:
        return False
    if about["verdict"] == "undecided":
        return len(left) < noise.MOST_LAYOUTS
    # An accident can hide a change as it can feign one.
    hidden = abs(about["ratio"] - 1) > noise.NEAR * about["limit"]
    changed = about["verdict"] != "equivalent" or hidden
    accident = abs(about["ratio"] - 1) < noise.ACCIDENT
    return changed and accident and len(left) < bench.layouts


def prove_apart(bench: Bench, case: Case, see: Callable[[SideName], Mapping[str, Any]]) -> bool:
    """Have a case that is a process of its own seen on both sides; whether it can be measured."""
    bench.got.loops[case.name] = plan.ONCE
    for side in SIDES:
        try:
            said = see(side)
        except WorkerError as error:
            said = {"error": str(error)}
        bench.got.proofs.setdefault(side, {})[case.name] = {"name": case.name, **said}
    return judge.status_of(bench.got, case)[0] == "measured"


def layouts(bench: Bench, case: Case) -> Iterator[Spot]:
    """Where to count a process: in one layout, and in more as long as they leave a doubt."""
    for layout in range(noise.MOST_LAYOUTS):
        yield Spot(layout % bench.builds, layout)
        if not is_doubtful(bench, case):
            return


def is_equivalent(bench: Bench, case: Case) -> bool:
    """Whether instructions were counted, and every exact meter says that the work is the same."""
    exact = (judged(bench, case, name) for name, how in METERS.items() if how.exact)
    said = {about["verdict"] for about in exact if about}
    return judged(bench, case) is not None and said == {"equivalent"}


def doubtful_together(
    bench: Bench, cases: Sequence[Case], doubtful: Collection[Case]
) -> list[Case]:
    """Cases that alone did not change, of suites that did as a whole: an accident can be shared."""
    suites: dict[str, dict[Case, dict[str, Any]]] = {}
    for case in cases:
        about = judged(bench, case)
        if about and case.name not in bench.got.failures:
            suites.setdefault(case.suite, {})[case] = about
    found: list[Case] = []
    for suite in suites.values():
        if len(suite) < families.FEWEST:
            continue
        whole = families.judge_meter("instructions", [*suite.values()], bench.settings.suite_limit)
        if whole["verdict"] in verdict.CHANGES:
            found += [
                case for case, about in suite.items() if about["layouts"] < bench.layouts
                and about["verdict"] == "equivalent" and case not in doubtful
            ]  # fmt: skip
    return found


def measurable(bench: Bench, cases: Sequence[Case], meter: str = "instructions") -> list[Case]:
    """The functions that a meter can measure, and whose proofs both sides passed."""
    return [
        case for case in cases
        if case.benchmark and case.kind != "command" and case.kind in METERS[meter].kinds
        and judge.status_of(bench.got, case)[0] == "measured"
    ]  # fmt: skip


#: Of the names of benchmarks, what a line holds.
_WIDTH = 44


class Rows:
    """The rows of a bench's first count of instructions."""

    def __init__(self, bench: Bench, cases: Sequence[Case]) -> None:
        """Nothing is counted yet."""
        self._bench = bench
        self._cases = {case.name: case for case in cases}
        self._left: dict[str, set[str]] = {}
        for case in cases:
            self._left.setdefault(case.suite, set()).add(case.name)

    def done(self, name: str) -> None:
        """A case is counted on both sides: if it was its suite's last, say all of them."""
        suite = self._cases[name].suite
        left = self._left[suite]
        left.discard(name)
        if left:
            return
        rows = [row for case in self._cases.values() if case.suite == suite
                if (row := self._row(case))]  # fmt: skip
        number = sum(case.suite == suite for case in self._cases.values())
        same = number - len(rows)
        same_words = f", {same} of {number} as before" if same else ""
        self._bench.tell.line(f"{suite}: instructions a call{same_words}")
        for row in rows:
            self._bench.tell.line(row)

    def _row(self, case: Case) -> str:
        """What a case's first count says, if it is more than its limit."""
        if case.name in self._bench.got.failures:
            return f"  {case.case:<{_WIDTH}} {self._bench.got.failures[case.name]}"
        left, right = self._bench.got.numbers("instructions", case.name)
        if not left:
            return f"  {case.case:<{_WIDTH}} not counted"
        limit = self._bench.settings.limit("instructions", case.name)
        judged = verdict.judge_exact("instructions", left[:1], right[:1], limit)
        if judged["verdict"] == "equivalent":
            return ""
        change = units.change(judged["ratio"])
        return f"  {case.case:<{_WIDTH}} {change:>9}  {left[0]:>13,.0f} > {right[0]:,.0f}"
