"""Awaitable result sets: the rows of an answer, page after page, without blocking the loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..results.page import ResultPage
from ..results.rows import Row

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from ..execution.awaitable import AwaitableResponse
    from ..execution.tracing import QueryTrace
    from ..results.arrow import ArrowBatch, ArrowTable


class AsyncResultSet(ResultPage[Row]):
    """The rows of an answer. ``async for`` goes on to the next pages, one at a time.

    Everything that is not to be awaited looks at the current page: ``current_rows``, ``one``,
    ``bool``.
    """

    response_future: AwaitableResponse

    async def fetch_next_page(self) -> None:
        """Replace the current rows by those of the next page; by none after the last.

        Raises:
            Exception: what asking for the page failed with; the current rows stay.
        """
        if self.response_future.has_more_pages:
            self.response_future.start_fetching_next_page()
            self._set_current_rows(await self.response_future.wait_for_page())
        else:
            self._current_rows = []

    async def __aiter__(self) -> AsyncIterator[Row]:
        """All rows from the current page on; pages are fetched as they are reached."""
        while True:
            for row in self._current_rows:
                yield row
            if not self.has_more_pages:
                return
            # A page may be empty and still be followed by another: filtering does that.
            await self.fetch_next_page()

    async def all(self) -> list[Row]:
        """All rows from the current page on, as a list."""
        rows = list(self._current_rows)
        while self.has_more_pages:
            await self.fetch_next_page()
            rows += self._current_rows
        return rows

    async def to_arrow(self) -> ArrowTable:
        """All rows from the current page on, in memory, as Apache Arrow's columns.

        pyarrow, polars, pandas, DuckDB and others take the table as it is. With
        ``row_factory=arrow_factory`` of ``driver`` no row is decoded first.

        Raises:
            TypeError: the result has no rows, or they are not of the driver's row factories.
            Exception: what asking for a page failed with.
        """
        from ..results.arrow import ArrowTable  # noqa: PLC0415  (rarely asked for)

        return ArrowTable([batch async for batch in self.arrow_batches()])

    async def arrow_batches(self) -> AsyncIterator[ArrowBatch]:
        """The pages from the current one on as Apache Arrow's batches, one at a time.

        Raises:
            TypeError: as of ``to_arrow``.
            Exception: what asking for a page failed with.
        """
        yield self._arrow_batch()
        while self.has_more_pages:
            await self.fetch_next_page()
            yield self._arrow_batch()

    async def get_query_trace(self, max_wait_sec: float | None = None) -> QueryTrace | None:
        """The trace of the last page; None if the request was not traced.

        Args:
            max_wait_sec: seconds to wait for it; None waits for ever.

        Raises:
            TraceUnavailable: it was not there in time.
        """
        return await self.response_future.get_query_trace(max_wait_sec)

    async def get_all_query_traces(self, max_wait_sec_per: float | None = None) -> list[QueryTrace]:
        """The traces of all pages; arguments and errors as of ``get_query_trace``."""
        return await self.response_future.get_all_query_traces(max_wait_sec_per)
