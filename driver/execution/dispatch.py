"""Dispatch: what each kind of response does to the future that waits for it.

==================  ==========================================================================
response            the future
==================  ==========================================================================
SET_KEYSPACE        has every connection use the keyspace, then is done, without rows
SCHEMA_CHANGE       has the schema refreshed, then is done, without rows
ROWS                keeps the page's state and is done, with rows
VOID                is done, without rows
other results       is done, with the message (PREPARED)
"not prepared"      prepares the statement again and sends the request again
other errors        fails, with the exception of the error
an exception        fails with it
==================  ==========================================================================

Every answer brings its trace id, warnings and custom payload along; a tablet in the payload goes
into the cluster's metadata.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from ..net.errors import ConnectionException
from ..topology.tablets import TABLET_PAYLOAD_TYPE, Tablet
from ..types.registry import lookup_casstype
from ..vocabulary.errors import DriverException
from ..vocabulary.kinds import (
    RESULT_KIND_ROWS,
    RESULT_KIND_SCHEMA_CHANGE,
    RESULT_KIND_SET_KEYSPACE,
    RESULT_KIND_VOID,
)
from ..vocabulary.protocol_version import ProtocolVersion
from ..wire.features import TABLETS_ROUTING_PAYLOAD
from ..wire.requests import PrepareMessage
from ..wire.responses import ErrorMessage, ResultMessage
from ..wire.responses.errors import PreparedQueryNotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from ..net.contract import Connection
    from ..results.rows import RowFactory
    from ..statements.prepared import PreparedStatement
    from ..topology.host import Host
    from ..wire.messages import Request
    from .contract import Pool, Session

log = logging.getLogger(__name__)

_TABLET_TYPE = lookup_casstype(TABLET_PAYLOAD_TYPE)


class ResponseDispatch:
    """The half of a response future that responses act upon.

    Attributes:
        session: what sent the request.
        query: the statement; None for a message of the driver's own.
        prepared_statement: what was executed, if it was prepared.
        row_factory: shape of the rows.
        coordinator_host: the host that answered last.
        is_schema_agreed: False while hosts disagree about a schema change of this request.
    """

    session: Session
    query: Any
    prepared_statement: PreparedStatement | None
    row_factory: RowFactory
    coordinator_host: Host | None
    is_schema_agreed: bool
    _query_traces: list[UUID]
    _warnings: Sequence[str] | None
    _custom_payload: Mapping[str, bytes | None] | None
    _paging_state: bytes | None
    _col_names: Sequence[str] | None
    _col_types: Sequence[Any] | None
    _prepared_again: frozenset[bytes]

    def _set_final_result(self, response: Any) -> None:  # noqa: ANN401  (a row factory decides)
        """Be done."""
        raise NotImplementedError

    def _set_final_exception(self, response: Exception) -> None:
        """Fail."""
        raise NotImplementedError

    def _query(
        self,
        host: Host | None = None,
        message: Request | None = None,
        callback: Callable[..., None] | None = None,
    ) -> None:
        """Send a message, by default the future's own."""
        raise NotImplementedError

    def _set_result(
        self,
        host: Host | None,
        connection: Connection | None,
        pool: Pool | None,
        response: object,
    ) -> None:
        """Take what came back for the request: a message, or an exception.

        Args:
            host: who answered.
            connection: over which connection.
            pool: where the connection was borrowed; None if nowhere.
            response: a response message, or what went wrong on the way.
        """
        try:
            self.coordinator_host = host
            if pool is not None and connection is not None:
                pool.return_connection(connection)

            trace_id = getattr(response, "trace_id", None)
            if trace_id:
                self._query_traces.append(trace_id)
            self._warnings = getattr(response, "warnings", None)
            self._custom_payload = getattr(response, "custom_payload", None)
            if (
                self._custom_payload
                and self.session.cluster.tablets_routing_v1
                and TABLETS_ROUTING_PAYLOAD in self._custom_payload
            ):
                self._learn_tablet(self._custom_payload)

            if isinstance(response, ResultMessage):
                self._set_result_of_kind(connection, response)
            elif isinstance(response, PreparedQueryNotFound):
                self._prepare_again(host, connection, response)
            elif isinstance(response, ErrorMessage):
                self._set_final_exception(response.to_exception())
            elif isinstance(response, Exception):
                self._set_final_exception(response)
            else:
                self._set_final_exception(
                    ConnectionException(f"Got unexpected message: {response!r}", host)
                )
        except Exception as exc:
            # Nobody would ever be called back if this left the thread that reads responses.
            log.exception("Unexpected exception while handling the result of a request")
            self._set_final_exception(exc)

    def _set_result_of_kind(self, connection: Connection | None, response: ResultMessage) -> None:
        """What each kind of RESULT does."""
        if response.kind == RESULT_KIND_SET_KEYSPACE:
            session = getattr(self, "session", None)
            if connection is not None:
                connection.keyspace = response.new_keyspace
            # This may be the thread that reads the answers of all connections: it must not wait.
            if session is not None:
                session.set_keyspace_for_all_pools(
                    response.new_keyspace, self._set_keyspace_completed
                )
        elif response.kind == RESULT_KIND_SCHEMA_CHANGE:
            self.is_schema_agreed = False
            self.session.submit(self._refresh_schema, connection, response.schema_change_event)
        elif response.kind == RESULT_KIND_ROWS:
            self._paging_state = response.paging_state
            self._col_names = response.column_names
            self._col_types = response.column_types
            if response.result_metadata_id is not None and self.prepared_statement is not None:
                self.prepared_statement.update_result_metadata(
                    response.column_metadata, response.result_metadata_id
                )
            self._set_final_result(
                self.row_factory(response.column_names, response.parsed_rows)  # type: ignore[arg-type]  # rows have names
            )
        elif response.kind == RESULT_KIND_VOID:
            self._set_final_result(None)
        else:
            self._set_final_result(response)

    def _learn_tablet(self, custom_payload: Mapping[str, bytes | None]) -> None:
        """Put the tablet of a payload into the cluster's metadata.

        A payload that cannot be read costs the request nothing: the next answer brings another.
        """
        try:
            protocol_version = self.session.cluster.protocol_version
            info = custom_payload.get(TABLETS_ROUTING_PAYLOAD)
            tablet_routing_info = _TABLET_TYPE.from_binary(info, protocol_version)
            first_token = tablet_routing_info[0]
            last_token = tablet_routing_info[1]
            tablet_replicas = tablet_routing_info[2]
            tablet = Tablet.from_row(first_token, last_token, tablet_replicas)
            keyspace = self.query.keyspace
            table = self.query.table
            if tablet is not None and table is not None:
                self.session.cluster.metadata.tablets.add_tablet(keyspace, table, tablet)
        except Exception:
            log.exception("Cannot read the tablet in the custom payload of a response")

    def _set_keyspace_completed(self, errors: Mapping[Any, Any]) -> None:
        """Every connection uses the new keyspace, or says why it does not."""
        if errors:
            self._set_final_exception(
                ConnectionException(f"Failed to set keyspace on all hosts: {errors}")
            )
        else:
            self._set_final_result(None)

    def _refresh_schema(self, connection: Connection, schema_change_event: dict[str, Any]) -> None:
        """Take over a schema change. The statement succeeded, whatever becomes of this."""
        try:
            self.is_schema_agreed = self.session.cluster.refresh_schema(
                connection, **schema_change_event
            )
        except Exception:
            log.exception("Exception refreshing schema in response to schema change")
        finally:
            self._set_final_result(None)

    def _prepare_again(
        self, host: Host | None, connection: Connection | None, error: PreparedQueryNotFound
    ) -> None:
        """Prepare the statement that this node does not know, to send the request again after.

        Source: native_protocol_v5, section 4.2.1, error 0x2500.
        """
        query_id = error.info
        prepared = self.prepared_statement
        if prepared is None or prepared.query_id != query_id:
            prepared = self.session.cluster.prepared_statements.get(query_id)
        if prepared is None or query_id in self._prepared_again:
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
        self._prepared_again |= {query_id}
        message = PrepareMessage(
            prepared.query_string, keyspace=prepared.keyspace if names_keyspace else None
        )

        def send_again(
            host: Host | None, connection: Connection, pool: Pool | None, response: object
        ) -> None:
            self._execute_after_prepare(prepared, host, connection, pool, response)

        self._query(host, message, send_again)

    def _execute_after_prepare(
        self,
        prepared: PreparedStatement,
        host: Host | None,
        connection: Connection,
        pool: Pool | None,
        response: object,
    ) -> None:
        """Send the request again, now that the node knows its statement."""
        if not isinstance(response, ResultMessage) or response.query_id is None:
            # An error, an exception, or nonsense: the same as if the request had got it.
            self._set_result(host, connection, pool, response)
            return
        if pool is not None:
            pool.return_connection(connection)
        if response.query_id != prepared.query_id:
            self._set_final_exception(
                DriverException(
                    "ID mismatch while trying to reprepare (expected "
                    f"{prepared.query_id.hex()}, got {response.query_id.hex()}): the statement "
                    "means something else on this node, it has to be prepared anew"
                )
            )
            return
        if response.column_metadata is not None:
            prepared.update_result_metadata(response.column_metadata, response.result_metadata_id)
        self._query(host)
