"""Requests that coroutines await, through ``driver.aio``, over a transport in memory.

A hundred point selects of one prepared statement, those of ``asv_benchmarks/query_path.py``: one
after the other, and 16 in flight by ``Session.execute_concurrent``. The loop is asyncio's own, on
this thread; a node answers in its next pass, to all that was written until then at once, as a read
of a socket gives several answers. What the loop itself does is a part of what is counted.
"""

# ruff: noqa: ANN001, ANN202, ANN401  (objects of whichever driver is installed)

from __future__ import annotations

from functools import partial
from typing import Any

from . import query_path, ring
from .case import Case, Prepared, expect, install

REQUESTS = 100


def _awaited(run=None, select=None):
    return run(select())


async def _one_by_one(execute: Any, statement: Any, values: Any) -> list[Any]:
    return [(await execute(statement, values)).one() for _ in range(REQUESTS)]


async def _together(session: Any, statement: Any, values: Any, concurrency: int) -> list[Any]:
    results = await session.execute_concurrent([(statement, values)] * REQUESTS, concurrency)
    return [result.one() for _, result in results]


def _prepare(concurrency: int) -> Prepared:
    select = query_path.SELECTS["point_select"]
    opened = ring.open_awaitable_session(
        ring.Ring(select.prepared, select.rows, carrier=ring.SoonCarrier)
    )
    session, request = opened.session, (opened.statement, select.values)
    selects = (
        partial(_one_by_one, session.execute, *request)
        if concurrency == 1
        else partial(_together, session, *request, concurrency)
    )
    for _ in range(1 + ring.STREAMS // REQUESTS):  # the answer on each stream is made once
        opened.loop.run_until_complete(selects())

    def check(rows: Any) -> dict[str, Any]:
        expect(len(rows) == REQUESTS, f"{len(rows)} rows of {REQUESTS}")
        expect(all(row.sensor == 1 for row in rows), f"not the recorded row: {rows[0]}")
        most = max(carrier.most for carrier in opened.ring.carriers)
        expect(most == concurrency, f"{most} in flight, not {concurrency}")
        return {"rows": len(rows), "together": most}

    return Prepared((opened.loop.run_until_complete, selects), check=check)


CASES = [
    Case(
        f"point_selects_{name}",
        _awaited,
        partial(_prepare, concurrency),
        ("aio.session", "execution.request", "execution.awaitable", "wire.codec", "wire.rows"),
        (
            "cluster.session_core:SessionCore.request",
            *query_path.GLUE[1:],
        ),
        version="2",  # the loop's clock stands still
    )
    for name, concurrency in (("one_by_one", 1), ("16_in_flight", 16))
]

install(globals(), CASES)
