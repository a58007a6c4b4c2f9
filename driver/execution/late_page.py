"""Late pages: large ones, whose rows are made by whoever waits for them.

Threads make them where they wait. A task shares the loop with all others: it makes some at a time,
and the loop does what else there is in between. Whoever is called back, on the loop's thread, has
them made there, unless it takes them as they came: a late page.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeVar

from ..results.rows import make_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..net.connection import Connection
    from ..protocol.typing import Rows
    from ..results.rows import RowFactory
    from ..wire.late_rows import LateRows

_Callback = TypeVar("_Callback", bound="Callable[..., object]")


def takes_late_rows(callback: _Callback) -> _Callback:
    """Declare that a callback takes a ``LatePage`` as it is, or that an errback needs no rows made.

    Whoever makes them may meet an error then, after the callback.
    """
    callback.takes_late_rows = True  # type: ignore[attr-defined]  # of a function
    return callback


class LatePage:
    """A page that is here and was not decoded: the outcome of its request until then.

    Attributes:
        connection: which brought it; None if that is not known.
        rows: what the row factory made.
        is_made: whether they are there.
    """

    __slots__ = (
        "_late", "_lock", "_making", "_names", "_row_factory", "connection", "is_made", "rows",
    )  # fmt: skip

    def __init__(
        self,
        names: Sequence[str],
        late: LateRows,
        row_factory: RowFactory[Any],
        connection: Connection | None,
    ) -> None:
        """Decode nothing yet."""
        # A row factory that asks for the outcome of its own request gets an error, and no deadlock.
        self._lock = threading.RLock()
        self._names = names
        self._late = late
        self._row_factory = row_factory
        self._making: Iterator[Any] | None = None
        self.connection = connection
        self.rows: Rows = None
        self.is_made = False

    @property
    def row_count(self) -> int:
        """How many rows it says that it has."""
        return self._late.row_count

    def make_some(self) -> bool:
        """Make some rows, on any thread; whether all are there.

        Raises:
            MalformedFrameError: the rows end early, or there cannot be that many.
            ColumnDecodeError: a value is none of its column's type.
            Exception: what the row factory raised.
        """
        with self._lock:
            if self._making is None:
                self._making = self._make()
            try:
                is_made = next(self._making, None) is None
            except BaseException:
                self._making = None  # by Ctrl-C, say: whoever asks next begins anew
                raise
            self.is_made = is_made
            return is_made

    def _make(self) -> Iterator[bool]:
        """Make all rows, with a stop after some of them."""
        names, factory = self._names, self._row_factory
        if not self._late.has_slices:
            self.rows = factory(names, self._late.all())
            return
        is_single = getattr(factory, "makes_single_rows", None) in {factory, True}
        made: list[Any] = []
        for some in self._late.slices():
            made += make_rows(factory, names, some) if is_single else some
            yield True
        self.rows = made if is_single else factory(names, made)

    def __repr__(self) -> str:
        """That nobody has seen it."""
        return f"<{type(self).__name__}: {self._late!r}>"
