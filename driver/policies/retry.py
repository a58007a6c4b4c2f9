"""Retry policies: what becomes of a request that a coordinator, or the way to it, failed.

Each method gets the failure and answers with a decision, the consistency level for another try
(None: the same again) and, from policies that wait in between, seconds of delay.

The server's errors that are asked about: native_protocol_v5, section 9, codes 0x1000
(unavailable), 0x1100 (write timeout), 0x1200 (read timeout); ``on_request_error`` hears of the
others that another host may not have: overloaded, bootstrapping, truncate and server errors, and
connections that broke.

Nothing here sends a statement again that may have been executed, unless it is idempotent. That is a
decision of these policies, and of those that call them by ``super()``; what a policy of the
application decides by itself is done.
"""

from __future__ import annotations

import random
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from ..protocol.consistency import ConsistencyLevel
from ..protocol.errors import IsBootstrapping, Overloaded
from ..protocol.kinds import WriteType
from ..protocol.numbers import refuse_negative

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..statements.base import Statement


#: Decision and consistency level, or these and a delay in seconds.
Decision: TypeAlias = "tuple[int, int | None] | tuple[int, int | None, float | None]"

#: Answers of a host that has done nothing about the request.
_REFUSALS = (IsBootstrapping, Overloaded)


class RetryPolicy:
    """Tries again, once, where a second try is harmless and likely to succeed; the default.

    Attributes:
        RETRY: on the same host, with the consistency level that is returned.
        RETHROW: the caller gets the error.
        IGNORE: the caller gets an empty result.
        RETRY_NEXT_HOST: on the next host of the query plan.
    """

    RETRY: ClassVar[int] = 0
    RETHROW: ClassVar[int] = 1
    IGNORE: ClassVar[int] = 2
    RETRY_NEXT_HOST: ClassVar[int] = 3

    def on_read_timeout(
        self,
        query: Statement | None,
        consistency: int | None,
        required_responses: int,
        received_responses: int,
        data_retrieved: bool,
        retry_num: int,
    ) -> Decision:
        """Enough replicas answered, but not the one that was asked for data: it may be dead.

        By then the coordinator has noticed that and asks another one.

        Args:
            query: the statement.
            consistency: the ``ConsistencyLevel`` of the request.
            required_responses: how many replicas had to answer.
            received_responses: how many did.
            data_retrieved: whether the one that was asked for data (not a digest) did.
            retry_num: how often the request was retried already, counted from 0.

        Returns:
            RETRY if this is so and the first time, else RETHROW.
        """
        if retry_num == 0 and _lacks_data_only(
            required_responses, received_responses, data_retrieved
        ):
            return self.RETRY, consistency
        return self.RETHROW, None

    def on_write_timeout(
        self,
        query: Statement | None,
        consistency: int | None,
        write_type: int | None,
        required_responses: int,
        received_responses: int,
        retry_num: int,
    ) -> Decision:
        """The batch log was not written in time: the coordinator stopped there.

        It wrote nothing of the batch. Should a copy of the log exist after all, it is replayed: a
        batch that must not be written twice wants another policy.

        Args:
            query: the statement.
            consistency: the ``ConsistencyLevel`` of the request.
            write_type: a ``WriteType``.
            required_responses: how many replicas had to answer.
            received_responses: how many did.
            retry_num: how often the request was retried already, counted from 0.

        Returns:
            RETRY if it is the batch log and the first time, else RETHROW.
        """
        if retry_num == 0 and write_type == WriteType.BATCH_LOG:
            return self.RETRY, consistency
        return self.RETHROW, None

    def on_unavailable(
        self,
        query: Statement | None,
        consistency: int | None,
        required_replicas: int,
        alive_replicas: int,
        retry_num: int,
    ) -> Decision:
        """The coordinator knew too few live replicas; it may be cut off where another is not.

        Args:
            query: the statement.
            consistency: the ``ConsistencyLevel`` of the request.
            required_replicas: how many it needs.
            alive_replicas: how many the coordinator believed to be alive.
            retry_num: how often the request was retried already, counted from 0.

        Returns:
            RETRY_NEXT_HOST the first time, then RETHROW.
        """
        return (self.RETHROW if retry_num else self.RETRY_NEXT_HOST), None

    def on_request_error(
        self,
        query: Statement | None,
        consistency: int | None,
        error: Exception,
        retry_num: int,
    ) -> Decision:
        """The host could not do it; another one may.

        Args:
            query: the statement; None for a message of the driver's own.
            consistency: the ``ConsistencyLevel`` of the request.
            error: what the host answered, or what happened to the connection.
            retry_num: how often the request was retried already, counted from 0.

        Returns:
            RETRY_NEXT_HOST, which the query plan ends; RETHROW if the statement may have been
            executed and is not idempotent.
        """
        if _may_have_been_executed(error) and not _is_idempotent(query):
            return self.RETHROW, None
        return self.RETRY_NEXT_HOST, None


