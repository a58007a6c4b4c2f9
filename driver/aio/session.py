"""The session for coroutines: statements to awaitable results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self, Unpack, overload

from ..cluster.base import BaseSession
from ..cluster.profiles import EXEC_PROFILE_DEFAULT, NOT_SET
from ..execution.awaitable import AwaitableResponse
from ..implementation import hand_over
from . import concurrent
from .result_set import AsyncResultSet

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping

    from ..cluster.profiles import NotSet, ProfileOrName
    from ..cluster.session_core import SessionCore
    from ..execution.options import RequestOptions
    from ..protocol.typing import Parameters
    from ..results.rows import Row, RowFactory
    from ..statements.base import Statement
    from ..statements.prepared import PreparedStatement
    from ..topology.host import Host
    from .cluster import Cluster


class _Response(AwaitableResponse):
    """A response that gives pages whose next ones can be awaited."""

    __slots__ = ()

    page_class = AsyncResultSet


class Session(BaseSession):
    """Executes statements over pools of connections; ``Cluster.connect`` makes one.

    Cancelling what waits for a statement gives its stream back as soon as the late answer came.

    Attributes:
        cluster: the cluster that it belongs to.
    """

    def __init__(self, cluster: Cluster, core: SessionCore) -> None:
        """Hand on to a core that is open."""
        self.cluster = cluster
        self.core = core

    async def execute(
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
    ) -> AsyncResultSet[Row]:
        """Execute a statement and wait for its first page.

        Args:
            query: text, or a statement of any kind.
            parameters: values for a text (``%s``, ``%(name)s``) or a prepared statement.
            timeout: seconds until the client gives up, in place of the profile's; None never does.
            trace: ask the server to trace it; see ``AsyncResultSet.get_query_trace``.
            custom_payload: for a custom query handler of the server.
            execution_profile: a profile or its name.
            paging_state: where to begin, from an earlier result, maybe of another process.
            host: the only host to ask.
            row_factory: shape of the rows, in place of the profile's.
            options: ``keyspace`` and ``now_in_seconds``, as ``RequestOptions`` has them (v5).

        Returns:
            The first page; ``async for`` over it goes on to the others.

        Raises:
            DriverException: what the server said, or why there is no answer: NoHostAvailable,
                OperationTimedOut...
            ValueError, TypeError: values that cannot be bound, or no statement.
        """
        response = self.core.request(
            _Response,
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
        response.send_request()
        result: AsyncResultSet[Row] = await response
        return result

    async def stream(
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
    ) -> AsyncIterator[Row]:
        """All rows of a statement, one page in memory at a time; arguments as of ``execute``."""
        result = await self.execute(
            query,
            parameters,
            timeout,
            trace,
            custom_payload,
            execution_profile,
            paging_state,
            host,
            row_factory=row_factory,
            **options,
        )
        async for row in result:
            yield row

    execute_concurrent = concurrent.execute_concurrent

    @overload
    async def execute_concurrent_with_args(
        self,
        statement: str | Statement | PreparedStatement,
        parameters: Iterable[Parameters],
        concurrency: int = 100,
        raise_on_first_error: Literal[True] = True,
        execution_profile: ProfileOrName = EXEC_PROFILE_DEFAULT,
    ) -> list[concurrent.Raising]: ...

    @overload
    async def execute_concurrent_with_args(
        self,
        statement: str | Statement | PreparedStatement,
        parameters: Iterable[Parameters],
        concurrency: int = 100,
        raise_on_first_error: bool = True,
        execution_profile: ProfileOrName = EXEC_PROFILE_DEFAULT,
    ) -> list[concurrent.Telling]: ...

    async def execute_concurrent_with_args(
        self,
        statement: str | Statement | PreparedStatement,
        parameters: Iterable[Parameters],
        concurrency: int = 100,
        raise_on_first_error: bool = True,
        execution_profile: ProfileOrName = EXEC_PROFILE_DEFAULT,
    ) -> list[concurrent.Telling] | list[concurrent.Raising]:
        """Execute one statement with many sets of parameters; as ``execute_concurrent``."""
        return await self.execute_concurrent(
            ((statement, values) for values in parameters),
            concurrency,
            raise_on_first_error,
            execution_profile,
        )

    async def prepare(
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
        return await self.core.prepare(query, custom_payload, keyspace)

    async def wait_for_schema_agreement(
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
        return await self.core.wait_for_schema_agreement(wait_time, scope)

    async def set_keyspace(self, keyspace: str) -> None:
        """Use a keyspace on all connections; what is on its way may still use the old one.

        Raises:
            InvalidRequest: there is none of that name.
        """
        await self.core.set_keyspace(keyspace)

    async def shutdown(self) -> None:
        """Close all connections of the session; again, it does nothing."""
        if not self.is_shutdown:
            await self.core.close()

    async def __aenter__(self) -> Self:
        """This session."""
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Shut down."""
        await self.shutdown()


hand_over(globals())
