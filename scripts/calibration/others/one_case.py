"""Runs in processes of other tools: one driver, some cases, called the way the suite calls them.

Started by path with a request (JSON) in the environment variable BENCHPROOF_REQUEST: what
`benchproof.worker` takes, with one case for pyperf and some with numbers of calls for valgrind.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

REQUEST = "BENCHPROOF_REQUEST"
#: What is set up stays so for the life of the process.
_SET_UP = ExitStack()


def ready(request: dict[str, Any]) -> dict[str, Callable[[], object]]:
    """Import the side's driver, and set the cases up."""
    # By path: the harness's own folder may hold a driver too, and goes last.
    place = Path(request["harness"], "benchproof", "worker.py")
    spec = importlib.util.spec_from_file_location("benchproof_worker", place)
    if spec is None or spec.loader is None:
        raise ImportError(f"{place} cannot be imported")
    worker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(worker)
    sys.meta_path.append(worker.OfTool([request["harness"]]))
    worker.enter(request)
    from benchproof import asv_suite  # noqa: PLC0415  (found once `enter` has run)

    made = {row["name"]: asv_suite.ready(request, row) for row in request["cases"]}
    return {name: _SET_UP.enter_context(each).call for name, each in made.items()}


def count(request: dict[str, Any]) -> None:
    """Under callgrind: a warm-up and one counted loop of each case."""
    calls = {row["name"]: row["calls"] for row in request["cases"]}
    for name, call in ready(request).items():
        for _ in itertools.repeat(None, calls[name]):
            call()
        os.getppid()
        for _ in itertools.repeat(None, calls[name]):
            call()
        os.getpgrp()


def time_by_pyperf(request: dict[str, Any]) -> None:
    """A pyperf benchmark: pyperf starts this file again for each of its processes."""
    import pyperf  # noqa: PLC0415

    runner = pyperf.Runner()
    runner.parse_args()
    ((name, call),) = (
        ready(request) if runner.args.worker else {request["cases"][0]["name"]: int}
    ).items()
    runner.bench_func(name, call)


if __name__ == "__main__":
    asked = json.loads(os.environ[REQUEST])
    {"count": count, "pyperf": time_by_pyperf}[asked["task"]](asked)
