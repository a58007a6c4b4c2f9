"""A request: over which hosts, how often, for how long, until it ends once.

One state machine, long because all that happens to a request is one thing: it is sent, it waits, it
is answered or tried again, and it ends. Who waits for it is in ``response_future``, for threads,
and in ``awaitable``.

::

    send_request -> query plan -> borrow -> send ............................ answer -> _set_result
                        ^                                                  |         |
                        +---- next host <---- retry, perhaps delayed <-----+         +--> the end
                        +---- next host <---- speculative execution (timer)
                                              client time-out (timer) --------------> the end

==================  ==========================================================================
response            the request
==================  ==========================================================================
SET_KEYSPACE        has every connection use the keyspace, then is done, without rows
SCHEMA_CHANGE       has the schema refreshed, then is done, without rows
ROWS                keeps the page's state and is done, with rows; those of a large page are made
                    by who wants them (``late_page``), and can make it fail after all
VOID                is done, without rows
other results       is done, with the message (PREPARED)
"not prepared"      prepares the statement again and sends the request again
other errors        is tried again, ignored or failed, as the retry policy says
a lost connection   the same
another exception   fails with it
==================  ==========================================================================

Every answer brings its trace id, warnings and custom payload along; a tablet in the payload goes
into the cluster's metadata.

A request is alive as long as it waits for something: answers, delays, work that comes before the
end. What ends it gives up the rest, on the loop's thread: streams are abandoned, timers cancelled.
What is removed from the set of things waited for is the one that counts, and everything else comes
too late and is dropped. Only the first sending of a page happens on the thread that asks for it,
before any timer is set; everything else is the loop's, so that two ends cannot meet.
"""

from __future__ import annotations

import logging
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

from ..implementation import hand_over
from ..net.errors import ConnectionException, as_exception
from ..net.loop import outlive
from ..net.transport import send_postponed
from ..policies.retry import RetryPolicy
from ..protocol.errors import DriverException, NoHostAvailable, OperationTimedOut
from ..protocol.kinds import (
    RESULT_KIND_ROWS,
    RESULT_KIND_SCHEMA_CHANGE,
    RESULT_KIND_SET_KEYSPACE,
    RESULT_KIND_VOID,
)
from ..protocol.version import ProtocolVersion
from ..topology.tablets import (
    TABLET_PAYLOAD_TYPE,
    TABLET_V2_PAYLOAD_TYPE,
    Tablet,
    version_block,
)
from ..types.registry import lookup_casstype
from ..wire.features import TABLETS_ROUTING_PAYLOAD, TABLETS_ROUTING_V2_PAYLOAD
from ..wire.late_rows import RESULT_KIND_LATE_ROWS
from ..wire.requests import PrepareMessage
from ..wire.requests.options import naming_option
from ..wire.requests.query import ExecuteMessage, ScyllaExecuteMessage
from ..wire.responses import ErrorMessage, ResultMessage
from ..wire.responses.errors import PreparedQueryNotFound
from .late_page import LatePage
from .listeners import announce
from .options import Options
from .retrying import Decision, on_connection_error, on_response
from .routing import route_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from uuid import UUID

    from ..cluster.session_core import SessionCore
    from ..net.connection import Connection
    from ..net.timers import Timer
    from ..policies.speculative import SpeculativeExecutionPlan
    from ..pool.host_pool import HostPool
    from ..protocol.typing import Rows
    from ..results.rows import RowFactory
    from ..statements.base import Statement
    from ..statements.prepared import PreparedStatement
    from ..topology.host import Host
    from ..types.base import CQLType
    from ..wire.messages import Request
    from .metrics import Metrics
    from .routing import Route

log = logging.getLogger(__name__)

_TIMED_OUT: Final = "no answer within the timeout of the request"
_TIMED_OUT_AFTERWARDS: Final = (
    "executed, but within the timeout of the request not all nodes agreed on the new schema; "
    "max_schema_agreement_wait should be shorter"
)
_TABLET_TYPE: Final = lookup_casstype(TABLET_PAYLOAD_TYPE)
_TABLET_V2_TYPE: Final = lookup_casstype(TABLET_V2_PAYLOAD_TYPE)
#: The outcome of a request that has none.
NOT_SET: Final = object()
_NONE: Final[frozenset[Any]] = frozenset()
_NO_ERRORS: Final[Mapping[Any, Exception]] = {}


class QueryExhausted(DriverException):
    """There is no next page."""


class Pending(Protocol):
    """Something that a request waits for."""

    def give_up(self) -> None:
        """Nobody waits for it any more. The loop's thread."""


class Attempt:
    """A message on its way to a host, and back: what the connection calls with the answer.

    One object for all that a request has on the way: what it waits for, and what wakes it. It is
    of one sending; a retry and a speculative execution have their own.

    Attributes:
        request: what waits.
        host: who shall answer.
        connection: what carries it.
        pool: where the connection was borrowed.
        stream: which stream of the connection is taken.
        callback: takes host, connection, pool and the answer; None for the request itself.
    """

    __slots__ = ("callback", "connection", "host", "pool", "request", "stream")

    #: See ``Connection.send_msg``.
    takes_late_rows = True

    def __init__(
        self,
        request: RequestExecution,
        host: Host,
        connection: Connection,
        pool: HostPool,
        stream: int,
        callback: Callable[[Host, Connection, HostPool, Any], object] | None,
    ) -> None:
        """Describe what is about to be sent."""
        self.request = request
        self.host = host
        self.connection = connection
        self.pool = pool
        self.stream = stream
        self.callback = callback

    def __call__(self, response: object) -> None:
        """Hand the answer on, unless it was given up."""
        request = self.request
        try:
            request._in_flight.remove(self)
        except KeyError:
            return
        if self.callback is None:
            request._set_result(self.host, self.connection, self.pool, response)
            return
        try:
            self.callback(self.host, self.connection, self.pool, response)
        except BaseException as exc:
            log.exception("Unexpected exception while handling the answer to a request")
            request._set_final_exception(as_exception(exc, "handling the answer"))
            outlive(exc)

    def stop_reading(self) -> None:
        """Have the loop read the answer, which this thread has taken over to do."""
        self.connection.hand_reading_back()

    def give_up(self) -> None:
        """Leave the stream to its late answer, and give the connection back."""
        self.connection.abandon(self.stream)
        self.pool.return_connection(self.connection)


