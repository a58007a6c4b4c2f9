"""One process of one client: it checks all answers, or measures requests. Prints JSON.

Started by the Python of the client's environment, with a request (JSON) as its argument.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import cases, ways

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Requests before those that are measured, as a part of them.
WARM = 0.2
#: How often the memory of requests in flight is looked at, before any client gives them up.
LOOKS = 6


def main(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Connect, do the task, disconnect."""
    bare = memory()
    way = ways.WAYS[asked["way"]](asked["driver"], asked["host"], asked["port"])
    try:
        return TASKS[asked["task"]](way, {**asked, "bare": bare})
    finally:
        way.close()


def fill(way: ways.Way, _: Mapping[str, Any]) -> dict[str, Any]:
    """Make the table and its rows."""
    for text in cases.SCHEMA:
        way.run(text)
    rows = (cases.reading(number) for number in range(cases.PARTITIONS * cases.ROWS))
    way.ask(way.prepare("insert"), rows, 64, None)()
    return {}


def touch(way: ways.Way, _: Mapping[str, Any]) -> dict[str, Any]:
    """Ask once for the reading whose answers are recorded; what it cannot do, by kind."""
    failed = {}
    for kind in cases.TEXTS:
        bound = cases.values_of(kind, cases.reading(cases.RECORDED))
        try:
            way.ask(way.prepare(kind), [bound], 1, None)()
        except Exception as error:  # noqa: BLE001  (of whichever driver)
            failed[kind] = _told(error)
    return {"failed": failed}


def check(way: ways.Way, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Look at every answer of every case; how many were looked at, and what the client cannot do.

    On a real node, rows that it inserts must be there afterwards: in a partition of its own.
    """
    looked: dict[str, int] = {}
    failed: dict[str, str] = {}
    for case in cases.CASES:
        kept: list[tuple[tuple[Any, ...], list[Any]]] = []
        numbers = range(case.flying + 1)
        own = [cases.values(case.kind, n) for n in numbers]
        if case.kind == "insert":
            own = [(asked["own"], n, *cases.reading(n)[2:]) for n in numbers]
        try:
            way.ask(way.prepare(case.kind), own, case.flying, kept.append)()
            if case.kind == "insert" and not asked["recorded"]:
                again = [row[:2] for row in own]
                rows: list[tuple[tuple[Any, ...], list[Any]]] = []
                way.ask(way.prepare("select"), again, case.flying, rows.append)()
                told = sorted(cases.plain(each) for _, found in rows for each in found)
                _same(case.name, told, sorted(own))
        except Exception as error:  # noqa: BLE001  (of whichever driver)
            failed[case.name] = _told(error)
            continue
        for bound, found in kept:
            right = cases.expected(case.kind, bound, recorded=asked["recorded"])
            _same(case.name, [cases.plain(row) for row in found], right)
        looked[case.name] = len(kept)
    return {"looked": looked, "failed": failed}


def _same(name: str, found: list[Any], right: list[Any]) -> None:
    if found != right:
        pairs = zip(found, right, strict=False)
        one = next(((a, b) for a, b in pairs if a != b), (len(found), len(right)))
        raise SystemExit(f"{name}: another answer: {one[0]} and not {one[1]}")


def _told(error: Exception) -> str:
    """An error in one line, without what differs from run to run."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:400]


def measure(way: ways.Way, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers a request of every case that the client can do."""
    found = {}
    for case in cases.CASES:
        if case.name in asked["cases"]:
            number = max(case.flying, round(case.number * asked["scale"]))
            statement = way.prepare(case.kind)
            way.ask(statement, _bound(case, 0, round(number * WARM)), case.flying, None)()
            asking = way.ask(statement, _bound(case, number, number), case.flying, None)
            found[case.name] = measured(asking, number, asked["node"])
    return {"numbers": found}


def _bound(case: cases.Case, first: int, number: int) -> list[tuple[Any, ...]]:
    return [cases.values(case.kind, n) for n in range(first, first + number)]


def measured(asking: Callable[[], list[float]], number: int, node: int) -> dict[str, float]:
    """Numbers of these requests: seconds (of processors and elapsed) and switches a request."""
    gc.collect()
    served = _spent(node)
    switches, spent = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw, time.process_time()
    clock = time.perf_counter()
    took = asking()
    elapsed = time.perf_counter() - clock
    spent = time.process_time() - spent
    switches = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw - switches
    if len(took) != number:
        raise SystemExit(f"{len(took)} of {number} requests were answered")
    took.sort()
    return {
        "processor": spent / number, "elapsed": elapsed / number, "switches": switches / number,
        "p50": took[number // 2], "p99": took[number * 99 // 100],
        "node": (_spent(node) - served) / number,
    }  # fmt: skip


def _spent(process: int) -> float:
    """Processor seconds of a process with all its threads."""
    if not process:
        return 0.0
    tasks = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def memory() -> dict[str, int]:
    """Bytes of this process in memory: RSS, and PSS, where a shared page counts as its part."""
    gc.collect()
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()[1:]
    told = {
        name: int(size.split()[0]) * 1024 for name, _, size in (x.partition(":") for x in lines)
    }
    return {name.lower(): told[name] for name in ("Rss", "Pss")}


def hold(way: ways.Way, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Memory of a session that is idle, and with requests in flight that nobody answers.

    The process ends with them in flight: not every client can be closed then.
    """
    statement = way.prepare("select")
    idle, bound = memory(), [cases.values("select", n) for n in range(asked["number"])]
    before, looks = memory(), []

    def look() -> bool:
        looks.append(memory())
        if len(looks) == LOOKS:
            said = {"bare": asked["bare"], "idle": idle, "before": before, "flying": looks}
            print(json.dumps(said), flush=True)
            os._exit(0)
        return True

    way.hold(statement, bound, look)
    return {}


def keep(way: ways.Way, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Memory of rows that are kept, pages of a thousand; the first pages are not counted."""
    if asked["tuples"]:
        way.client.as_tuples()
    request, kept = way.prepare("page"), []
    pages = [cases.values("page", n) for n in range(asked["pages"])]
    way.ask(request, pages[:5], 1, kept.append)()
    before, counted = memory(), len(kept)
    way.ask(request, pages, 1, kept.append)()
    after, rows = memory(), sum(len(rows) for _, rows in kept[counted:])
    return {"rows": rows, "kind": type(kept[0][1][0]).__name__,
            "bytes": {name: (after[name] - before[name]) / rows for name in after}}  # fmt: skip


TASKS = {
    "hold": hold,
    "keep": keep,
    "fill": fill,
    "touch": touch,
    "check": check,
    "measure": measure,
}

if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))), flush=True)
    # Some drivers leave threads behind that do not end by themselves.
    os._exit(0)
