"""Retrying: which failures a retry policy is asked about, and how.

============================================  ====================  ==================
failure                                       method of the policy  counted as
============================================  ====================  ==================
read timeout (0x1200)                         on_read_timeout       read_timeouts
write timeout (0x1100)                        on_write_timeout      write_timeouts
unavailable (0x1000)                          on_unavailable        unavailables
overloaded, bootstrapping (0x1001, 0x1002)    on_request_error      other_errors
truncate and server errors (0x1003, 0x0000)   on_request_error      other_errors
the connection broke                          on_request_error      connection_errors
no connection to the host could be used       none: the next host   connection_errors
any other error                               none: it is final     other_errors
============================================  ====================  ==================

What the policy says is done. Whether a statement that may have been executed can be sent again is
its decision, too; those of ``driver.policies.retry`` look at whether it is idempotent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..policies.retry import RetryPolicy
from ..wire.responses.errors import (
    IsBootstrappingErrorMessage,
    OverloadedErrorMessage,
    ReadTimeoutErrorMessage,
    ServerError,
    TruncateError,
    UnavailableErrorMessage,
    WriteTimeoutErrorMessage,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..net.errors import ConnectionException
    from ..policies.retry import Decision as Answer
    from ..statements.base import Statement
    from ..wire.responses import ErrorMessage


class Decision(NamedTuple):
    """What a retry policy said.

    Attributes:
        kind: RETRY, RETHROW, IGNORE or RETRY_NEXT_HOST of ``RetryPolicy``.
        consistency: level for another try; None for the same.
        delay: seconds before it; None for none.
    """

    kind: int
    consistency: int | None = None
    delay: float | None = None


RETHROW = Decision(RetryPolicy.RETHROW)

#: Errors that another node may not answer with, and that say nothing about replicas.
_OF_ONE_NODE = (OverloadedErrorMessage, IsBootstrappingErrorMessage, TruncateError, ServerError)


def on_response(
    policy: RetryPolicy,
    query: Statement | None,
    consistency: int | None,
    response: ErrorMessage,
    retries: int,
) -> Decision:
    """Ask a policy about an ERROR of a node.

    Args:
        policy: the retry policy.
        query: the statement; None for a message of the driver's own.
        consistency: level of the message.
        response: the error.
        retries: how often the request was retried already.
    """
    ask = _QUESTIONS.get(type(response))
    if ask is not None:
        return _decision(ask(policy, query, response.info, retries))
    if isinstance(response, _OF_ONE_NODE):
        error = response.to_exception()
        return _decision(policy.on_request_error(query, consistency, error, retries))
    return RETHROW


def on_connection_error(
    policy: RetryPolicy,
    query: Statement | None,
    consistency: int | None,
    error: ConnectionException,
    retries: int,
) -> Decision:
    """Ask a policy about a connection that was lost; arguments as of ``on_response``."""
    return _decision(policy.on_request_error(query, consistency, error, retries))


def _decision(answer: Answer) -> Decision:
    """What a policy said, which may be of the application.

    Raises:
        TypeError: it is no decision.
    """
    try:
        return Decision(*answer)
    except TypeError:
        raise TypeError(
            "a retry policy returns a decision and a consistency level, such as "
            f"(RetryPolicy.RETHROW, None), not {answer!r}"
        ) from None


def _read_timeout(
    policy: RetryPolicy, query: Statement | None, info: Mapping[str, Any], retries: int
) -> Answer:
    return policy.on_read_timeout(query, retry_num=retries, **info)


def _write_timeout(
    policy: RetryPolicy, query: Statement | None, info: Mapping[str, Any], retries: int
) -> Answer:
    # How often a conditional write was contended is not a policy's business.
    told = {name: value for name, value in info.items() if name != "contentions"}
    return policy.on_write_timeout(query, retry_num=retries, **told)


def _unavailable(
    policy: RetryPolicy, query: Statement | None, info: Mapping[str, Any], retries: int
) -> Answer:
    return policy.on_unavailable(query, retry_num=retries, **info)


_QUESTIONS: dict[
    type[ErrorMessage], Callable[[RetryPolicy, Statement | None, Mapping[str, Any], int], Answer]
] = {
    ReadTimeoutErrorMessage: _read_timeout,
    WriteTimeoutErrorMessage: _write_timeout,
    UnavailableErrorMessage: _unavailable,
}
