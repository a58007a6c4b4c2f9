"""One turn of an optimisation loop: is a change right, what does it bring, is it to be kept?

Build, tests, answers, speed: the first of them that says no decides, and nothing after it is paid
for. What was decided is a line of a log, found again by what was changed.
"""

import math
import os
import re
import shutil
import subprocess
import sysconfig
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal

from benchproof import (
    builds,
    compare,
    dependencies,
    errors,
    files,
    settings,
    variants,
    verdict,
)
from benchproof.build import Built
from benchproof.checkout import Checkout, Place
from benchproof.errors import BenchproofError, BuildError, StoppedError, WorkerError, counted, few
from benchproof.gate.report import words
from benchproof.judge import DIFFERENT
from benchproof.meters import SPEAKING
from benchproof.package import RECORD
from benchproof.processes import Crew
from benchproof.progress import Teller
from benchproof.render import units
from benchproof.results import now

from .proposal import Proposal, judges

Word = Literal["keep", "discard", "undecided", "could not measure"]
EXITS: Mapping[Word, int] = {
    "keep": errors.NO_REGRESSION, "discard": errors.REGRESSION, "undecided": errors.CANNOT_DECIDE,
    "could not measure": errors.COULD_NOT_MEASURE,
}  # fmt: skip
#: Name of the log in the cache, and the version of its lines.
LOG, SCHEMA = "tried.jsonl", 1
#: Why there was nothing to measure.
NOT_BUILT = "it changes nothing that is built"
#: Exit statuses of a shell that could not start a command.
_NOT_STARTED = (126, 127)
#: Lines of a failed test run that are shown.
_LAST_LINES = 8


@dataclass(frozen=True)
class Decision:
    """What becomes of a change, and why.

    Attributes:
        word: what is done with it.
        why: in a sentence.
        kind: what the change does: faster, mixed, slower, nothing, other answers, broken; "" where
            that is not known.
    """

    word: Word
    why: str
    kind: str = ""


def run(
    request: compare.Request, change: Proposal, place: Place, tell: Teller, *,
    test: str, seconds: float, log: Path,
) -> dict[str, Any]:  # fmt: skip
    """Try a change; what the log keeps of it, and ``comparison`` if it came to one.

    Args:
        request: of the comparison; its sides are the change's.
        change: what is tried.
        place: the checkout.
        tell: hears of it.
        test: command of the tests; "" for what the project set.
        seconds: that the tests may take.
        log: file of what was tried.

    Raises:
        BenchproofError: the base does not build, or the question cannot be meant.
        StoppedError: Ctrl-C.
    """
    started = time.monotonic()
    command = test or settings.load(place.checkout.root).test
    decision = _checked(request.impls, command, seconds, change, place, tell)
    document = None
    if decision is None:
        outcome, decision = measure(request, place, tell)
        document = outcome.document if outcome else None
    cases = numbers(document, decision)
    record = {
        "schema": SCHEMA, "key": change.key, "when": now(), "change": change.words,
        "base": change.base, "commit": change.commit, "files": list(change.files),
        "decision": decision.word, "why": decision.why, "test": command or None,
        "bench": request.bench, "ratio": ratio(cases),
        # One that was counted once is sure.
        "confidence": min((1.0 if each["confidence"] is None else each["confidence"]
                           for each in cases), default=None),
        "seconds": round(time.monotonic() - started, 1), "cases": cases,
    }  # fmt: skip
    files.append_line(record, log)
    return record | ({"comparison": document} if document else {})


def _checked(
    impls: Sequence[str], command: str, seconds: float, change: Proposal, place: Place,
    tell: Teller,
) -> Decision | None:  # fmt: skip
    """Build and test; a decision where that settles it."""
    mark = f"@impl:{impls[0]}" if impls and impls[0] else ""
    with Crew() as crew:
        try:
            built = builds.one(change.commit[:12] + mark, place, crew, tell)
        except BuildError as error:
            tell.line(str(error))
            return Decision("discard", "it does not build")
        if not command:
            tell.line('no tests were run: --test, or test = "..." of [tool.benchproof], names them')
            return None
        tell.stage(f"running the tests: {command}")
        said = _tested(command, change.commit, built, place, seconds)
        if said is None:
            return None
        for line in said:
            tell.line(f"  {line}")
        tell.stage("running the tests of the base, too")
        base = builds.one(change.base[:12] + mark, place, crew, tell)
        if _tested(command, change.base, base, place, seconds) is not None:
            return Decision("could not measure", "the tests fail at the base, too")
    return Decision("discard", f"the tests fail: {said[-1] if said else command}")


