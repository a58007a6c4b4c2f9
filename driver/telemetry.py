"""OpenTelemetry: a span and a duration for each request, which end when its answer is there.

::

    from driver.telemetry import Telemetry

    Telemetry().watch(session)

Attributes are those of the semantic conventions for Cassandra and for database clients
(https://opentelemetry.io/docs/specs/semconv/db/cassandra/). Needs ``opentelemetry-api``, the extra
``opentelemetry``.

A span is made when the request has ended, with the time at which it began and the context of the
thread or task that made it, so that it costs one closure while the request is under way. A page
that is fetched later has a span of its own.
"""

from __future__ import annotations

import re
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from .execution.late_page import LatePage, takes_late_rows
from .protocol.consistency import ConsistencyLevel
from .protocol.errors import NoHostAvailable
from .statements import BatchStatement, BoundStatement
from .wire.responses.errors import ERRORS_BY_CODE

try:
    from opentelemetry import context, metrics, trace
    from opentelemetry.metrics import CallbackOptions, Observation
except ImportError as missing:  # one line with what to do, for whoever asks for it
    raise ImportError(
        "driver.telemetry needs OpenTelemetry's API: pip install 'cqlpath[opentelemetry]'"
    ) from missing

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from opentelemetry.context import Context
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Span, TracerProvider

    from .aio import Session as AsyncSession
    from .cluster import Session
    from .execution.request import RequestExecution

__all__ = ["Telemetry"]

#: Seconds, as the conventions advise for ``db.client.operation.duration``.
_BUCKETS: Final = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0)
_SYSTEM: Final = {"db.system.name": "cassandra"}
_DEFAULT_PORT: Final = 9042
#: The code of an error on the wire, by the exception that callers get.
_CODE_OF: Final = {kind.exception: code for code, kind in ERRORS_BY_CODE.items()}
#: Attributes of a span that are dimensions of the duration, too: few values each.
_OF_DURATION: Final = (
    "db.system.name",
    "db.namespace",
    "db.operation.name",
    "db.collection.name",
    "db.query.summary",
    "db.response.status_code",
    "error.type",
    "server.address",
    "server.port",
)
_START: Final = re.compile(
    r"(?:\s|--[^\n]*|//[^\n]*|/\*.*?\*/)*"  # comments in front
    r"((?:CREATE|ALTER|DROP)\s+(?:(?:CUSTOM|MATERIALIZED|OR\s+REPLACE)\s+)?[A-Z]+|[A-Z]+)\b\s*",
    re.IGNORECASE | re.DOTALL,
)
_NAME: Final = r'(?:"(?:[^"]|"")+"|\w+)'
#: What stands between an operation and what it is about.
_BEFORE_TARGET: Final = {
    "SELECT": r".*?\bFROM\s+",
    "DELETE": r".*?\bFROM\s+",
    "INSERT": r"INTO\s+",
    "UPDATE": "",
    "TRUNCATE": r"(?:TABLE\s+)?",
    "USE": "",
    **dict.fromkeys(("CREATE", "ALTER", "DROP"), r"(?:IF\s+(?:NOT\s+)?EXISTS\s+)?"),
}
_TARGET: Final = {
    operation: re.compile(rf"{before}({_NAME}(?:\.{_NAME})?)", re.IGNORECASE | re.DOTALL)
    for operation, before in _BEFORE_TARGET.items()
}
_OF_TABLES: Final = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE"})


