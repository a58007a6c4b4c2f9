"""The response future: a request for threads that wait for it, or are called back."""

from __future__ import annotations

import threading
from typing import Any, Generic

from ..results.result_set import ResultSet
from ..results.rows import Row
from . import waiting
from .callbacks import NOT_SET
from .request import QueryExhausted
from .tracing import Traces

__all__ = ["QueryExhausted", "ResponseFuture"]


class ResponseFuture(Traces, Generic[Row]):
    """The answer to a request that was sent, or will be; ``result`` waits for it."""

    #: Most answers are here before anybody asks for them, or are for callbacks.
    _waited_for: threading.Event | None = None

    @property
    def _event(self) -> threading.Event:
        """What is set while there is an outcome; made for the first thread that waits."""
        # Under the lock of the outcome: it ends before, and is seen here, or it sees this.
        with self._callback_lock:
            if self._waited_for is None:
                self._waited_for = threading.Event()
                if self.is_done:
                    self._waited_for.set()
            return self._waited_for

    def _wake(self) -> None:
        if self._waited_for is not None:
            self._waited_for.set()

    def _reopen(self) -> None:
        if self._waited_for is not None:
            self._waited_for.clear()
        super()._reopen()

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

    def wait_for_page(self) -> Any:  # noqa: ANN401  (a row factory decides)
        """Wait as ``result`` does, for the current page as the row factory gave it."""
        if self._final_result is NOT_SET and self._final_exception is None:  # not done
            waiting.refuse_on_loop(self.session)
            if not self._event.wait(None if self.timeout is None else self.timeout + waiting.GRACE):
                raise self._timed_out()
        error = self._final_exception
        if error is not None:
            try:
                raise error
            finally:
                del self, error  # the traceback leads here, and from here it would to the error
        return self._final_result