class NeverRetryPolicy(RetryPolicy):
    """Never retries what replicas timed out on or were too few for.

    A host that could not be reached, or was overloaded, is still followed by the next one;
    ``FallthroughRetryPolicy`` refuses that too.
    """

    def _rethrow(self, *_args: object, **_kwargs: object) -> Decision:
        """RETHROW."""
        return self.RETHROW, None

    on_read_timeout = on_write_timeout = on_unavailable = _rethrow


class FallthroughRetryPolicy(NeverRetryPolicy):
    """Never retries, whatever happened: the application decides."""

    on_request_error = NeverRetryPolicy._rethrow  # noqa: SLF001  (of its base)


class DowngradingConsistencyRetryPolicy(RetryPolicy):
    """Tries once more with as many replicas as there are; for data where old is better than none.

    What is written at a lower level may be read only later, and what was asked to be consistent
    is not: the application must be able to live with that.
    """

    def on_read_timeout(
        self,
        query: Statement | None,
        consistency: int | None,
        required_responses: int,
        received_responses: int,
        data_retrieved: bool,
        retry_num: int,
    ) -> Decision:
        """Settle for the replicas that answered; never below a serial level.

        Returns:
            RETRY the first time, at the level of those that answered, or at the same level if only
            the data was missing; else RETHROW.
        """
        if retry_num or _is_serial(consistency):
            return self.RETHROW, None
        if received_responses < required_responses:
            return self._pick_consistency(received_responses)
        return (self.RETHROW, None) if data_retrieved else (self.RETRY, consistency)

    def on_write_timeout(
        self,
        query: Statement | None,
        consistency: int | None,
        write_type: int | None,
        required_responses: int,
        received_responses: int,
        retry_num: int,
    ) -> Decision:
        """Take one replica as enough where the others will get the write by themselves.

        Returns:
            IGNORE for a single write or a logged batch that some replica has; RETRY, the first
            time, for an unlogged batch at the level of those that answered, and for the batch log;
            else RETHROW.
        """
        if retry_num:
            return self.RETHROW, None
        if write_type in (WriteType.SIMPLE, WriteType.BATCH, WriteType.COUNTER):
            return (self.IGNORE if received_responses > 0 else self.RETHROW), None
        if write_type == WriteType.UNLOGGED_BATCH:
            return self._pick_consistency(received_responses)
        if write_type == WriteType.BATCH_LOG:
            return self.RETRY, consistency
        return self.RETHROW, None

    def on_unavailable(
        self,
        query: Statement | None,
        consistency: int | None,
        required_replicas: int,
        alive_replicas: int,
        retry_num: int,
    ) -> Decision:
        """Settle for the replicas that are alive; a serial level needs another coordinator.

        Returns:
            RETRY the first time at the level of those that are alive, or RETRY_NEXT_HOST for a
            serial level; else RETHROW.
        """
        if retry_num:
            return self.RETHROW, None
        if _is_serial(consistency):
            return self.RETRY_NEXT_HOST, None
        return self._pick_consistency(alive_replicas)

    def _pick_consistency(self, num_responses: int) -> Decision:
        """The highest level that so many replicas can satisfy."""
        if num_responses >= 3:
            return self.RETRY, ConsistencyLevel.THREE
        if num_responses == 2:
            return self.RETRY, ConsistencyLevel.TWO
        if num_responses == 1:
            return self.RETRY, ConsistencyLevel.ONE
        return self.RETHROW, None


