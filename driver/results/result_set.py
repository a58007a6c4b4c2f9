"""Result sets: the rows of an answer, page after page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from .rows import dict_factory, named_tuple_factory, ordered_dict_factory, tuple_factory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class PagedResponse(Protocol):
    """What a result set asks of the future that it came from."""

    row_factory: Callable[..., Any]
    query: Any
    _col_names: Sequence[str] | None
    _col_types: Sequence[Any] | None
    _paging_state: bytes | None

    @property
    def has_more_pages(self) -> bool:
        """Whether the server has more rows."""

    @property
    def warnings(self) -> Sequence[str] | None:
        """Warnings of the last answer."""

    @property
    def custom_payload(self) -> Mapping[str, bytes | None] | None:
        """Custom payload of the last answer."""

    def start_fetching_next_page(self) -> None:
        """Ask for the next page."""

    def result(self) -> ResultSet:
        """Wait for the answer."""


_FIRST_COLUMN: dict[Callable[..., Any], Callable[[Any], Any]] = {
    tuple_factory: lambda row: row[0],
    named_tuple_factory: lambda row: row[0],
    dict_factory: lambda row: row["[applied]"],
    ordered_dict_factory: lambda row: row["[applied]"],
}


class ResultSet:
    """The rows of an answer. Iterating goes on to the next pages, one at a time.

    A result that is no rows (a prepared statement, a custom message) is the one element.

    Attributes:
        response_future: where the rows came from, and more pages come from.
        column_names: names of the columns; None for a result without rows.
        column_types: classes of ``driver.types``; None for a result without rows.
    """

    def __init__(self, response_future: PagedResponse, initial_response: Any) -> None:  # noqa: ANN401  (a row factory decides)
        """Hold the first page."""
        self.response_future = response_future
        self.column_names = response_future._col_names  # noqa: SLF001  (the future's other half)
        self.column_types = response_future._col_types  # noqa: SLF001  (the future's other half)
        self._set_current_rows(initial_response)
        self._page_iter: Iterator[Any] | None = None

    def _set_current_rows(self, result: Any) -> None:  # noqa: ANN401  (a row factory decides)
        # NumPy pages are mappings from names to arrays: one element, as one page.
        if result is None:
            self._current_rows: Any = []
        elif isinstance(result, Mapping) or not hasattr(result, "__iter__"):
            self._current_rows = [result]
        else:
            self._current_rows = result

    @property
    def current_rows(self) -> Any:  # noqa: ANN401  (a row factory decides)
        """The rows of the current page."""
        return self._current_rows

    @property
    def has_more_pages(self) -> bool:
        """Whether the server has rows after the current page."""
        return self.response_future.has_more_pages

    @property
    def paging_state(self) -> bytes | None:
        """The server's mark of where the next page starts; None after the last."""
        return self.response_future._paging_state  # noqa: SLF001  (the future's other half)

    @property
    def warnings(self) -> Sequence[str] | None:
        """Warnings that came with the current page; None without."""
        return self.response_future.warnings

    @property
    def custom_payload(self) -> Mapping[str, bytes | None] | None:
        """Custom payload that came with the current page; None without."""
        return self.response_future.custom_payload

    def fetch_next_page(self) -> None:
        """Replace the current rows by those of the next page; by none after the last."""
        if self.response_future.has_more_pages:
            self.response_future.start_fetching_next_page()
            result = self.response_future.result()
            self._current_rows = result._current_rows  # noqa: SLF001  (of this class)
        else:
            self._current_rows = []

    def __iter__(self) -> Iterator[Any]:
        """All rows from the current page on; pages are fetched as they are reached."""
        self._page_iter = None
        return self

    def __next__(self) -> Any:  # noqa: ANN401  (a row factory decides)
        """The next row; fetches the next page when the current one is used up."""
        if self._page_iter is None:
            self._page_iter = iter(self._current_rows)
        while True:
            try:
                return next(self._page_iter)
            except StopIteration:
                if not self.response_future.has_more_pages:
                    self._current_rows = []
                    raise
            # A page may be empty and still be followed by another: filtering does that.
            self.fetch_next_page()
            self._page_iter = iter(self._current_rows)

    def all(self) -> list[Any]:
        """All rows from the current page on, as a list."""
        return list(self)

    def one(self) -> Any:  # noqa: ANN401  (a row factory decides)
        """The first row of the current page; None if it has none."""
        return next(iter(self._current_rows), None)

    def __bool__(self) -> bool:
        """Whether the current page has rows."""
        return self.one() is not None

    @property
    def was_applied(self) -> bool:
        """Whether a conditional statement was applied: the column ``[applied]``.

        Raises:
            RuntimeError: the statement was not conditional, or the row factory is not one of the
                driver's, so that the column cannot be found.
        """
        factory = self.response_future.row_factory
        first_column = _FIRST_COLUMN.get(factory)
        if first_column is None:
            raise RuntimeError(f"Cannot determine LWT result with row factory {factory}")
        row = self.one()
        if row is None or not self.column_names or self.column_names[0] != "[applied]":
            raise RuntimeError(
                "No [applied] column: was_applied is for conditional statements (LWT) only"
            )
        return bool(first_column(row))
