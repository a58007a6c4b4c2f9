"""The commits between good and bad, put together where they are the same build; the search of them.

A line is the first-parent history: what a merge brought stands in it as the merge. Its stops are
runs of neighbouring commits whose builds are the same file, so that a stop costs one build.

The search asks the half that holds more of the change, until two neighbours hold it. With one
culprit that is a binary search. With several it ends at one whose step is a large part of the
whole, and says how large.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from benchproof import targets
from benchproof.checkout import Checkout
from benchproof.errors import BisectError


@dataclass(frozen=True)
class Stop:
    """Neighbouring commits of one content.

    Attributes:
        content: what `targets.content_of` says; "" without a driver.
        commits: hashes, oldest first.
    """

    content: str
    commits: tuple[str, ...]

    @property
    def first(self) -> str:
        """The commit that brought the content."""
        return self.commits[0]


def between(checkout: Checkout, good: str, bad: str) -> list[Stop]:
    """The stops from good to bad, both included; the first one holds good.

    Where good is not on the first-parent line of bad (it is of a branch that was merged, or left
    the line before), the line begins where the two histories part.

    Args:
        checkout: that holds both.
        good: a commit, in full.
        bad: the same.

    Raises:
        BisectError: nothing lies between them.
        BenchproofError: their histories have nothing in common.
    """
    span = f"{good}..{bad}"
    commits = checkout.ask("rev-list", "--first-parent", "--reverse", span).split()
    if not commits:
        raise BisectError(
            f"no commit lies between {good[:10]} and {bad[:10]}: is BAD the newer one?"
        )
    start = checkout.parent(commits[0])
    if start is None:
        raise BisectError(f"{commits[0][:10]} has no parent here, and {good[:10]} is not before it")
    paths = targets.inputs(checkout)
    touched = set(checkout.ask("log", "--first-parent", "--format=%H", span, "--", *paths).split())
    content = targets.content_of(checkout, start)
    stops = [Stop(content, (start,))]
    for commit in commits:
        if commit in touched:
            content = targets.content_of(checkout, commit)
        last = stops[-1]
        if content == last.content:
            stops[-1] = Stop(content, (*last.commits, commit))
        else:
            stops.append(Stop(content, (commit,)))
    return stops


def branches(checkout: Checkout, merge: str) -> list[list[Stop]]:
    """What a merge brought: the stops of each further parent, from where it left the line."""
    about = checkout.ask("rev-list", "--no-walk", "--parents", merge)
    _, first, *others = about.split()
    found = []
    for other in others:
        base = checkout.ask("merge-base", first, other)
        if checkout.ask("rev-list", "--first-parent", f"{base}..{other}"):
            found.append(between(checkout, base, other))
    return [stops for stops in found if len(stops) > 1]


@dataclass(frozen=True)
class Narrowed:
    """Where the change is.

    Attributes:
        low: the newest stop that was measured before it.
        high: the oldest that was measured behind it; all stops between the two are lost.
        before: the value at `low`.
        after: the value at `high`.
        share: the part of the whole change that lies between them.
    """

    low: int
    high: int
    before: float
    after: float
    share: float


def narrow(
    first: tuple[int, float], last: tuple[int, float], measure: Callable[[int], float | str]
) -> Narrowed:
    """Narrow a change down.

    Args:
        first: place and value of the good end.
        last: the same of the bad end.
        measure: tells the value of a stop, or that it has none; asked once for each.
    """
    (low, before), (high, after) = first, last
    whole = after - before
    lost: set[int] = set()
    while True:
        middle = (low + high) / 2
        free = [place for place in range(low + 1, high) if place not in lost]
        if not free:
            share = (after - before) / whole if whole else 0.0
            return Narrowed(low, high, before, after, share)
        place = min(free, key=lambda each: abs(each - middle))
        value = measure(place)
        if isinstance(value, str):
            lost.add(place)
        elif math.copysign(1.0, whole) * ((value - before) - (after - value)) >= 0:
            high, after = place, value
        else:
            low, before = place, value


def most_builds(stops: int) -> int:
    """How many builds a search over so many stops takes, its ends included, if none is lost."""
    return stops if stops < 3 else 2 + math.ceil(math.log2(stops - 1))
