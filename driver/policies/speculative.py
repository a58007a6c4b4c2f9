"""Speculative execution: when to ask another host too, while the first has not answered yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..protocol.numbers import refuse_negative

if TYPE_CHECKING:
    from ..statements.base import Statement
    from ..topology.host import Host


class SpeculativeExecutionPlan:
    """The further executions of one request."""

    def next_execution(self, host: Host | None) -> float:
        """Seconds from now until the next host is asked as well; negative for never.

        Args:
            host: the host that was asked last.
        """
        raise NotImplementedError


class SpeculativeExecutionPolicy:
    """Gives each request a plan. Only statements that are idempotent are executed twice."""

    def new_plan(
        self,
        keyspace: str | None,
        statement: Statement | None,
    ) -> SpeculativeExecutionPlan:
        """A plan for one request."""
        raise NotImplementedError


class NoSpeculativeExecutionPlan(SpeculativeExecutionPlan):
    """No further execution."""

    def next_execution(self, host: Host | None) -> float:
        """Never."""
        return -1


class NoSpeculativeExecutionPolicy(SpeculativeExecutionPolicy):
    """Asks one host at a time; the default."""

    def new_plan(
        self,
        keyspace: str | None,
        statement: Statement | None,
    ) -> SpeculativeExecutionPlan:
        """A plan of none."""
        return NoSpeculativeExecutionPlan()


class ConstantSpeculativeExecutionPlan(SpeculativeExecutionPlan):
    """Some further executions, at a fixed distance in time.

    Attributes:
        delay: seconds between executions.
        remaining: how many are left.
    """

    def __init__(self, delay: float, max_attempts: int) -> None:
        """Start with all of them."""
        self.delay = delay
        self.remaining = max_attempts

    def next_execution(self, host: Host | None) -> float:
        """The delay as long as some are left."""
        if self.remaining <= 0:
            return -1
        self.remaining -= 1
        return self.delay


class ConstantSpeculativeExecutionPolicy(SpeculativeExecutionPolicy):
    """Asks another host each time that a fixed delay passes without an answer.

    Attributes:
        delay: seconds between executions.
        max_attempts: how many further hosts are asked at the most.
    """

    def __init__(self, delay: float, max_attempts: int) -> None:
        """Choose the delay; well above the usual latency, or the cluster works twice.

        Raises:
            TypeError: one of them is no number.
            ValueError: one of them is negative.
        """
        refuse_negative("delay", delay)
        refuse_negative("max_attempts", max_attempts)
        self.delay = delay
        self.max_attempts = max_attempts

    def new_plan(
        self,
        keyspace: str | None,
        statement: Statement | None,
    ) -> ConstantSpeculativeExecutionPlan:
        """A plan with all attempts left."""
        return ConstantSpeculativeExecutionPlan(self.delay, self.max_attempts)
