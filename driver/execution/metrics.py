"""Metrics: what happened to requests, in numbers.

Times are seconds. Requests are counted on the loop's thread, but for those that end before they
were sent, on whichever thread that is.
"""

from __future__ import annotations

import statistics
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from ..wire.responses.errors import (
    ReadTimeoutErrorMessage,
    UnavailableErrorMessage,
    WriteTimeoutErrorMessage,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..wire.responses import ErrorMessage

#: Percentiles are those of the last so many requests.
_WINDOW: Final = 1024
_PERCENTILES: Final = {
    "75percentile": 0.75,
    "95percentile": 0.95,
    "98percentile": 0.98,
    "99percentile": 0.99,
    "999percentile": 0.999,
}


class RequestTimer:
    """How long requests took: all of them counted, the last ones kept."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._lock = threading.Lock()
        self._count = 0
        self._recent: deque[float] = deque(maxlen=_WINDOW)

    def add(self, seconds: float) -> None:
        """Count one request."""
        with self._lock:
            self._count += 1
            self._recent.append(seconds)

    def snapshot(self) -> dict[str, float]:
        """``count`` of all; of the last 1024: ``min max mean stddev median`` and percentiles.

        The percentiles are called ``75percentile``, ``95percentile``, ``98percentile``,
        ``99percentile`` and ``999percentile``. All are 0 before the first request.
        """
        with self._lock:
            count, recent = self._count, sorted(self._recent)
        if not recent:
            recent = [0.0]
        return {
            "count": count,
            "min": recent[0],
            "max": recent[-1],
            "mean": statistics.fmean(recent),
            "stddev": statistics.pstdev(recent),
            "median": statistics.median(recent),
            **{
                name: recent[min(int(share * len(recent)), len(recent) - 1)]
                for name, share in _PERCENTILES.items()
            },
        }

    def __getitem__(self, name: str) -> float:
        """One number of ``snapshot``."""
        return self.snapshot()[name]

    def __repr__(self) -> str:
        """The snapshot."""
        return f"<{type(self).__name__}: {self.snapshot()}>"


_GAUGES: Final = ("known_hosts", "connected_to", "open_connections", "in_flight_requests")

_COUNTER_OF_ERROR: Final[dict[type[ErrorMessage], str]] = {
    ReadTimeoutErrorMessage: "read_timeouts",
    WriteTimeoutErrorMessage: "write_timeouts",
    UnavailableErrorMessage: "unavailables",
}


class Metrics:
    """Counters, a timer and gauges of one cluster object.

    Attributes:
        stats_name: the name under which the numbers are reported.
        request_timer: times of requests, from sending to their end, failed ones included.
        connection_errors: failures of connections that a request met.
        write_timeouts: write timeouts that nodes reported, retried or not.
        read_timeouts: read timeouts that nodes reported, retried or not.
        unavailables: nodes that knew too few live replicas, retried or not.
        other_errors: all other errors of nodes.
        client_timeouts: requests that the client stopped waiting for.
        retries: tries that a retry policy asked for.
        ignores: failures that a retry policy turned into an empty result.
        rethrows: failures that were left to the caller, whether a retry policy was asked or not.
        request_errors: requests that ended in an exception.
        speculative_executions: executions beside one that had not been answered yet.
    """

    connection_errors: int
    write_timeouts: int
    read_timeouts: int
    unavailables: int
    other_errors: int
    client_timeouts: int
    retries: int
    ignores: int
    rethrows: int
    request_errors: int
    speculative_executions: int

    def __init__(
        self,
        gauges: Mapping[str, Callable[[], int]] | None = None,
        stats_name: str = "cassandra",
    ) -> None:
        """Start at 0.

        Args:
            gauges: how to read ``known_hosts``, ``connected_to`` (hosts with a connection),
                ``open_connections`` and ``in_flight_requests``; what is missing reads 0.
            stats_name: the name under which the numbers are reported.

        Raises:
            ValueError: a gauge has another name.
        """
        unknown = set(gauges or ()) - set(_GAUGES)
        if unknown:
            raise ValueError(f"there is no gauge {', '.join(sorted(unknown))}")
        self.stats_name = stats_name
        self.request_timer = RequestTimer()
        self._gauges = dict(gauges or {})
        self._lock = threading.Lock()
        for name in _COUNTERS:
            setattr(self, name, 0)

    def on_error(self, response: ErrorMessage) -> None:
        """A node answered with an error."""
        self._count(_COUNTER_OF_ERROR.get(type(response), "other_errors"))

    def _count(self, name: str) -> None:
        """Add one, from any thread."""
        with self._lock:
            setattr(self, name, getattr(self, name) + 1)

    def on_connection_error(self) -> None:
        """A connection failed a request."""
        self._count("connection_errors")

    def on_client_timeout(self) -> None:
        """The client stopped waiting."""
        self._count("client_timeouts")

    def on_retry(self) -> None:
        """A request is tried again."""
        self._count("retries")

    def on_ignore(self) -> None:
        """A failure is ignored."""
        self._count("ignores")

    def on_rethrow(self) -> None:
        """A failure is left to the caller."""
        self._count("rethrows")

    def on_speculative_execution(self) -> None:
        """A request is sent to one more host."""
        self._count("speculative_executions")

    def on_result(self, seconds: float) -> None:
        """A request ended well."""
        self.request_timer.add(seconds)

    def on_exception(self, seconds: float) -> None:
        """A request ended in an exception."""
        self._count("request_errors")
        self.request_timer.add(seconds)

    def on_late_exception(self) -> None:
        """A request that had ended well brought rows that cannot be read."""
        self._count("request_errors")

    @property
    def known_hosts(self) -> int:
        """Hosts of the cluster."""
        return self._gauge("known_hosts")

    @property
    def connected_to(self) -> int:
        """Hosts with at least one connection."""
        return self._gauge("connected_to")

    @property
    def open_connections(self) -> int:
        """Connections of all pools."""
        return self._gauge("open_connections")

    @property
    def in_flight_requests(self) -> int:
        """Requests that wait for an answer."""
        return self._gauge("in_flight_requests")

    def _gauge(self, name: str) -> int:
        read = self._gauges.get(name)
        return 0 if read is None else read()

    def set_stats_name(self, stats_name: str) -> None:
        """Report under another name.

        Raises:
            ValueError: the name is empty.
        """
        if not stats_name:
            raise ValueError("the name of statistics must not be empty")
        self.stats_name = stats_name

    def get_stats(self) -> dict[str, Any]:
        """Every counter and gauge by its name, and ``request_timer`` as ``snapshot`` has it."""
        return {
            "request_timer": self.request_timer.snapshot(),
            **{name: getattr(self, name) for name in (*_COUNTERS, *_GAUGES)},
        }


#: The attributes that have a type in the class: what is counted, and starts at 0.
_COUNTERS: Final = tuple(Metrics.__annotations__)
