"""Prepared statements of a cluster: which there are, and preparing them on more hosts."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import defaultdict
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from ..wire.requests import PrepareMessage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..net.connection import Connection
    from ..protocol.columns import ColumnMetadata
    from ..statements.prepared import PreparedStatement
    from ..topology.host import Host
    from .core import ClusterCore

log = logging.getLogger(__name__)

#: Seconds for one statement on a host that goes up.
_TIMEOUT = 5.0
#: Statements that a host is asked to prepare side by side: it has just started.
_AT_ONCE = 10


class PreparedStatements:
    """The statements that a cluster's sessions have prepared and that somebody still holds.

    Attributes:
        by_id: by the server's id. What nobody else refers to leaves by itself.
    """

    def __init__(self, core: ClusterCore) -> None:
        """There are none."""
        self._core = core
        self.by_id: WeakValueDictionary[bytes, PreparedStatement] = WeakValueDictionary()
        self._keyspaces: WeakKeyDictionary[PreparedStatement, str | None] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def add(self, statement: PreparedStatement, keyspace: str | None = None) -> None:
        """Remember a statement, and the keyspace that was in use when it was prepared."""
        self.compare(statement.query_id, statement.column_metadata, statement.routing_key_indexes)
        with self._lock:
            self._keyspaces[statement] = keyspace
            self._enter(statement)

    def _enter(self, statement: PreparedStatement) -> None:
        known = self.by_id.setdefault(statement.query_id, statement)
        if known is not statement:
            statement.known_by = known

    def compare(
        self,
        query_id: bytes,
        column_metadata: Sequence[ColumnMetadata],
        pk_indexes: Sequence[int] | None,
    ) -> None:
        """Outdate the statements of an id whose markers differ from what a server says now.

        None of them is prepared on any node again.

        Args:
            query_id: what the server calls the text.
            column_metadata: its markers.
            pk_indexes: those of the partition key; None or empty if the server does not say.
        """
        known = self.by_id.get(query_id)
        if known is None or not known.difference_from(column_metadata, pk_indexes):
            return
        with self._lock:
            self.by_id.pop(query_id, None)
            for statement in [each for each in self._keyspaces if each.query_id == query_id]:
                statement.known_by = None
                if difference := statement.difference_from(column_metadata, pk_indexes):
                    statement.outdate(difference)
                else:
                    self._enter(statement)

    def _by_keyspace(self) -> dict[str | None, list[PreparedStatement]]:
        """All statements, by the keyspace that their names are relative to."""
        found: defaultdict[str | None, list[PreparedStatement]] = defaultdict(list)
        with self._lock:
            for statement in list(self.by_id.values()):
                found[statement.keyspace or self._keyspaces.get(statement)].append(statement)
        return found

    async def prepare_all_on(self, host: Host) -> None:
        """Prepare every statement on a host that comes up, so that its first requests need not.

        What goes wrong is logged and no more: such a request has the statement prepared itself.
        """
        by_keyspace = self._by_keyspace()
        if not by_keyspace:
            return
        log.debug("Preparing on %s what was prepared elsewhere", host)
        try:
            connection = await self._core.connect_to(host.endpoint)
        except Exception as error:  # noqa: BLE001  (whatever it is, the pools meet it again)
            log.debug("Cannot prepare statements on %s: %s", host, error)
            return
        try:
            # No keyspace first: once one is used, there is no way back to none.
            for keyspace in sorted(by_keyspace, key=lambda name: name or ""):
                if keyspace is not None:
                    await connection.use_keyspace(keyspace)
                await self._prepare(connection, by_keyspace[keyspace])
        except Exception as error:  # noqa: BLE001  (see above)
            log.debug("Not all statements could be prepared on %s: %s", host, error)
        finally:
            connection.close()

    async def _prepare(
        self, connection: Connection, statements: Iterable[PreparedStatement]
    ) -> None:
        """Prepare statements over a connection, some side by side; a refusal is logged."""
        free = asyncio.Semaphore(_AT_ONCE)

        async def prepare(statement: PreparedStatement) -> None:
            async with free:
                try:
                    found: Any = await connection.ask(
                        PrepareMessage(statement.query_string), _TIMEOUT
                    )
                except Exception as error:  # noqa: BLE001  (one refusal is none of the others')
                    log.debug("Cannot prepare %r on %s: %s", statement, connection.endpoint, error)
                    return
                if getattr(found, "query_id", None) == statement.query_id:
                    self.compare(found.query_id, found.bind_metadata, found.pk_indexes)

        await asyncio.gather(*map(prepare, statements))