class Delay:
    """A retry that waits for its time.

    Attributes:
        timer: what will wake it.
    """

    __slots__ = ("timer",)

    timer: Timer

    def give_up(self) -> None:
        """Do not wake."""
        self.timer.cancel()


class FollowUp:
    """Work that an answer asked for and that comes before the end, such as a new schema."""

    __slots__ = ()

    def give_up(self) -> None:
        """Let the work go on: it is for everybody."""


class Preparing:
    """A PREPARE on its way to a host, for all requests that wait for it.

    Each request to a node that has just started hears that its statement is not known there: were
    all of them to ask, the node would get as many PREPARE as requests.

    Attributes:
        key: the host, and the id of the statement.
        known: what the session has being prepared, by that.
        waiting: the requests that wait.
        asking: what carries the message; it is no request of anybody, so that none's end is its.
    """

    __slots__ = ("asking", "key", "known", "waiting")

    def __init__(
        self, request: RequestExecution, key: tuple[Host, bytes], message: PrepareMessage
    ) -> None:
        """Let other requests know that one asks."""
        self.key = key
        self.known = request.session.preparing
        self.known[key] = self
        self.waiting: dict[AwaitsPrepare, None] = {}  # in the order in which they came
        self.asking = RequestExecution(request.session, message, request.query)

    def ask(self) -> bool:
        """Send it, if the host can be used."""
        is_sent = self.asking._query(self.key[0], None, self._answered)
        if not is_sent:
            del self.known[self.key]
        return is_sent

    def _answered(
        self, host: Host, connection: Connection, pool: HostPool, response: object
    ) -> None:
        """Hand the answer on to those that wait for it."""
        pool.return_connection(connection)
        del self.known[self.key]
        waiting, self.waiting = self.waiting, {}
        for request in waiting:
            request(host, connection, response)

    def leave(self, request: AwaitsPrepare) -> None:
        """Have one wait no longer, and nobody ask if it was the last."""
        if request in self.waiting:
            del self.waiting[request]
            if not self.waiting:
                del self.known[self.key]
                self.asking.abandon()


class AwaitsPrepare:
    """A request that goes on when a host knows its statement.

    Attributes:
        request: what waits.
        prepared: the statement.
        preparing: what it waits for.
    """

    __slots__ = ("prepared", "preparing", "request")

    def __init__(
        self, request: RequestExecution, prepared: PreparedStatement, preparing: Preparing
    ) -> None:
        """Wait."""
        self.request = request
        self.prepared = prepared
        self.preparing = preparing
        preparing.waiting[self] = None
        request._in_flight.add(self)

    def __call__(self, host: Host, connection: Connection, response: object) -> None:
        """Go on with the answer to PREPARE."""
        request = self.request
        request._in_flight.remove(self)
        try:
            request._execute_after_prepare(self.prepared, host, connection, response)
        except BaseException as exc:
            log.exception("Unexpected exception while handling the answer to PREPARE")
            request._set_final_exception(as_exception(exc, "handling the answer"))
            outlive(exc)

    def give_up(self) -> None:
        """Leave the others waiting."""
        self.preparing.leave(self)


