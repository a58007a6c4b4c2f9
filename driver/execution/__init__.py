"""Execution: from a request that was sent to the rows, or the exception, that the caller gets."""

from .response_future import QueryExhausted, ResponseFuture

__all__ = ["QueryExhausted", "ResponseFuture"]
