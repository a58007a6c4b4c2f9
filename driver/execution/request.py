"""The execution of a request: over which hosts, how often, for how long, until it ends once.

::

    send_request -> query plan -> borrow -> send ........... answer -> ResponseDispatch._set_result
                        ^                                                  |         |
                        +---- next host <---- retry, perhaps delayed <-----+         +--> the end
                        +---- next host <---- speculative execution (timer)
                                              client time-out (timer) --------------> the end

A request lives as long as it waits for something (``driver.execution.pending``). The end takes what
is left out of its hands: streams are abandoned, timers cancelled. Only the first sending of a page
happens on the thread that asks for it, before any timer is set; everything else is the loop's, so
that two ends cannot meet.
"""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ..net.errors import ConnectionException, as_exception
from ..net.loop import outlive
from ..vocabulary.errors import DriverException, NoHostAvailable, OperationTimedOut
from .callbacks import Callbacks, call_back
from .listeners import announce
from .options import Options
from .pending import Attempt, Delay
from .repreparing import Repreparing
from .routing import token_and_shard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from uuid import UUID

    from ..net.contract import Connection
    from ..policies.speculative import SpeculativeExecutionPlan
    from ..results.rows import RowFactory
    from ..statements.prepared import PreparedStatement
    from ..topology.host import Host
    from ..wire.messages import Request
    from .contract import Pool, Session, Timer
    from .metrics import Metrics
    from .pending import Pending

log = logging.getLogger(__name__)

_TIMED_OUT: Final = "no answer within the timeout of the request"
_TIMED_OUT_AFTERWARDS: Final = (
    "executed, but within the timeout of the request not all nodes agreed on the new schema; "
    "max_schema_agreement_wait should be shorter"
)


class QueryExhausted(DriverException):
    """There is no next page."""