def _tested(
    command: str, commit: str, built: Built, place: Place, seconds: float
) -> tuple[str, ...] | None:
    """Run the tests of a commit: what they said last where they failed, None where they passed.

    They run in a copy of its tree, with what was built beside it: nothing of the user's is read.

    Args:
        command: as a shell reads it.
        commit: whose tests they are.
        built: the same commit.
        place: the checkout.
        seconds: after which they are ended, and have failed.

    Raises:
        BenchproofError: the command cannot be started.
    """
    with Crew() as crew:
        tree = crew.scratch / "tree"
        place.checkout.export(commit, tree)
        above = tree / Path(place.checkout.package).parent
        _add_built(Path(built.folder), above)
        env = variants.environment(built.variant, os.environ)
        paths = (str(above), dependencies.site_packages(built.packages))
        programs = (sysconfig.get_path("scripts"), env.get("PATH", ""))
        child = crew.start(
            ["/bin/sh", "-c", command], log=crew.scratch / "tests.log", cwd=tree,
            env=env | {"PYTHONPATH": os.pathsep.join(paths), "PATH": os.pathsep.join(programs)},
        )  # fmt: skip
        try:
            child.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return (f"they took more than {seconds:.0f} s",)
        ended = crew.wait(child)
        said = tuple(ended.last_lines(_LAST_LINES))
        if ended.status in _NOT_STARTED:
            raise BenchproofError(
                f"the tests cannot be run: {said[-1] if said else command}; --test names "
                "another command"
            )
        return said if ended.status else None


def _add_built(side: Path, above: Path) -> None:
    """Put what only a build makes (compiled modules, generated files) beside the sources."""
    for file in side.rglob("*"):
        inner = file.relative_to(side)
        about = inner.parts[0].endswith((".dist-info", ".whl")) or inner.parts[0] == RECORD
        if file.is_file() and not about and file.suffix != ".pyc":
            copy = above / inner
            if not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, copy)


def measure(
    request: compare.Request, place: Place, tell: Teller
) -> tuple[compare.Outcome | None, Decision]:
    """Compare both sides and decide; no outcome where the right side does not run at all.

    Raises:
        BenchproofError: the left side does not build or run, or the question cannot be meant.
        StoppedError: Ctrl-C.
    """
    try:
        outcome = compare.compare(request, place, tell)
    except WorkerError as error:
        words = str(error).splitlines()[0]
        if not words.startswith("the right side"):
            raise
        return None, Decision("discard", words, "broken")
    if outcome.document["partial"]:
        raise StoppedError("stopped: nothing is decided, and nothing is kept of it")
    return outcome, decide(outcome.document)


def decide(document: Mapping[str, Any]) -> Decision:
    """Keep what is right, faster somewhere and slower nowhere."""
    cases, said = document["cases"], document["verdict"]
    if refused := _wrong(cases) or _slower(document):
        return refused
    good = gains(document)
    if good:
        price = told_of(words.moved(document), worse=True) or "none"
        return Decision("keep", f"faster: {told_of(good, worse=False)}; price: {price}", "faster")
    # No change can be blamed for what does not run without it either.
    failed = [row for row in cases if row["status"] not in {"measured", "not applicable"}]
    lost = [row for row in failed if row["why"].startswith("left: ")]
    measured = [row for row in cases if row["status"] == "measured"]
    known = measured and failed and failed == lost and not document["trouble"]
    if said["exit"] == errors.COULD_NOT_MEASURE and not known:
        return Decision("could not measure", said["summary"])
    # Memory that scatters from process to process is never decided.
    unsure = [
        row for row in cases if row["verdict"] == "undecided" and "undecided" in
        {about["verdict"] for meter, about in row["meters"].items() if meter in verdict.COST}
    ]  # fmt: skip
    if unsure:
        return Decision("undecided", f"{_names(unsure)}: --budget gives more time")
    why = f"no difference in {counted(len(measured), 'benchmark')}" if cases else NOT_BUILT
    if lost:
        why += f"; {len(lost)} failing on the base: {_names(lost)}"
    return Decision("discard", why, "nothing")


