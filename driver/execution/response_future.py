"""The response future: a request for threads that wait for it, or are called back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from ..implementation import hand_over
from ..net.after_read import Latch
from ..net.transport import send_postponed
from ..protocol.consistency import ConsistencyLevel
from ..results.result_set import ResultSet
from ..results.rows import Row
from . import waiting
from .late_page import LatePage
from .request import NOT_SET, QueryExhausted, RequestExecution
from .tracing import traces_of

if TYPE_CHECKING:
    from ..protocol.typing import Rows
    from .tracing import QueryTrace

__all__ = ["QueryExhausted", "ResponseFuture"]


class ResponseFuture(RequestExecution, Generic[Row]):
    """The answer to a request that was sent, or will be; ``result`` waits for it."""

    __slots__ = ()

    def _latch(self) -> Latch | None:
        """What is opened when there is an outcome, made for the first thread that waits.

        None if there is one already.
        """
        # Under the lock of the outcome: it ends before, and is seen here, or it sees this.
        with self._callback_lock or self._lock:
            if self.is_done:
                return None
            if self._waited_for is None:
                self._waited_for = Latch()
            latch: Latch = self._waited_for
            return latch

    def _wake(self) -> None:
        latch, self._waited_for = self._waited_for, None
        latch.open()

    def result(self) -> ResultSet[Row]:
        """Wait for the answer.

        Returns:
            The current page; it goes on to the next ones when it is iterated over.

        Raises:
            OperationTimedOut: there was none within ``timeout`` seconds.
            NoHostAvailable: no host could be asked, or no other one after a failure.
            RuntimeError: this is the thread that reads answers: it would wait for itself.
            Exception: what else the request failed with.
        """
        try:
            return ResultSet(self, self.wait_for_page())
        finally:
            del self  # the traceback of an error leads here, and from here it would to the error

    def send_and_wait(self) -> ResultSet[Row]:
        """Send the request and wait for the answer; returns and raises as ``result``.

        The answer is read on this thread, if no other one is on its way over that connection.
        """
        self._reads = True
        try:
            self.send_request()
            return self.result()
        finally:
            self._stop_reading()
            del self  # as in ``result``

    def fetch_next_page(self) -> Rows:
        """Ask for the next page and wait for it, as ``send_and_wait`` does.

        Raises:
            QueryExhausted: there is none; others as of ``result``.
        """
        if not self._begin_next_page():
            return self.wait_for_page()
        self._reads = True
        try:
            self._send_page()
            return self.wait_for_page()
        finally:
            self._stop_reading()
            del self

    def _stop_reading(self) -> None:
        """Leave the answer to the loop, if this thread was interrupted before it had read it."""
        attempt, self._reads = self._reads, False
        if not isinstance(attempt, bool):
            attempt.stop_reading()

    def wait_for_page(self) -> Rows:
        """Wait as ``result`` does, for the current page as the row factory gave it.

        If the next one is asked for before this thread goes on, that is the current one.
        """
        while True:
            error, page = self._final_exception, self._final_result
            if error is not None:
                try:
                    raise error
                finally:
                    del self, error  # the traceback leads here, and from here it would to the error
            if type(page) is LatePage:
                self._make_rows(page)
                if page.is_made:
                    return page.rows
            elif page is not NOT_SET:
                return page
            else:
                self._wait()

    def _wait(self) -> None:
        """Wait until there is an outcome."""
        waiting.refuse_on_loop(self.session)
        send_postponed()
        latch, limit = self._latch(), self.options.timeout
        # What a timer says counts, and an outcome that comes just then.
        if not (
            latch is None
            or latch.wait(None if limit is None else max(limit + waiting.GRACE, 0))
            or self.is_done
        ):
            raise self._timed_out()

    def get_query_trace(
        self, max_wait: float | None = None, query_cl: int = ConsistencyLevel.LOCAL_ONE
    ) -> QueryTrace | None:
        """The trace of the last page, read from the cluster; None if it was not traced.

        Args:
            max_wait: seconds to wait for it; None waits for ever.
            query_cl: consistency level of the reading.

        Raises:
            TraceUnavailable: it was not there in time, or the request has no answer yet.
        """
        traces = traces_of(self)[-1:]
        for trace in traces:
            trace.populate(max_wait, query_cl=query_cl)
        return traces[0] if traces else None

    def get_all_query_traces(
        self, max_wait_per: float | None = None, query_cl: int = ConsistencyLevel.LOCAL_ONE
    ) -> list[QueryTrace]:
        """The traces of all pages; arguments and errors as of ``get_query_trace``."""
        traces = traces_of(self)
        for trace in traces:
            trace.populate(max_wait_per, query_cl=query_cl)
        return traces


hand_over(globals())
