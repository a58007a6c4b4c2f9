"""The response future: one request, its pages, and who waits for them."""

from __future__ import annotations

import logging
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

from ..results.result_set import ResultSet
from ..vocabulary.errors import DriverException, OperationTimedOut
from .dispatch import ResponseDispatch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from ..results.rows import RowFactory
    from ..statements.prepared import PreparedStatement
    from ..topology.host import Host
    from ..wire.messages import Request
    from .contract import Session

log = logging.getLogger(__name__)

_NOT_SET: Final = object()


class QueryExhausted(DriverException):
    """There is no next page."""


class ResponseFuture(ResponseDispatch):
    """The answer to a request that was sent, or will be.

    Attributes:
        session: what sends the request.
        message: the request.
        query: the statement that it came from; None for a message of the driver's own.
        timeout: seconds that ``result`` waits; None waits for ever.
        prepared_statement: what is executed, if it was prepared.
        row_factory: shape of the rows.
        attempted_hosts: hosts that the request was sent to, in order.
        coordinator_host: the host that answered last; None before.
        request_encoded_size: bytes of the request as it was sent last.
        is_schema_agreed: False if hosts still disagree about a schema change of this request.
    """

    def __init__(
        self,
        session: Session,
        message: Request,
        query: Any,  # noqa: ANN401  (a statement of any kind, or None)
        timeout: float | None = None,
        *,
        prepared_statement: PreparedStatement | None = None,
        row_factory: RowFactory | None = None,
    ) -> None:
        """Describe a request; ``send_request`` sends it."""
        self.session = session
        self.message: Any = message
        self.query = query
        self.timeout = timeout
        self.prepared_statement = prepared_statement
        self.row_factory = row_factory or session.row_factory
        self.attempted_hosts: list[Host] = []
        self.coordinator_host: Host | None = None
        self.request_encoded_size: int | None = None
        self.is_schema_agreed = True
        self._query_traces: list[UUID] = []
        self._warnings: Sequence[str] | None = None
        self._custom_payload: Mapping[str, bytes | None] | None = None
        self._paging_state: bytes | None = None
        self._col_names: Sequence[str] | None = None
        self._col_types: Sequence[Any] | None = None
        self._prepared_again: frozenset[bytes] = frozenset()
        self._final_result: Any = _NOT_SET
        self._final_exception: Exception | None = None
        self._event = threading.Event()
        self._callback_lock = threading.Lock()
        self._callbacks: list[Callable[[Any], object]] = []
        self._errbacks: list[Callable[[Exception], object]] = []

    # --- sending -------------------------------------------------------------------------------

    def send_request(self) -> None:
        """Send the request. What goes wrong becomes the future's exception."""
        self._query()

    def start_fetching_next_page(self) -> None:
        """Ask for the next page; ``result`` then waits for it.

        Raises:
            QueryExhausted: there is none.
        """
        if not self._paging_state:
            raise QueryExhausted("there are no more pages")
        self.message.paging_state = self._paging_state
        self._event.clear()
        self._final_result = _NOT_SET
        self._final_exception = None
        self._prepared_again = frozenset()
        self.send_request()

    def _query(
        self,
        host: Host | None = None,
        message: Request | None = None,
        callback: Callable[..., None] | None = None,
    ) -> None:
        """Send a message, by default the request itself, to a host, by default as planned."""
        try:
            host, connection, pool = self.session.borrow_connection(self.query, host)
            result_metadata = None
            if message is None:
                message = self.message
                if self.prepared_statement is not None:
                    # The id first: see PreparedStatement.update_result_metadata.
                    self.message.result_metadata_id = self.prepared_statement.result_metadata_id
                    result_metadata = self.prepared_statement.result_metadata
            self.attempted_hosts.append(host)
            self.request_encoded_size = connection.send_msg(
                message,
                connection.get_request_id(),
                partial(callback or self._set_result, host, connection, pool),
                result_metadata,
            )
        except Exception as exc:  # noqa: BLE001  (whoever waits has to hear of it)
            self._set_final_exception(exc)

    # --- the end of it -------------------------------------------------------------------------

    def _set_final_result(self, response: Any) -> None:  # noqa: ANN401  (a row factory decides)
        with self._callback_lock:
            self._final_result = response
            # A callback that is added from now on is called where it is added.
            to_call = tuple(self._callbacks)
        self._event.set()
        for callback in to_call:
            _call(callback, response)

    def _set_final_exception(self, response: Exception) -> None:
        with self._callback_lock:
            self._final_exception = response
            to_call = tuple(self._errbacks)
        self._event.set()
        for errback in to_call:
            _call(errback, response)

    def result(self) -> ResultSet:
        """Wait for the answer.

        Returns:
            The current page; it goes on to the next ones when it is iterated over.

        Raises:
            OperationTimedOut: there was none within ``timeout`` seconds.
            Exception: what the request failed with.
        """
        if not self._event.wait(self.timeout):
            last = self.attempted_hosts[-1] if self.attempted_hosts else None
            raise OperationTimedOut(
                {str(last): f"Client request timeout of {self.timeout} s"}, last_host=last
            )
        if self._final_exception is not None:
            raise self._final_exception
        return ResultSet(self, self._final_result)

    # --- callbacks -----------------------------------------------------------------------------

    def add_callback(self, fn: Callable[..., object], *args: Any, **kwargs: Any) -> Self:  # noqa: ANN401  (as the function takes them)
        """Have ``fn(rows, *args, **kwargs)`` called with each page, also with the one that is here.

        It may run on the thread that reads responses: it must neither wait nor raise.
        """
        callback = partial(_with_first, fn, args, kwargs)
        with self._callback_lock:
            self._callbacks.append(callback)
            is_here = self._final_result is not _NOT_SET
        if is_here:
            _call(callback, self._final_result)
        return self

    def add_errback(self, fn: Callable[..., object], *args: Any, **kwargs: Any) -> Self:  # noqa: ANN401  (as the function takes them)
        """Have ``fn(exception, *args, **kwargs)`` called if the request fails or has failed."""
        errback = partial(_with_first, fn, args, kwargs)
        with self._callback_lock:
            self._errbacks.append(errback)
            failed = self._final_exception
        if failed is not None:
            _call(errback, failed)
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
        with self._callback_lock:
            self._callbacks = []
            self._errbacks = []

    # --- what came along -----------------------------------------------------------------------

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
        if not self._event.is_set():
            raise DriverException(f"{what} cannot be retrieved before the answer is here")

    def __repr__(self) -> str:
        """The statement, the host and how it ended."""
        result = "(no result yet)" if self._final_result is _NOT_SET else self._final_result
        return (
            f"<{type(self).__name__}: query={self.query!r} request={self.message!r} "
            f"result={result!r} exception={self._final_exception!r} "
            f"coordinator_host={self.coordinator_host}>"
        )

    __str__ = __repr__


def _with_first(
    fn: Callable[..., object], args: Sequence[Any], kwargs: Mapping[str, Any], first: object
) -> None:
    fn(first, *args, **kwargs)


def _call(callback: Callable[[Any], object], value: object) -> None:
    """Call back; what a callback raises is its author's to read, not the reader thread's."""
    try:
        callback(value)
    except Exception:
        log.exception("Callback %r raised an exception", callback)
