"""Many requests at a time, by ``execute_concurrent_async``: what they cost beside the requests.

A hundred point selects of one prepared statement, 16 in flight: each answer makes room for the next
request. The requests themselves are those of ``asv_benchmarks/query_path.py``; who sends and who
waits on which thread is not in here, because everything runs on one.
"""

# ruff: noqa: ANN001, ANN202, ANN401  (objects of whichever driver is installed)

from __future__ import annotations

from typing import Any

from . import query_path
from .case import Case, Prepared, expect, install

REQUESTS, CONCURRENCY = 100, 16


def _concurrent(execute=None, session=None, statements=None, concurrency=None, deliver=None):
    outcome = execute(session, statements, concurrency)
    deliver()
    return outcome.result(0)


def _prepare() -> Prepared:
    from driver.execution.concurrent import execute_concurrent_async

    made = query_path.request("point_select")
    statements = [(made.statement, made.select.values)] * REQUESTS

    def check(results: Any) -> dict[str, Any]:
        expect(len(results) == REQUESTS, f"{len(results)} results of {REQUESTS}")
        expect(all(success for success, _ in results), f"one failed: {results[:3]}")
        waiting: list[int] = []
        outcome = execute_concurrent_async(made.session, statements, CONCURRENCY)
        while made.ring.waiting:
            waiting.append(len(made.ring.waiting))
            carrier, data = made.ring.waiting.popleft()
            carrier.on_data(carrier.answer(data))
        expect(outcome.done(), "nothing is in flight, but not all results are there")
        expect(max(waiting) == CONCURRENCY, f"{max(waiting)} in flight, not {CONCURRENCY}")
        expect(len(waiting) == REQUESTS, f"{len(waiting)} requests, not {REQUESTS}")
        return {"results": len(results)}

    inputs = (
        execute_concurrent_async, made.session, statements, CONCURRENCY, made.ring.deliver,
    )  # fmt: skip
    return Prepared(inputs, answer=_rows, check=check)


def _rows(results: Any) -> list[Any]:
    """The row of each result that has not been read; asking for one does not take it."""
    return [result.current_rows for _, result in results]


CASES = [
    Case(
        "point_selects",
        _concurrent,
        _prepare,
        ("execution.concurrent", "execution.request", "wire.codec", "wire.rows"),
        ("execution.concurrent:_Run.send_more", *query_path.GLUE),
    ),
]

install(globals(), CASES)
