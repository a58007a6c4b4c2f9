"""The core of a session: its pools, its settings, and the requests that it makes of statements.

It is what executions of layer 8 ask. Requests are made and sent, and their next pages asked for, on
whichever thread wants them ("the calling thread"); everything else happens on the thread of the one
event loop ("the loop's thread"), which in ``driver.aio`` is the same. What executions ask says
where it is called.

A connection that was borrowed is given back exactly once, by ``return_connection``, whatever became
of its stream::

    borrow_connection -> send_msg -> answer, or exception            -> return_connection
    borrow_connection -> send_msg raises -> release_request_id       -> return_connection
    borrow_connection -> send_msg -> nobody waits any more: abandon  -> return_connection
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Never, TypeVar
from uuid import uuid4

from ..execution.awaitable import AwaitableResponse
from ..execution.options import Options, message_for
from ..execution.request import RequestExecution
from ..implementation import hand_over
from ..net.fork import INHERITED_LOOP, ForkedError, refuse_in_child
from ..policies.timestamps import MonotonicTimestampGenerator
from ..protocol.errors import (
    DriverException,
    NoHostAvailable,
    OperationTimedOut,
    ProtocolException,
)
from ..protocol.kinds import RESULT_KIND_PREPARED
from ..statements.bound import BoundStatement
from ..statements.prepared import PreparedStatement
from ..statements.simple import SimpleStatement
from ..types.literals import Encoder
from ..wire.codec import ProtocolHandler
from ..wire.requests import PrepareMessage
from .pools import SessionPools
from .preparing import PreparedCache
from .profiles import EXEC_PROFILE_DEFAULT, NOT_SET, ConfigMode, ExecutionProfile
from .settings import with_encryption
from .user_types import field_names, literal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..execution.listeners import RequestEvent
    from ..execution.metrics import Metrics
    from ..execution.options import RequestOptions
    from ..execution.request import Preparing
    from ..net.timers import Timers
    from ..policies.load_balancing import LoadBalancingPolicy
    from ..pool.host_pool import HostPool
    from ..protocol.typing import Parameters
    from ..results.rows import RowFactory
    from ..statements.base import Statement
    from ..topology.host import Host
    from ..wire.messages import Request
    from .core import ClusterCore
    from .profiles import NotSet, ProfileOrName

log = logging.getLogger(__name__)

_Execution = TypeVar("_Execution", bound=RequestExecution)

#: The errors of using a keyspace on pools that are closed meanwhile.
_SHUT_DOWN: Mapping[Any, Any] = {"session": [DriverException("this session was shut down")]}


class _TimeIsOver:
    """The policy of a request that has no time: it fails where it would ask for hosts."""

    def make_query_plan(self, _keyspace: str | None, _query: Statement | None) -> Never:
        """There is no host to ask any more."""
        raise OperationTimedOut({"(no host)": "the timeout of the request was over before"})


class SessionCore:
    """A session on the cluster's loop.

    Attributes:
        cluster: the core of the cluster that it belongs to.
        pools: its pools.
        prepared_cache: what it keeps prepared; None unless the options say so.
        loop, timers, metrics: those of the cluster.
        encoder: writes parameters of simple statements as literals.
        default_fetch_size: rows a page where a statement does not say; None switches paging off.
        use_client_timestamp: whether requests carry a timestamp of this side.
        timestamp_generator: called for it, in microseconds since the epoch.
        max_trace_wait: seconds that a trace is waited for.
        request_listeners: called with each request before it is sent, on the calling thread.
        preparing: what hosts are asked to prepare again, by host and id; the loop's thread. Of a
            session, since names in a statement are relative to the keyspace of its connections.
        session_id: tells sessions apart.
        is_shutdown: whether ``close`` has begun.
    """

    # Where compiled code finds them.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_client_protocol_handler",
        "_handlers",
        "_last_options",
        "_own_profile",
        "_requests_handler",
        "cluster",
        "default_fetch_size",
        "encoder",
        "is_shutdown",
        "loop",
        "max_trace_wait",
        "metrics",
        "pools",
        "prepared_cache",
        "preparing",
        "request_listeners",
        "session_id",
        "timers",
        "timestamp_generator",
        "use_client_timestamp",
    )

    def __init__(self, cluster: ClusterCore) -> None:
        """Take over the cluster's settings; there are no pools before ``open``."""
        self.cluster = cluster
        self.pools = SessionPools(cluster)
        policy = cluster.options.preparation_policy
        self.prepared_cache = None if policy is None else PreparedCache(self, policy)
        self.loop = cluster.loop
        self.timers: Timers = cluster.timers
        self.metrics: Metrics | None = cluster.metrics
        self.encoder = Encoder()
        self.default_fetch_size: int | None = 5000
        self.use_client_timestamp = True
        self.timestamp_generator: Callable[[], int] = (
            cluster.options.timestamp_generator or MonotonicTimestampGenerator()
        )
        self.client_protocol_handler = ProtocolHandler
        self._handlers: dict[type[ProtocolHandler], type[ProtocolHandler]] = {}
        self.max_trace_wait = 2.0
        self.request_listeners: tuple[Callable[[RequestEvent], object], ...] = ()
        self.preparing: dict[tuple[Host, bytes], Preparing] = {}
        self.session_id = uuid4()
        self.is_shutdown = False
        refuse_in_child(self)
        self._own_profile = cluster.profile_manager.default.clone_update()
        self._last_options = (Options(), Options())
        for keyspace, types in cluster.user_types.items():
            for user_type, klass in types.items():
                self._write_literals_of(keyspace, user_type, klass)

    # --- life ----------------------------------------------------------------------------------

    async def open(self, keyspace: str | None = None, wait_for_all_pools: bool = False) -> None:
        """Open pools, then use a keyspace on all of them.

        Args:
            keyspace: its name, as in CQL without quotes; None for none.
            wait_for_all_pools: wait for the last pool instead of the first.

        Raises:
            NoHostAvailable: no pool could be opened, with the reason of each host.
            InvalidRequest: there is no such keyspace.
        """
        errors: dict[object, Exception] = {}
        hosts = self.cluster.metadata.all_hosts()
        opening = {self.cluster.background.start(self._open_pool(host, errors)) for host in hosts}
        while opening and (wait_for_all_pools or not self.pools.by_host):
            _, opening = await asyncio.wait(opening, return_when=asyncio.FIRST_COMPLETED)
        if self.is_shutdown:
            raise NoHostAvailable("Session was shut down while it was opened", errors)
        if not self.pools.by_host:
            why = "" if errors else ": the load balancing policies ignore all of them"
            raise NoHostAvailable(f"there is no pool for any node{why}", errors)
        if keyspace is not None:
            await self.set_keyspace(keyspace)

    async def _open_pool(self, host: Host, errors: dict[object, Exception]) -> None:
        error = await self.pools.add_or_renew(host)
        if error is not None:
            errors[host.endpoint] = error
            self.cluster.hosts.signal_connection_failure(host, error)

    async def close(self) -> None:
        """Close all pools. Does nothing the second time."""
        self.is_shutdown = True
        self.cluster.sessions.discard(self)
        await self.pools.close()

    def forked(self) -> None:
        """Refuse all requests of a child process."""
        self.is_shutdown = True
        self.loop = INHERITED_LOOP

    # --- profiles and defaults -----------------------------------------------------------------

    @property
    def default_profile(self) -> ExecutionProfile:
        """The profile of requests that name none; the session's own unless profiles are used."""
        manager = self.cluster.profile_manager
        return manager.default if manager.mode is ConfigMode.PROFILES else self._own_profile

    def profile(self, profile: ProfileOrName = EXEC_PROFILE_DEFAULT) -> ExecutionProfile:
        """A profile by name, or as it is.

        Raises:
            ValueError: there is none of that name, or the cluster is configured without profiles.
        """
        if profile is EXEC_PROFILE_DEFAULT:
            return self.default_profile
        if self.cluster.profile_manager.mode is ConfigMode.LEGACY:
            raise ValueError(
                "there are no execution profiles: the cluster is configured without them"
            )
        return self.cluster.profile_manager.get(profile)

    def set_default(self, attribute: str, value: object, name: str) -> None:
        """Set an attribute of the session's own default profile.

        Raises:
            ValueError: the cluster is configured by profiles.
        """
        self.cluster.profile_manager.commit_to_legacy(f"Session.{name}")
        setattr(self._own_profile, attribute, value)

    @property
    def row_factory(self) -> RowFactory:
        """Default shape of rows."""
        return self.default_profile.row_factory

    @property
    def client_protocol_handler(self) -> type[ProtocolHandler]:
        """Decodes the rows of requests."""
        return self._client_protocol_handler

    @client_protocol_handler.setter
    def client_protocol_handler(self, handler: type[ProtocolHandler]) -> None:
        self._client_protocol_handler = handler
        is_usual = handler is ProtocolHandler
        self._requests_handler = None if is_usual else with_encryption(handler, self.cluster)

    # --- requests ------------------------------------------------------------------------------

    def request(
        self,
        execution: Callable[..., _Execution],
        query: str | Statement | PreparedStatement,
        parameters: Parameters = None,
        trace: bool = False,
        custom_payload: Mapping[str, bytes | None] | None = None,
        timeout: float | NotSet | None = NOT_SET,
        execution_profile: ProfileOrName = EXEC_PROFILE_DEFAULT,
        paging_state: bytes | None = None,
        host: Host | None = None,
        row_factory: RowFactory[Any] | None = None,
        more: RequestOptions | None = None,
    ) -> _Execution:
        """A request that executes a statement, ready to be sent.

        Args:
            execution: makes it of what it consists of: a class of driver.execution.
            query: text, or a statement of any kind.
            parameters: values for a text, a simple or a prepared statement.
            trace: ask the server to trace it.
            custom_payload: added to the statement's own.
            timeout: seconds until the client gives up, from 0 down before it has sent anything;
                None never does.
            execution_profile: a profile or its name.
            paging_state: where to begin, from an earlier result, maybe of another process.
            host: the only host to ask.
            row_factory: shape of the rows; by default the profile's.
            more: see ``RequestOptions``.

        Raises:
            ValueError: an unknown profile, or values that cannot be bound.
            TypeError: no statement, parameters for one that takes none, an unknown option, or a
                timeout that is no number.
        """
        if isinstance(query, str):
            query = SimpleStatement(query)
        elif isinstance(query, PreparedStatement):
            query = query.bind(parameters)
            parameters = None
        if parameters is not None and self.prepared_cache is not None:
            query, parameters = self.prepared_cache.bound(query, parameters, more)
        call = self._options_of_call(
            trace, custom_payload, timeout, paging_state, host, row_factory
        )
        profile = (
            self.default_profile
            if execution_profile is EXEC_PROFILE_DEFAULT
            else self.profile(execution_profile)
        )
        options = self._options_of(profile).merged(query, call, more)
        return execution(
            self,
            message_for(
                query,
                options,
                self.cluster.protocol_version,
                self.encoder,
                parameters or None,
                self.timestamp_generator() if self.use_client_timestamp else None,
            ),
            query,
            options,
            query.prepared_statement if isinstance(query, BoundStatement) else None,
            options.speculative_execution_policy.new_plan(query.keyspace or self.keyspace, query)
            if query.is_idempotent
            else None,
        )

    def _options_of_call(
        self,
        trace: bool,
        custom_payload: Mapping[str, bytes | None] | None,
        timeout: float | NotSet | None,
        paging_state: bytes | None,
        host: Host | None,
        row_factory: RowFactory[Any] | None,
    ) -> dict[str, Any]:
        """What a call of ``request`` asks for beside its statement, by the names of ``Options``."""
        call: dict[str, Any] = {}
        if timeout is not NOT_SET:
            call["timeout"] = timeout
            try:
                is_over = timeout is not None and not timeout > 0
            except TypeError:
                raise TypeError(f"timeout is a number or None, not {timeout!r}") from None
            if is_over:
                call["load_balancing_policy"], host = _TimeIsOver(), None
        if row_factory is not None:
            call["row_factory"] = row_factory
            call["protocol_handler"] = self._handler_for(row_factory)
        if trace:
            call["trace"] = trace
        if custom_payload is not None:
            call["custom_payload"] = custom_payload
        if paging_state is not None:
            call["paging_state"] = paging_state
        if host is not None:
            call["host"] = host
        return call

    def _options_of(self, profile: ExecutionProfile) -> Options:
        """What a profile and this session ask of a request; as last time, if nothing changed.

        They never change: threads may share them, and replace them at the same time.
        """
        of_profile, (last, known) = profile.options, self._last_options
        if (
            last is not of_profile
            or known.fetch_size is not self.default_fetch_size
            or known.protocol_handler is not self._requests_handler
        ):
            known = of_profile._replace(
                fetch_size=self.default_fetch_size,
                protocol_handler=self._handler_for(of_profile.row_factory),
            )
            self._last_options = (of_profile, known)
        return known

    def _handler_for(self, row_factory: RowFactory[Any]) -> type[ProtocolHandler] | None:
        """The protocol handler that makes what a row factory takes; None for the connection's."""
        own = getattr(row_factory, "protocol_handler", None)
        if own is None:
            return self._requests_handler
        handler = self._handlers.get(own)
        if handler is None:
            handler = self._handlers[own] = with_encryption(own, self.cluster)
        return handler

    def with_row_factory(self, options: Options, row_factory: RowFactory[Any]) -> Options:
        """Options with another shape of rows, from the next page on. Any thread."""
        handler = self._handler_for(row_factory)
        return options._replace(row_factory=row_factory, protocol_handler=handler)

    def _own_request(self, message: Request, host: Host | None = None) -> AwaitableResponse:
        """A request of the driver's own, that no statement stands behind."""
        options = self.default_profile.options._replace(host=host)
        return AwaitableResponse(self, message, None, options)

    # --- preparing -----------------------------------------------------------------------------

    async def prepare(
        self,
        query: str,
        custom_payload: Mapping[str, bytes | None] | None = None,
        keyspace: str | None = None,
    ) -> PreparedStatement:
        """Have a text prepared by one host, and after that by all others; or take what is kept.

        Args:
            query: CQL text with ``?`` for each value.
            custom_payload: for a custom query handler of the server, which is asked each time.
            keyspace: what its names are relative to (v5), in place of the session's keyspace.

        Raises:
            UnsupportedOperation: a keyspace before v5.
            ProtocolException: the answer has no prepared statement.
            DriverException: what the server says to the text, or no host is there.
        """
        if self.prepared_cache is not None and custom_payload is None:
            return await self.prepared_cache.prepare(query, keyspace)
        return await self.prepare_anew(query, custom_payload, keyspace)

    async def prepare_anew(
        self,
        query: str,
        custom_payload: Mapping[str, bytes | None] | None = None,
        keyspace: str | None = None,
    ) -> PreparedStatement:
        """As ``prepare``, whatever is kept."""
        core = self.cluster
        message = PrepareMessage(query, keyspace)
        message.update_custom_payload(custom_payload)
        request = self._own_request(message)
        request.send_request()
        response: Any = (await request).one()
        if getattr(response, "kind", None) != RESULT_KIND_PREPARED:
            raise ProtocolException(f"PREPARE was answered by something else: {response!r}")
        prepared = PreparedStatement.from_message(
            response.query_id,
            response.bind_metadata,
            response.pk_indexes,
            core.metadata,
            query,
            keyspace,
            core.protocol_version,
            response.column_metadata,
            response.result_metadata_id,
            response.is_lwt,
            core.options.column_encryption_policy,
        )
        prepared.custom_payload = response.custom_payload
        core.prepared.add(prepared, self.keyspace)
        if prepared.column_metadata:
            await core.placement.place_for_requests(prepared.column_metadata[0].keyspace_name)
        if core.options.prepare_on_all_hosts:
            await self.prepare_on_all_hosts(query, request.coordinator_host, keyspace)
        return prepared

    async def prepare_on_all_hosts(
        self, query: str, excluded_host: Host | None = None, keyspace: str | None = None
    ) -> None:
        """Have a text prepared by every host that has a pool; what goes wrong is logged only."""
        hosts = [host for host in self.pools.by_host if host != excluded_host]
        await asyncio.gather(*(self._prepare_on(host, query, keyspace) for host in hosts))

    async def _prepare_on(self, host: Host, query: str, keyspace: str | None) -> None:
        request = self._own_request(PrepareMessage(query, keyspace), host)
        request.send_request()
        try:
            await request
        except DriverException as error:
            log.warning("Error preparing query on host %s: %s", host, error)

    async def wait_for_schema_agreement(
        self, wait_time: float | None = None, scope: str = "cluster"
    ) -> bool:
        """As ``Session.wait_for_schema_agreement``."""
        if wait_time is None:
            wait_time = self.cluster.options.max_schema_agreement_wait
        if wait_time <= 0:
            raise ValueError(f"wait_time must be more than 0 seconds, got {wait_time}")
        return await self.cluster.control_connection.wait_for_schema_agreement(wait_time, scope)

    # --- keyspaces -----------------------------------------------------------------------------

    @property
    def keyspace(self) -> str | None:
        """The keyspace in use; None before the first USE."""
        return self.pools.keyspace

    async def set_keyspace(self, keyspace: str) -> None:
        """Use a keyspace on all connections, once a host has confirmed that there is one.

        Raises:
            InvalidRequest: there is none of that name.
            ConnectionException: not every connection could be told; the message says which.
            TypeError: it is no text.
        """
        if not isinstance(keyspace, str):
            raise TypeError(f"keyspace is a name, not {keyspace!r}")
        quoted = keyspace.replace('"', '""')
        request = self.request(AwaitableResponse, f'USE "{quoted}"')
        request.send_request()
        await request

    def set_keyspace_for_all_pools(
        self, keyspace: str, callback: Callable[[Mapping[Host, Sequence[Exception]]], None]
    ) -> None:
        """Use a keyspace on all connections. The loop's thread; it does not wait.

        Args:
            keyspace: its name, as SET_KEYSPACE gave it.
            callback: called once, on the loop's thread, at once or later: with the errors of every
                host that failed; empty if none did.
        """
        if self.is_shutdown:  # nothing is started any more, and somebody waits
            callback(_SHUT_DOWN)
            return
        self.pools.keyspace = keyspace
        self.cluster.background.spawn(self._set_keyspace_for_all_pools, keyspace, callback)

    async def _set_keyspace_for_all_pools(
        self, keyspace: str, callback: Callable[[Mapping[Any, Any]], None]
    ) -> None:
        errors: Mapping[Any, Any] = _SHUT_DOWN
        try:
            errors = await self.pools.set_keyspace(keyspace)
        finally:
            callback(errors)

    # --- what executions ask -------------------------------------------------------------------

    def query_plan(
        self,
        query: Statement | None,
        load_balancer: LoadBalancingPolicy | None = None,
        host: Host | None = None,
        keyspace: str | None = None,
    ) -> Iterator[Host]:
        """The hosts to ask for a statement, in order; only the given one, if there is one.

        A statement without a keyspace is in the given one, or in that of the session. Called on the
        calling thread; the iterator is advanced there first, then on the loop's.

        Raises:
            NoHostAvailable: the session is shut down.
            ForkedError: it was connected in the process that this one was forked from.
        """
        if self.is_shutdown:
            if self.loop is INHERITED_LOOP:
                raise ForkedError
            raise NoHostAvailable("this session was shut down", {})
        if host is not None:
            return iter((host,))
        policy = load_balancer or self.default_profile.load_balancing_policy
        return iter(policy.make_query_plan(keyspace or self.pools.keyspace, query))

    def pool_for(self, host: Host) -> HostPool | None:
        """The pool of a host; None if there is none that lends connections. Any thread."""
        pool = self.pools.by_host.get(host)
        return None if pool is None or pool.is_shutdown else pool

    # --- user types ----------------------------------------------------------------------------

    def user_type_registered(self, keyspace: str, user_type: str, klass: type) -> None:
        """Write instances of a class as literals of a user-defined type.

        Raises:
            UserTypeDoesNotExist: the schema has no such type, as far as it is known.
        """
        field_names(self.cluster.metadata, keyspace, user_type)
        self._write_literals_of(keyspace, user_type, klass)

    def _write_literals_of(self, keyspace: str, user_type: str, klass: type) -> None:
        self.encoder.mapping[klass] = literal_of(
            self.cluster.metadata, self.encoder, keyspace, user_type
        )


hand_over(globals())
