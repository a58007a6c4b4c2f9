"""Which commits the other tools get, what is kept of them, and what they said."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

from benchproof import results
from calibration import aa, inject
from calibration.others import bare, by_asv, by_pyperf

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from calibration.command import Calibration

#: What a target and an implementation are together.
Measured = tuple[str, str]
#: Of the targets of a commit, how many pyperf gets: each takes it more than a minute.
PYPERF_TARGETS = 2
#: Targets of a commit in which nothing changed.
AA_TARGETS = 8


@dataclass(frozen=True)
class Item:
    """A commit for the other tools.

    Attributes:
        tool: which.
        kind: injected, same or neutral.
        number: of the repetition.
        base: the commit on the left.
        commit: the commit on the right; empty for one that is made when its turn comes.
        sizes: by implementation and target, the injected slow-down; 0 for none.
    """

    tool: str
    kind: str
    number: int
    base: str
    commit: str
    sizes: dict[Measured, float]

    @property
    def key(self) -> tuple[str, str, int, str]:
        """What makes it the same work in another run."""
        return self.tool, self.kind, self.number, self.base


#: Who gives the verdicts of a row: by the row's rule, the verdict.
RULES: Mapping[str, Callable[[Mapping[str, Any]], dict[str, str]]] = {
    "bare": lambda row: bare.says(dict(row)),
    "asv": lambda row: {f"factor {factor}": said for factor, said in row["said"].items()},
    "pyperf": lambda row: {
        "significant" if speed == "0" else f"significant and {speed} %": said
        for speed, said in row["said"].items()
    },
}
SETTINGS = {"bare": bare.SETTINGS, "asv": by_asv.SETTINGS, "pyperf": by_pyperf.SETTINGS}


def run(calibration: Calibration) -> None:
    """Let the tools measure what they have not measured yet, all of them in turns."""
    kept = calibration.kept("others")
    done = {(row["tool"], row["kind"], row["number"], row["base"]) for row in kept.rows()}
    every = items(calibration)
    todo = [item for item in every if item.key not in done]
    for item in calibration.clock.steps("commit by other tools", todo, len(every) - len(todo)):
        started = time.time()
        item = made(calibration, item)  # noqa: PLW2901  (the same one, with its commit)
        rows = measure(calibration, item)
        for row in rows:
            row["size"] = item.sizes[row["impl"], row["target"]]
        kept.add(calibration.stamp | {
            "tool": item.tool, "kind": item.kind, "number": item.number, "base": item.base,
            "commit": item.commit, "at": results.now(),
            "seconds": round(time.time() - started, 1), "settings": SETTINGS[item.tool],
            "rows": rows,
        })  # fmt: skip
    kept.pack()


def items(calibration: Calibration) -> list[Item]:
    """Everything that there is to measure, tools and kinds in turns."""
    runs, clone, seed = calibration.runs("others"), calibration.clone, calibration.asked.seed
    injected = [row for row in calibration.kept("injected").rows() if row["base"] == clone.base]
    found = []
    for number, row in enumerate(injected[:runs]):
        sizes = {
            (each["impl"], each["target"]): each["size"]
            for each in row["found"] if each["impl"] in calibration.impls
        }  # fmt: skip
        commit = inject.there(row, clone, calibration.asked.sites)
        found += _for_tools(calibration, "injected", number, commit, sizes)
    pairs = sorted({
        (str(impl), target)
        for site in calibration.asked.sites for target, _ in site.targets
        for impl in site.impls if impl in calibration.impls
    })  # fmt: skip
    for number in range(runs):
        rng = Random(f"{seed} {number} others")
        chosen = dict.fromkeys(rng.sample(pairs, min(AA_TARGETS, len(pairs))), 0.0)
        for kind in ("same", "neutral"):
            found += _for_tools(calibration, kind, number, "", chosen)
    order = {"injected": 0, "same": 1, "neutral": 2}
    return sorted(found, key=lambda each: (each.number, order[each.kind], each.tool))


def made(calibration: Calibration, item: Item) -> Item:
    """An item with its commit."""
    if item.commit:
        return item
    seed, clone = calibration.asked.seed, calibration.clone
    if item.kind == "neutral":
        return replace(item, commit=aa.neutral_commit(item.number, clone, seed)[0])
    # asv needs two commits even where nothing changed; the wheel is the same one.
    return replace(item, commit=clone.commit({}, f"Nothing at all, {seed}.{item.number}"))


def _for_tools(
    calibration: Calibration, kind: str, number: int, commit: str, sizes: dict[Measured, float]
) -> list[Item]:
    """One commit for each tool that was asked for."""
    found = []
    for tool in calibration.asked.tools:
        chosen = dict(sizes)
        if tool == "pyperf":
            rng = Random(f"{kind} {number} pyperf")
            names = rng.sample(sorted(sizes), min(PYPERF_TARGETS, len(sizes)))
            chosen = {name: sizes[name] for name in names}
        if chosen:
            found.append(Item(tool, kind, number, calibration.clone.base, commit, chosen))
    return found


def measure(calibration: Calibration, item: Item) -> list[dict[str, Any]]:
    """Let one tool measure one commit; a row for each target and implementation."""
    scene = calibration.scene
    if item.tool == "asv":
        names = sorted({target for _, target in item.sizes})
        rows = by_asv.measure(scene, (item.base, item.commit), names)
        return [row for row in rows if (row["impl"], row["target"]) in item.sizes]
    tool = bare.measure if item.tool == "bare" else by_pyperf.measure
    rows = []
    for impl in sorted({impl for impl, _ in item.sizes}):
        names = sorted(target for each, target in item.sizes if each == impl)
        rows += tool(scene, (item.base, item.commit, impl), names)
    return rows


def verdicts(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """By kept row and rule, what the tool said of each target."""
    return [
        {"tool": row["tool"], "rule": rule, "kind": row["kind"], "number": row["number"],
         "base": row["base"], "size": each["size"], "verdict": verdict,
         "target": each["target"], "impl": each["impl"]}
        for row in rows for each in row["rows"]
        for rule, verdict in RULES[row["tool"]](each).items()
    ]  # fmt: skip
