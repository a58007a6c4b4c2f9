"""Tracing: what nodes did for a request, read from the tables that they write it to.

A node writes a trace a little later than it answers the request, and without telling when it is
done: a session whose ``duration`` is still empty is not complete, and is asked for again. The steps
are written once, as a generator that says what it wants: the rows of a query, or to wait. Threads
and coroutines drive it in their own ways.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Future
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ..protocol.consistency import ConsistencyLevel
from ..protocol.errors import DriverException, OperationTimedOut
from ..results.rows import dict_factory
from ..statements.simple import SimpleStatement
from ..types.identity import datetime_from_uuid1
from ..wire.requests import QueryMessage
from . import waiting
from .options import Options
from .request import RequestExecution

if TYPE_CHECKING:
    from collections.abc import Generator
    from uuid import UUID

    from ..cluster.session_core import SessionCore


#: One row: value by column.
Row: TypeAlias = dict[str, Any]
#: Yields a query to be sent its rows, or a number of seconds to be woken after.
Steps: TypeAlias = "Generator[QueryMessage | float, list[Row], None]"

#: Seconds until a session that is not complete is asked for again; more each time.
_FIRST_PAUSE: Final = 0.003
_SESSION: Final = "SELECT * FROM system_traces.sessions WHERE session_id = {}"
_EVENTS: Final = "SELECT * FROM system_traces.events WHERE session_id = {}"


class TraceUnavailable(DriverException):
    """The trace is not there, or not complete, within the time that was given."""


class TraceEvent:
    """One thing that a node did.

    Attributes:
        description: what, in the node's words.
        datetime: when, by the node's clock, in UTC without a time zone.
        source: address of the node.
        source_elapsed: time since the request reached the node; None if it does not say.
        thread_name: the node's thread.
    """

    def __init__(
        self,
        description: str,
        timeuuid: UUID,
        source: str,
        source_elapsed: int | None,
        thread_name: str,
    ) -> None:
        """Take the columns of ``system_traces.events``; ``source_elapsed`` is microseconds."""
        self.description = description
        self.datetime = datetime_from_uuid1(timeuuid)
        self.source = source
        self.source_elapsed = (
            None if source_elapsed is None else timedelta(microseconds=source_elapsed)
        )
        self.thread_name = thread_name

    def __str__(self) -> str:
        """What, where and when."""
        return f"{self.description} on {self.source}[{self.thread_name}] at {self.datetime}"


class QueryTrace:
    """What nodes did for one request.

    Everything but the id is None until ``populate`` (or ``populate_async``) has read it.

    Attributes:
        trace_id: id of the session in ``system_traces``.
        request_type: what was executed, in the coordinator's words.
        duration: how long it took.
        client: address of the client.
        coordinator: address of the coordinator.
        parameters: what was executed and how, by name.
        started_at: when, in UTC without a time zone.
        events: what nodes did, in the order of their clocks.
    """

    def __init__(self, trace_id: UUID, session: SessionCore) -> None:
        """Know the id; the session reads the rest."""
        self.trace_id = trace_id
        self.request_type: str | None = None
        self.duration: timedelta | None = None
        self.client: str | None = None
        self.coordinator: str | None = None
        self.parameters: dict[str, str] | None = None
        self.started_at: datetime | None = None
        self.events: list[TraceEvent] | None = None
        self._session = session

    def populate(
        self,
        max_wait: float | None = 2.0,
        wait_for_complete: bool = True,
        query_cl: int | None = None,
    ) -> None:
        """Read the trace, waiting until it is there.

        Args:
            max_wait: seconds after which to give up; None never does.
            wait_for_complete: False takes what is there of a request that goes on.
            query_cl: consistency level of the reading; None for LOCAL_ONE.

        Raises:
            TraceUnavailable: it was not there in time.
            RuntimeError: this is the thread that reads answers: it would wait for itself.
        """
        waiting.refuse_on_loop(self._session)
        deadline = _Deadline(self.trace_id, max_wait)
        steps = self._steps(wait_for_complete, query_cl)
        try:
            step = next(steps)
            while True:
                rows: list[Row] = []
                if isinstance(step, QueryMessage):
                    answer = self._ask(step, deadline)
                    rows = answer.result(None if max_wait is None else max_wait + waiting.GRACE)
                else:
                    time.sleep(deadline.cut(step))
                step = steps.send(rows)
        except StopIteration:
            return
        except (OperationTimedOut, TimeoutError) as error:
            raise deadline.missed() from error

    async def populate_async(
        self,
        max_wait: float | None = 2.0,
        wait_for_complete: bool = True,
        query_cl: int | None = None,
    ) -> None:
        """Read the trace as ``populate`` does, on the event loop."""
        deadline = _Deadline(self.trace_id, max_wait)
        steps = self._steps(wait_for_complete, query_cl)
        try:
            step = next(steps)
            while True:
                rows: list[Row] = []
                if isinstance(step, QueryMessage):
                    rows = await self._ask_on_loop(step, deadline)
                else:
                    await asyncio.sleep(deadline.cut(step))
                step = steps.send(rows)
        except StopIteration:
            return
        except OperationTimedOut as error:
            raise deadline.missed() from error

    def _steps(self, wait_for_complete: bool, query_cl: int | None) -> Steps:
        """Ask for the session until it is there and complete, then once for its events."""
        consistency = ConsistencyLevel.LOCAL_ONE if query_cl is None else query_cl
        pause = _FIRST_PAUSE
        while True:
            # The level first: a session that is complete has all of its events written.
            rows = yield QueryMessage(_SESSION.format(self.trace_id), consistency)
            if rows and (rows[0]["duration"] is not None or not wait_for_complete):
                break
            yield pause
            pause *= 2
        self._take_session(rows[0])
        rows = yield QueryMessage(_EVENTS.format(self.trace_id), consistency)
        self.events = [
            TraceEvent(
                row["activity"],
                row["event_id"],
                row["source"],
                row["source_elapsed"],
                row["thread"],
            )
            for row in rows
        ]

    def _take_session(self, row: Row) -> None:
        self.request_type = row["request"]
        duration = row["duration"]
        self.duration = None if duration is None else timedelta(microseconds=duration)
        self.started_at = row["started_at"]
        self.coordinator = row["coordinator"]
        self.parameters = row["parameters"]
        self.client = row.get("client")

    def _ask(self, message: QueryMessage, deadline: _Deadline) -> Future[list[Row]]:
        """Send a query; the future of its rows."""
        answer: Future[list[Row]] = Future()
        request = self._request(message, deadline)
        request.add_callbacks(answer.set_result, answer.set_exception)
        request.send_request()
        return answer

    async def _ask_on_loop(self, message: QueryMessage, deadline: _Deadline) -> list[Row]:
        """Send a query and wait for its rows; being cancelled gives its stream back."""
        answer: asyncio.Future[list[Row]] = asyncio.get_running_loop().create_future()
        request = self._request(message, deadline)
        request.add_callbacks(answer.set_result, answer.set_exception)
        try:
            request.send_request()
            return await answer
        finally:
            if not request.is_done:
                request.abandon()

    def _request(self, message: QueryMessage, deadline: _Deadline) -> RequestExecution:
        return RequestExecution(
            self._session,
            message,
            SimpleStatement(message.query, is_idempotent=True),
            Options(timeout=deadline.remaining(), row_factory=dict_factory),
        )

    def __eq__(self, other: object) -> bool:
        """Whether both are the trace of one request, however much of it was read."""
        return self.trace_id == other.trace_id if isinstance(other, QueryTrace) else NotImplemented

    def __hash__(self) -> int:
        """As the ids compare."""
        return hash(self.trace_id)

    def __str__(self) -> str:
        """The request, when it began and how long it took."""
        return (
            f"{self.request_type} [{self.trace_id}] coordinator: {self.coordinator}, "
            f"started at: {self.started_at}, duration: {self.duration}, "
            f"parameters: {self.parameters}"
        )


class _Deadline:
    """The time that is left for a trace."""

    def __init__(self, trace_id: UUID, max_wait: float | None) -> None:
        self._trace_id = trace_id
        self._max_wait = max_wait
        self._end = None if max_wait is None else time.monotonic() + max_wait

    def remaining(self) -> float | None:
        """Seconds that are left; None if time does not matter."""
        if self._end is None:
            return None
        remaining = self._end - time.monotonic()
        if remaining <= 0:
            raise self.missed()
        return remaining

    def cut(self, pause: float) -> float:
        """A pause, no longer than what is left."""
        remaining = self.remaining()
        return pause if remaining is None else min(pause, remaining)

    def missed(self) -> TraceUnavailable:
        """What to raise when nothing is left."""
        return TraceUnavailable(
            f"The trace {self._trace_id} was not there, or not complete, after "
            f"{self._max_wait} seconds"
        )


def traces_of(request: RequestExecution) -> list[QueryTrace]:
    """The traces of a request that was answered, not read yet."""
    if not request.is_done:
        raise TraceUnavailable("Trace information is not available before the answer is here")
    return [QueryTrace(trace_id, request.session) for trace_id in request.get_query_trace_ids()]