def _each_time(decide: Callable[..., Decision]) -> Callable[..., Decision]:
    """What a method of the default policy decides the first time, each time, with a delay."""

    @wraps(decide)
    def decide_with_delay(
        policy: ExponentialBackoffRetryPolicy,
        *args: Any,  # noqa: ANN401  (as the method takes them, the number of retries last)
        **kwargs: Any,  # noqa: ANN401  (the same)
    ) -> Decision:
        *asked, retry_num = (*args, kwargs.pop("retry_num")) if "retry_num" in kwargs else args
        wanted, consistency, *_ = decide(policy, *asked, retry_num=0, **kwargs)
        if wanted == policy.RETHROW or retry_num >= policy.max_num_retries:
            return policy.RETHROW, None, None
        return wanted, consistency, policy._calculate_backoff(retry_num)  # noqa: SLF001  (its own)

    return decide_with_delay


class ExponentialBackoffRetryPolicy(RetryPolicy):
    """Retries what the default policy would, more often, and waits longer each time.

    Attributes:
        max_num_retries: after how many retries the error is the caller's.
        min_interval: seconds before the first retry; each further one doubles it.
        max_interval: seconds that are not exceeded, jitter aside.
    """

    def __init__(
        self, max_num_retries: float, min_interval: float = 0.1, max_interval: float = 10.0
    ) -> None:
        """Set the limits.

        Raises:
            TypeError: a limit is no number.
            ValueError: a limit is negative, or the intervals are in the wrong order.
        """
        refuse_negative("max_num_retries", max_num_retries)
        refuse_negative("min_interval", min_interval)
        refuse_negative("max_interval", max_interval)
        if max_interval < min_interval:
            raise ValueError("max_interval must not be less than min_interval")
        self.max_num_retries = max_num_retries
        self.min_interval = min_interval
        self.max_interval = max_interval

    on_read_timeout = _each_time(RetryPolicy.on_read_timeout)
    on_write_timeout = _each_time(RetryPolicy.on_write_timeout)
    on_unavailable = _each_time(RetryPolicy.on_unavailable)
    on_request_error = _each_time(RetryPolicy.on_request_error)

    def _calculate_backoff(self, attempt: int) -> float:
        """Seconds before a retry, half the first interval more or less, so that clients spread."""
        # Past 2**64 the longest interval is long reached, and the power would overflow.
        delay = min(self.max_interval, self.min_interval * 2.0 ** min(attempt, 64))
        jitter = (random.random() - 0.5) * self.min_interval
        return delay + jitter


def _lacks_data_only(required: int, received: int, data_retrieved: bool) -> bool:
    """Whether enough replicas answered, all but the one that was asked for data."""
    return received >= required and not data_retrieved


def _may_have_been_executed(error: Exception) -> bool:
    """Whether a request that met with this error may have run."""
    # Errors of connections, which live a layer higher, know whether the request went out.
    return not isinstance(error, _REFUSALS) and bool(getattr(error, "was_sent", True))


def _is_idempotent(query: Statement | None) -> bool:
    """Whether executing it once more does no harm; messages of the driver's own never do."""
    return query is None or bool(getattr(query, "is_idempotent", False))


def _is_serial(consistency: int | None) -> bool:
    return consistency is not None and ConsistencyLevel.is_serial(consistency)
