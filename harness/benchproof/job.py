"""The main job, `benchproof run`: the variants, the newest commit, and the page of both."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from . import table, targets, unmeasured, variants
from .compare import Place, Request, compare
from .errors import NO_REGRESSION, BenchproofError, TargetError, gravest, missing
from .files import write_json
from .gate.report.words import is_unmeasured
from .grids import tell_line
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
        BenchproofError: a shallow clone has nothing to compare.
    """
    planned, said = [], []
    if place.checkout.head() is None:
        raise TargetError("there is no commit yet, and HEAD is what is measured: commit first")
    has = base.impls or variants.of(place.checkout, place.checkout.head())
    base = replace(base, impls=())
    known = {each.name: each for each in place.checkout.variants}
    here = [name for name in has if place.toolchain.compiles or known[name].kind != "compiled"]
    if len(has) == 1:
        said.append(f"measured: the variant {has[0]}")
    elif not has:
        kind = "compiled" if variants.compiled(place.checkout, place.checkout.head()) else "pure"
        said.append(f"measured: the {unmeasured.WORDS[kind]} package")
    if len(here) < len(has):
        said.append(
            f"there is no {' or '.join(name for name in has if name not in here)} to compare with: "
            f"no C compiler works ({place.toolchain.why_not})"
        )
    # The first one is what people use: the others are what it is held against.
    for number, other in enumerate(here[1:]):
        request = replace(
            base, left=f"HEAD@impl:{other}", right=f"HEAD@impl:{here[0]}",
            title=f"{other} against {here[0]}, at HEAD",
        )  # fmt: skip
        name = "implementations" + f"-{other}" * bool(number)
        planned.append(Planned(name, request, gates=False))
    commits, words = newest_change(base, place, has)
    said += words
    if commits is not None:
        planned.append(commits)
    if not planned:
        if place.checkout.is_shallow():
            raise BenchproofError(
                f"{words[-1]}: `git fetch --unshallow`, or fetch-depth: 0 in a workflow"
            )
        said.append("so HEAD is measured against itself: what differs is noise")
        request = replace(_in(has, base, "HEAD", "HEAD"), force=True, title="HEAD against itself")
        planned.append(Planned("itself", request, gates=False))
    return planned, said


def _in(impls: Sequence[str], base: Request, left: str, right: str) -> Request:
    """A comparison of two sides, in the one variant that is measured if there are not several."""
    mark = f"@impl:{impls[0]}" if len(impls) == 1 else ""
    return replace(base, left=left + mark, right=right + mark)


def newest_change(
    base: Request, place: Place, impls: Sequence[str]
) -> tuple[Planned | None, list[str]]:
    """HEAD against its parent or, where HEAD does not change the driver, the newest that does.

    In pure Python where nothing of the compiled package changed.
    """
    checkout = place.checkout
    head = checkout.commit("HEAD")
    parent = checkout.parent(head)
    if parent is None:
        why = "the clone is shallow" if checkout.is_shallow() else "it is the first commit"
        return None, [f"HEAD has no parent to compare with: {why}"]
    left, right, title, note, said = "HEAD~1", "HEAD", "HEAD against its parent", "", []
    if targets.content_of(checkout, parent) == targets.content_of(checkout, head):
        same = "HEAD does not change the package: same build as HEAD~1, equivalent by construction"
        older = _change_before(place, parent)
        if older is None:
            return None, [f"{same}; no earlier commit here changed it either"]
        left, right = f"{older[:10]}~1", older[:10]
        title = f"The newest commit that changed the package ({right}) against its parent"
        note = f"{same}; the newest commit that changed the package is {right}"
        said = [f"{note}, and it is measured against its parent instead"]
    pure = [each.name for each in checkout.variants
            if each.kind == "pure" and each.name in impls]  # fmt: skip
    if pure and len(impls) > 1:
        one, two = (targets.resolve(targets.parse(side), checkout) for side in (left, right))
        if unmeasured.between(one, two, checkout, {"compiled"}).all_of_it:
            impls = pure
    request = replace(_in(impls, base, left, right), title=title)
    return Planned("commits", request, gates=True, note=note), said


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
    keep: Path | None = None, *, everything: bool = False,
) -> int:  # fmt: skip
    """Measure, print the tables, write the results and the page; the exit status.

    Without what draws pages there is none, and a line says so.

    Args:
        base: what is the same of all comparisons; the budget is of all of them together.
        place: the checkout, its suites and its builds.
        reports: folder of the results and the page.
        tell: hears of it.
        out: for the tables.
        keep: where all comparisons go as one document, or None.
        everything: whether the benchmarks that did not move are shown, too.

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
    documents: list[dict[str, Any]] = []
    trouble: list[BenchproofError] = []
    status = NO_REGRESSION
    for item in planned:
        request = replace(
            item.request, budget=base.budget / 2, committed=True, only_changes=True, todays=True
        )  # the usual job has two comparisons
        try:
            outcome = compare(request, place, tell)
        except BenchproofError as error:
            trouble.append(error)
            break
        document = outcome.document | {"gates": item.gates, "note": item.note}
        replace(outcome, document=document).save(latest / f"{item.name}.json")
        documents.append(document)
        table.show(document, out, everything=everything)
        status = gravest(status, exit_status(document))
        if document["partial"]:
            break
    if not documents:
        raise trouble[0]
    try:
        from .render import page  # noqa: PLC0415  (an extra)

        drawn = str(page.write_page(documents, reports / "html"))
    except ModuleNotFoundError as error:
        drawn = f"no page was drawn: {missing(error, 'benchproof run')}"
    for problem in trouble:
        tell_line(out, f"benchproof: {problem}")
        status = gravest(status, problem.exit_status)
    tell_line(out, drawn)
    if keep is not None:
        write_json({"schema": 1, "kind": "run", "exit": status, "comparisons": documents}, keep)
    return status


def exit_status(document: dict[str, Any]) -> int:
    """What a comparison of the job contributes to its exit status.

    One that does not gate (Cython being different from Python is information) can still fail to
    measure: a proof that fails there is as wrong as anywhere.
    """
    if document.get("gates", True):
        return int(document["verdict"]["exit"])
    return BenchproofError.exit_status if is_unmeasured(document) else NO_REGRESSION
