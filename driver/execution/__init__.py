"""Execution: from a statement on its way to the rows, or the exception, that the caller gets."""

from .awaitable import AwaitableResponse
from .concurrent import (
    ExecutionResult,
    execute_concurrent,
    execute_concurrent_async,
    execute_concurrent_with_args,
)
from .listeners import RequestEvent
from .metrics import Metrics
from .request import QueryExhausted, RequestExecution
from .response_future import ResponseFuture
from .tracing import QueryTrace, TraceEvent, TraceUnavailable

__all__ = [
    "AwaitableResponse",
    "ExecutionResult",
    "Metrics",
    "QueryExhausted",
    "QueryTrace",
    "RequestEvent",
    "RequestExecution",
    "ResponseFuture",
    "TraceEvent",
    "TraceUnavailable",
    "execute_concurrent",
    "execute_concurrent_async",
    "execute_concurrent_with_args",
]