class Telemetry:
    """What tells OpenTelemetry of the requests of sessions."""

    def __init__(
        self,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        *,
        query_text: bool = True,
    ) -> None:
        """Take the providers.

        Args:
            tracer_provider: where spans go; by default the global one.
            meter_provider: where durations and counts of connections go; by default the global one.
            query_text: whether spans carry the text of statements with markers for their values.
                A text without markers may hold values, and is never recorded.
        """
        self._tracer = trace.get_tracer("cqlpath", tracer_provider=tracer_provider)
        meter = metrics.get_meter("cqlpath", meter_provider=meter_provider)
        self._duration = meter.create_histogram(
            "db.client.operation.duration",
            unit="s",
            description="Duration of database client operations.",
            explicit_bucket_boundaries_advisory=_BUCKETS,
        )
        meter.create_observable_up_down_counter(
            "db.client.connection.count",
            [self._count_connections],
            unit="{connection}",
            description="Open connections, by whether requests are on their way on them.",
        )
        self._query_text = query_text
        self._sessions: tuple[Session | AsyncSession, ...] = ()

    def watch(self, session: Session | AsyncSession) -> None:
        """Tell of each request that a session sends from now on.

        Raises:
            TypeError: it is no session.
        """
        if not hasattr(session, "add_request_init_listener"):
            raise TypeError(f"watch takes a session, as Cluster.connect gives, not {session!r}")
        session.add_request_init_listener(self._begin)
        self._sessions = (*self._sessions, session)

    def forget(self, session: Session | AsyncSession) -> None:
        """Tell no more of the requests of a session; of those under way still.

        Raises:
            ValueError: it is not watched.
        """
        session.remove_request_init_listener(self._begin)
        self._sessions = tuple(each for each in self._sessions if each is not session)

    # --- requests --------------------------------------------------------------------------------

    def _begin(self, request: RequestExecution) -> None:
        """Remember where and when a request was made, and hear how it ends."""
        under_way = _UnderWay(self, request, context.get_current())
        request.add_callback(under_way.answered)
        request.add_errback(under_way.failed)

    def span_of(self, under_way: _UnderWay, began: int, ended: int, more: dict[str, Any]) -> Span:
        """The span of a request, which is to be ended; how long it took is recorded.

        Args:
            under_way: what was remembered of it.
            began: when, in nanoseconds of the clock of the day.
            ended: likewise.
            more: attributes that say how it ended.
        """
        request = under_way.request
        about = _of_request(request, text=self._query_text)
        attributes = {**about, **_of_coordinator(request), **more}
        if request.speculative_executions:
            attributes["cassandra.speculative_execution.count"] = request.speculative_executions
        span = self._tracer.start_span(
            attributes.get("db.query.summary", "cassandra"),
            under_way.context,
            trace.SpanKind.CLIENT,
            attributes,
            start_time=began,
        )
        for host, error in request.attempt_errors.items():
            why = {"error.type": _error_type(error), "exception.message": str(error)}
            where = {} if host is None else _of_host(host.address, host.endpoint.port, None, None)
            span.add_event("cassandra.attempt.failed", {**where, **why}, ended)
        self._duration.record(
            (ended - began) / 1e9,
            {name: attributes[name] for name in _OF_DURATION if name in attributes},
            under_way.context,
        )
        return span

    # --- connections -----------------------------------------------------------------------------

    def _count_connections(self, _: CallbackOptions) -> Iterable[Observation]:
        """Open connections of all watched sessions, a pool a host."""
        for session in self._sessions:
            for host, state in session.get_pool_state().items():
                used = sum(bool(number) for number in state["in_flights"])
                name = {"db.client.connection.pool.name": str(host.endpoint)}
                for word, count in (("used", used), ("idle", state["open_count"] - used)):
                    yield Observation(count, {**name, "db.client.connection.state": word})


class _UnderWay:
    """A request that was sent: who asked for it, and when."""

    __slots__ = ("began", "context", "late", "request", "telemetry")

    def __init__(self, telemetry: Telemetry, request: RequestExecution, around: Context) -> None:
        self.telemetry, self.request, self.context = telemetry, request, around
        self.began: int | None = time.time_ns()
        #: When the request for the last page whose rows are late began.
        self.late: float | None = None

    @takes_late_rows
    def answered(self, rows: object) -> None:
        """A page is here, or whatever else the answer is."""
        number = len(rows) if isinstance(rows, (list, tuple)) else None
        if isinstance(rows, LatePage):
            number, self.late = rows.row_count, self.request.start_time
        more = {} if number is None else {"db.response.returned_rows": number}
        began, ended = self._times()
        self.telemetry.span_of(self, began, ended, more).end(ended)

    @takes_late_rows
    def failed(self, error: Exception) -> None:
        """The request failed, unless only rows could not be made of its answer."""
        if self.late == self.request.start_time:
            return
        kind = _error_type(error)
        more = {"error.type": kind}
        if kind.isdecimal():
            more["db.response.status_code"] = kind
        began, ended = self._times()
        span = self.telemetry.span_of(self, began, ended, more)
        span.set_status(trace.StatusCode.ERROR, str(error))
        span.end(ended)

    def _times(self) -> tuple[int, int]:
        """When it began and ended, in nanoseconds of the clock of the day."""
        began, now = self.began, time.time_ns()
        self.began = None
        if began is None:  # a later page, of which only its end is told
            began = now - int((time.monotonic() - self.request.start_time) * 1e9)
        return began, now


