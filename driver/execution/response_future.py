"""The response future: a request for threads that wait for it, or are called back."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from ..results.result_set import ResultSet
from . import waiting
from .request import QueryExhausted
from .tracing import Traces

if TYPE_CHECKING:
    from ..wire.messages import Request
    from .contract import Session

__all__ = ["QueryExhausted", "ResponseFuture"]


class ResponseFuture(Traces):
    """The answer to a request that was sent, or will be; ``result`` waits for it."""

    def __init__(
        self,
        session: Session,
        message: Request,
        query: Any,  # noqa: ANN401  (a statement of any kind, or None)
        timeout: float | None = None,
        *args: Any,  # noqa: ANN401  (as the base class takes them)
        **kwargs: Any,  # noqa: ANN401  (as the base class takes them)
    ) -> None:
        """Describe a request; arguments as of ``RequestExecution``."""
        super().__init__(session, message, query, timeout, *args, **kwargs)
        self._event = threading.Event()
        self._wake = self._event.set  # type: ignore[method-assign]  # without a call in between

    def _reopen(self) -> None:
        self._event.clear()
        super()._reopen()

    def result(self) -> ResultSet:
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
        if not self._event.is_set():
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
