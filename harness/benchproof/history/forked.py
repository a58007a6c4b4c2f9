"""Runs in a process of its own, with one commit's driver: a fork of it for each case.

Numbers of different days are compared, so a case must not feel which other cases were asked for.
All begin in the same state: a process that has imported the driver and the suites, and has set up
the first case of each suite, which reads what all of that suite share. Under valgrind the start is
also paid once.

Started by path, with a request file as its only argument; writes one JSON object a line, as
`benchproof.worker` does, from which the tasks come.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, TextIO

#: Seconds that a case may take, as in asv.conf.json; under valgrind everything takes longer.
TIMEOUT, SLOWER = 120, 10


def main(path: str) -> int:
    """Serve the request in a file; the exit status."""
    request = json.loads(Path(path).read_text(encoding="utf-8"))
    # Last, and only for `harness`: its folder may hold a driver too.
    sys.path.append(request["harness"])
    from benchproof import worker  # noqa: PLC0415  (found once the harness is on sys.path)

    with Path(request["out"]).open("a", encoding="utf-8") as out:
        serve(request, worker, out)
    return 0


def serve(request: Mapping[str, Any], worker: Any, out: TextIO) -> None:  # noqa: ANN401  (a module)
    """Answer every case: the canary before the driver is there."""
    task = request["task"]
    if task == "instructions":
        from benchproof.meters import instructions  # noqa: PLC0415

        instructions.settle()
    if task == "allocations":
        with contextlib.suppress(ImportError):
            importlib.import_module("memray")
    gc.collect()
    gc.freeze()
    for row in request["canaries"] if task != "prove" else ():
        say(out, worker.apart(partial(_one, request, worker, row), row["name"]))
    say(out, {"header": worker.enter(request) | {"python": sys.version.split()[0]}})
    preload(request, worker)
    gc.collect()
    gc.freeze()
    for row in request["cases"]:
        say(out, worker.apart(partial(_one, request, worker, row), row["name"]))


def preload(request: Mapping[str, Any], worker: Any) -> None:  # noqa: ANN401  (a module)
    """Import the suites and the driver's modules that they name; set up one case of each suite.

    What fails here fails again in the fork of the case whose it is, and is told there.
    """
    from benchproof import asv_suite  # noqa: PLC0415  (found once the harness is on sys.path)

    first: dict[str, Mapping[str, Any]] = {}
    needed: set[str] = set()
    for row in request["all"]:
        with contextlib.suppress(Exception):
            needed |= set(getattr(asv_suite.find(request["suites"], row).func, "modules", ()))
            first.setdefault(row["benchmark"].rpartition(".")[0], row)
    package = worker.package_of(Path(request["side"]))
    for name in sorted(needed):
        with contextlib.suppress(Exception):
            importlib.import_module(f"{package}.{name}")
    for row in first.values():
        with contextlib.suppress(Exception), asv_suite.ready(request, row):
            pass


def _one(
    request: Mapping[str, Any],
    worker: Any,  # noqa: ANN401  (a module)
    row: Mapping[str, Any],
) -> dict[str, Any]:
    """In the fork: the answer of one case."""
    task = request["task"]
    signal.alarm(TIMEOUT * (SLOWER if task == "instructions" else 1))
    if task == "instructions":
        from benchproof.meters import instructions  # noqa: PLC0415

        instructions.forked()
    answer = worker.one(request, {**row, "counts": row.get(task)})
    return {**answer, "pid": os.getpid()}


def say(out: TextIO, row: Mapping[str, Any]) -> None:
    """Write a line at once: what was measured before an interruption is kept."""
    print(json.dumps(row), file=out, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
