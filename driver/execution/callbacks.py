"""Callbacks: who is told how a request ended, and how it did."""

from __future__ import annotations

import logging
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

from ..net.loop import outlive

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

log = logging.getLogger(__name__)

#: The outcome of a request that has none.
NOT_SET: Final = object()


class Callbacks:
    """The outcome of a request, for those that do not wait for it."""

    # On the class: most requests are called back by nobody, and pay nothing for it. Those who are
    # to be told are in tuples, which are replaced: whoever goes through one needs no copy.
    _final_result: Any = NOT_SET
    _final_exception: Exception | None = None
    _callbacks: tuple[Callable[[Any], object], ...] = ()
    _errbacks: tuple[Callable[[Exception], object], ...] = ()

    def __init__(self) -> None:
        """No outcome, nobody to tell."""
        self._callback_lock = threading.Lock()

    def _wake(self) -> None:
        """Tell those who wait; here nobody does."""

    @property
    def is_done(self) -> bool:
        """Whether there is an outcome, of the current page."""
        return self._final_result is not NOT_SET or self._final_exception is not None

    def _reopen(self) -> None:
        """Forget the outcome: that of the next page comes."""
        self._final_result = NOT_SET
        self._final_exception = None

    def add_callback(self, fn: Callable[..., object], *args: Any, **kwargs: Any) -> Self:  # noqa: ANN401  (as the function takes them)
        """Have ``fn(rows, *args, **kwargs)`` called with each page, also with the one that is here.

        It may run on the thread that reads responses: it must neither wait nor raise.
        """
        callback = partial(_with_first, fn, args, kwargs)
        with self._callback_lock:
            self._callbacks = (*self._callbacks, callback)
            is_here = self._final_result is not NOT_SET
        if is_here:
            call_back(callback, self._final_result)
        return self

    def add_errback(self, fn: Callable[..., object], *args: Any, **kwargs: Any) -> Self:  # noqa: ANN401  (as the function takes them)
        """Have ``fn(exception, *args, **kwargs)`` called if the request fails or has failed."""
        errback = partial(_with_first, fn, args, kwargs)
        with self._callback_lock:
            self._errbacks = (*self._errbacks, errback)
            failed = self._final_exception
        if failed is not None:
            call_back(errback, failed)
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
            self._callbacks = ()
            self._errbacks = ()

    def _outcome(self) -> str:
        """For representations."""
        result = "(none yet)" if self._final_result is NOT_SET else self._final_result
        return f"result={result!r} exception={self._final_exception!r}"


def _with_first(
    fn: Callable[..., object], args: Sequence[Any], kwargs: Mapping[str, Any], first: object
) -> None:
    fn(first, *args, **kwargs)


def call_back(callback: Callable[[Any], object], value: object) -> None:
    """Call back; what a callback raises is its author's to read, not the reader thread's."""
    try:
        callback(value)
    except BaseException as error:
        log.exception("Callback %r raised an exception", callback)
        outlive(error)