def numbers(document: Mapping[str, Any] | None, decision: Decision) -> list[dict[str, Any]]:
    """What is kept of each case with numbers; nothing where those are of different work.

    A case is told by the meter that decided it, else by instructions, else by its first one.
    """
    if document is None or decision.kind in {"other answers", "broken"}:
        return []
    found = []
    for row in filter(itemgetter("meters"), document["cases"]):
        moved = words.deciding(row) if row["verdict"] in verdict.MOVED else None
        meter = moved or next(name for name in SPEAKING if name in row["meters"])
        about = row["meters"][meter]
        kept = {key: about[key] for key in ("left", "right", "ratio", "low", "high", "confidence")}
        found.append({"name": words.named(row), "verdict": row["verdict"], "meter": meter, **kept})
    return found


def ratio(cases: Sequence[Mapping[str, Any]]) -> float | None:
    """The geometric mean of all cases that have one, as `numbers` gives them; None without any."""
    found = [each["ratio"] for each in cases if each["verdict"] != "changed"]
    return units.geometric_mean([each for each in found if each])


def _wrong(cases: Sequence[Mapping[str, Any]]) -> Decision | None:
    """A decision where answers differ, or a benchmark runs on the left side alone."""
    wrong = [row for row in cases
             if row["status"] == "different answers" or DIFFERENT in row["note"]]  # fmt: skip
    if wrong:
        return Decision("discard", f"other answers: {_names(wrong)}", "other answers")
    broken = [row for row in cases if row["why"].startswith("right: ")]
    if broken:
        why = broken[0]["why"].removeprefix("right: ")
        return Decision("discard", f"{_names(broken)}: {why}", "broken")
    return None


def _slower(document: Mapping[str, Any]) -> Decision | None:
    """A decision where a benchmark, or a suite as a whole, got worse."""
    if not any(words.fails(document, row) for row in (*document["cases"], *document["suites"])):
        return None
    whole = [words.as_a_whole(row) for row in words.moved_suites(document)
             if words.fails(document, row)]  # fmt: skip
    price = told_of(words.moved(document), worse=True) or "; ".join(whole)
    gain = told_of(gains(document), worse=False)
    why = f"slower: {price}" + f"; faster: {gain}" * bool(gain)
    return Decision("discard", why, "mixed" if gain else "slower")


def gains(document: Mapping[str, Any]) -> list[words.Moved]:
    """The cases that got better, also those that paid for it in memory."""
    return [each for each in words.moved(document) if each.kind in {"improved", "trade-off"}]


def _names(rows: Sequence[Mapping[str, Any]]) -> str:
    """A few names of cases."""
    return few([words.named(row) for row in rows])


def told_of(moved: Sequence[words.Moved], *, worse: bool) -> str:
    """Those with a meter that went one way, and by how much, in a few words."""
    found = []
    for case in moved:
        for meter, about in case.meters.items():
            if (about["verdict"] == "regressed") == worse:
                by = f"{words.label(meter)} {units.change(about['ratio'])}"
                found.append(f"{words.named(case.row)} {by}")
                break
    return few(found)


def metrics(record: Mapping[str, Any]) -> Iterator[str]:
    """Lines for what drives a loop: ``METRIC name=value``, less is better but for confidence."""
    if record["ratio"] is None:
        return
    yield f"METRIC ratio={record['ratio']:.6g}"
    yield f"METRIC confidence={record['confidence']:g}"
    for each in record["cases"]:
        if math.isfinite(each["right"]):
            name = re.sub(r"\W+", "_", f"{each['name']}_{each['meter']}")
            yield f"METRIC {name}={each['right']:.9g}"


def tried(log: Path, key: str) -> list[dict[str, Any]]:
    """The lines of the log about a change, the oldest first.

    Raises:
        BenchproofError: it cannot be read.
    """
    try:
        return [each for each in files.read_lines(log, "strict") if each.get("key") == key]
    except (OSError, UnicodeDecodeError) as error:
        raise BenchproofError(f"{log}: no log of benchproof try: {error}") from error


def remember(change: Proposal, log: Path, checkout: Checkout, tell: Teller) -> None:
    """Say what became of the same change before, and which of its files decide about changes."""
    for each in tried(log, change.key):
        same = "" if each.get("base") == change.base else f" (against {str(each.get('base'))[:10]})"
        tell.line(f"tried before, {each.get('when')}{same}: {each.get('decision')}: "
                  f"{each.get('why')}")  # fmt: skip
    own = judges(change, checkout.suites)
    if own:
        tell.line(f"it also changes what judges it: {few(own)}")
