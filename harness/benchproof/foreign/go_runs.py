"""Go benchmarks of two sides: both test binaries built first, then run in turn, a process a run."""

import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchproof import files, placement, plan
from benchproof.checkout import Checkout
from benchproof.collected import Samples
from benchproof.errors import BuildError, TargetError, WorkerError
from benchproof.processes import Crew
from benchproof.progress import Teller
from benchproof.targets import WORKING_TREE

from . import formats, readings

#: Of each process, how long Go lets a benchmark run: more processes say more than longer ones.
BENCHTIME = "100ms"
#: Runs of a side: no fewer whatever the budget is, and no more.
FEWEST, MOST = 6, 40
_LINES = 12


@dataclass(frozen=True)
class _Side:
    """A side that is built.

    Attributes:
        commit: its hash; None for the working tree.
        binary: of its tests.
        folder: of the package, which tests run in.
        log: what it printed.
    """

    commit: str | None
    binary: Path
    folder: Path
    log: Path


def compare(
    package: str, sides: Mapping[plan.SideName, str], bench: str, budget: float, seed: int,
    checkout: Checkout, tell: Teller,
) -> Samples:  # fmt: skip
    """Build and run both sides of a package.

    Args:
        package: as Go names it, ``./pkg``.
        sides: a commit or ``.``, as written.
        bench: a regular expression of Go's; "" for all.
        budget: seconds.
        seed: of the order of sides.
        checkout: that holds both.
        tell: hears of it.

    Raises:
        BenchproofError: a side names nothing, does not build, or its benchmarks fail.
    """
    with files.scratch() as scratch, Crew() as crew:
        built = {side: _build(package, text, scratch / side, checkout, crew, tell)
                 for side, text in sides.items()}  # fmt: skip
        deadline, spent = time.monotonic() + budget, 0.0
        for block in plan.blocks(seed):
            if block.index >= MOST or (
                block.index >= FEWEST and time.monotonic() + spent > deadline
            ):
                break
            tell.stage(f"running the benchmarks of both sides, {block.index + 1}")
            started = time.monotonic()
            placement.renew(each.binary for each in built.values())
            for side in block.sides:
                _run(built[side], bench, crew)
            spent = time.monotonic() - started
        named = {side: [built[side].log] for side in plan.SIDES}
        read = {side: formats.read("go", named[side]) for side in plan.SIDES}
        samples = readings.samples(read, named, "go")
    for side, text in sides.items():
        commit = built[side].commit
        about: dict[str, Any] = {"spec": text, "commit": commit, "description": "working tree"}
        if commit:
            about["description"] = f"{commit[:10]} {checkout.subject(commit)}"
            about["content"] = commit  # what was printed is another text in each run
        samples.variants[0].sides[side] |= about  # which the document's own sides are
    samples.about["title"] = f"{sides['left']} against {sides['right']}"
    return samples


def _build(
    package: str, text: str, scratch: Path, checkout: Checkout, crew: Crew, tell: Teller
) -> _Side:
    """A side's test binary.

    Raises:
        BuildError: it does not build, or there is no Go.
    """
    scratch.mkdir()
    commit = None if text == WORKING_TREE else checkout.commit(text)
    tree = checkout.root
    if commit:
        tree = scratch / "tree"
        checkout.export(commit, tree)
    tell.stage(f"building the tests of {package} at {text}")
    binary = scratch / "package.test"
    try:
        listed = subprocess.run(  # noqa: S603  (our own command line, no shell)
            ["go", "list", "-f", "{{.Dir}}", "--", package],  # noqa: S607  (found as people do)
            cwd=tree, capture_output=True, text=True, check=False,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise BuildError("go is not installed, and --go needs it") from error
    folders = listed.stdout.splitlines()
    if listed.returncode or len(folders) != 1:
        why = listed.stderr.strip() or f"it names {len(folders)} packages, and one is measured"
        raise TargetError(f"--go {package} at {text}: {why}")
    folder = Path(folders[0])
    log = scratch / "build.log"
    child = crew.start(["go", "test", "-c", "-o", str(binary), "."], log=log, cwd=folder)
    ended = crew.wait(child)
    if ended.status or not binary.exists():
        words = f"{package} at {text} has no tests, or they do not build:"
        raise BuildError("\n  ".join([words, *ended.last_lines(_LINES)]))
    return _Side(commit, binary, folder, scratch / "runs.txt")


def _run(side: _Side, bench: str, crew: Crew) -> None:
    """One process of a side, whose output is added to its log.

    Raises:
        WorkerError: a benchmark fails.
    """
    log = side.binary.with_name("run.log")
    command = [str(side.binary), "-test.run=^$", f"-test.bench={bench or '.'}", "-test.benchmem",
               f"-test.benchtime={BENCHTIME}", "-test.timeout=10m"]  # fmt: skip
    ended = crew.wait(crew.start(command, log=log, cwd=side.folder))
    if ended.status:
        words = f"the benchmarks of {side.commit or 'the working tree'} fail:"
        raise WorkerError("\n  ".join([words, *ended.last_lines(_LINES)]))
    with side.log.open("ab") as kept:
        kept.write(log.read_bytes())
