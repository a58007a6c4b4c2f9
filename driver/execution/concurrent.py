"""Concurrent execution: many statements, so many of them on their way at a time.

There are no threads and no tasks: each answer sends what is next. That happens on the thread that
reads answers, so that several requests leave in one write; statements are therefore taken from
their iterable on that thread, too, and a generator of statements must not wait. The rows of large
pages are made by the thread that waits for results, where one does.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Generic,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeVar,
    overload,
)

from ..results.result_set import ResultSet
from . import waiting
from .late_page import LatePage, takes_late_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from ..protocol.typing import Parameters, Rows
    from ..statements.base import Statement
    from ..statements.prepared import PreparedStatement
    from .response_future import ResponseFuture

_DEFAULT_PROFILE: Final = object()


#: A result set, or an exception where those do not end the whole.
_Outcome = TypeVar("_Outcome")


class ExecutionResult(NamedTuple, Generic[_Outcome]):
    """What became of one statement.

    Attributes:
        success: whether it was executed.
        result_or_exc: its ``ResultSet``, or the exception that it failed with.
    """

    success: bool
    result_or_exc: _Outcome


#: Of a statement each, where the first failure is raised, and where it is a result like others.
_Raising: TypeAlias = "ExecutionResult[ResultSet[Any]]"
_Telling: TypeAlias = "ExecutionResult[ResultSet[Any] | Exception]"
#: A statement of any kind, with its values.
Pair: TypeAlias = "tuple[str | Statement | PreparedStatement, Parameters]"


class Executes(Protocol):
    """What is asked of a session."""

    @property
    def execute_async(self) -> Callable[..., ResponseFuture]:
        """Takes a statement, its parameters and options; sends it."""


@overload
def execute_concurrent(
    session: Executes,
    statements_and_parameters: Iterable[Pair],
    concurrency: int = 100,
    raise_on_first_error: Literal[True] = True,
    results_generator: Literal[False] = False,
    execution_profile: object = _DEFAULT_PROFILE,
) -> list[_Raising]: ...


@overload
def execute_concurrent(
    session: Executes,
    statements_and_parameters: Iterable[Pair],
    concurrency: int = 100,
    *,
    raise_on_first_error: bool,
    results_generator: Literal[False] = False,
    execution_profile: object = _DEFAULT_PROFILE,
) -> list[_Telling]: ...


@overload
def execute_concurrent(
    session: Executes,
    statements_and_parameters: Iterable[Pair],
    concurrency: int = 100,
    raise_on_first_error: bool = True,
    *,
    results_generator: Literal[True],
    execution_profile: object = _DEFAULT_PROFILE,
) -> Generator[_Telling, None, None]: ...


def execute_concurrent(
    session: Executes,
    statements_and_parameters: Iterable[Pair],
    concurrency: int = 100,
    raise_on_first_error: bool = True,
    results_generator: bool = False,
    execution_profile: object = _DEFAULT_PROFILE,
) -> list[_Telling] | list[_Raising] | Generator[_Telling, None, None]:
    """Execute statements, some at a time.

    Args:
        session: executes them.
        statements_and_parameters: pairs of a statement and its parameters (or None).
        concurrency: how many are on their way at most.
        raise_on_first_error: whether the first failure ends it and is raised; what is on its way
            then still arrives, unheard.
        results_generator: whether to give results one by one as they are there, instead of a list
            at the end. No more than ``concurrency`` results wait to be taken.
        execution_profile: a profile or its name; by default the session's.

    Returns:
        A result for each statement, in the order of the statements.

    Raises:
        ValueError: concurrency is less than 1.
        TypeError: something else than a pair is among the statements.
        RuntimeError: this is the thread that reads answers: it would wait for itself.
        Exception: the first failure, if it is to be raised.
    """
    run = _Run(
        session,
        statements_and_parameters,
        concurrency,
        raise_on_first_error,
        execution_profile,
        most_unread=concurrency if results_generator else None,
    )
    run.send_more()
    return run.results() if results_generator else run.all_results()


@overload
def execute_concurrent_with_args(
    session: Executes,
    statement: str | Statement | PreparedStatement,
    parameters: Iterable[Parameters],
    concurrency: int = 100,
    raise_on_first_error: Literal[True] = True,
    results_generator: Literal[False] = False,
    execution_profile: object = _DEFAULT_PROFILE,
) -> list[_Raising]: ...


@overload
def execute_concurrent_with_args(
    session: Executes,
    statement: str | Statement | PreparedStatement,
    parameters: Iterable[Parameters],
    concurrency: int = 100,
    *,
    raise_on_first_error: bool,
    results_generator: Literal[False] = False,
    execution_profile: object = _DEFAULT_PROFILE,
) -> list[_Telling]: ...


@overload
def execute_concurrent_with_args(
    session: Executes,
    statement: str | Statement | PreparedStatement,
    parameters: Iterable[Parameters],
    concurrency: int = 100,
    raise_on_first_error: bool = True,
    *,
    results_generator: Literal[True],
    execution_profile: object = _DEFAULT_PROFILE,
) -> Generator[_Telling, None, None]: ...


def execute_concurrent_with_args(
    session: Executes,
    statement: str | Statement | PreparedStatement,
    parameters: Iterable[Parameters],
    concurrency: int = 100,
    raise_on_first_error: bool = True,
    results_generator: bool = False,
    execution_profile: object = _DEFAULT_PROFILE,
) -> list[_Telling] | list[_Raising] | Generator[_Telling, None, None]:
    """Execute one statement with many parameters; the rest as of ``execute_concurrent``."""
    return execute_concurrent(  # type: ignore[call-overload, no-any-return]  # either of them
        session,
        ((statement, each) for each in parameters),
        concurrency,
        raise_on_first_error,
        results_generator,
        execution_profile,
    )


def execute_concurrent_async(
    session: Executes,
    statements_and_parameters: Iterable[Pair],
    concurrency: int = 100,
    raise_on_first_error: bool = False,
    execution_profile: object = _DEFAULT_PROFILE,
) -> Future[list[_Telling]]:
    """Execute statements, some at a time, without waiting.

    Returns:
        A future of the list of results; of the first failure, if it is to be raised. The arguments
        are those of ``execute_concurrent``.

    Raises:
        ValueError: concurrency is less than 1.
    """
    outcome: Future[list[_Telling]] = Future()

    def finish(run: _Run) -> None:
        try:
            outcome.set_result(run.all_results())
        except BaseException as error:  # noqa: BLE001  (it is handed on)
            outcome.set_exception(error)

    run = _Run(
        session,
        statements_and_parameters,
        concurrency,
        raise_on_first_error,
        execution_profile,
        when_over=finish,
    )
    run.send_more()
    return outcome


def no_pair(given: object) -> TypeError:
    """What to raise where a pair of a statement and its parameters was needed."""
    return TypeError(
        "statements_and_parameters are pairs of a statement and its parameters, such as "
        f"(statement, None), not {given!r}"
    )


class _Run:
    """The statements of one call, and where they are.

    Statements are sent by whoever finds that there is room, one thread at a time; the others leave
    it to that one. An answer that is there at once thus does not send the next statement from
    within the sending of its own, which a long list would take beyond the limit of recursion.

    The caller's thread sends the first ones. After that it is woken only for the result that it
    waits for, and what follows is sent by the thread that reads answers, which gathers what it
    sends: the two would take the interpreter's lock from each other with every request.
    """

    def __init__(
        self,
        session: Executes,
        statements_and_parameters: Iterable[Pair],
        concurrency: int,
        raise_on_first_error: bool,
        execution_profile: object,
        *,
        most_unread: int | None = None,
        when_over: Callable[[_Run], None] | None = None,
    ) -> None:
        if concurrency < 1:
            raise ValueError(f"concurrency must be 1 or more, got {concurrency}")
        self._session = session
        self._statements = iter(statements_and_parameters)
        self._concurrency = concurrency
        self._raises = raise_on_first_error
        self._most_unread = most_unread
        self._when_over = when_over
        self._options = (
            {}
            if execution_profile is _DEFAULT_PROFILE
            else {"execution_profile": execution_profile}
        )
        # Entered by itself: a condition has methods in Python around those of its lock. Again by
        # the same thread, if its collector finds a generator of results that was left behind.
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._results: dict[int, _Telling] = {}
        #: Answers whose rows the caller's thread makes; they are in flight until it has.
        self._late: dict[int, ResponseFuture] = {}
        self._sent = 0
        self._in_flight: set[int] = set()
        self._awaited: int | None = None
        self._is_sending = False
        self._is_last_sent = False
        self._failure: BaseException | None = None
        self._answers_come_to: Any = None

    # --- sending -------------------------------------------------------------------------------

    def send_more(self) -> None:
        """Send as many statements as there is room for, unless somebody else does."""
        index = self._claim(begins=True)
        while index is not None:
            self._send(index)
            index = self._claim()

    def _claim(self, begins: bool = False) -> int | None:
        """The index of the statement to send now; None leaves it at that.

        Args:
            begins: whether the caller is not the one who sends yet.
        """
        with self._lock:
            if begins and self._is_sending:
                return None
            index = self._sent
            self._is_sending = (
                not self._is_last_sent
                and self._failure is None
                and len(self._in_flight) < self._concurrency
                and (self._most_unread is None or len(self._results) < self._most_unread)
            )
            if self._is_sending:
                self._sent += 1
                self._in_flight.add(index)
                return index
            when_over = None
            if self._is_over():
                when_over, self._when_over = self._when_over, None
        if when_over is not None:
            when_over(self)
        return None

    def _send(self, index: int) -> None:
        """Send what is next, as the statement of an index."""
        try:
            pair = next(self._statements)
        except StopIteration:
            with self._lock:
                self._is_last_sent = True
                self._in_flight.discard(index)
                self._changed.notify_all()
            return
        except BaseException as error:  # noqa: BLE001  (the iterable's own; it is raised where results are)
            self._fail(error)
            return
        try:
            statement, parameters = pair
        except (TypeError, ValueError):
            self._fail(no_pair(pair))
            return
        try:
            future = self._session.execute_async(statement, parameters, **self._options)
        except Exception as error:  # noqa: BLE001  (a statement that cannot be sent has failed)
            self._take(index, ExecutionResult(False, error))
            return
        except BaseException as error:  # noqa: BLE001  (Ctrl-C; it is raised where results are)
            self._fail(error)
            return
        self._answers_come_to = getattr(future, "session", None)
        on_success, on_error = self._on_success, self._on_error
        if self._when_over is None:  # somebody waits who can make late rows
            on_success, on_error = self._on_page, self._on_no_page
        future.add_callbacks(on_success, on_error, (index, future), None, (index, future), None)
        if index not in self._in_flight:
            # What answers at once takes back the first callback before the second one is there,
            # which would keep the future, and this run, in a circle.
            future.clear_callbacks()

    def _fail(self, error: BaseException) -> None:
        """End all of it."""
        with self._lock:
            self._failure = self._failure or error
            self._changed.notify_all()

    # --- results -------------------------------------------------------------------------------

    def _on_success(self, rows: Rows, index: int, future: ResponseFuture) -> None:
        future.clear_callbacks()
        self._take(index, ExecutionResult(True, ResultSet(future, rows)))
        self.send_more()

    def _on_error(self, error: Exception, index: int, future: ResponseFuture) -> None:
        future.clear_callbacks()
        self._take(index, ExecutionResult(False, error))
        self.send_more()

    @takes_late_rows
    def _on_page(self, rows: Rows, index: int, future: ResponseFuture) -> None:
        if type(rows) is not LatePage:
            self._on_success(rows, index, future)
            return
        future.clear_callbacks()
        with self._lock:
            self._late[index] = future
            self._changed.notify_all()

    @takes_late_rows
    def _on_no_page(self, error: Exception, index: int, future: ResponseFuture) -> None:
        self._on_error(error, index, future)

    def _make_rows(self, index: int) -> None:
        """Make the rows of a late answer, on the caller's thread."""
        future = self._late.pop(index)
        try:
            result = future.result()
        except Exception as error:  # noqa: BLE001  (it is a result like others)
            self._take(index, ExecutionResult(False, error))
        else:
            self._take(index, ExecutionResult(True, result))
        finally:
            future.clear_callbacks()
        self.send_more()

    def _take(self, index: int, result: _Telling) -> None:
        with self._lock:
            if index not in self._in_flight:
                return  # a further page, which its reader asked for
            self._in_flight.remove(index)
            self._results[index] = result
            outcome = result.result_or_exc
            if self._raises and isinstance(outcome, Exception) and self._failure is None:
                self._failure = outcome
            if index == self._awaited or self._is_over():
                self._changed.notify_all()

    def _is_over(self) -> bool:
        """Whether nothing more will come."""
        return self._failure is not None or (self._is_last_sent and not self._in_flight)

    def all_results(self) -> list[_Telling]:
        """The results in the order of the statements, when all are there.

        Raises:
            Exception: the first failure, if it is to be raised.
        """
        try:
            with self._lock:
                while not self._is_over():
                    self._wait_for(None)
                if self._failure is not None:
                    raise self._failure
                return [self._results[index] for index in range(len(self._results))]
        finally:
            self._end()

    def results(self) -> Generator[_Telling, None, None]:
        """The results in the order of the statements, as they come.

        Raises:
            Exception: the first failure, if it is to be raised.
        """
        index = 0
        try:
            while True:
                with self._lock:
                    while index not in self._results and not self._is_over():
                        self._wait_for(index)
                    if self._failure is not None:
                        raise self._failure
                    if index not in self._results:
                        return
                    result = self._results.pop(index)
                index += 1
                self.send_more()
                yield result
        finally:
            self._end()

    def _wait_for(self, index: int | None) -> None:
        """Wait for one result, or for the end, or make rows meanwhile; with the lock.

        Raises:
            RuntimeError: this is the thread that reads answers: it would wait for itself.
        """
        if self._answers_come_to is not None:
            waiting.refuse_on_loop(self._answers_come_to)
        self._awaited = index
        if not self._late:
            self._changed.wait()
            return
        first = index if index in self._late else next(iter(self._late))
        self._lock.release()  # answers come meanwhile
        try:
            self._make_rows(first)
        finally:
            self._lock.acquire()

    def _end(self) -> None:
        """Whoever stops reading wants no more of them."""
        with self._lock:
            self._is_last_sent = True