def _of_request(request: RequestExecution, *, text: bool) -> dict[str, Any]:
    """What was known of a request before it was sent."""
    statement, message = request.query, request.message
    keyspace = getattr(statement, "keyspace", None) or request.session.keyspace
    level, page = getattr(message, "consistency_level", None), getattr(message, "fetch_size", None)
    if statement is None:
        return _described("", message.name, keyspace, level, page, None, text=False)
    idempotent = bool(statement.is_idempotent)
    if isinstance(statement, BoundStatement):
        query = statement.prepared_statement.query_string or ""
        return _described(query, None, keyspace, level, page, idempotent, text=text)
    if not isinstance(statement, BatchStatement):
        query = getattr(statement, "query_string", None) or ""
        return _described(query, None, keyspace, level, page, idempotent, text=False)
    # What a batch holds is kept as bytes, so that it has no summary but its kind.
    found = _described("", "BATCH", keyspace, level, page, idempotent, text=False)
    if (size := len(statement.statements)) != 1:
        found = {**found, "db.operation.batch.size": size}
    return {**found, "db.collection.name": statement.table} if statement.table else found


@lru_cache(1024)
def _described(
    query: str,
    operation: str | None,
    keyspace: str | None,
    level: int | None,
    page: int | None,
    idempotent: bool | None,
    *,
    text: bool,
) -> dict[str, Any]:
    """Attributes of all requests that have these in common; to be copied, not changed.

    Args:
        query: the text.
        operation: what it does, where that is not read from the text.
        keyspace: of the statement or the session.
        level: consistency level.
        page: rows a page.
        idempotent: None for a message of the driver's own.
        text: whether the text is recorded.
    """
    found: dict[str, Any] = dict(_SYSTEM)
    if keyspace:
        found["db.namespace"] = keyspace
    if operation is None:
        found |= _summarised(query)
    else:
        found |= {"db.operation.name": operation, "db.query.summary": operation}
    if text:
        found["db.query.text"] = query
    if level is not None:
        name = ConsistencyLevel.value_to_name.get(level, str(level))
        found["cassandra.consistency.level"] = name.lower()
    if page:
        found["cassandra.page.size"] = page
    if idempotent is not None:
        found["cassandra.query.idempotent"] = idempotent
    return found


def _summarised(text: str) -> dict[str, str]:
    """Attributes that say in few words what a text does, of which there are few."""
    start = _START.match(text)
    if start is None:
        return {}
    operation = " ".join(start[1].upper().split())
    if operation == "BEGIN":
        operation = "BATCH"
    found = {"db.operation.name": operation, "db.query.summary": operation}
    target = _TARGET.get(operation.partition(" ")[0])
    if target is not None and (match := target.match(text, start.end())):
        found["db.query.summary"] = f"{operation} {match[1]}"
        if operation in _OF_TABLES:
            found["db.collection.name"] = match[1]
    return found


def _of_coordinator(request: RequestExecution) -> dict[str, Any]:
    """Who answered, or was asked last."""
    asked = request.attempted_hosts
    host = request.coordinator_host or (asked[-1] if asked else None)
    if host is None:
        return {}
    return _of_host(host.address, host.endpoint.port, host.datacenter, host.host_id)


@lru_cache(1024)
def _of_host(
    address: str, port: int | None, datacenter: str | None, host_id: UUID | None
) -> dict[str, Any]:
    """Attributes of a node; to be copied, not changed."""
    found: dict[str, Any] = {"server.address": address, "network.peer.address": address}
    if port is not None:
        found["network.peer.port"] = port
        if port != _DEFAULT_PORT:
            found["server.port"] = port
    if datacenter is not None:
        found["cassandra.coordinator.dc"] = datacenter
    if host_id is not None:
        found["cassandra.coordinator.id"] = str(host_id)
    return found


def _error_type(error: Exception) -> str:
    """The protocol's code of an error of the server, else the name of the exception's class.

    Of ``NoHostAvailable`` it is that of the reason, if all hosts gave the same.
    """
    if isinstance(error, NoHostAvailable):
        reasons = {_error_type(e) for e in error.errors.values() if isinstance(e, Exception)}
        if len(reasons) == 1:
            return reasons.pop()
    code = _CODE_OF.get(type(error))
    return type(error).__name__ if code is None else str(code)
