"""Instructions a call, counted by valgrind's callgrind without a compiled helper.

Callgrind zeroes its counters when the C function `getppid` is entered and dumps them when
`getpgrp` is (`--zero-before`, `--dump-before`); Python's `os` calls both directly. One process
counts all cases of a side. The hash seed is fixed, addresses are not randomised where the machine
lets us, the collector is off.

Calls of allocators and look-ups in the method cache have fixed prices (`priced`): what they really
cost depends on where things happen to lie, and any edit anywhere moves that. What is left is the
same in each of a few rounds but for single events (a table that grows), so the least counts.

Of a dump's two figures `summary` is the cost since the zeroing; `totals` also holds what was
still open on the call stack before it.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from . import callgrind, priced
from .counts import Counts, counts_for, fresh_loop, nothing, without_collector

_TRIGGER = b"desc: Trigger: --dump-before=getpgrp"
_SUMMARY = re.compile(rb"^summary: (\d+)$", re.MULTILINE)
#: Of the file's beginning and end, where the two lines stand.
_EDGE = 4096

#: Instructions that the larger loop of a case may take; callgrind does 20 to 50 million a second.
TARGET = 1_500_000
#: The most calls of the larger loop.
MOST = 128
#: Rounds of a case that nobody asks after each; one that is called once or twice has one.
ROUNDS = 3
#: First calls that are counted one by one, to know what a call costs, where nobody asks after each.
FIRST = 4
#: Dumps to throw away first: the interpreter specialises code that ran a few times.
SETTLING = 20


@cache
def why_not() -> str:
    """Why instructions cannot be counted on this machine, or ""."""
    if shutil.which("valgrind") is None:
        return "valgrind is not installed (Debian, Ubuntu: apt-get install valgrind)"
    answer = subprocess.run(
        ["valgrind", "--tool=callgrind", "--vgdb=no", "--callgrind-out-file=/dev/null", "true"],  # noqa: S607
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if answer.returncode:
        lines = answer.stderr.strip().splitlines()
        return f"valgrind does not run here: {lines[-1] if lines else answer.returncode}"
    return ""


@cache
def fixed_addresses() -> bool:
    """Whether `setarch -R` may switch address randomisation off (some containers forbid it)."""
    if shutil.which("setarch") is None:
        return False
    answer = subprocess.run(["setarch", "-R", "true"], capture_output=True, check=False)  # noqa: S607
    return answer.returncode == 0


def command(
    worker: list[str], folder: Path, *, forks: bool = False, from_start: bool = False
) -> list[str]:
    """A worker's command line, under callgrind.

    Args:
        worker: its own command line.
        folder: where dumps go.
        forks: whether each of its cases is counted in a fork (`forked`).
        from_start: for one that zeroes and dumps without `first`, `measure` or `settle`, which
            switch callgrind on: starting Python and importing numpy take 4 s instead of 16 s then.
    """
    late = [] if from_start or not callgrind.can_start_late() else [callgrind.OFF]
    valgrind = [
        "valgrind", "--tool=callgrind", "--vgdb=no", *late,
        "--zero-before=getppid", "--dump-before=getpgrp",
        f"--callgrind-out-file={folder / 'cg.out'}{'.%p' * forks}",
    ]  # fmt: skip
    return [*(["setarch", "-R"] if fixed_addresses() else []), *valgrind, *worker]


def plan(price: float) -> Counts:
    """Loop counts for a call that costs some instructions."""
    return counts_for(price, TARGET, MOST)


#: The end of the name of a dump's file: its number, in a fork behind the number of the process.
Mark = int | str
#: Of the dumps that this process leaves: callgrind numbers its files from 1.
_marks: Iterator[Mark] = itertools.count(1)


def first(
    call: Callable[[], object],
    again: Callable[[Sequence[Mark]], bool] | None = None,
    renew: Callable[[], object] = nothing,
) -> list[Mark]:
    """In the worker: leave a dump of each of a case's first calls; their marks.

    Args:
        call: the case.
        again: says after each call whether there is another; a fixed number without it.
        renew: is called before each loop, and not counted.
    """
    loop = fresh_loop()
    with without_collector():
        settle()
        left: list[Mark] = []
        while not left or (again(left) if again else len(left) < FIRST):
            renew()
            left.append(_dump_after(loop, call, 1))
        return left


def measure(
    call: Callable[[], object],
    counts: Counts,
    again: Callable[[Sequence[tuple[Mark, Mark]]], bool] | None = None,
    renew: Callable[[], object] = nothing,
) -> list[tuple[Mark, Mark]]:
    """In the worker: leave dumps of the smaller and of the larger loop, by round; their marks.

    Args:
        call: the case.
        counts: how often it is called.
        again: says after each round whether there is another; a fixed number without it.
        renew: is called before each loop, and not counted.
    """
    if again is None:
        rounds = ROUNDS if counts.few > 2 else 1

        def again(left: Sequence[tuple[Mark, Mark]]) -> bool:
            return len(left) < rounds

    loop = fresh_loop()
    with without_collector():
        settle()
        # With a dump to throw away: what other threads counted, such as one of a setup that has
        # ended, is not zeroed with the rest, but goes into whichever dump comes next.
        renew()
        _dump_after(loop, call, counts.warm)
        left: list[tuple[Mark, Mark]] = []
        while not left or again(left):
            loop(call, max(1, counts.few // 4) if counts.few else 0)
            few = _dump_after(loop, call, counts.few)
            renew()
            left.append((few, _dump_after(loop, call, counts.many)))
        return left


@cache
def settle() -> None:
    """Begin to count.

    The linker resolves both functions then, and the interpreter specialises what lies around.
    """
    callgrind.start()
    for _ in range(SETTLING):
        _dump_after(fresh_loop(), int, 2)


def forked() -> None:
    """To be called in a fork of a worker: the dumps of each process have names of their own."""
    global _marks  # noqa: PLW0603  (callgrind's counter is one a process, and so is this)
    _marks = (f"{os.getpid()}.{number}" for number in itertools.count(1))


def _dump_after(
    loop: Callable[[Callable[[], object], int], None], call: Callable[[], object], times: int
) -> Mark:
    """Count one loop; the mark of its dump."""
    os.getppid()
    loop(call, times)
    os.getpgrp()
    return next(_marks)


def read_dump(folder: Path, mark: Mark) -> int | None:
    """All instructions of a worker's dump, or None if it is not there."""
    file = folder / f"cg.out.{mark}"
    if not file.exists():
        return None
    data = file.read_bytes()
    found = _SUMMARY.search(data)
    if found is None or _TRIGGER not in data[:_EDGE]:
        return None
    return int(found[1])


def read_price(folder: Path, dumps: Sequence[Mark]) -> float | None:
    """The least that a call cost, in dumps of one call each; None without dumps."""
    return min(filter(None, (read_dump(folder, mark) for mark in dumps)), default=None)


def read(folder: Path, dumps: Sequence[Sequence[Mark]]) -> tuple[int, int] | None:
    """The least that the smaller and the larger loop cost in any round, with allocations and
    look-ups at their prices; None unless all dumps are there: a full disk has room for some.
    """  # noqa: D205  (one sentence)
    rounds = [[_priced(folder, mark) for mark in pair] for pair in dumps]
    few = [pair[0] for pair in rounds if pair[0] is not None]
    many = [pair[1] for pair in rounds if pair[1] is not None]
    return (min(few), min(many)) if len(few) == len(many) == len(rounds) > 0 else None


def _priced(folder: Path, mark: Mark) -> int | None:
    """A dump's instructions at prices, or None if it is not there."""
    counted = read_dump(folder, mark)
    if counted is None:
        return None
    return counted + priced.adjustment(folder / f"cg.out.{mark}")
