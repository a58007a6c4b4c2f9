"""Result pages: the rows of one answer, and what came along with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic

from ..implementation import hand_over
from .rows import Row, dict_factory, named_tuple_factory, ordered_dict_factory, tuple_factory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..execution.request import RequestExecution
    from ..protocol.typing import Rows
    from ..types.base import CQLType
    from .arrow import ArrowBatch


_FIRST_COLUMN: dict[Callable[..., Any], Callable[[Any], Any]] = {
    tuple_factory: lambda row: row[0],
    named_tuple_factory: lambda row: row[0],
    dict_factory: lambda row: row["[applied]"],
    ordered_dict_factory: lambda row: row["[applied]"],
}


class ResultPage(Generic[Row]):
    """The rows of an answer; how the next page is fetched is for subclasses to say.

    A result that is no rows (a prepared statement, a custom message) is the one element.

    Attributes:
        response_future: where the rows came from, and more pages come from.
    """

    # Where compiled code finds them.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_current_rows",
        "_names",
        "_page_iter",
        "_types",
        "response_future",
    )

    def __init__(self, response_future: RequestExecution, initial_response: Rows) -> None:
        """Hold a page."""
        self.response_future = response_future
        self._names = response_future._col_names
        self._types = response_future._col_types
        #: Where iterating over the current rows is; None before it began.
        self._page_iter: Iterator[Row] | None = None
        if type(initial_response) is list:  # as nearly always
            self._current_rows: Any = initial_response
        else:
            self._set_current_rows(initial_response)

    def _set_current_rows(self, result: Rows) -> None:
        # NumPy pages are mappings from names to arrays: one element, as one page.
        if result is None:
            self._current_rows = []
        elif isinstance(result, Mapping) or not hasattr(result, "__iter__"):
            self._current_rows = [result]
        else:
            self._current_rows = result

    @property
    def column_names(self) -> list[str] | None:
        """Names of the columns; None for a result without rows. The list is the caller's own."""
        return None if self._names is None else list(self._names)

    @property
    def column_types(self) -> list[type[CQLType]] | None:
        """Classes of ``driver.types``, as ``column_names``."""
        return None if self._types is None else list(self._types)

    @property
    def current_rows(self) -> list[Row]:
        """The rows of the current page."""
        rows: list[Row] = self._current_rows
        return rows

    @property
    def has_more_pages(self) -> bool:
        """Whether the server has rows after the current page."""
        more: bool = self.response_future.has_more_pages
        return more

    @property
    def paging_state(self) -> bytes | None:
        """The server's mark of where the next page starts; None after the last.

        It may hold parts of the primary key: keep it from those who may not see these.
        """
        state: bytes | None = self.response_future._paging_state
        return state

    @property
    def warnings(self) -> Sequence[str] | None:
        """Warnings that came with the current page; None without."""
        warnings: Sequence[str] | None = self.response_future.warnings
        return warnings

    @property
    def custom_payload(self) -> Mapping[str, bytes | None] | None:
        """Custom payload that came with the current page; None without."""
        payload: Mapping[str, bytes | None] | None = self.response_future.custom_payload
        return payload

    def _arrow_batch(self) -> ArrowBatch:
        """The current page as Arrow's columns; those after it come as such.

        Raises:
            TypeError: the result has no rows, or they are not of the driver's row factories.
        """
        from .arrow import ArrowFactory, arrow_factory, batch_of  # noqa: PLC0415  (rarely asked for)

        batch = batch_of(self._current_rows, self._names, self._types)
        future = self.response_future
        if future.has_more_pages and not isinstance(future.row_factory, ArrowFactory):
            future.options = future.session.with_row_factory(future.options, arrow_factory)
        return batch

    def one(self) -> Row | None:
        """The first row of the current page; None if it has none."""
        return next(iter(self._current_rows), None)

    def __repr__(self) -> str:
        """How many rows the current page has, and whether more follow."""
        rows = self._current_rows
        count = (
            f"{len(rows)} rows" if hasattr(rows, "__len__") else f"rows of {type(rows).__name__}"
        )
        more = ", more pages follow" if self.has_more_pages else ""
        return f"<{type(self).__name__}: {count}{more}>"

    def __bool__(self) -> bool:
        """Whether the current page has rows."""
        return self.one() is not None

    @property
    def was_applied(self) -> bool:
        """Whether a conditional statement was applied: the column ``[applied]``.

        A conditional batch is applied as a whole: its first row tells.

        Raises:
            RuntimeError: the statement was not conditional, or rows are neither tuples nor dicts of
                the driver's row factories, so that the column cannot be found.
        """
        factory = self.response_future.row_factory
        first_column = _FIRST_COLUMN.get(factory)
        if first_column is None:
            known = ", ".join(each.__name__ for each in _FIRST_COLUMN)
            raise RuntimeError(f"was_applied is for rows of {known}, not for those of {factory}")
        row = self.one()
        if row is None or not self._names or self._names[0] != "[applied]":
            raise RuntimeError(
                "No [applied] column: was_applied is for conditional statements (LWT) only"
            )
        return bool(first_column(row))


hand_over(globals())
