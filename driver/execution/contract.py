"""What a response future asks of the session that made it, and of the cluster behind that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..net.contract import Connection
    from ..results.rows import RowFactory
    from ..statements.prepared import PreparedStatement
    from ..topology.host import Host
    from ..topology.metadata import Metadata


class Pool(Protocol):
    """Lends the connections to one host."""

    def return_connection(self, connection: Connection) -> None:
        """Take a connection back: its request was answered."""


class Cluster(Protocol):
    """What is shared by sessions."""

    @property
    def metadata(self) -> Metadata:
        """The cluster as it is known."""

    @property
    def protocol_version(self) -> int:
        """Version of its connections."""

    @property
    def tablets_routing_v1(self) -> bool:
        """Whether its servers send tablets."""

    @property
    def prepared_statements(self) -> Mapping[bytes, PreparedStatement]:
        """By the server's id."""

    def refresh_schema(self, connection: Connection, **schema_change_event: Any) -> bool:  # noqa: ANN401  (fields of the event)
        """Take over a schema change; whether all hosts agree on the schema."""


class Session(Protocol):
    """What sends requests for its user."""

    @property
    def cluster(self) -> Cluster:
        """The cluster that it belongs to."""

    @property
    def row_factory(self) -> RowFactory:
        """Default shape of rows."""

    def borrow_connection(
        self,
        query: Any,  # noqa: ANN401  (a statement, or None for a message of the driver's own)
        host: Host | None = None,
    ) -> tuple[Host, Connection, Pool | None]:
        """A connection to send a statement over, to the given host if there is one.

        Raises:
            NoHostAvailable: no host can take it.
        """

    def submit(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  (as the function takes them)
        """Run a function soon, on a thread that may wait."""

    def set_keyspace_for_all_pools(
        self, keyspace: str, callback: Callable[[Mapping[Any, Any]], None]
    ) -> None:
        """Use a keyspace on all connections, then call back with the errors, by host."""
