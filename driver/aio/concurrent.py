"""Many statements at a time, on the loop: as many as asked for are on their way, never more."""

from __future__ import annotations

import asyncio
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from ..cluster.profiles import EXEC_PROFILE_DEFAULT
from ..execution.concurrent import ExecutionResult, no_pair

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..cluster.profiles import ProfileOrName
    from ..execution.concurrent import Pair
    from .result_set import AsyncResultSet
    from .session import Session


#: Of a statement each, where the first failure is raised, and where it is a result like others.
Raising: TypeAlias = "ExecutionResult[AsyncResultSet[Any]]"
Telling: TypeAlias = "ExecutionResult[AsyncResultSet[Any] | Exception]"


@overload
async def execute_concurrent(
    session: Session,
    statements_and_parameters: Iterable[Pair],
    concurrency: int = 100,
    raise_on_first_error: Literal[True] = True,
    execution_profile: ProfileOrName = EXEC_PROFILE_DEFAULT,
) -> list[Raising]: ...


@overload
async def execute_concurrent(
    session: Session,
    statements_and_parameters: Iterable[Pair],
    concurrency: int = 100,
    raise_on_first_error: bool = True,
    execution_profile: ProfileOrName = EXEC_PROFILE_DEFAULT,
) -> list[Telling]: ...


async def execute_concurrent(
    session: Session,
    statements_and_parameters: Iterable[Pair],
    concurrency: int = 100,
    raise_on_first_error: bool = True,
    execution_profile: ProfileOrName = EXEC_PROFILE_DEFAULT,
) -> list[Telling] | list[Raising]:
    """Execute statements, some at a time.

    Args:
        session: executes them.
        statements_and_parameters: pairs, taken from the iterable as they are needed.
        concurrency: how many are on their way at most.
        raise_on_first_error: whether the first failure ends it; those on their way are cancelled.
        execution_profile: a profile or its name.

    Returns:
        ``ExecutionResult(success, result_or_exc)`` of each, in the order of the statements.

    Raises:
        ValueError: concurrency is less than 1.
        TypeError: something else than a pair is among the statements.
        Exception: the first failure, if it is to be raised; also cancels the others.
    """
    if concurrency < 1:
        raise ValueError(f"concurrency must be 1 or more, got {concurrency}")
    waiting = enumerate(statements_and_parameters)
    results: dict[int, Telling] = {}

    async def work(first: tuple[int, Pair]) -> None:
        for index, pair in chain([first], waiting):
            try:
                statement, parameters = pair
            except (TypeError, ValueError):
                raise no_pair(pair) from None
            try:
                result = await session.execute(
                    statement, parameters, execution_profile=execution_profile
                )
            except Exception as error:
                if raise_on_first_error:
                    raise
                results[index] = ExecutionResult(False, error)
            else:
                results[index] = ExecutionResult(True, result)

    begin = list(islice(waiting, concurrency))
    workers = [asyncio.create_task(work(first)) for first in begin]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    return [results[index] for index in range(len(results))]
