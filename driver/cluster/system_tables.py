"""System tables: what one node says of itself, of the other nodes and of the schema."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ..protocol.consistency import ConsistencyLevel
from ..protocol.errors import InvalidRequest
from ..wire.requests import QueryMessage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from ..net.connection import Connection
    from ..topology.host import Host

Row: TypeAlias = "dict[str, Any]"

Answer = TypeVar("Answer")

#: Rows a page: a schema can have more rows than a frame should carry.
PAGE_SIZE = 1000

LOCAL = "SELECT * FROM system.local WHERE key='local'"

#: Where the other nodes are listed. The first is Cassandra 4's, with the port of each node.
PEERS_V2, PEERS = "system.peers_v2", "system.peers"

#: The other nodes with everything; the same without their tokens, of which there can be very many.
_WITH_TOKENS = {PEERS_V2: "SELECT * FROM system.peers_v2", PEERS: "SELECT * FROM system.peers"}
_WITHOUT_TOKENS = {
    PEERS_V2: "SELECT peer, peer_port, native_address, native_port, host_id, data_center, rack, "
    "release_version, schema_version FROM system.peers_v2",
    PEERS: "SELECT peer, rpc_address, host_id, data_center, rack, release_version, "
    "schema_version FROM system.peers",
}

#: Agreement needs no ports, so the older table of peers does, which every server has.
_LOCAL_VERSION = (
    "SELECT schema_version, host_id, data_center, rack FROM system.local WHERE key='local'"
)
_PEERS_VERSIONS = "SELECT schema_version, host_id, data_center, rack FROM system.peers"


class SystemTables:
    """Reads the system tables of the node at the other end of a connection.

    Questions raise what ``ask`` of the connection raises.
    """

    def __init__(
        self,
        connection: Connection,
        timeout: float | None,
        limit: str = "",
        page_size: int = PAGE_SIZE,
    ) -> None:
        """Ask over a connection.

        Args:
            connection: to the node.
            timeout: seconds that each question may take.
            limit: what to say of that to the node, as ``time_limit`` has it.
            page_size: rows a page.
        """
        self.connection = connection
        self._timeout = timeout
        self._limit = limit
        self._page_size = page_size
        self._peers_table: str | None = None

    async def rows(self, query: str) -> list[Row]:
        """All rows of a query, whatever the number of pages."""
        rows: list[Row] = []
        paging_state = None
        while True:
            message = QueryMessage(
                query + self._limit,
                ConsistencyLevel.ONE,
                fetch_size=self._page_size,
                paging_state=paging_state,
            )
            result = await self.connection.ask(message, timeout=self._timeout)
            names = result.column_names or ()
            rows += [dict(zip(names, row, strict=True)) for row in result.parsed_rows or ()]
            paging_state = result.paging_state
            if not paging_state:
                return rows

    async def ask(self, queries: Sequence[str]) -> list[list[Row]]:
        """The rows of several queries, side by side; none of tables that the node lacks."""
        return await side_by_side(*map(self._rows_if_there, queries))

    async def _rows_if_there(self, query: str) -> list[Row]:
        try:
            return await self.rows(query)
        except InvalidRequest:
            return []

    async def nodes(self, with_tokens: bool) -> tuple[Row | None, list[Row]]:
        """What the node says of itself, None if nothing, and of the others."""
        local, peers = await side_by_side(self.rows(LOCAL), self._peers("", with_tokens))
        return next(iter(local), None), peers

    async def schema_versions(self) -> tuple[Row | None, list[Row]]:
        """The same as ``nodes``; of each node only its identity, place and schema version."""
        local, peers = await side_by_side(self.rows(_LOCAL_VERSION), self.rows(_PEERS_VERSIONS))
        return next(iter(local), None), peers

    async def peer(self, host: Host) -> Row | None:
        """What the node says of one other; None if nothing, or if it cannot be asked for."""
        address, port = host.broadcast_address, host.broadcast_port
        if address is None:
            return None
        rows = await self._peers(f" WHERE peer = '{address}'", with_tokens=True)
        return next((row for row in rows if row.get("peer_port", port) == port), None)

    async def _peers(self, where: str, with_tokens: bool) -> list[Row]:
        """Rows of the newer table of peers, or of the older one if there is no other."""
        for table in (self._peers_table,) if self._peers_table else (PEERS_V2, PEERS):
            queries = _WITH_TOKENS if with_tokens else _WITHOUT_TOKENS
            try:
                rows = await self.rows(queries[table] + where)
            except InvalidRequest:
                if table == PEERS_V2:
                    continue
                raise
            self._peers_table = table
            return rows
        raise AssertionError("unreachable: the older table is either read or raises")


def time_limit(seconds: float | None) -> str:
    """The end of a query that a ScyllaDB node gives up after a time; for 0 and None empty."""
    return f" USING TIMEOUT {seconds * 1000:.0f}ms" if seconds else ""


async def side_by_side(*work: Awaitable[Answer]) -> list[Answer]:
    """What all give; if one raises, or this is cancelled, none of the others goes on alone."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
