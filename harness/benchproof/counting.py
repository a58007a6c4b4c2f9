"""Runs the exact meters: every case once in each build, changes again in other layouts of memory.

Where something happens to lie decides which keys of a hash table collide, and so how many
instructions the same code takes. An unrelated edit moves it. So a count is repeated where memory
is laid out otherwise (`Spot`) before a change is believed, and the policy judges all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import families, judge, noise, verdict
from .collected import FIRST, Spot
from .meters import METERS, allocations
from .meters.counts import RATE, TYPICAL_ROUNDS
from .plan import SIDES
from .progress import Counter
from .render import units
from .settings import DEFAULTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from .bench import Bench
    from .progress import Teller
    from .settings import Settings
    from .suite import Case

#: Instructions a second under callgrind, and what a case takes beside its calls, in seconds.
SPEED, BESIDE = 3e7, 0.2
#: Seconds that proving a case takes, roughly.
PROVING = 0.05


def exact(
    bench: Bench,
    cases: Sequence[Case],
    tasks: Collection[str],
    tell: Teller,
    settings: Settings = DEFAULTS,
    spots: Sequence[Spot] = (FIRST,),
    after: float = 0.0,
) -> None:
    """Count what was asked for.

    Args:
        bench: with both sides built and their cases proven.
        cases: all that were chosen; those whose proof failed are left out.
        tasks: of "instructions" and "allocations".
        tell: hears of it.
        settings: the limits, which say what a change is.
        spots: where instructions are counted whatever they say.
        after: seconds that follow.
    """
    ready = measurable(bench, cases)
    if "instructions" in tasks and ready:
        rows = Rows(bench, ready, settings, tell)
        for number, spot in enumerate(spots, 1):
            which = f" ({number} of {len(spots)} times)" if len(spots) > 1 else ""
            counter = Counter(f"counting instructions{which}", expected(bench, ready), tell, after)

            def heard(
                name: str, counter: Counter = counter, first: bool = spot is spots[0]
            ) -> None:
                counter.done(name)
                if first:
                    rows.done(name)

            bench.count_instructions(ready, spot, heard)
        count_again(bench, ready, tell, settings, len(spots), after)
    ready = measurable(bench, cases)
    if "allocations" in tasks and ready:
        costs = dict.fromkeys((case.name for case in ready), BESIDE)
        counter = Counter("counting allocations", costs, tell, after)
        bench.count_allocations(ready, heard=counter.done)
        allocate_again(bench, ready, tell, settings, after)
    if "value" in tasks:
        giving = {
            meter: measurable(bench, cases, meter) for meter, how in METERS.items()
            if how.task == "value"
        }  # fmt: skip
        for meter in filter(giving.get, giving):
            tell.stage(f"asking {len(giving[meter])} benchmarks for their {meter}")
            bench.take_values(meter, giving[meter])


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


def count_again(
    bench: Bench,
    cases: Sequence[Case],
    tell: Teller,
    settings: Settings = DEFAULTS,
    counted: int = 1,
    after: float = 0.0,
) -> None:
    """Count changes again in other layouts, before they are believed.

    Not where one side is compiled and the other is not: nobody asks whether they differ at all.
    """
    if not bench.alike:
        return
    for layout in range(counted, noise.MOST_LAYOUTS):
        doubtful = [case for case in cases if is_doubtful(bench, case, settings)]
        doubtful += doubtful_together(bench, cases, doubtful, settings)
        if not doubtful:
            return
        number = f"{len(doubtful)} changed benchmark{'s' * (len(doubtful) != 1)}"
        words = f"counting {number} again, with memory laid out differently ({layout + 1})"
        counter = Counter(words, expected(bench, doubtful), tell, after)
        bench.count_instructions(doubtful, Spot(layout % bench.builds, layout), counter.done)


def allocate_again(
    bench: Bench, cases: Sequence[Case], tell: Teller, settings: Settings = DEFAULTS,
    after: float = 0.0,
) -> None:  # fmt: skip
    """Count changes of memory again in processes of their own, before they are believed.

    What a benchmark allocates can depend on the clock, on addresses or on chance; where the counts
    of a side scatter, they are taken as often as those of layouts that disagree.
    """
    if not bench.alike:
        return
    for layout in range(1, noise.MOST_LAYOUTS):
        doubtful = [
            case for case in cases
            if any(_may_scatter(bench, case, meter, settings) for meter in allocations.METERS)
        ]  # fmt: skip
        if not doubtful:
            return
        number = f"{len(doubtful)} changed benchmark{'s' * (len(doubtful) != 1)}"
        costs = dict.fromkeys((case.name for case in doubtful), BESIDE)
        counter = Counter(
            f"counting allocations of {number} again ({layout + 1})", costs, tell, after
        )
        bench.count_allocations(doubtful, Spot(layout % bench.builds, layout), counter.done)


def _may_scatter(bench: Bench, case: Case, meter: str, settings: Settings) -> bool:
    """Whether chance could explain what the counts of a meter say."""
    about = judged(bench, case, settings, meter)
    if about is None or about["verdict"] == "equivalent" or case.name in bench.got.failures:
        return False
    if about["layouts"] < bench.layouts:
        return True
    limit = settings.limit(meter, case.name)
    scattered = {
        verdict.judge_exact(meter, min(side), max(side), limit)["verdict"]
        for side in bench.got.numbers(meter, case.name)
    }
    return scattered != {"equivalent"}


def judged(
    bench: Bench, case: Case, settings: Settings = DEFAULTS, meter: str = "instructions"
) -> dict[str, Any] | None:
    """What the counts of a case say so far, and of how many `layouts` they are; None without."""
    left, right = bench.got.numbers(meter, case.name)
    if not left:
        return None
    about = verdict.judge_exact(meter, left, right, settings.limit(meter, case.name))
    return about | {"layouts": len(left)}


def is_doubtful(bench: Bench, case: Case, settings: Settings = DEFAULTS) -> bool:
    """Whether an accident of layout could explain what the counts of a case say."""
    about = judged(bench, case, settings)
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


def layouts(bench: Bench, case: Case, settings: Settings = DEFAULTS) -> Iterator[Spot]:
    """Where to count a process: in one layout, and in more as long as they leave a doubt."""
    for layout in range(noise.MOST_LAYOUTS):
        yield Spot(layout % bench.builds, layout)
        if not is_doubtful(bench, case, settings):
            return


def is_equivalent(bench: Bench, case: Case, settings: Settings = DEFAULTS) -> bool:
    """Whether instructions were counted, and every exact meter says that the work is the same."""
    exact = (judged(bench, case, settings, name) for name, how in METERS.items() if how.exact)
    said = {about["verdict"] for about in exact if about}
    return judged(bench, case, settings) is not None and said == {"equivalent"}


def doubtful_together(
    bench: Bench, cases: Sequence[Case], doubtful: Collection[Case], settings: Settings
) -> list[Case]:
    """Cases that alone did not change, of suites that did as a whole: an accident can be shared."""
    suites: dict[str, dict[Case, dict[str, Any]]] = {}
    for case in cases:
        about = judged(bench, case, settings)
        if about and case.name not in bench.got.failures:
            suites.setdefault(case.suite, {})[case] = about
    found: list[Case] = []
    for suite in suites.values():
        if len(suite) < families.FEWEST:
            continue
        whole = families.judge_meter("instructions", [*suite.values()], settings.suite_limit)
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

    def __init__(
        self, bench: Bench, cases: Sequence[Case], settings: Settings, tell: Teller
    ) -> None:
        """Nothing is counted yet."""
        self._bench, self._settings, self._tell = bench, settings, tell
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
        self._tell.line(f"{suite}: instructions a call{same_words}")
        for row in rows:
            self._tell.line(row)

    def _row(self, case: Case) -> str:
        """What a case's first count says, if it is more than its limit."""
        if case.name in self._bench.got.failures:
            return f"  {case.case:<{_WIDTH}} {self._bench.got.failures[case.name]}"
        left, right = self._bench.got.numbers("instructions", case.name)
        if not left:
            return f"  {case.case:<{_WIDTH}} not counted"
        limit = self._settings.limit("instructions", case.name)
        judged = verdict.judge_exact("instructions", left[:1], right[:1], limit)
        if judged["verdict"] == "equivalent":
            return ""
        change = units.change(judged["ratio"])
        return f"  {case.case:<{_WIDTH}} {change:>9}  {left[0]:>13,.0f} > {right[0]:,.0f}"
