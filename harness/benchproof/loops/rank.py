"""Many branches, each against the commit where it left the base: what does each of them bring?

Each is counted once and kept, so that a run that was stopped goes on where it was. Those that help
and merge are measured together, too, against the product of what each brings alone.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from benchproof import compare, files, provenance, targets
from benchproof.errors import BenchproofError, BuildError, StoppedError
from benchproof.results import now

from . import proposal, reach, trial

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchproof.place import Place
    from benchproof.progress import Teller

    Impls = Callable[[str, str], tuple[str, ...]]

SCHEMA = 1
#: What a branch is called, the best first, by what its change does (`trial.Decision.kind`).
FINDINGS = {
    "faster": "helps", "mixed": "helps and hurts", "slower": "hurts", "nothing": "does nothing",
    "missed": "not exercised", "other answers": "changes answers", "broken": "breaks a benchmark",
    "unbuilt": "does not build", "": "not decided",
}  # fmt: skip


def rank(
    base: str, branches: Sequence[str], request: compare.Request, impls: Impls, place: Place,
    tell: Teller, *, together: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """Measure all branches; the document.

    Args:
        base: where they left from, as written.
        branches: as written.
        request: what is the same of all comparisons.
        impls: the variants of a comparison of two commits.
        place: the checkout.
        tell: hears of it.
        together: whether those that help are measured together, too.

    Raises:
        BenchproofError: a branch names nothing, or the base cannot be measured.
        StoppedError: Ctrl-C; what was measured before is kept.
    """
    checkout = place.checkout
    start = checkout.commit(base)
    rows: list[dict[str, Any]] = [
        {
            "branch": name,
            "commit": checkout.commit(name),
            "base": checkout.merge_base(base, name),
            "conflicts": [],
        }
        for name in dict.fromkeys(branches)
    ]
    for number, row in enumerate(rows, 1):
        tell.line(f"{number} of {len(rows)}: {row['branch']}")
        try:
            row.update(_measured(row["base"], row["commit"], request, impls, place, tell))
        except StoppedError as error:
            words = f"stopped at {row['branch']}: the same command goes on from there"
            raise StoppedError(words) from error
    order = list(FINDINGS)
    rows.sort(key=lambda row: (order.index(row["kind"]), row["ratio"] or math.inf))
    for one, other in itertools.combinations(rows, 2):
        if checkout.merged(one["commit"], other["commit"]) is None:
            one["conflicts"].append(other["branch"])
            other["conflicts"].append(one["branch"])
    helping = [row for row in rows if row["kind"] == "faster"]
    found = None
    if together and len(helping) > 1:
        found = _together(start, helping, request, impls, place, tell)
    return {"schema": SCHEMA, "kind": "rank", "created": now(), "base": base, "commit": start,
            "bench": request.bench, "branches": rows, "together": found}  # fmt: skip


def _measured(
    base: str, commit: str, request: compare.Request, impls: Impls, place: Place, tell: Teller
) -> dict[str, Any]:
    """What a change of a commit brings, measured now or before."""
    kept = place.cache / "rank" / f"{_key(base, commit, request, place)}.json"
    if kept.exists():
        tell.line("measured before, taken from the cache")
        found: dict[str, Any] = files.read_json(kept)
        return found
    asked = replace(
        request, left=base[:12], right=commit[:12], impls=impls(base[:12], commit[:12]), lines=True
    )
    try:
        outcome, decision = trial.measure(asked, place, tell)
    except BuildError as error:
        if not str(error).startswith(commit[:12]):
            raise
        tell.line(str(error))
        return _row(trial.Decision("discard", "its build ends with an error", "unbuilt"))
    if outcome is None:
        return _row(decision)
    measured = trial.compared(outcome.document, decision)
    found = _row(decision) | {
        "ratio": trial.ratio(measured), "cases": [trial.case_of(row) for row in measured],
    }  # fmt: skip
    if measured:
        ran: dict[str, dict[str, set[int]]] = {}
        for lane in outcome.lanes:
            for side, lines in lane.lines.items():
                for file, numbers in lines.items():
                    ran.setdefault(side, {}).setdefault(file, set()).update(numbers)
        reached = reach.look(base, commit, ran, place.checkout)
        found["reach"] = reached._asdict()
        if decision.kind == "nothing" and reached.none:
            found |= {"kind": "missed", "why": "no benchmark runs what it changes in "
                      f"{', '.join(reached.missed)}"}  # fmt: skip
    files.write_json(found, kept)
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def _row(decision: trial.Decision) -> dict[str, Any]:
    """What is known of a branch without numbers."""
    return {"kind": decision.kind, "why": decision.why, "ratio": None, "cases": [], "reach": None}


def _key(base: str, commit: str, request: compare.Request, place: Place) -> str:
    """The name of a result in the cache: of all that can change it."""
    checkout = place.checkout
    suites = checkout.working((checkout.suites,)) if checkout.suites else {}
    parts = [
        SCHEMA, base, commit, asdict(request), suites, str(place.suites),
        checkout.working((targets.PROJECT,)), provenance.gather(place.toolchain) | {"load": 0},
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


def _together(
    start: str, helping: Sequence[dict[str, Any]], request: compare.Request, impls: Impls,
    place: Place, tell: Teller,
) -> dict[str, Any] | None:  # fmt: skip
    """Those that help, merged in their order as far as they merge, against the product of each."""
    tip, taken, left_out = start, [], []
    for row in helping:
        tree = place.checkout.merged(tip, row["commit"])
        if tree is None:
            left_out.append(row["branch"])
            continue
        taken.append(row)
        tip = proposal.hold(tree, (tip, row["commit"]), f"with {row['branch']}", place.checkout)
    if len(taken) < 2:
        return None
    tell.line(f"together: {', '.join(row['branch'] for row in taken)}")
    tree = place.checkout.ask("rev-parse", f"{tip}^{{tree}}")
    about = {"branches": [row["branch"] for row in taken], "left_out": left_out, "tree": tree}
    try:
        found = _measured(start, tip, request, impls, place, tell)
    except BenchproofError as error:
        if isinstance(error, StoppedError):
            raise
        return about | _row(trial.Decision("discard", str(error).splitlines()[0]))
    for case in found["cases"]:
        alone = [each["ratio"] for row in taken for each in row["cases"]
                 if each["name"] == case["name"]]  # fmt: skip
        case["expected"] = math.prod(alone) if all(alone) else None
    return about | found