class RequestExecution:
    """One request and its pages, without anybody who waits for it.

    Attributes:
        session: what sends the request.
        message: the request.
        query: the statement that it came from; None for a message of the driver's own.
        options: what it is asked to do, for all of its pages.
        prepared_statement: what is executed, if it was prepared.
        attempted_hosts: hosts that the request was sent to, in order.
        coordinator_host: the host that answered last; None before.
        request_encoded_size: bytes of the request as it was sent last.
        is_schema_agreed: False if hosts still disagree about a schema change of this request.
        speculative_executions: how often another host was asked beside the first, for all pages.
    """

    # Slots, which compiled code reads and sets where they are; what an application adds is in a
    # dictionary.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_callback_lock",
        "_callbacks",
        "_col_names",
        "_col_types",
        "_custom_payload",
        "_errbacks",
        "_errors",
        "_final_exception",
        "_final_result",
        "_in_flight",
        "_is_ending",
        "_keyspace",
        "_metrics",
        "_page",
        "_paging_state",
        "_plan",
        "_prepared_again",
        "_query_retries",
        "_query_traces",
        "_reads",
        "_route",
        "_speculative_execution_plan",
        "_start_time",
        "_timers",
        "_waited_for",
        "_warnings",
        "attempted_hosts",
        "coordinator_host",
        "is_schema_agreed",
        "message",
        "options",
        "prepared_statement",
        "query",
        "request_encoded_size",
        "session",
    )

    # Few requests set it.
    speculative_executions: int = 0
    _errors: Mapping[Host | None, Exception]
    _in_flight: set[Pending]
    _timers: tuple[Timer, ...]
    _plan: Iterator[Host] | None
    _route: Route | None
    _prepared_again: frozenset[tuple[Host, bytes]]

    def __init__(
        self,
        session: SessionCore,
        message: Request,
        query: Statement | None,
        options: Options | None = None,
        prepared_statement: PreparedStatement | None = None,
        speculative_execution_plan: SpeculativeExecutionPlan | None = None,
        *,
        metrics: Metrics | None = None,
        start_time: float | None = None,
    ) -> None:
        """Describe a request; ``send_request`` sends it.

        Args:
            session: what sends the request.
            message: the request.
            query: the statement that it came from.
            options: what it is asked to do; by default nothing, for rows as of the session.
            prepared_statement: what is executed, if it was prepared.
            speculative_execution_plan: when to ask another host as well; heeded only if the
                statement is idempotent.
            metrics: where it is counted; by default the session's.
            start_time: when the request began, in seconds of ``time.monotonic``.
        """
        self._callback_lock = threading.Lock()
        self.session = session
        self.message: Any = message
        self.query: Any = query
        self.options = Options(row_factory=session.row_factory) if options is None else options
        self.prepared_statement = prepared_statement
        self.attempted_hosts: list[Host] = []
        self.coordinator_host: Host | None = None
        self.request_encoded_size: int | None = None
        self.is_schema_agreed = True
        self._metrics = session.metrics if metrics is None else metrics
        self._start_time = time.monotonic() if start_time is None else start_time
        self._speculative_execution_plan = speculative_execution_plan
        more = self.options.more
        self._keyspace: str | None = None if more is None else more.get("keyspace")
        self._query_traces: tuple[UUID, ...] = ()
        self._warnings: Sequence[str] | None = None
        self._custom_payload: Mapping[str, bytes | None] | None = None
        self._paging_state: bytes | None = None
        self._col_names: Sequence[str] | None = None
        self._col_types: Sequence[Any] | None = None
        # Those who are to be told are in tuples, which are replaced: whoever goes through one needs
        # no copy.
        self._callbacks: tuple[Callable[[Any], object], ...] = ()
        self._errbacks: tuple[Callable[[Exception], object], ...] = ()
        self._final_result: Any = NOT_SET
        self._final_exception: Exception | None = None
        # What wakes those who wait. Most answers are here before anybody does, or for callbacks.
        self._waited_for: Any = None
        # Whether the thread that sends may read the answer, and what was sent once it does.
        self._reads: Attempt | bool = False
        self._page = 0
        self._begin_page()

    def _begin_page(self) -> None:
        """Have nothing yet of what belongs to a page alone."""
        self._page += 1
        self._plan = None
        self._route = None
        self._query_retries = 0
        self._prepared_again = _NONE
        self._errors = _NO_ERRORS
        self._in_flight = set()
        self._timers = ()
        self._is_ending = False

    # --- sending -------------------------------------------------------------------------------

    def send_request(self) -> None:
        """Send the request, from any thread. What goes wrong becomes its exception."""
        listeners = self.session.request_listeners
        if listeners:
            announce(self, self._start_time, listeners)
        self._send_page()

    def _send_page(self) -> None:
        """Send the request for the first page or the next one."""
        page = self._page
        try:
            options = self.options
            self._plan = self.session.query_plan(
                self.query,
                options.load_balancing_policy,
                options.host,
                self._keyspace,
            )
            if not self._send_to_next():
                return
        except Exception as exc:  # noqa: BLE001  (whoever waits has to hear of it)
            self._set_final_exception(naming_option(exc, self.message))
            return
        if self._reads or self._callbacks or self._errbacks or options.timeout is None:
            send_postponed(on_loop=True)  # who waits for a future sends it, or a tick of the timers
        waited = self._read_answer() if self._reads else 0.0
        # Not before something was sent: nothing that ends a request may run beside this thread.
        if not self._is_ending and page == self._page:
            self._set_timers(page, waited)

    def _may_be_read_here(self, connection: Connection) -> bool:
        """Have this thread take over, unless the loop's is to call back or to send more."""
        return (
            not (self._callbacks or self._errbacks)
            and self._speculative_execution_plan is None
            and connection.take_over_reading()
        )

    def _read_answer(self) -> float:
        """Read the answer on this thread, if it has taken over for it; seconds that it took."""
        attempt = self._reads
        if isinstance(attempt, bool):
            self._reads = False
            return 0.0
        start = time.monotonic()
        attempt.connection.read_answer(attempt.stream, self.options.timeout)
        self._reads = False  # not before: whoever is interrupted meanwhile hands reading back
        return time.monotonic() - start

    def start_fetching_next_page(self) -> None:
        """Ask for the next page, from any thread, unless it was asked for and is on its way.

        Raises:
            QueryExhausted: there is none.
        """
        if self._begin_next_page():
            self._send_page()

    def _begin_next_page(self) -> bool:
        """Forget the current page; False if that was done, and the next one is on its way."""
        if not self._paging_state:
            raise QueryExhausted("there are no more pages")
        with self._callback_lock or self._lock:
            if not self.is_done:
                return False
            self.message.paging_state = self._paging_state
            self._begin_page()
            self._start_time = time.monotonic()
            self._reopen()
        return True

    def _send_to_next(self) -> bool:
        """Send the request to the next host of the plan that takes it.

        Returns:
            False if there is none. If nothing else is waited for, this is the end.
        """
        assert self._plan is not None  # noqa: S101  (send_request made it)
        for host in self._plan:
            if self._query(host):
                return True
        if not self._in_flight:
            self._end_without_host()
        return False

    def _end_without_host(self) -> None:
        """Fail: no host of the plan is left, and none was asked that could still answer."""
        self._set_final_exception(
            NoHostAvailable(
                "No host of the query plan could answer",
                dict(self._errors.items()) or self._why_none_was_asked(),
            )
        )

    def _why_none_was_asked(self) -> dict[object, Exception]:
        """The reason of each host that is known, after a query plan without any."""
        return {
            host: ConnectionException(
                "The host is down"
                if host.is_up is False
                else "The load balancing policy has no use for this host",
                host.endpoint,
                was_sent=False,
            )
            for host in self.session.cluster.metadata.all_hosts()
        }

    def _query(
        self,
        host: Host,
        message: Request | None = None,
        callback: Callable[[Host, Connection, HostPool, object], None] | None = None,
    ) -> bool:
        """Send a message, by default the request itself.

        Returns:
            False if the host cannot be used now; why is in the errors.

        Raises:
            Exception: the message cannot be sent to any host.
        """
        pool = self.session.pool_for(host)
        if pool is None or pool.is_shutdown:
            self._has_no_pool(host, pool)
            return False
        has_shards = host.sharding_info is not None
        try:
            if has_shards:
                connection, stream = self._borrow_of_shard(host, pool)
            else:
                connection, stream = pool.borrow_connection()
        except ConnectionException as error:
            self._cannot_use(host, error)
            return False
        result_metadata = None
        if message is None:
            message = self.message
            if self.prepared_statement is not None:
                # The id first: see PreparedStatement.update_result_metadata.
                self.message.result_metadata_id = self.prepared_statement.result_metadata_id
                result_metadata = self.prepared_statement.result_metadata
                if has_shards:
                    message = self._extended(message, connection)
        attempt = Attempt(self, host, connection, pool, stream, callback)
        if self._reads and callback is None and self._may_be_read_here(connection):
            self._reads = attempt
        self.attempted_hosts.append(host)
        self._in_flight.add(attempt)
        try:
            self.request_encoded_size = connection.send_msg(
                message,
                stream,
                attempt,
                result_metadata,
                self.options.protocol_handler,
            )
        except Exception as error:
            if self._reads is attempt:
                self._reads = True
                attempt.stop_reading()
            self._in_flight.discard(attempt)
            connection.release_request_id(stream)
            pool.return_connection(connection)
            if not isinstance(error, ConnectionException):
                raise
            self._cannot_use(host, error)
            return False
        return True

    def _has_no_pool(self, host: Host, pool: HostPool | None) -> None:
        why = (
            "There is no pool for this host: it is down, ignored or gone"
            if pool is None
            else "The pool of this host is closed"
        )
        error = ConnectionException(why, host.endpoint, was_sent=False)
        self._errors = {**self._errors, host: error}

    def _borrow_of_shard(self, host: Host, pool: HostPool) -> tuple[Connection, int]:
        """A connection to the shard that owns the partition, and its stream."""
        route = self._route
        if route is None:
            route = self._route = route_of(self.session, self.query, self._keyspace)
        return pool.borrow_connection(route.token, route.shard_on(host))

    def _extended(self, message: Request, connection: Connection) -> Request:
        """A message for a node of ScyllaDB, with what its extensions add to an EXECUTE."""
        features = connection.features
        if not isinstance(message, ExecuteMessage) or not (
            features.use_metadata_id or features.tablets_routing_v2
        ):
            return message
        metadata_id = block = None
        if features.use_metadata_id:
            # Prepared by a node without the extension, it has none, as no metadata has.
            metadata_id = message.result_metadata_id or b""
        if features.tablets_routing_v2:
            block = version_block(None if self._route is None else self._route.tablet)
        return ScyllaExecuteMessage.of(message, metadata_id, block)

    def _cannot_use(self, host: Host, error: ConnectionException) -> None:
        log.debug("Cannot send a request to %s: %s", host, error)
        # Without its frames, which lead back to the request.
        self._errors = {**self._errors, host: error.with_traceback(None)}
        if self._metrics is not None:
            self._metrics.on_connection_error()

    # --- answers, on the loop's thread -----------------------------------------------------------

    def _set_result(
        self,
        host: Host | None,
        connection: Connection | None,
        pool: HostPool | None,
        response: object,
    ) -> None:
        """Take what came back for the request: a message, or an exception.

        Args:
            host: who answered.
            connection: over which connection.
            pool: where the connection was borrowed; None if nowhere.
            response: a response message, or what went wrong on the way.
        """
        try:
            self.coordinator_host = host
            if pool is not None and connection is not None:
                pool.return_connection(connection)

            if isinstance(response, ResultMessage):
                # What nearly every request gets, and it has all three: no need to ask.
                if response.trace_id:
                    self._query_traces = (*self._query_traces, response.trace_id)
                self._warnings = response.warnings
                self._custom_payload = response.custom_payload
                if self._custom_payload:
                    self._look_for_tablet(self._custom_payload)
                if response.kind == RESULT_KIND_ROWS:
                    self._set_rows(response, self.options.row_factory)
                elif response.kind == RESULT_KIND_VOID:
                    self._set_final_result(None)
                else:
                    self._set_result_of_kind(connection, response)
            else:
                self._set_failure(host, connection, response)
        except BaseException as exc:  # noqa: BLE001  (whoever waits has to hear of it)
            # Nobody would ever be called back if this left the thread that reads responses.
            self._set_final_exception(as_exception(exc, "handling the answer"))
            outlive(exc)

    def _set_failure(
        self, host: Host | None, connection: Connection | None, response: object
    ) -> None:
        """What came instead of a result does: an error of the server, or an exception."""
        if isinstance(response, ErrorMessage):
            if response.trace_id:
                self._query_traces = (*self._query_traces, response.trace_id)
            self._warnings = response.warnings
            self._custom_payload = response.custom_payload
            if isinstance(response, PreparedQueryNotFound) and host is not None:
                self._prepare_again(host, connection, response)
            else:
                self._set_error(host, response)
            return
        self._warnings = self._custom_payload = None
        if isinstance(response, ConnectionException):
            self._set_connection_error(host, response)
        elif isinstance(response, Exception):
            self._set_final_exception(response)
        else:
            self._set_final_exception(
                ConnectionException(f"That is no answer to a request: {response!r}", host)
            )

    def _set_rows(self, response: ResultMessage, make_page: Callable[..., Rows]) -> None:
        """Rows are what was asked for, and all of this page."""
        self._paging_state = response.paging_state
        self._col_names = response.column_names
        self._col_types = response.column_types
        if response.result_metadata_id is not None:
            self._take_new_metadata(response)
        self._set_final_result(make_page(response.column_names, response.parsed_rows))

    def _set_late_rows(self, connection: Connection | None, response: ResultMessage) -> None:
        """End with a page whose rows are made by who waits for them, or here for an errback."""
        page = LatePage(
            response.column_names or (),
            response.parsed_rows,
            self.options.row_factory,
            connection,
        )
        self._set_rows(response, lambda *_: page)
        if any(map(_needs_rows, self._errbacks)):
            self._make_rows_on_arrival(page)

    def _take_new_metadata(self, response: ResultMessage) -> None:
        """The server described the columns anew: the statement knows it from now on."""
        if self.prepared_statement is not None and response.result_metadata_id is not None:
            self.prepared_statement.update_result_metadata(
                response.column_metadata, response.result_metadata_id
            )

    def _set_result_of_kind(self, connection: Connection | None, response: ResultMessage) -> None:
        """What each other kind of RESULT does."""
        if response.kind == RESULT_KIND_SET_KEYSPACE:
            if connection is not None:
                connection.keyspace = response.new_keyspace
            # This is the thread that reads the answers of all connections: it must not wait.
            self.session.set_keyspace_for_all_pools(
                response.new_keyspace,  # type: ignore[arg-type]  # of this kind of result
                partial(self._set_keyspace_completed, self._follow_up()),
            )
        elif response.kind == RESULT_KIND_SCHEMA_CHANGE:
            self.is_schema_agreed = False
            self._refresh_schema(connection, response.schema_change_event)
        elif response.kind == RESULT_KIND_LATE_ROWS:
            self._set_late_rows(connection, response)
        else:
            self._set_final_result(response)

    def _look_for_tablet(self, payload: Mapping[str, bytes | None]) -> None:
        """Learn a tablet, if the server sends them and there is one."""
        if TABLETS_ROUTING_PAYLOAD in payload:
            tablet, tablet_type = payload[TABLETS_ROUTING_PAYLOAD], _TABLET_TYPE
        elif TABLETS_ROUTING_V2_PAYLOAD in payload:
            tablet, tablet_type = payload[TABLETS_ROUTING_V2_PAYLOAD], _TABLET_V2_TYPE
        else:
            return
        if tablet is not None and self.session.cluster.sends_tablets:
            self._learn_tablet(tablet, tablet_type)

    def _learn_tablet(self, payload: bytes, tablet_type: type[CQLType]) -> None:
        """Put a tablet, as its payload describes it, into the cluster's metadata.

        A payload that cannot be read costs the request nothing: the next answer brings another.
        """
        try:
            tablet = Tablet.from_row(
                *tablet_type.from_binary(payload, self.session.cluster.protocol_version)
            )
            keyspace = self.query.keyspace or self.session.keyspace
            table = self.query.table
            if tablet is not None and keyspace is not None and table is not None:
                self.session.cluster.metadata.tablets.add_tablet(keyspace, table, tablet)
        except Exception:
            log.exception("Cannot read the tablet in the custom payload of a response")

    def _follow_up(self) -> FollowUp:
        """Keep the request alive for work that comes before its end."""
        follow_up = FollowUp()
        self._in_flight.add(follow_up)
        return follow_up

    def _is_still_waited_for(self, follow_up: FollowUp) -> bool:
        """Whether the request is alive when the work is done; True once."""
        if follow_up not in self._in_flight:
            return False
        self._in_flight.remove(follow_up)
        return True

    def _set_keyspace_completed(self, follow_up: FollowUp, errors: Mapping[Any, Any]) -> None:
        """Every connection uses the new keyspace, or says why it does not."""
        if not self._is_still_waited_for(follow_up):
            return
        if errors:
            self._set_final_exception(
                ConnectionException(f"Not every connection uses the new keyspace: {errors}")
            )
        else:
            self._set_final_result(None)

    def _refresh_schema(
        self, connection: Connection | None, event: Mapping[str, Any] | None
    ) -> None:
        """Have a schema change taken over. The statement succeeded, whatever becomes of this."""
        done = partial(self._refresh_schema_completed, self._follow_up())
        try:
            self.session.cluster.schema_changed(connection, event, done)  # type: ignore[arg-type]  # an answer came over one
        except Exception:
            log.exception("The schema could not be taken over after a change of it")
            done(False)

    def _refresh_schema_completed(self, follow_up: FollowUp, is_agreed: bool) -> None:
        """The schema is refreshed, or cannot be."""
        if self._is_still_waited_for(follow_up):
            self.is_schema_agreed = is_agreed
            self._set_final_result(None)

    def _set_error(self, host: Host | None, response: ErrorMessage) -> None:
        """Do with an ERROR what the retry policy says."""
        if self._metrics is not None:
            self._metrics.on_error(response)
        consistency = getattr(self.message, "consistency_level", None)
        decision = on_response(
            self.options.retry_policy, self.query, consistency, response, self._query_retries
        )
        error = response.to_exception()
        if host is not None:
            # The server's words do not say which server they are from.
            error.add_note(f"The coordinator was {host}")
        self._follow(decision, host, error)

    def _set_connection_error(self, host: Host | None, error: ConnectionException) -> None:
        """Do with a lost connection what the retry policy says."""
        if self._metrics is not None:
            self._metrics.on_connection_error()
        consistency = getattr(self.message, "consistency_level", None)
        decision = on_connection_error(
            self.options.retry_policy, self.query, consistency, error, self._query_retries
        )
        self._follow(decision, host, error)

    def _follow(self, decision: Decision, host: Host | None, error: Exception) -> None:
        """Try again, ignore a failure, or fail with it."""
        self._errors = {**self._errors, host: error}
        if decision.kind in (RetryPolicy.RETRY, RetryPolicy.RETRY_NEXT_HOST):
            self._query_retries += 1
            if self._metrics is not None:
                self._metrics.on_retry()
            if decision.consistency is not None:
                self.message.consistency_level = decision.consistency
            self._retry(host if decision.kind == RetryPolicy.RETRY else None, decision.delay)
        elif decision.kind == RetryPolicy.IGNORE:
            if self._metrics is not None:
                self._metrics.on_ignore()
            self._set_final_result(None)
        else:
            if self._metrics is not None:
                self._metrics.on_rethrow()
            self._set_final_exception(error)

    # --- statements that a node does not know ----------------------------------------------------

    def _prepare_again(
        self, host: Host, connection: Connection | None, error: PreparedQueryNotFound
    ) -> None:
        """Prepare the statement that this node does not know, to send the request again after."""
        query_id = error.info
        prepared = self.prepared_statement
        if prepared is not None and prepared.outdated:
            self._set_final_exception(prepared.outdated_error())
            return
        if prepared is None or prepared.query_id != query_id:
            prepared = self.session.cluster.prepared_statements.get(query_id)
        if prepared is None or (host, query_id) in self._prepared_again:
            # Nothing to prepare; or it was just prepared, and trying on could go on for ever.
            self._set_final_exception(error.to_exception())
            return
        names_keyspace = ProtocolVersion.uses_keyspace_flag(self.session.cluster.protocol_version)
        in_use = connection.keyspace if connection is not None else None
        if prepared.keyspace is not None and not names_keyspace and prepared.keyspace != in_use:
            self._set_final_exception(
                ValueError(
                    f"The connection uses keyspace {in_use!r}, the statement was prepared in "
                    f"{prepared.keyspace!r}: it cannot be prepared again"
                )
            )
            return
        self._prepared_again |= {(host, query_id)}
        self._have_prepared(host, prepared)

    def _have_prepared(self, host: Host, prepared: PreparedStatement) -> None:
        """Ask a host to prepare a statement, unless another request has; wait for the answer."""
        key = (host, prepared.query_id)
        preparing = self.session.preparing.get(key)
        if preparing is not None:
            AwaitsPrepare(self, prepared, preparing)
            return
        log.debug("Re-preparing on %s what it does not know: %s", host, prepared.query_string)
        names_keyspace = ProtocolVersion.uses_keyspace_flag(self.session.cluster.protocol_version)
        message = PrepareMessage(
            prepared.query_string, keyspace=prepared.keyspace if names_keyspace else None
        )
        preparing = Preparing(self, key, message)
        waiting = AwaitsPrepare(self, prepared, preparing)
        if preparing.ask():
            self.attempted_hosts.append(host)
        else:
            self._in_flight.remove(waiting)
            self._errors = {**self._errors, **preparing.asking.attempt_errors}
            self._retry(None, None)

    def _execute_after_prepare(
        self,
        prepared: PreparedStatement,
        host: Host,
        connection: Connection,
        response: object,
    ) -> None:
        """Send the request again, now that the node knows its statement."""
        if isinstance(response, ConnectionException):
            self._could_not_prepare(host, response)
            return
        if not isinstance(response, ResultMessage) or response.query_id is None:
            # An error or nonsense: the same as if the request had got it.
            self._set_result(host, connection, None, response)
            return
        self.session.cluster.prepared.compare(
            response.query_id, response.bind_metadata or (), response.pk_indexes
        )
        if prepared.outdated:
            self._set_final_exception(prepared.outdated_error())
            return
        if response.query_id != prepared.query_id:
            self._set_final_exception(
                DriverException(
                    f"Prepared again, the statement {prepared.query_id.hex()} became "
                    f"{response.query_id.hex()}: it means something else on this node, it has to "
                    "be prepared anew"
                )
            )
            return
        if response.column_metadata is not None:
            prepared.update_result_metadata(response.column_metadata, response.result_metadata_id)
        self._retry(host, None)

    def _could_not_prepare(self, host: Host, error: ConnectionException) -> None:
        """Go on to the next host: this one did not run the request, for it said so before.

        No retry policy is asked, then: it would have to fear for a statement that is not
        idempotent.
        """
        if self._metrics is not None:
            self._metrics.on_connection_error()
        self._errors = {**self._errors, host: error}
        self._retry(None, None)

    # --- trying again --------------------------------------------------------------------------

    def _retry(self, host: Host | None, delay: float | None) -> None:
        """Send the request again, now or later, to a host or to the next of the plan."""
        if delay is None or delay <= 0:
            self._send_again(host)
            return
        waiting = Delay()
        self._in_flight.add(waiting)
        waiting.timer = self.session.timers.call_later(
            delay, partial(self._retry_after, waiting, host)
        )

    def _retry_after(self, waiting: Delay, host: Host | None) -> None:
        if waiting in self._in_flight:
            self._in_flight.remove(waiting)
            self._send_again(host)

    def _send_again(self, host: Host | None) -> None:
        try:
            if host is None or not self._query(host):
                self._send_to_next()
        except BaseException as exc:  # noqa: BLE001  (whoever waits has to hear of it)
            self._set_final_exception(as_exception(exc, "sending a request again"))
            outlive(exc)

    # --- timers --------------------------------------------------------------------------------

    def _set_timers(self, page: int, waited: float = 0.0) -> None:
        timeout = self.options.timeout
        if timeout is not None:
            if waited:
                timeout -= waited
            self._call_later(timeout, partial(self._on_timeout, page))
        if self._speculative_execution_plan is not None:
            self._plan_speculative_execution(page)

    def _call_later(self, seconds: float, fn: Callable[[], None]) -> None:
        """Set a timer that the end of the request cancels, even if it comes meanwhile."""
        timer = self.session.timers.call_later(seconds, fn)
        self._timers = (*self._timers, timer)
        # Only now: an end that does not see the timer yet is seen here.
        if self._is_ending:
            self._timers = ()
            timer.cancel()

    def _plan_speculative_execution(self, page: int) -> None:
        plan = self._speculative_execution_plan
        if plan is None or not getattr(self.query, "is_idempotent", False):
            return
        last = self.attempted_hosts[-1] if self.attempted_hosts else None
        delay = plan.next_execution(last)
        if delay >= 0:
            self._call_later(delay, partial(self._on_speculative_execute, page))

    def _on_speculative_execute(self, page: int) -> None:
        """Ask one more host; if there is none, those that were asked still may answer."""
        if self.is_done or page != self._page:
            return
        try:
            if self._send_to_next():
                self.speculative_executions += 1
                if self._metrics is not None:
                    self._metrics.on_speculative_execution()
                if not self.is_done:
                    self._plan_speculative_execution(page)
        except BaseException as exc:  # noqa: BLE001  (whoever waits has to hear of it)
            self._set_final_exception(as_exception(exc, "a speculative execution"))
            outlive(exc)

    def _on_timeout(self, page: int) -> None:
        """Stop waiting."""
        if self.is_done or page != self._page:
            return
        if self._metrics is not None:
            self._metrics.on_client_timeout()
        self._set_final_exception(self._timed_out())

    def _timed_out(self) -> OperationTimedOut:
        """What happened to the request until now, as an exception."""
        last = self.attempted_hosts[-1] if self.attempted_hosts else None
        errors: dict[object, object] = dict(self._errors.items())
        waiting = [pending.host for pending in self._in_flight if isinstance(pending, Attempt)]
        errors.update(dict.fromkeys(waiting, _TIMED_OUT))
        if not self.is_schema_agreed:
            errors[self.coordinator_host] = _TIMED_OUT_AFTERWARDS
        elif not errors:
            errors[last or "(no host)"] = _TIMED_OUT
        return OperationTimedOut(errors, last)

    # --- the end of it -------------------------------------------------------------------------

    def abandon(self) -> None:
        """End without an outcome, for nobody waits for it any more. The loop's thread.

        Streams are free again as soon as the late answers have come, and no timer is left.
        """
        self._is_ending = True
        self._end()

    def _end(self) -> None:
        """Cancel timers and give up what is still on its way.

        Nothing is kept that would lead back to the request: it would live until the next
        collection of garbage, and at full load that is many of them.
        """
        timers, self._timers = self._timers, ()
        for timer in timers:
            timer.cancel()
        if self._in_flight:
            rest, self._in_flight = self._in_flight, set()
            for pending in rest:
                pending.give_up()

    def _set_final_result(self, response: Rows) -> None:
        self._is_ending = True
        if self._timers or self._in_flight:
            self._end()
        if self._metrics is not None:
            self._metrics.on_result(time.monotonic() - self._start_time)
        with self._callback_lock:  # a compiled request, which has none, does not get here
            self._final_result = response
            # A callback that is added from now on is called where it is added.
            to_call = self._callbacks
        if self._waited_for is not None:
            self._wake()
        for callback in to_call:
            if type(response) is LatePage:
                self._call_back_with_rows(response, to_call)
                break
            call_back(callback, response)

    def _set_final_exception(self, response: Exception) -> None:
        self._is_ending = True
        if self._timers or self._in_flight:
            self._end()
        if self._metrics is not None:
            self._metrics.on_exception(time.monotonic() - self._start_time)
        with self._callback_lock or self._lock:
            self._final_exception = response
            to_call = self._errbacks
        if self._waited_for is not None:
            self._wake()
        for errback in to_call:
            call_back(errback, response)

    # --- late pages, on the thread that wants the rows -------------------------------------------

    def _make_some_rows(self, page: LatePage) -> bool:
        """Make some rows of a page that is late; whether more are to be made.

        With the last ones they are the outcome, as is what making them failed with, unless the next
        page was asked for meanwhile.
        """
        try:
            if not page.make_some():
                return True
            with self._callback_lock or self._lock:
                if self._final_result is page:
                    self._final_result = page.rows
        except Exception as error:  # noqa: BLE001  (whoever waits has to hear of it)
            self._fail_late(page, error)
        finally:
            del self  # the traceback of an error leads here, and from here it would to the error
        return False

    def _fail_late(self, page: LatePage, error: Exception) -> None:
        """End again, with an exception."""
        if page.connection is not None:
            page.connection.take_undecodable(error)
        with self._callback_lock or self._lock:
            if self._final_result is not page:
                return  # another thread was faster
            self._final_exception = error
            self._final_result = NOT_SET
            to_call = self._errbacks
        if self._metrics is not None:
            self._metrics.on_late_exception()
        for errback in to_call:
            call_back(errback, error)

    def _make_rows(self, page: LatePage) -> None:
        """Make all rows of a page that is late, on whichever thread wants them now."""
        try:
            while self._make_some_rows(page):
                pass  # the interpreter gives its lock to another thread here that waited for 5 ms
        finally:
            del self  # as there

    def _make_rows_on_arrival(self, page: LatePage) -> None:
        """Make all rows where the answer arrived: nothing that this raises may end that thread."""
        try:
            self._make_rows(page)
        except BaseException as error:
            log.exception("Making rows tried to end the thread that reads answers")
            self._fail_late(page, as_exception(error, "making rows"))
            outlive(error)

    def _call_back_with_rows(
        self, page: LatePage, callbacks: Sequence[Callable[[Any], object]]
    ) -> None:
        """Make rows for those who asked to be called back with them.

        Whoever waited, or the first of them, may have asked for the next page meanwhile.
        """
        for callback in callbacks:
            needs_rows = _needs_rows(callback)
            if needs_rows and not page.is_made:
                self._make_rows_on_arrival(page)
                if not page.is_made:
                    return
            call_back(callback, page.rows if needs_rows else page)

    # --- who is told -----------------------------------------------------------------------------

    @property
    def _lock(self) -> threading.Lock:
        """What keeps an outcome and those who are to be told of it from missing each other.

        Compiled code makes it for the first who asks: few requests have callbacks.
        """
        return self._callback_lock

    def _wake(self) -> None:
        """Tell those who wait by what they wait for; here nobody does."""

    @property
    def is_done(self) -> bool:
        """Whether there is an outcome, of the current page."""
        return self._final_result is not NOT_SET or self._final_exception is not None

    def _reopen(self) -> None:
        """Forget the outcome: that of the next page comes."""
        self._final_result = NOT_SET
        self._final_exception = None

    def add_callback(self, fn: Callable[..., object], *args: object, **kwargs: object) -> Self:
        """Have ``fn(rows, *args, **kwargs)`` called with each page, also with the one that is here.

        It may run on the thread that reads responses: it must neither wait nor raise. The rows of a
        large page are made there, too, before it is called, unless it ``takes_late_rows``.
        """
        callback = partial(_with_first, fn, args, kwargs)
        with self._callback_lock or self._lock:
            self._callbacks = (*self._callbacks, callback)
            page = self._final_result
        if type(page) is LatePage and _needs_rows(callback):
            self._make_rows(page)
            page = page.rows if page.is_made else NOT_SET
        if page is not NOT_SET:
            call_back(callback, page)
        else:
            send_postponed(on_loop=True)  # the program may be elsewhere when the answer comes
        return self

    def add_errback(self, fn: Callable[..., object], *args: object, **kwargs: object) -> Self:
        """Have ``fn(exception, *args, **kwargs)`` called if the request fails or has failed."""
        errback = partial(_with_first, fn, args, kwargs)
        with self._callback_lock or self._lock:
            self._errbacks = (*self._errbacks, errback)
            failed, page = self._final_exception, self._final_result
        if failed is not None:
            call_back(errback, failed)
        elif type(page) is LatePage and _needs_rows(errback):
            self._make_rows(page)
        elif page is NOT_SET:
            send_postponed(on_loop=True)  # as above
        return self

    def add_callbacks(
        self,
        callback: Callable[..., object],
        errback: Callable[..., object],
        callback_args: Sequence[Any] = (),
        callback_kwargs: Mapping[str, Any] | None = None,
        errback_args: Sequence[Any] = (),
        errback_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """``add_callback`` and ``add_errback`` in one call."""
        self.add_callback(callback, *callback_args, **(callback_kwargs or {}))
        return self.add_errback(errback, *errback_args, **(errback_kwargs or {}))

    def clear_callbacks(self) -> None:
        """Forget all callbacks and errbacks."""
        with self._callback_lock or self._lock:
            self._callbacks = ()
            self._errbacks = ()

    def _outcome(self) -> str:
        """For representations."""
        result = "(none yet)" if self._final_result is NOT_SET else self._final_result
        return f"result={result!r} exception={self._final_exception!r}"

    # --- what was asked for, what came along ---------------------------------------------------

    @property
    def timeout(self) -> float | None:
        """Seconds until ``OperationTimedOut``, for each page; None for none."""
        return self.options.timeout

    @property
    def start_time(self) -> float:
        """When the request for the current page began, in seconds of ``time.monotonic``."""
        return self._start_time

    @property
    def _current_host(self) -> Host | None:
        """The host that was asked last; programs of other drivers look for it here."""
        return self.attempted_hosts[-1] if self.attempted_hosts else None

    @property
    def attempt_errors(self) -> Mapping[Host | None, Exception]:
        """Why hosts did not answer the current page, by host; also of one that was answered later.

        None stands for a host that is not known any more.
        """
        return self._errors

    @property
    def row_factory(self) -> RowFactory[object]:
        """Shape of the rows."""
        return self.options.row_factory

    @property
    def has_more_pages(self) -> bool:
        """Whether the server has rows after the page that was fetched last."""
        # Empty, it marks no place; start_fetching_next_page sees it the same way.
        return bool(self._paging_state)

    @property
    def warnings(self) -> Sequence[str] | None:
        """Warnings of the server; None without.

        Raises:
            DriverException: there is no answer yet.
        """
        self._need_answer("warnings")
        return self._warnings

    @property
    def custom_payload(self) -> Mapping[str, bytes | None] | None:
        """Custom payload of the server; None without.

        Raises:
            DriverException: there is no answer yet.
        """
        self._need_answer("custom_payload")
        return self._custom_payload

    def get_query_trace_ids(self) -> list[UUID]:
        """Ids of the traces of this request, one a page that was traced."""
        return list(self._query_traces)

    def _need_answer(self, what: str) -> None:
        if not self.is_done:
            raise DriverException(f"{what} cannot be retrieved before the answer is here")

    def __repr__(self) -> str:
        """The statement, the host and how it ended."""
        return (
            f"<{type(self).__name__}: query={self.query!r} request={self.message!r} "
            f"{self._outcome()} coordinator_host={self.coordinator_host}>"
        )

    __str__ = __repr__


def _with_first(
    fn: Callable[..., object], args: Sequence[Any], kwargs: Mapping[str, Any], first: object
) -> None:
    fn(first, *args, **kwargs)


def _needs_rows(callback: Callable[[Any], object]) -> bool:
    """Whether a callback or errback, as it is kept here, takes no late rows."""
    declared = getattr(callback.args[0], "takes_late_rows", False)  # type: ignore[attr-defined]
    return declared is not True  # a mock has every attribute


def call_back(callback: Callable[[Any], object], value: object) -> None:
    """Call back; what a callback raises is its author's to read, not the reader thread's."""
    try:
        callback(value)
    except BaseException as error:
        log.exception("Callback %r raised an exception", callback.args[0])  # type: ignore[attr-defined]  # as kept here
        outlive(error)


hand_over(globals())
