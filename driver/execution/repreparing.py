"""Re-preparing: when a node does not know a prepared statement, it is told, and asked once more.

A node forgets statements when it restarts and when its cache is full; one that was down never
heard of them. Source: native_protocol_v5, section 4.2.1, error 0x2500.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..net.errors import ConnectionException
from ..vocabulary.errors import DriverException
from ..vocabulary.protocol_version import ProtocolVersion
from ..wire.requests import PrepareMessage
from ..wire.responses import ResultMessage
from .dispatch import ResponseDispatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..net.contract import Connection
    from ..statements.prepared import PreparedStatement
    from ..topology.host import Host
    from ..wire.messages import Request
    from ..wire.responses.errors import PreparedQueryNotFound
    from .contract import Pool


class Repreparing(ResponseDispatch):
    """The part of a request that prepares statements again. Everything here is the loop's thread.

    Attributes:
        _prepared_again: what was prepared for this page: host and id of the statement.
    """

    _prepared_again: frozenset[tuple[Host, bytes]]

    def _query(
        self,
        host: Host,
        message: Request | None = None,
        callback: Callable[[Host, Connection, Pool, object], None] | None = None,
    ) -> bool:
        """Send a message, by default the request itself; False if the host cannot be used."""
        raise NotImplementedError

    def _prepare_again(
        self, host: Host, connection: Connection | None, error: PreparedQueryNotFound
    ) -> None:
        """Prepare the statement that this node does not know, to send the request again after."""
        query_id = error.info
        prepared = self.prepared_statement
        if prepared is None or prepared.query_id != query_id:
            prepared = self.session.cluster.prepared_statements.get(query_id)
        if prepared is None or (host, query_id) in self._prepared_again:
            # Nothing to prepare; or it was just prepared, and trying on could go on for ever.
            self._set_final_exception(error.to_exception())
            return
        names_keyspace = ProtocolVersion.uses_keyspace_flag(self.session.cluster.protocol_version)
        in_use = connection.keyspace if connection is not None else None
        if prepared.keyspace is not None and not names_keyspace and prepared.keyspace != in_use:
            self._set_final_exception(
                ValueError(
                    f"The connection uses keyspace {in_use!r}, the statement was prepared in "
                    f"{prepared.keyspace!r}: it cannot be prepared again"
                )
            )
            return
        self._prepared_again |= {(host, query_id)}
        message = PrepareMessage(
            prepared.query_string, keyspace=prepared.keyspace if names_keyspace else None
        )
        if not self._query(host, message, partial(self._execute_after_prepare, prepared)):
            self._retry(None, None)

    def _execute_after_prepare(
        self,
        prepared: PreparedStatement,
        host: Host,
        connection: Connection,
        pool: Pool | None,
        response: object,
    ) -> None:
        """Send the request again, now that the node knows its statement."""
        if isinstance(response, ConnectionException):
            self._could_not_prepare(host, connection, pool, response)
            return
        if not isinstance(response, ResultMessage) or response.query_id is None:
            # An error or nonsense: the same as if the request had got it.
            self._set_result(host, connection, pool, response)
            return
        if pool is not None:
            pool.return_connection(connection)
        if response.query_id != prepared.query_id:
            self._set_final_exception(
                DriverException(
                    f"Prepared again, the statement {prepared.query_id.hex()} became "
                    f"{response.query_id.hex()}: it means something else on this node, it has to "
                    "be prepared anew"
                )
            )
            return
        if response.column_metadata is not None:
            prepared.update_result_metadata(response.column_metadata, response.result_metadata_id)
        self._retry(host, None)

    def _could_not_prepare(
        self, host: Host, connection: Connection, pool: Pool | None, error: ConnectionException
    ) -> None:
        """Go on to the next host: this one did not run the request, for it said so before.

        No retry policy is asked, then: it would have to fear for a statement that is not
        idempotent.
        """
        if pool is not None:
            pool.return_connection(connection)
        if self._metrics is not None:
            self._metrics.on_connection_error()
        self._errors[host] = error
        self._retry(None, None)
