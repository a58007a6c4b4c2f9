"""Listeners: who hears of each request before it is sent."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .request import RequestExecution

log = logging.getLogger(__name__)


class RequestEvent(NamedTuple):
    """A request that is about to be sent.

    Attributes:
        future: the request; callbacks that are added to it hear how it ends.
        statement: what is executed; None for a message of the driver's own.
        values: what is bound, as it was given: a copy, since the application may bind anew.
        keyspace: the keyspace that the statement names.
        consistency_level: a ``ConsistencyLevel``; None if the message has none.
        started_at: when it was made, in seconds of the monotonic clock.
    """

    future: RequestExecution
    statement: Any
    values: tuple[Any, ...]
    keyspace: str | None
    consistency_level: int | None
    started_at: float

    @classmethod
    def of(cls, future: RequestExecution, started_at: float) -> RequestEvent:
        """Describe a request."""
        statement = future.query
        return cls(
            future,
            statement,
            tuple(getattr(statement, "raw_values", ())),
            getattr(statement, "keyspace", None),
            getattr(future.message, "consistency_level", None),
            started_at,
        )


def announce(
    request: RequestExecution,
    started_at: float,
    listeners: Sequence[Callable[[RequestEvent], object]],
) -> None:
    """Tell listeners of a request; what one raises keeps neither the others nor the request.

    Bound values are copied for the first listener that gets to see them.
    """
    event = None
    for listener in listeners:
        if event is None and not isinstance(listener, RequestInitListener):
            event = RequestEvent.of(request, started_at)
        try:
            if isinstance(listener, RequestInitListener):
                listener.hear(request)
            else:
                listener(event)  # type: ignore[arg-type]  # made for the first of these
        except Exception:
            log.exception("Request listener %r raised an exception", listener)


class RequestInitListener:
    """A function of the form ``fn(future, *args, **kwargs)`` as a listener.

    Two of them are equal if function and arguments are, so that one can be removed by what it was
    added with.
    """

    def __init__(
        self, fn: Callable[..., object], args: Sequence[Any] = (), kwargs: Mapping[str, Any] = {}
    ) -> None:
        """Remember what to call."""
        self._call = (fn, tuple(args), dict(kwargs))

    def hear(self, request: RequestExecution) -> None:
        """Call it with the request, which is all that it gets to see."""
        fn, args, kwargs = self._call
        fn(request, *args, **kwargs)

    def __call__(self, event: RequestEvent) -> None:
        """Call it with the request of an event."""
        self.hear(event.future)

    def __eq__(self, other: object) -> bool:
        """Whether both call the same with the same."""
        if not isinstance(other, RequestInitListener):
            return NotImplemented
        return self._call == other._call

    def __hash__(self) -> int:
        """Of the function: arguments need not be hashable."""
        return hash(self._call[0])
