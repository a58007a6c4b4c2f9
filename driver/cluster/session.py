"""The session for threads: statements to futures and results."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, Self, TypeVar, Unpack

from ..execution import concurrent
from ..execution.response_future import ResponseFuture
from ..implementation import hand_over
from .base import BaseSession
from .profiles import EXEC_PROFILE_DEFAULT, NOT_SET

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Future

    from ..execution.options import RequestOptions
    from ..protocol.typing import Parameters
    from ..results.result_set import ResultSet
    from ..results.rows import Row, RowFactory
    from ..statements.base import Statement
    from ..statements.prepared import PreparedStatement
    from ..topology.host import Host
    from .cluster import Cluster
    from .profiles import NotSet, ProfileOrName
    from .session_core import SessionCore

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Session(BaseSession):
    """Executes statements over pools of connections; ``Cluster.connect`` makes one.

    Any number of threads can use it. It never waits but in ``execute``, ``prepare``,
    ``set_keyspace`` and ``shutdown``, which callbacks must not call.

    Attributes:
        cluster: the cluster that it belongs to.
    """

    def __init__(self, cluster: Cluster, core: SessionCore) -> None:
        """Hand on to a core that is open."""
        self.cluster = cluster
        self.core = core

    # --- executing -----------------------------------------------------------------------------

    def execute(
        self,
        query: str | Statement | PreparedStatement,
        parameters: Parameters = None,
        timeout: float | NotSet | None = NOT_SET,
        trace: bool = False,
        custom_payload: Mapping[str, bytes | None] | None = None,
        execution_profile: ProfileOrName = EXEC_PROFILE_DEFAULT,
        paging_state: bytes | None = None,
        host: Host | None = None,
        *,
        row_factory: RowFactory[Row] | None = None,
        **options: Unpack[RequestOptions],
    ) -> ResultSet[Row]:
        """Execute a statement and wait for its first page.

        Args:
            query: text, or a statement of any kind.
            parameters: values for a text (``%s``, ``%(name)s``) or a prepared statement.
            timeout: seconds until the client gives up, in place of the profile's; None never does.
            trace: ask the server to trace it; see ``ResultSet.get_query_trace``.
            custom_payload: for a custom query handler of the server.
            execution_profile: a profile or its name.
            paging_state: where to begin, from an earlier result, maybe of another process.
            host: the only host to ask.
            row_factory: shape of the rows, in place of the profile's.
            options: ``keyspace`` and ``now_in_seconds``, as ``RequestOptions`` has them (v5).

        Returns:
            The first page; iterating over it goes on to the others.

        Raises:
            DriverException: what the server said, or why there is no answer: NoHostAvailable,
                OperationTimedOut...
            ValueError, TypeError: values that cannot be bound, or no statement.
        """
        send = self.execute_async
        if getattr(send, "__func__", None) is not _execute_async:
            # Instrumentation wraps it, to see every request.
            return send(
                query,
                parameters,
                trace,
                custom_payload,
                timeout,
                execution_profile,
                paging_state,
                host,
                row_factory=row_factory,
                **options,
            ).result()
        # No future in a variable: the traceback of its error leads here.
        return self.core.request(
            ResponseFuture,
            query,
            parameters,
            trace,
            custom_payload,
            timeout,
            execution_profile,
            paging_state,
            host,
            row_factory,
            options,
        ).send_and_wait()

    def execute_async(
        self,
        query: str | Statement | PreparedStatement,
        parameters: Parameters = None,
        trace: bool = False,
        custom_payload: Mapping[str, bytes | None] | None = None,
        timeout: float | NotSet | None = NOT_SET,
        execution_profile: ProfileOrName = EXEC_PROFILE_DEFAULT,
        paging_state: bytes | None = None,
        host: Host | None = None,
        *,
        row_factory: RowFactory[Row] | None = None,
        **options: Unpack[RequestOptions],
    ) -> ResponseFuture[Row]:
        """Send a statement and return at once; arguments as of ``execute``.

        While an answer is on its way over the same connection, it leaves together with others: when
        a thread waits for a future, with that answer, or 15 ms later; at once with a callback.

        Returns:
            The future of its answer, with callbacks.

        Raises:
            ValueError, TypeError: values that cannot be bound, or no statement. Everything else
                becomes the future's exception.
        """
        future: ResponseFuture[Row] = self.core.request(
            ResponseFuture,
            query,
            parameters,
            trace,
            custom_payload,
            timeout,
            execution_profile,
            paging_state,
            host,
            row_factory,
            options,
        )
        future.send_request()
        return future

    def wait_for_schema_agreement(
        self, wait_time: float | None = None, scope: str = "cluster"
    ) -> bool:
        """Wait until the nodes have the same schema; see ``ControlConnection``.

        Args:
            wait_time: seconds, more than 0; by default ``Cluster.max_schema_agreement_wait``.
            scope: ``cluster``, ``dc`` or ``rack``: which nodes count.

        Returns:
            Whether they have.

        Raises:
            ValueError: no time to wait, or no such scope.
            ConnectionException: there is no control connection, or it failed meanwhile.
        """
        return self.cluster.run(self.core.wait_for_schema_agreement(wait_time, scope))

    execute_concurrent = concurrent.execute_concurrent
    execute_concurrent_with_args = concurrent.execute_concurrent_with_args
    execute_concurrent_async = concurrent.execute_concurrent_async

    # --- preparing, keyspaces --------------------------------------------------------------------

    def prepare(
        self,
        query: str,
        custom_payload: Mapping[str, bytes | None] | None = None,
        keyspace: str | None = None,
    ) -> PreparedStatement:
        """Have a text prepared by the server, to be bound and executed many times.

        Args:
            query: CQL text with ``?`` for each value.
            custom_payload: for a custom query handler of the server.
            keyspace: what its names are relative to (v5), in place of the session's keyspace.

        Raises:
            DriverException: what the server says to the text, or why there is no answer.
        """
        return self.cluster.run(self.core.prepare(query, custom_payload, keyspace))

    def prepare_on_all_hosts(
        self, query: str, excluded_host: Host | None = None, keyspace: str | None = None
    ) -> None:
        """Have a text prepared by every host but one; what goes wrong is logged only."""
        self.cluster.run(self.core.prepare_on_all_hosts(query, excluded_host, keyspace))

    def set_keyspace(self, keyspace: str) -> None:
        """Use a keyspace on all connections; what is on its way may still use the old one.

        Raises:
            InvalidRequest: there is none of that name.
        """
        self.cluster.run(self.core.set_keyspace(keyspace))

    # --- the rest ------------------------------------------------------------------------------

    def submit(self, fn: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Run a function soon, on one of the cluster's threads that may wait."""
        return self.cluster.executor.submit(fn, *args, **kwargs)

    def update_created_pools(self) -> frozenset[Future[bool]]:
        """Open pools that are missing, and close those of hosts that became ignored.

        Returns:
            What is left to wait for: nothing, it is done by then. (The ``cassandra`` packages give
            futures, for which programs wait.)
        """
        self.cluster.run(self.core.pools.update())
        return frozenset()

    def shutdown(self) -> None:
        """Close all connections of the session; again, it does nothing."""
        if not self.is_shutdown:
            self.cluster.run(self.core.close())

    def __enter__(self) -> Self:
        """This session."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Shut down."""
        self.shutdown()


#: What nobody has wrapped.
_execute_async = Session.execute_async

hand_over(globals())
