"""`benchproof compare`: one comparison for each implementation, and one answer of all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import results, settings, targets
from .compare import QUICK_BUDGET, Outcome, Request, compare
from .errors import WORST_FIRST, TargetError
from .files import STDOUT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .place import Place
    from .progress import Teller
    from .settings import Settings
    from .targets import Implementation

KIND, SCHEMA = "comparisons", 1


def run(request: Request, place: Place, tell: Teller) -> list[Outcome]:
    """Compare two sides in each of the implementations that were asked for.

    Args:
        request: its budget is for all of them together; 0 for the project's.
        place: the checkout, its suites and its builds.
        tell: hears of it.

    Raises:
        BenchproofError: something that a person can mend.
    """
    chosen = rules(request.right, place)
    impls = usable(request.impls, place, tell)
    budget = request.budget or (QUICK_BUDGET if request.quick else chosen.budget)
    each = replace(
        request, settings=chosen, impls=impls, budget=budget / max(1, len(impls)),
        title=request.title or f"{request.left} against {request.right}",
    )  # fmt: skip
    if not impls:
        return [compare(each, place, tell)]
    outcomes: list[Outcome] = []
    for impl in impls:
        one = replace(
            each, left=f"{request.left}@impl:{impl}", right=f"{request.right}@impl:{impl}"
        )
        outcomes.append(compare(one, place, tell))
        if outcomes[-1].document["partial"]:
            break
    return outcomes


def rules(right: str, place: Place) -> Settings:
    """The settings of the candidate, as a gate takes them: from its commit.

    Raises:
        SettingsError: a setting cannot be meant.
    """
    side = targets.resolve(targets.parse(right), place.checkout)
    commit = None if side.is_working_tree else side.commit
    return settings.parse(place.checkout.read(commit, settings.FILE).decode(errors="replace"))


def usable(
    impls: Sequence[Implementation], place: Place, tell: Teller
) -> tuple[Implementation, ...]:
    """The implementations that can be built here.

    Raises:
        TargetError: none can.
    """
    if "cython" not in impls or place.toolchain.compiles:
        return tuple(impls)
    why = f"no C compiler works here ({place.toolchain.why_not})"
    found = tuple(impl for impl in impls if impl != "cython")
    if not found:
        raise TargetError(f"the compiled implementation cannot be measured: {why}")
    tell.line(f"measured in pure Python, and not compiled: {why}")
    return found


def exit_status(outcomes: Sequence[Outcome]) -> int:
    """The worst one: a regression outweighs a failure to measure, and that outweighs nothing."""
    return min((int(each.document["verdict"]["exit"]) for each in outcomes), key=WORST_FIRST.index)


def document(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """What the results file holds: the comparison, or all of them where there are several."""
    if len(outcomes) == 1:
        return outcomes[0].document
    return {
        "schema": SCHEMA,
        "kind": KIND,
        "title": outcomes[0].document["title"],
        "exit": exit_status(outcomes),
        "comparisons": [each.document for each in outcomes],
    }


def save(outcomes: Sequence[Outcome], file: Path) -> None:
    """Write the results file, and the raw wall samples beside it unless it is standard output.

    Raises:
        BenchproofError: they cannot be written.
    """
    results.write_json(document(outcomes), file)
    if file == STDOUT:
        return
    for each in outcomes:
        if each.bench is None:
            continue
        impl = each.document["right"]["impl"]
        stem = file.name.removesuffix(".json")
        name = file if len(outcomes) == 1 else file.with_name(f"{stem}.{impl}.json")
        results.write_raw(each.bench, each.document, name)
