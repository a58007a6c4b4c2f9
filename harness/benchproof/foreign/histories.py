"""What other tools measured, a commit a file, as a history: asv's files, as `history` writes them.

Charts, change points and culprits are of such a folder, whoever measured it.
"""

import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyperf

from benchproof import files
from benchproof.checkout import Checkout
from benchproof.errors import BenchproofError
from benchproof.history import running, writing
from benchproof.history.writing import Value

from . import formats
from .readings import Reading

#: At the end of a file's name: ``2026-01-31-main-d7ac34d5f4a7.json.gz``.
_HASH = re.compile(r"(?<![0-9a-z])([0-9a-f]{7,40})(?:\.[a-z]\w*)*$")
_PREFIX = re.compile(r"(time_|timeraw_|Time|TimeRaw|Benchmark)(?=\w)")
_METERS = ("wall", "allocations", "bytes")


def keep(
    tool: str, runs: Iterable[tuple[Path, Sequence[Reading]]], folder: Path, checkout: Checkout
) -> dict[str, Any]:
    """Write runs of commits into a folder of results; what it has of others stays.

    Args:
        tool: go, pyperf or asv.
        runs: files, and what each measured.
        folder: of asv's results; made if it is not there.
        checkout: the repository of the commits.

    Returns:
        ``commits`` that have numbers now, how many ``numbers`` all of them have, and what is
        ``left_out``, by name with the reason.

    Raises:
        BenchproofError: a file does not say of which commit it is, or the repository lacks it.
    """
    labels: dict[str, str] = {}
    left_out: dict[str, str] = {}
    found: dict[tuple[str, str], dict[tuple[str, str], list[float]]] = {}
    for file, readings in runs:
        commit = _commit(file, tool, checkout)
        for each in readings:
            name, label = _named(each, tool)
            if each.meter not in _METERS:
                left_out[label] = f"a history has no meter for {each.unit}"
                continue
            labels[name] = label
            values = found.setdefault((commit, each.host), defaultdict(list))[name, each.meter]
            values += each.values if tool == "asv" else [statistics.fmean(each.values)]
    numbers = 0
    for (commit, host), values_of in found.items():
        about = _machine(host)
        rows = {
            writing.stored(name, meter): (
                writing.version("1", meter),
                running.summary(each) if meter == "wall" else Value(statistics.median(each)),
            )
            for (name, meter), each in values_of.items()
        }
        environment = writing.Environment(f"benchproof-{tool}", {writing.VARIANT: tool})
        writing.write(folder, about, (commit, checkout.date(commit)), environment, rows)
        numbers += len(rows)
    if not numbers:
        raise BenchproofError(f"the files of {tool} hold no time")
    writing.describe(folder, [
        writing.timed_entry(name, label, "1", f"# {label}")
        for name, label in sorted(labels.items())
    ])  # fmt: skip
    commits = sorted({commit for commit, _ in found})
    return {"commits": commits, "numbers": numbers, "left_out": left_out}


def _commit(file: Path, tool: str, checkout: Checkout) -> str:
    """The commit that a file is of: as it says itself, else as its name ends.

    Raises:
        BenchproofError: it does not say, or the repository does not have that commit.
    """
    if tool == "asv":
        said = files.read_json(file).get("commit_hash")
    elif tool == "pyperf":
        said = pyperf.BenchmarkSuite.load(str(file)).get_metadata().get("commit_id")
    else:
        said = formats.go_commit(file)
    named = _HASH.search(file.name)
    commit = said or (named[1] if named else None)
    if not commit:
        raise BenchproofError(
            f"{file} does not say of which commit it is: let its name end with the commit's hash, "
            f"as in main-d7ac34d5f4a7{file.suffix}"
        )
    return checkout.commit(str(commit))


def _named(each: Reading, tool: str) -> tuple[str, str]:
    """The name of a benchmark in asv's files, where it is a timed function's; and its own."""
    suite, dots, name = each.benchmark.rpartition("::" if tool == "go" else ".")
    if not dots:
        suite = tool
    case = (_PREFIX.sub("", name, count=1) + each.params).replace(".", "_")
    return f"{suite.replace('.', '_')}.time_{case}", each.benchmark + each.params


def _machine(host: str) -> dict[str, str]:
    """The machine as asv describes one, as far as it is known."""
    name = re.sub(r"[^\w.+-]+", "-", host).strip("-.").lower()
    return {"machine": name, "cpu": host, "arch": "", "num_cpu": "", "os": "", "ram": ""}