class RequestExecution(Callbacks, Repreparing):
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
    """

    # What every request begins with is on the class: an instance has what it came to know. That is
    # less to set, and few enough attributes for the interpreter to share their names.
    coordinator_host: Host | None = None
    request_encoded_size: int | None = None
    is_schema_agreed: bool = True
    _warnings: Sequence[str] | None = None
    _custom_payload: Mapping[str, bytes | None] | None = None
    _paging_state: bytes | None = None
    _col_names: Sequence[str] | None = None
    _col_types: Sequence[Any] | None = None
    _page: int = 1
    _plan: Iterator[Host] | None = None
    _query_retries: int = 0
    _prepared_again: frozenset[tuple[Host, bytes]] = frozenset()
    _is_ending: bool = False

    def __init__(
        self,
        session: Session,
        message: Request,
        query: Any,  # noqa: ANN401  (a statement of any kind, or None)
        options: Options | None = None,
        *,
        metrics: Metrics | None = None,
        prepared_statement: PreparedStatement | None = None,
        start_time: float | None = None,
        speculative_execution_plan: SpeculativeExecutionPlan | None = None,
    ) -> None:
        """Describe a request; ``send_request`` sends it.

        Args:
            session: what sends the request.
            message: the request.
            query: the statement that it came from.
            options: what it is asked to do; by default nothing, for rows as of the session.
            metrics: where it is counted; by default the session's.
            prepared_statement: what is executed, if it was prepared.
            start_time: when the request began, in seconds of ``time.monotonic``.
            speculative_execution_plan: when to ask another host as well; heeded only if the
                statement is idempotent.
        """
        super().__init__()
        self.session = session
        self.message = message
        self.query = query
        self.options = Options(row_factory=session.row_factory) if options is None else options
        self.prepared_statement = prepared_statement
        self.attempted_hosts: list[Host] = []
        self._metrics = session.metrics if metrics is None else metrics
        self._start_time = time.monotonic() if start_time is None else start_time
        self._speculative_execution_plan = speculative_execution_plan
        self._errors = {}
        self._in_flight: set[Pending] = set()
        self._timers: list[Timer] = []

    def _begin_page(self) -> None:
        """Forget what belongs to the page before."""
        self._page += 1
        self._plan = None
        self._query_retries = 0
        self._prepared_again = frozenset()
        self._errors = {}
        self._in_flight = set()
        self._timers = []
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
                None if options.more is None else options.more.get("keyspace"),
            )
            if not self._send_to_next():
                return
        except Exception as exc:  # noqa: BLE001  (whoever waits has to hear of it)
            self._set_final_exception(exc)
            return
        # Not before something was sent: nothing that ends a request may run beside this thread.
        if not self.is_done and page == self._page:
            self._set_timers(page)

    def start_fetching_next_page(self) -> None:
        """Ask for the next page, from any thread.

        Raises:
            QueryExhausted: there is none.
        """
        if not self._paging_state:
            raise QueryExhausted("there are no more pages")
        self.message.paging_state = self._paging_state
        self._begin_page()
        self._start_time = time.monotonic()
        self._reopen()
        self._send_page()

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
            self._set_final_exception(
                NoHostAvailable(
                    "No host of the query plan could answer",
                    dict(self._errors) or self._why_none_was_asked(),
                )
            )
        return False

    def _why_none_was_asked(self) -> dict[Any, Exception]:
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
        callback: Callable[[Host, Connection, Pool, object], None] | None = None,
    ) -> bool:
        """Send a message, by default the request itself.

        Returns:
            False if the host cannot be used now; why is in the errors.

        Raises:
            Exception: the message cannot be sent to any host.
        """
        pool = self.session.pool_for(host)
        if pool is None or pool.is_shutdown:
            why = (
                "There is no pool for this host: it is down, ignored or gone"
                if pool is None
                else "The pool of this host is closed"
            )
            self._errors[host] = ConnectionException(why, host.endpoint, was_sent=False)
            return False
        token, shard = token_and_shard(self.session, self.query, host)
        try:
            connection, stream = pool.borrow_connection(token, shard)
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
        attempt = Attempt(self, host, connection, pool, stream, callback)
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
            self._in_flight.discard(attempt)
            connection.release_request_id(stream)
            pool.return_connection(connection)
            if not isinstance(error, ConnectionException):
                raise
            self._cannot_use(host, error)
            return False
        return True

    def _cannot_use(self, host: Host, error: ConnectionException) -> None:
        log.debug("Cannot send a request to %s: %s", host, error)
        self._errors[host] = error.with_traceback(None)  # its frames lead back to the request
        if self._metrics is not None:
            self._metrics.on_connection_error()

    def _answered(self, attempt: Attempt, response: object) -> None:
        """Take the answer to an attempt; one that was given up is of no interest."""
        if attempt not in self._in_flight:
            return
        self._in_flight.remove(attempt)
        try:
            if attempt.callback is None:
                self._set_result(attempt.host, attempt.connection, attempt.pool, response)
            else:
                attempt.callback(attempt.host, attempt.connection, attempt.pool, response)
        except BaseException as exc:
            log.exception("Unexpected exception while handling the answer to a request")
            self._set_final_exception(as_exception(exc, "handling the answer"))
            outlive(exc)

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

    def _set_timers(self, page: int) -> None:
        timeout = self.options.timeout
        if timeout is not None:
            self._call_later(timeout, partial(self._on_timeout, page))
        self._plan_speculative_execution(page)

    def _call_later(self, seconds: float, fn: Callable[[], None]) -> None:
        """Set a timer that the end of the request cancels, even if it comes meanwhile."""
        timer = self.session.timers.call_later(seconds, fn)
        self._timers.append(timer)
        # Only now: an end that does not see the timer yet is seen here.
        if self._is_ending or self.is_done:
            self._timers = []
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
        errors: dict[Any, object] = dict(self._errors)
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
        timers, self._timers = self._timers, []
        for timer in timers:
            timer.cancel()
        if self._in_flight:
            rest, self._in_flight = self._in_flight, set()
            for pending in rest:
                pending.give_up()

    def _set_final_result(self, response: Any) -> None:  # noqa: ANN401  (a row factory decides)
        self._is_ending = True
        if self._timers or self._in_flight:
            self._end()
        if self._metrics is not None:
            self._metrics.on_result(time.monotonic() - self._start_time)
        with self._callback_lock:
            self._final_result = response
            # A callback that is added from now on is called where it is added.
            to_call = self._callbacks
        self._wake()
        for callback in to_call:
            call_back(callback, response)

    def _set_final_exception(self, response: Exception) -> None:
        self._is_ending = True
        if self._timers or self._in_flight:
            self._end()
        if self._metrics is not None:
            self._metrics.on_exception(time.monotonic() - self._start_time)
        with self._callback_lock:
            self._final_exception = response
            to_call = self._errbacks
        self._wake()
        for errback in to_call:
            call_back(errback, response)

    # --- what was asked for, what came along ---------------------------------------------------

    @property
    def timeout(self) -> float | None:
        """Seconds until ``OperationTimedOut``, for each page; None for none."""
        return self.options.timeout

    @property
    def row_factory(self) -> RowFactory[Any]:
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
