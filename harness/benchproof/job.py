"""The main job, `benchproof run`: the implementations, the newest commit, and the page of both."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from . import table, targets
from .compare import Outcome, Request, compare
from .errors import COULD_NOT_MEASURE, NO_REGRESSION, BenchproofError, TargetError

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from .compare import Place
    from .progress import Teller

#: Seconds of wall time of a comparison, unless a person says otherwise: enough for twice the blocks
#: that a hundred benchmarks need before anything can be called changed.
BUDGET = 60.0
#: How far back to look for a commit that changed the driver.
MOST_COMMITS = 500


@dataclass(frozen=True)
class Planned:
    """A comparison of the job.

    Attributes:
        name: of its results file.
        request: what to compare.
        gates: whether a regression in it is the job's.
        note: what a reader must know about it, or "".
    """

    name: str
    request: Request
    gates: bool
    note: str = ""


def plan(base: Request, place: Place) -> tuple[list[Planned], list[str]]:
    """The comparisons that this checkout allows, and what to say about those that it does not.

    Raises:
        TargetError: there is no commit yet.
    """
    planned, said = [], []
    if place.checkout.head() is None:
        raise TargetError("there is no commit yet, and HEAD is what is measured: commit first")
    if place.toolchain.compiles:
        planned.append(Planned("implementations", replace(
            base, left="HEAD@impl:python", right="HEAD@impl:cython",
            title="Pure Python against Cython, at HEAD",
        ), gates=False))  # fmt: skip
    else:
        said.append(
            "the driver is pure Python here, so there is no Cython to compare with: "
            f"no C compiler works ({place.toolchain.why_not})"
        )
    commits, words = newest_change(base, place)
    said += words
    if commits is not None:
        planned.append(commits)
    if not planned:
        said.append("so HEAD is measured against itself: what differs is noise")
        planned.append(Planned("itself", replace(
            base, left="HEAD", right="HEAD", force=True, title="HEAD against itself",
        ), gates=False))  # fmt: skip
    return planned, said


def newest_change(base: Request, place: Place) -> tuple[Planned | None, list[str]]:
    """HEAD against its parent or, where HEAD does not change the driver, the newest that does."""
    checkout = place.checkout
    head = checkout.commit("HEAD")
    parent = checkout.parent(head)
    if parent is None:
        why = "the clone is shallow" if checkout.is_shallow() else "it is the first commit"
        return None, [f"HEAD has no parent to compare with: {why}"]
    if targets.content_of(checkout, parent) != targets.content_of(checkout, head):
        request = replace(base, left="HEAD~1", right="HEAD", title="HEAD against its parent")
        return Planned("commits", request, gates=True), []
    same = "HEAD does not change the driver: same build as HEAD~1, equivalent by construction"
    older = _change_before(place, parent)
    if older is None:
        return None, [f"{same}; no earlier commit here changed it either"]
    label = f"the newest commit that changed the driver is {older[:10]}"
    request = replace(
        base, left=f"{older[:10]}~1", right=older[:10],
        title=f"The newest commit that changed the driver ({older[:10]}) against its parent",
    )  # fmt: skip
    return Planned("commits", request, gates=True, note=f"{same}; {label}"), [
        f"{same}; {label}, and it is measured against its parent instead"
    ]


def _change_before(place: Place, start: str) -> str | None:
    """The newest commit at or before start whose build differs from its parent's."""
    checkout = place.checkout
    paths = targets.inputs(checkout)
    for commit in checkout.touching(paths, start)[:MOST_COMMITS]:
        parent = checkout.parent(commit)
        if parent is None:
            return None
        before, after = (targets.content_of(checkout, each) for each in (parent, commit))
        if before and after and before != after:
            return commit
    return None


def run(
    base: Request, place: Place, reports: Path, tell: Teller, out: Console,
    *, everything: bool = False,
) -> int:  # fmt: skip
    """Measure, print the tables, write the results and the page; the exit status.

    Raises:
        BenchproofError: something that a person can mend.
    """
    planned, said = plan(base, place)
    if not base.committed:
        head = targets.resolve(targets.parse("HEAD"), place.checkout)
        targets.refuse_dirty((head,), place.checkout)
    for words in said:
        tell.line(words)
    latest = reports / "latest"
    shutil.rmtree(latest, ignore_errors=True)
    each = replace(base, budget=base.budget / 2)  # the usual job has two comparisons
    documents: list[dict[str, Any]] = []
    trouble: list[BenchproofError] = []
    status = NO_REGRESSION
    for item in planned:
        request = replace(item.request, budget=each.budget, committed=True, only_changes=True)
        try:
            outcome = compare(request, place, tell)
        except BenchproofError as error:
            trouble.append(error)
            break
        document = outcome.document | {"gates": item.gates, "note": item.note}
        Outcome(document, outcome.bench).save(latest / f"{item.name}.json")
        documents.append(document)
        table.show(document, out, everything=everything)
        status = _worse(status, exit_status(document))
        if document["partial"]:
            break
    if not documents:
        raise trouble[0]
    page = write_page(documents, reports / "html")
    for problem in trouble:
        out.print(f"benchproof: {problem}", highlight=False, markup=False, soft_wrap=True)
        status = _worse(status, problem.exit_status)
    out.print(str(page), highlight=False, markup=False, soft_wrap=True)
    return status


def write_page(documents: list[dict[str, Any]], folder: Path) -> Path:
    """Draw the page; matplotlib is imported only here."""
    from .render import write_page as draw  # noqa: PLC0415  (slow to import)

    return draw(documents, folder)


def exit_status(document: dict[str, Any]) -> int:
    """What a comparison of the job contributes to its exit status.

    One that does not gate (Cython being different from Python is information) can still fail to
    measure: a proof that fails there is as wrong as anywhere.
    """
    if document.get("gates", True):
        return int(document["verdict"]["exit"])
    failed = any(c["status"] not in {"measured", "not applicable"} for c in document["cases"])
    measured = any(c["status"] == "measured" for c in document["cases"])
    if failed or document["partial"] or not measured:
        return COULD_NOT_MEASURE
    return NO_REGRESSION


def _worse(one: int, other: int) -> int:
    """A regression outweighs a failure to measure, and that outweighs nothing."""
    order = (NO_REGRESSION, COULD_NOT_MEASURE, 1)
    return max(one, other, key=order.index)
