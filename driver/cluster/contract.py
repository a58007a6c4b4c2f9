"""What the host registry and the control connection ask of the core that owns them.

The control connection finds out which hosts there are and tells the registry (``core.hosts``); the
registry tells policies and listeners, and has the core open and close pools. Whoever else learns
something of a host (a pool whose connection failed) tells the registry as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence

    from ..topology.endpoint import EndPoint
    from ..topology.host import Host
    from ..topology.metadata import Metadata
    from ..wire.features import ProtocolFeatures
    from ..wire.messages import Request
    from ..wire.responses import EventMessage
    from .hosts import HostRegistry
    from .listeners import Listeners

    #: Takes an event of the server; called on the loop's thread.
    EventCallback = Callable[[EventMessage], None]
    #: Takes a connection that is closed, and what went wrong; called on the loop's thread.
    ClosedCallback = Callable[[Any, Exception | None], None]


class HostStateListener(Protocol):
    """Wants to hear of hosts: policies do, and listeners of the application.

    Policies are called on the loop's thread, which must not be kept waiting.
    """

    def on_add(self, host: Host) -> Any:  # noqa: ANN401  (nobody looks at it)
        """A host joined the cluster."""

    def on_up(self, host: Host) -> Any:  # noqa: ANN401  (the same)
        """A host answers again."""

    def on_down(self, host: Host) -> Any:  # noqa: ANN401  (the same)
        """A host does not answer any more."""

    def on_remove(self, host: Host) -> Any:  # noqa: ANN401  (the same)
        """A host left the cluster."""


class Policies(HostStateListener, Protocol):
    """The load balancing policies of all execution profiles, told as one."""

    def distance(self, host: Host) -> int:
        """The nearest distance that any of them gives a host."""


class ReconnectionPolicy(Protocol):
    """When to try again to reach a node."""

    def new_schedule(self) -> Iterable[float]:
        """Seconds to wait before each attempt; it may end."""


class EndPointFactory(Protocol):
    """Makes endpoints of rows of ``system.local``, ``system.peers`` and ``system.peers_v2``."""

    def create(self, row: Mapping[str, Any]) -> EndPoint:
        """The endpoint of the node that a row is about."""


class ControlledConnection(Protocol):
    """A connection of layer 6, as far as questions about the cluster need it."""

    @property
    def endpoint(self) -> Any:  # noqa: ANN401  (an EndPoint; connections know it as an object)
        """The node at the other end."""

    @property
    def features(self) -> ProtocolFeatures:
        """What the node announced in SUPPORTED."""

    @property
    def is_closed(self) -> bool:
        """Whether nothing can be sent any more."""

    async def ask(self, msg: Request, timeout: float | None = None) -> Any:  # noqa: ANN401, ASYNC109  (a response; the connection counts the time)
        """Send a request and wait for its response.

        Raises:
            DriverException: what the server's error says, or what happened to the connection.
            OperationTimedOut: there was no answer in time.
        """

    async def register(self, event_types: Sequence[str], timeout: float | None = None) -> Any:  # noqa: ANN401, ASYNC109  (nobody looks at it; as above)
        """Ask for events; raises as ``ask`` does."""

    def close(self) -> Any:  # noqa: ANN401  (the same)
        """Close it."""

    def defunct(self, exc: Exception) -> Any:  # noqa: ANN401  (the same)
        """Close it because something went wrong."""


class Options(Protocol):
    """The options of a cluster that matter here; ``ClusterOptions`` describes them."""

    @property
    def endpoint_factory(self) -> EndPointFactory:
        """Makes endpoints of rows."""

    @property
    def reconnection_policy(self) -> ReconnectionPolicy:
        """When to try again to reach a node."""

    @property
    def conviction_policy_factory(self) -> Callable[[Host], Any]:
        """Makes what decides that a host is down."""

    @property
    def control_connection_timeout(self) -> float | None:
        """Seconds that a question may take; None: as long as it likes."""

    @property
    def metadata_request_timeout(self) -> float | None:
        """Seconds after which a ScyllaDB node gives such a question up; None: the same."""

    @property
    def schema_metadata_page_size(self) -> int:
        """Rows a page of the answers."""

    @property
    def max_schema_agreement_wait(self) -> float:
        """Seconds to wait until all nodes have the same schema."""

    @property
    def schema_metadata_enabled(self) -> bool:
        """Whether the schema is read."""

    @property
    def token_metadata_enabled(self) -> bool:
        """Whether the ring is read."""

    @property
    def schema_event_refresh_window(self) -> float:
        """Seconds within which schema events are answered with one refresh; negative: never."""

    @property
    def topology_event_refresh_window(self) -> float:
        """The same for nodes that come, go or move."""

    @property
    def status_event_refresh_window(self) -> float:
        """The same for nodes that go up or down."""


class Background(Protocol):
    """Tasks that end with the cluster."""

    def spawn(self, work: Callable[..., Coroutine[Any, Any, Any]], *args: object) -> None:
        """Start ``work(*args)``."""


class HostsCore(Protocol):
    """What the host registry asks of the core."""

    @property
    def options(self) -> Options:
        """What was asked for."""

    @property
    def metadata(self) -> Metadata:
        """The cluster as it is known."""

    @property
    def background(self) -> Background:
        """Tasks that end with the cluster."""

    @property
    def profile_manager(self) -> Policies:
        """The load balancing policies."""

    @property
    def listeners(self) -> Listeners:
        """Listeners of the application."""

    @property
    def is_open(self) -> bool:
        """Whether the cluster was found; before that its policies know no hosts."""

    async def connect_to(
        self,
        endpoint: EndPoint,
        on_event: EventCallback | None = None,
        on_closed: ClosedCallback | None = None,
    ) -> ControlledConnection:
        """A connection to a node; until the cluster is open, in the highest version both speak.

        Raises:
            ConnectionException: there is no connection.
            ProtocolVersionUnsupported: the node does not speak the version that is wanted.
            AuthenticationFailed: the node did not accept who we are.
            OperationTimedOut: it took too long.
        """

    async def prepare_statements(self, host: Host) -> None:
        """Prepare on a host that goes up what was prepared on others, if the options say so."""

    async def open_pools(self, host: Host) -> Sequence[Exception]:
        """Open the pool of each session to a host that is not ignored, and wait for all of them.

        Returns:
            What went wrong; nothing if every pool is open, or none is needed.
        """

    def close_pools(self, host: Host) -> Coroutine[Any, Any, None]:
        """Take a host's pools out of the sessions, at once; what is returned lets them drain."""

    def update_pools(self) -> None:
        """Have sessions open and close pools where the distance of a host changed; soon."""

    def is_connected(self, host: Host) -> bool:
        """Whether any pool has an open connection to a host."""


class ControlCore(HostsCore, Protocol):
    """What the control connection asks of the core, beyond what the registry does."""

    @property
    def hosts(self) -> HostRegistry:
        """The host registry."""

    @property
    def contact_hosts(self) -> Sequence[Host]:
        """Hosts made from the contact points, of which nothing else is known."""

    async def resolve_contact_hosts(self) -> None:
        """Look up which addresses the contact points have now.

        Raises:
            UnresolvableContactPoints: none; what is known stays.
        """

    def control_plan(self) -> Iterator[Host]:
        """Hosts in the order of the default profile's policy, once the cluster is open."""
