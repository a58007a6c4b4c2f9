"""Dispatch: what each kind of response does to the request that waits for it.

==================  ==========================================================================
response            the request
==================  ==========================================================================
SET_KEYSPACE        has every connection use the keyspace, then is done, without rows
SCHEMA_CHANGE       has the schema refreshed, then is done, without rows
ROWS                keeps the page's state and is done, with rows
VOID                is done, without rows
other results       is done, with the message (PREPARED)
"not prepared"      prepares the statement again and sends the request again
other errors        is tried again, ignored or failed, as the retry policy says
a lost connection   the same
another exception   fails with it
==================  ==========================================================================

Every answer brings its trace id, warnings and custom payload along; a tablet in the payload goes
into the cluster's metadata.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from ..net.errors import ConnectionException
from ..policies.retry import RetryPolicy
from ..topology.tablets import TABLET_PAYLOAD_TYPE, Tablet
from ..types.registry import lookup_casstype
from ..vocabulary.kinds import (
    RESULT_KIND_ROWS,
    RESULT_KIND_SCHEMA_CHANGE,
    RESULT_KIND_SET_KEYSPACE,
    RESULT_KIND_VOID,
)
from ..wire.features import TABLETS_ROUTING_PAYLOAD
from ..wire.responses import ErrorMessage, ResultMessage
from ..wire.responses.errors import PreparedQueryNotFound
from .pending import FollowUp
from .retrying import Decision, on_connection_error, on_response

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from ..net.contract import Connection
    from ..statements.prepared import PreparedStatement
    from ..topology.host import Host
    from .contract import Pool, Session
    from .metrics import Metrics
    from .options import Options
    from .pending import Pending

log = logging.getLogger(__name__)

_TABLET_TYPE = lookup_casstype(TABLET_PAYLOAD_TYPE)


class ResponseDispatch:
    """The half of a request that responses act upon. Everything here is the loop's thread.

    Attributes:
        session: what sent the request.
        message: the request itself.
        query: the statement; None for a message of the driver's own.
        prepared_statement: what was executed, if it was prepared.
        options: what was asked for.
        coordinator_host: the host that answered last.
        is_schema_agreed: False while hosts disagree about a schema change of this request.
    """

    session: Session
    message: Any
    query: Any
    prepared_statement: PreparedStatement | None
    options: Options
    coordinator_host: Host | None
    is_schema_agreed: bool
    _query_traces: tuple[UUID, ...] = ()  # most requests are not traced
    _warnings: Sequence[str] | None
    _custom_payload: Mapping[str, bytes | None] | None
    _paging_state: bytes | None
    _col_names: Sequence[str] | None
    _col_types: Sequence[Any] | None
    _metrics: Metrics | None
    _query_retries: int
    _errors: dict[Host | None, Exception]
    _in_flight: set[Pending]

    def _set_final_result(self, response: Any) -> None:  # noqa: ANN401  (a row factory decides)
        """Be done."""
        raise NotImplementedError

    def _set_final_exception(self, response: Exception) -> None:
        """Fail."""
        raise NotImplementedError

    def _retry(self, host: Host | None, delay: float | None) -> None:
        """Send the request again, to a host or, without one, to the next of the plan."""
        raise NotImplementedError

    def _prepare_again(
        self, host: Host, connection: Connection | None, error: PreparedQueryNotFound
    ) -> None:
        """Prepare the statement that a host does not know, and send the request again."""
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

            if isinstance(response, ResultMessage):
                # What nearly every request gets, and it has all three: no need to ask.
                if response.trace_id:
                    self._query_traces = (*self._query_traces, response.trace_id)
                self._warnings = response.warnings
                self._custom_payload = response.custom_payload
                if self._custom_payload and self.session.cluster.tablets_routing_v1:
                    tablet = self._custom_payload.get(TABLETS_ROUTING_PAYLOAD)
                    if tablet is not None:
                        self._learn_tablet(tablet)
                self._set_result_of_kind(connection, response)
            else:
                self._set_failure(host, connection, response)
        except Exception as exc:
            # Nobody would ever be called back if this left the thread that reads responses.
            log.exception("Unexpected exception while handling the result of a request")
            self._set_final_exception(exc)

    def _set_failure(
        self, host: Host | None, connection: Connection | None, response: object
    ) -> None:
        """What came instead of a result does: an error of the server, or an exception."""
        trace_id = getattr(response, "trace_id", None)
        if trace_id:
            self._query_traces = (*self._query_traces, trace_id)
        self._warnings = getattr(response, "warnings", None)
        self._custom_payload = getattr(response, "custom_payload", None)
        if isinstance(response, PreparedQueryNotFound) and host is not None:
            self._prepare_again(host, connection, response)
        elif isinstance(response, ErrorMessage):
            self._set_error(host, response)
        elif isinstance(response, ConnectionException):
            self._set_connection_error(host, response)
        elif isinstance(response, Exception):
            self._set_final_exception(response)
        else:
            self._set_final_exception(
                ConnectionException(f"That is no answer to a request: {response!r}", host)
            )

    def _set_result_of_kind(self, connection: Connection | None, response: ResultMessage) -> None:
        """What each kind of RESULT does."""
        if response.kind == RESULT_KIND_ROWS:
            self._paging_state = response.paging_state
            self._col_names = response.column_names
            self._col_types = response.column_types
            if response.result_metadata_id is not None and self.prepared_statement is not None:
                self.prepared_statement.update_result_metadata(
                    response.column_metadata, response.result_metadata_id
                )
            self._set_final_result(
                self.options.row_factory(response.column_names, response.parsed_rows)  # type: ignore[arg-type]  # rows have names
            )
        elif response.kind == RESULT_KIND_VOID:
            self._set_final_result(None)
        elif response.kind == RESULT_KIND_SET_KEYSPACE:
            if connection is not None:
                connection.keyspace = response.new_keyspace
            # This is the thread that reads the answers of all connections: it must not wait.
            self.session.set_keyspace_for_all_pools(
                response.new_keyspace,  # type: ignore[arg-type]  # of this kind of result
                partial(self._set_keyspace_completed, self._follow_up()),
            )
        elif response.kind == RESULT_KIND_SCHEMA_CHANGE:
            self.is_schema_agreed = False
            self._refresh_schema(connection, response.schema_change_event)
        else:
            self._set_final_result(response)

    def _learn_tablet(self, payload: bytes) -> None:
        """Put a tablet, as its payload describes it, into the cluster's metadata.

        A payload that cannot be read costs the request nothing: the next answer brings another.
        """
        try:
            tablet = Tablet.from_row(
                *_TABLET_TYPE.from_binary(payload, self.session.cluster.protocol_version)
            )
            keyspace = self.query.keyspace or self.session.keyspace
            table = self.query.table
            if tablet is not None and keyspace is not None and table is not None:
                self.session.cluster.metadata.tablets.add_tablet(keyspace, table, tablet)
        except Exception:
            log.exception("Cannot read the tablet in the custom payload of a response")

    def _follow_up(self) -> FollowUp:
        """Keep the request alive for work that comes before its end."""
        follow_up = FollowUp()
        self._in_flight.add(follow_up)
        return follow_up

    def _is_still_waited_for(self, follow_up: FollowUp) -> bool:
        """Whether the request is alive when the work is done; True once."""
        if follow_up not in self._in_flight:
            return False
        self._in_flight.remove(follow_up)
        return True

    def _set_keyspace_completed(self, follow_up: FollowUp, errors: Mapping[Any, Any]) -> None:
        """Every connection uses the new keyspace, or says why it does not."""
        if not self._is_still_waited_for(follow_up):
            return
        if errors:
            self._set_final_exception(
                ConnectionException(f"Not every connection uses the new keyspace: {errors}")
            )
        else:
            self._set_final_result(None)

    def _refresh_schema(self, connection: Connection | None, event: Any) -> None:  # noqa: ANN401  (fields of the event)
        """Have a schema change taken over. The statement succeeded, whatever becomes of this."""
        done = partial(self._refresh_schema_completed, self._follow_up())
        try:
            self.session.cluster.schema_changed(connection, event, done)  # type: ignore[arg-type]  # an answer came over one
        except Exception:
            log.exception("The schema could not be taken over after a change of it")
            done(False)

    def _refresh_schema_completed(self, follow_up: FollowUp, is_agreed: bool) -> None:
        """The schema is refreshed, or cannot be."""
        if self._is_still_waited_for(follow_up):
            self.is_schema_agreed = is_agreed
            self._set_final_result(None)

    def _set_error(self, host: Host | None, response: ErrorMessage) -> None:
        """Do with an ERROR what the retry policy says."""
        if self._metrics is not None:
            self._metrics.on_error(response)
        consistency = getattr(self.message, "consistency_level", None)
        decision = on_response(
            self.options.retry_policy, self.query, consistency, response, self._query_retries
        )
        error = response.to_exception()
        if host is not None:
            # The server's words do not say which server they are from.
            error.add_note(f"The coordinator was {host}")
        self._follow(decision, host, error)

    def _set_connection_error(self, host: Host | None, error: ConnectionException) -> None:
        """Do with a lost connection what the retry policy says."""
        if self._metrics is not None:
            self._metrics.on_connection_error()
        consistency = getattr(self.message, "consistency_level", None)
        decision = on_connection_error(
            self.options.retry_policy, self.query, consistency, error, self._query_retries
        )
        self._follow(decision, host, error)

    def _follow(self, decision: Decision, host: Host | None, error: Exception) -> None:
        """Try again, ignore a failure, or fail with it."""
        self._errors[host] = error
        if decision.kind in (RetryPolicy.RETRY, RetryPolicy.RETRY_NEXT_HOST):
            self._query_retries += 1
            if self._metrics is not None:
                self._metrics.on_retry()
            if decision.consistency is not None:
                self.message.consistency_level = decision.consistency
            self._retry(host if decision.kind == RetryPolicy.RETRY else None, decision.delay)
        elif decision.kind == RetryPolicy.IGNORE:
            if self._metrics is not None:
                self._metrics.on_ignore()
            self._set_final_result(None)
        else:
            if self._metrics is not None:
                self._metrics.on_rethrow()
            self._set_final_exception(error)
