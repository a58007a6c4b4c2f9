"""Result sets: the rows of an answer, page after page, for threads that wait for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from ..implementation import hand_over
from .page import ResultPage
from .rows import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..execution.response_future import ResponseFuture
    from ..execution.tracing import QueryTrace
    from .arrow import ArrowBatch, ArrowStream, ArrowTable


class ResultSet(ResultPage[Row]):
    """The rows of an answer. Iterating goes on to the next pages, one at a time.

    An index, a slice and a comparison fetch all pages, keep their rows and make a list of the
    result set, which then can be iterated over again and again; that needs memory for all rows, and
    is refused once iterating has left rows behind.
    """

    response_future: ResponseFuture[Row]
    _is_list = False

    def fetch_next_page(self) -> None:
        """Replace the current rows by those of the next page; by none after the last.

        Raises:
            Exception: what asking for the page failed with; the current rows stay.
        """
        if self.response_future.has_more_pages:
            self._set_current_rows(self.response_future.fetch_next_page())
        else:
            self._current_rows = []

    def __iter__(self) -> Iterator[Row]:
        """All rows from the current page on; pages are fetched as they are reached."""
        if self._is_list:
            return iter(self._current_rows)
        self._page_iter = None
        return self

    def __next__(self) -> Row:
        """The next row; fetches the next page when the current one is used up."""
        if self._page_iter is None:
            self._page_iter = iter(self._current_rows)
        while True:
            try:
                return next(self._page_iter)
            except StopIteration:
                if not self.response_future.has_more_pages:
                    if not self._is_list:
                        self._current_rows = []
                    raise
            # A page may be empty and still be followed by another: filtering does that.
            self.fetch_next_page()
            self._page_iter = iter(self._current_rows)

    next = __next__

    def all(self) -> list[Row]:
        """All rows from the current page on, as a list."""
        if self._is_list:
            return list(self._current_rows)
        self._page_iter = iter(())
        rows = list(self._current_rows)
        while self.response_future.has_more_pages:
            self.fetch_next_page()
            rows += self._current_rows
        self._current_rows = []
        return rows

    def to_arrow(self) -> ArrowTable:
        """All rows from the current page on, in memory, as Apache Arrow's columns.

        pyarrow, polars, pandas, DuckDB and others take the table as it is. With
        ``row_factory=arrow_factory`` of ``driver`` no row is decoded first.

        Raises:
            TypeError: the result has no rows, or they are not of the driver's row factories.
            Exception: what asking for a page failed with.
        """
        from .arrow import ArrowTable  # noqa: PLC0415  (rarely asked for)

        return ArrowTable(list(self.arrow_batches()))

    def arrow_batches(self) -> ArrowStream:
        """The pages from the current one on as Apache Arrow's batches, one at a time.

        Raises:
            TypeError: as of ``to_arrow``; at iteration what asking for a page failed with.
        """
        from .arrow import ArrowStream  # noqa: PLC0415  (rarely asked for)

        def next_page() -> ArrowBatch | None:
            if not self.response_future.has_more_pages:
                return None
            self.fetch_next_page()
            batch = self._arrow_batch()
            self._current_rows = []  # the reader's from now on
            return batch

        return ArrowStream(self._arrow_batch(), next_page)

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        """A row, or a slice of rows, of all pages.

        Raises:
            RuntimeError: rows were iterated over before.
            IndexError: there are not as many.
        """
        return self._as_list("index operator")[index]

    def __eq__(self, other: object) -> bool:
        """Whether the rows of all pages are these.

        Raises:
            RuntimeError: rows were iterated over before.
        """
        return bool(self._as_list("equality operator") == other)

    __hash__ = None  # type: ignore[assignment]  # it compares as a list does

    def _as_list(self, operator: str) -> list[Row]:
        if not self._is_list:
            if self._page_iter is not None:
                raise RuntimeError(
                    f"the {operator} needs all rows, and some were iterated over already"
                )
            self._current_rows = self.all()
            self._page_iter = iter(self._current_rows)
            self._is_list = True
        rows: list[Row] = self._current_rows
        return rows

    def get_query_trace(self, max_wait_sec: float | None = None) -> QueryTrace | None:
        """The trace of the last page; None if it was not traced.

        Args:
            max_wait_sec: seconds to wait for it; None waits for ever.

        Raises:
            TraceUnavailable: it was not there in time.
        """
        trace: QueryTrace | None = self.response_future.get_query_trace(max_wait_sec)
        return trace

    def get_all_query_traces(self, max_wait_sec_per: float | None = None) -> list[QueryTrace]:
        """The traces of all pages; arguments and errors as of ``get_query_trace``."""
        traces: list[QueryTrace] = self.response_future.get_all_query_traces(max_wait_sec_per)
        return traces


hand_over(globals())
