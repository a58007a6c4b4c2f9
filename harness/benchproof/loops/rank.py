"""Many branches, each against the commit where it left the base: what does each of them bring?

Each is counted once and kept, so that a run that was stopped goes on where it was. Those that help
and merge are measured together, too, against the product of what each brings alone.
"""

import hashlib
import itertools
import json
import math
import socket
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchproof import compare, files, provenance, targets, variables
from benchproof.checkout import Place
from benchproof.errors import BenchproofError, BuildError, StoppedError
from benchproof.progress import Teller
from benchproof.results import now

from . import proposal, reach, trial

Impls = Callable[[str, str], tuple[str, ...]]

SCHEMA = 1
#: What a branch is called, the best first, by what its change does (`trial.Decision.kind`).
FINDINGS = {
    "faster": "helps", "mixed": "helps and hurts", "slower": "hurts", "nothing": "does nothing",
    "missed": "not exercised", "other answers": "changes answers", "broken": "breaks a benchmark",
    "unbuilt": "does not build", "": "not decided",
}  # fmt: skip


def rank(
    base: str, branches: Mapping[str, str], request: compare.Request, impls: Impls, place: Place,
    tell: Teller, *, together: bool = True, scheduler: str = "",
) -> dict[str, Any]:  # fmt: skip
    """Measure all branches; the document.

    Args:
        base: where they left from, as written.
        branches: commits by what they are called.
        request: what is the same of all comparisons.
        impls: the variants of a comparison of two commits.
        place: the checkout.
        tell: hears of it.
        together: whether those that help are measured together, too.
        scheduler: address of dask's, whose workers measure a branch each; "": this machine does.

    Raises:
        BenchproofError: the base names nothing, or cannot be measured.
        StoppedError: Ctrl-C; what was measured before is kept.
    """
    checkout = place.checkout
    start = checkout.commit(base)
    rows: list[dict[str, Any]] = [
        {"branch": name, "commit": commit, "base": checkout.merge_base(base, commit),
         "conflicts": []} for name, commit in branches.items()
    ]  # fmt: skip
    measure = _Measure(request, impls, place, tell, scheduler)
    measure.all(rows)
    order = list(FINDINGS)
    rows.sort(key=lambda row: (order.index(row["kind"]), row["ratio"] or math.inf))
    for one, other in itertools.combinations(rows, 2):
        if checkout.merged(one["commit"], other["commit"]) is None:
            one["conflicts"].append(other["branch"])
            other["conflicts"].append(one["branch"])
    helping = [row for row in rows if row["kind"] == "faster"]
    found = None
    if together and len(helping) > 1:
        found = _together(start, helping, measure)
    return {"schema": SCHEMA, "kind": "rank", "created": now(), "base": base, "commit": start,
            "bench": request.bench, "branches": rows, "together": found}  # fmt: skip


@dataclass(frozen=True)
class _Measure:
    """How branches are measured: here, or on a scheduler's workers; each once, and kept."""

    request: compare.Request
    impls: Impls
    place: Place
    tell: Teller
    scheduler: str

    def all(self, rows: Sequence[dict[str, Any]]) -> None:
        """Fill in what is found of branches; keep it unless something outside may be the reason.

        Raises:
            BenchproofError: a base cannot be measured.
            StoppedError: Ctrl-C; what was measured before is kept.
        """
        todo: list[_Todo] = []
        for number, row in enumerate(rows, 1):
            asked = replace(
                self.request, left=row["base"][:12], right=row["commit"][:12], lines=True,
                impls=self.impls(row["base"][:12], row["commit"][:12]),
            )  # fmt: skip
            kept = self.place.cache / "rank" / f"{_key(row, asked, self.place)}.json"
            said = f"{number} of {len(rows)}: {row['branch']}"
            if kept.exists():
                self.tell.line(f"{said}: measured before, taken from the cache")
                row.update(files.read_json(kept))
            else:
                todo.append((row, asked, kept, said))
        answers = self._on_workers(todo) if self.scheduler and todo else self._here(todo)
        try:
            with closing(answers):
                for (row, _, kept, _), found in answers:
                    if found["kind"] not in {"unbuilt", "broken", ""}:
                        files.write_json(found, kept)
                    row.update(found)
        except (KeyboardInterrupt, StoppedError) as error:
            raise StoppedError(
                "stopped: what was measured is kept, and the same command goes on"
            ) from error

    def _here(self, todo: "Sequence[_Todo]") -> "_Answers":
        """Each branch that is to be measured, with what this machine found."""
        for each in todo:
            row, asked, _, said = each
            self.tell.line(said)
            yield each, _measured(row["base"], row["commit"], asked, self.place, self.tell)

    def _on_workers(self, todo: "Sequence[_Todo]") -> "_Answers":
        """The same of workers, a branch each at a time: both of its sides on one machine."""
        from benchproof import fleet  # noqa: PLC0415  (dask is an extra)

        asks = [(row["base"], row["commit"], asked) for row, asked, *_ in todo]
        parcel = fleet.Parcel.of(self.place, (commit for ask in asks for commit in ask[:2]))
        done = fleet.spread(self.scheduler, parcel, _there, asks, self.tell)
        for number, (which, found) in enumerate(done, 1):
            self.tell.line(f"{number} of {len(todo)}: {todo[which][0]['branch']}: "
                           f"{FINDINGS[found['kind']]}, by {found['host']}")  # fmt: skip
            yield todo[which], found


