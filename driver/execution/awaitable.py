"""The awaitable response: a request for coroutines on the loop's thread."""

from __future__ import annotations

import asyncio
from types import coroutine
from typing import TYPE_CHECKING, Any, ClassVar

from ..implementation import hand_over
from ..net.after_read import Waiter
from ..protocol.consistency import ConsistencyLevel
from ..results.page import ResultPage
from .late_page import LatePage
from .request import NOT_SET, RequestExecution
from .tracing import traces_of

if TYPE_CHECKING:
    from collections.abc import Generator

    from ..protocol.typing import Rows
    from .tracing import QueryTrace


class AwaitableResponse(RequestExecution):
    """The answer to a request that was sent, or will be; ``await`` it, several times if need be.

    Cancelling whoever awaits it ends the request: its streams are free again as soon as the late
    answers have come, and no timer is left. So does ``cancel``.
    """

    __slots__ = ()

    #: What ``await`` gives: a page of rows (or of a message, or of nothing).
    page_class: ClassVar[type[ResultPage[Any]]] = ResultPage

    def _waiter(self) -> Waiter:
        """What whoever awaits the outcome waits for, and what cancelling cancels.

        The outcome itself stays out of it: it would complain about an exception that nobody awaits,
        and a callback may have taken it.
        """
        if self._waited_for is None:
            self._waited_for = Waiter(self.session.loop or asyncio.get_running_loop())
        waiter: Waiter = self._waited_for
        return waiter

    def _wake(self) -> None:
        self._waited_for.wake()

    def _reopen(self) -> None:
        self._waited_for = None
        super()._reopen()

    def cancel(self) -> bool:
        """End the request without an answer; whoever awaits it gets ``CancelledError``.

        Returns:
            False if it had ended already.
        """
        if self.is_done:
            return False
        self._waiter().cancel()
        self.abandon()
        return True

    @property
    def _is_cancelled(self) -> bool:
        return self._waited_for is not None and self._waited_for.cancelled()

    @property
    def is_done(self) -> bool:
        """Whether there is an outcome, of the current page; being cancelled is one."""
        return super().is_done or self._is_cancelled

    def __await__(self) -> Generator[Any, None, Any]:
        """The current page, of ``page_class``; errors as of ``wait_for_page``."""
        return self._wait(self.page_class)

    @coroutine
    def wait_for_page(self) -> Generator[Any, None, Rows]:
        """Wait for the current page as the row factory gave it.

        Raises:
            OperationTimedOut: there was none within ``timeout`` seconds.
            NoHostAvailable: no host could be asked, or no other one after a failure.
            CancelledError: it was cancelled.
            Exception: what else the request failed with.
        """
        try:
            return (yield from self._wait(None))
        finally:
            del self  # as in ``_wait``

    def _wait(self, page_class: type[ResultPage[Any]] | None) -> Generator[Any, None, Any]:
        rows: Any = NOT_SET
        while rows is NOT_SET:  # also if another task has asked for the next page meanwhile
            if not self.is_done or self._is_cancelled:
                waiter = self._waiter()
                try:
                    if not waiter.done():
                        waiter.blocks()
                        yield waiter
                    waiter.result()
                finally:
                    if waiter.cancelled() or not waiter.done():
                        waiter.cancel()
                        self.abandon()
            error, rows = self._final_exception, self._final_result
            if error is not None:
                try:
                    raise error
                finally:
                    del self, error  # the traceback leads here, and from here to the error
            if type(rows) is LatePage:
                rows = yield from self._make_rows_in_between(rows)
        return rows if page_class is None else page_class(self, rows)

    @coroutine
    def _make_rows_in_between(self, page: LatePage) -> Generator[None, None, Rows]:
        """Make the rows of a late page, some each time that the loop comes by.

        Returns:
            They; NOT_SET if that failed, with an outcome of its own.
        """
        try:
            yield  # whose answers came with the page go on first
            while self._make_some_rows(page):
                yield
            return page.rows if page.is_made else NOT_SET
        finally:
            del self  # the traceback of an error leads here

    async def get_query_trace(
        self, max_wait: float | None = None, query_cl: int = ConsistencyLevel.LOCAL_ONE
    ) -> QueryTrace | None:
        """The trace of the last page; arguments and errors as of ``ResponseFuture``."""
        traces = traces_of(self)[-1:]
        for trace in traces:
            await trace.populate_async(max_wait, query_cl=query_cl)
        return traces[0] if traces else None

    async def get_all_query_traces(
        self, max_wait_per: float | None = None, query_cl: int = ConsistencyLevel.LOCAL_ONE
    ) -> list[QueryTrace]:
        """The traces of all pages; arguments and errors as of ``get_query_trace``."""
        traces = traces_of(self)
        for trace in traces:
            await trace.populate_async(max_wait_per, query_cl=query_cl)
        return traces


hand_over(globals())