#: A branch, what is asked of it, the file that keeps the answer, and what is said before.
_Todo = tuple[dict[str, Any], compare.Request, Path, str]
_Answers = Generator[tuple[_Todo, dict[str, Any]]]


def _there(key: str, base: str, commit: str, asked: compare.Request) -> dict[str, Any]:
    """On a worker of a fleet: what a change of a commit brings."""
    from benchproof import fleet  # noqa: PLC0415  (as above)

    found = _measured(base, commit, asked, fleet.here(key), Teller())
    return found | {"host": socket.gethostname()}


def _measured(
    base: str, commit: str, asked: compare.Request, place: Place, tell: Teller
) -> dict[str, Any]:
    """What a change of a commit brings."""
    try:
        outcome, decision = trial.measure(asked, place, tell)
    except BuildError as error:
        if not str(error).startswith(commit[:12]):
            raise
        tell.line(str(error))
        return _row(trial.Decision("discard", "its build ends with an error", "unbuilt"))
    if outcome is None:
        return _row(decision)
    cases = trial.numbers(outcome.document, decision)
    found = _row(decision) | {"ratio": trial.ratio(cases), "cases": cases}
    if cases:
        reached = reach.look(base, commit, [lane.lines for lane in outcome.lanes], place.checkout)
        found["reach"] = reached._asdict()
        if decision.kind == "nothing" and reached.none:
            found |= {"kind": "missed", "why": "no benchmark runs what it changes in "
                      f"{', '.join(reached.missed)}"}  # fmt: skip
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def _row(decision: trial.Decision) -> dict[str, Any]:
    """What is known of a branch without numbers."""
    return {"kind": decision.kind, "why": decision.why, "ratio": None, "cases": [], "reach": None}


def _key(row: Mapping[str, Any], asked: compare.Request, place: Place) -> str:
    """The name of a result in the cache: of all that can change it."""
    checkout = place.checkout
    folder = place.suites if place.suites.is_dir() else place.suites.parent
    suites = [(each.relative_to(folder).as_posix(), each.read_text(encoding="utf-8"))
              for each in sorted(folder.rglob("*.py"))]  # fmt: skip
    parts = [
        SCHEMA, row["base"], row["commit"], asdict(asked), suites, str(place.suites),
        checkout.working((targets.PROJECT,)), variables.deciding(checkout.build_variables),
        provenance.gather(place.toolchain) | {"load": 0}, provenance.own_version(),
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


def _together(
    start: str, helping: Sequence[dict[str, Any]], measure: _Measure
) -> dict[str, Any] | None:
    """Those that help, merged in their order as far as they merge, against the product of each."""
    tip, taken, left_out, checkout = start, [], [], measure.place.checkout
    for each in helping:
        tree = checkout.merged(tip, each["commit"])
        if tree is None:
            left_out.append(each["branch"])
            continue
        taken.append(each)
        tip = proposal.hold(tree, (tip, each["commit"]), f"with {each['branch']}", checkout)
    if len(taken) < 2:
        return None
    names = [each["branch"] for each in taken]
    tree = checkout.ask("rev-parse", f"{tip}^{{tree}}")
    about = {"branches": names, "left_out": left_out, "tree": tree}
    row: dict[str, Any] = {"branch": f"together, {', '.join(names)}", "base": start, "commit": tip}
    try:
        measure.all([row])
    except StoppedError:
        raise
    except BenchproofError as error:
        return about | _row(trial.Decision("discard", str(error).splitlines()[0]))
    for case in row["cases"]:
        alone = [each["ratio"] for other in taken for each in other["cases"]
                 if each["name"] == case["name"]]  # fmt: skip
        case["expected"] = math.prod(alone) if all(alone) else None
    return row | about
