"""QUERY and EXECUTE, which share their <query_parameters>: sections 4.1.4 and 4.1.6."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, TypeAlias

from .bodies import write_execute, write_query, write_scylla_execute
from .options import RequestWithOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from io import BytesIO

    from ...protocol.unset import UnsetType

#: A bound value on its way out: serialized, null (None) or not set (UNSET_VALUE).
Value: TypeAlias = "bytes | UnsetType | None"
#: Values by position, or by the name of their marker.
Values: TypeAlias = "Sequence[Value] | Mapping[str, Value]"


class _QueryMessage(RequestWithOptions):
    """The parameters of a query, and how they are written.

    Attributes:
        query_params: serialized values; None sends no values at all.
        fetch_size: rows a page; None and 0 ask for no paging.
        paging_state: where the page begins, from the result before it.
        timestamp: default timestamp in microseconds since the epoch.
        skip_meta: ask the server to leave the metadata of the result out.
    """

    # Slots also of what the base classes have a default for: the compiled encoder reads them where
    # they are.
    __slots__ = (
        "consistency_level",
        "custom_payload",
        "fetch_size",
        "options",
        "paging_state",
        "query_params",
        "serial_consistency_level",
        "skip_meta",
        "timestamp",
        "tracing",
    )

    def __init__(
        self,
        query_params: Values | None,
        consistency_level: int,
        serial_consistency_level: int | None = None,
        fetch_size: int | None = None,
        paging_state: bytes | None = None,
        timestamp: int | None = None,
        skip_meta: bool = False,
        keyspace: str | None = None,
    ) -> None:
        """Keep what the class describes."""
        self.query_params = query_params
        self.consistency_level = consistency_level
        self.serial_consistency_level = serial_consistency_level
        self.fetch_size = fetch_size
        self.paging_state = paging_state
        self.timestamp = timestamp
        self.skip_meta = skip_meta
        self.tracing = False
        self.custom_payload = self.options = None
        if keyspace is not None:
            self.keyspace = keyspace


class QueryMessage(_QueryMessage):
    """QUERY, section 4.1.4: run a query from its text.

    Args:
        query: the CQL text.
        query_params: serialized values of its markers, by position or by name.
        consistency_level, serial_consistency_level, fetch_size, paging_state, timestamp:
            see :class:`_QueryMessage`.
        keyspace: see :class:`RequestWithOptions`.
    """

    __slots__ = ("query",)

    opcode = 0x07
    name = "QUERY"

    def __init__(
        self,
        query: str,
        consistency_level: int,
        serial_consistency_level: int | None = None,
        fetch_size: int | None = None,
        paging_state: bytes | None = None,
        timestamp: int | None = None,
        keyspace: str | None = None,
        query_params: Values | None = None,
    ) -> None:
        """Keep what the class describes."""
        self.query = query
        super().__init__(
            query_params,
            consistency_level,
            serial_consistency_level,
            fetch_size,
            paging_state,
            timestamp,
            keyspace=keyspace,
        )

    def send_body(self, f: BytesIO, protocol_version: int) -> None:
        """Write <query><query_parameters>."""
        write_query(f, self, protocol_version)


class ExecuteMessage(_QueryMessage):
    """EXECUTE, section 4.1.6: run a prepared statement.

    Args:
        query_id: from the answer to PREPARE.
        query_params: serialized values, by position.
        skip_meta: leave the metadata of the result out, because the client keeps it.
        result_metadata_id: which metadata that is (v5; mandatory there).
        consistency_level, serial_consistency_level, fetch_size, paging_state, timestamp:
            see :class:`_QueryMessage`.
    """

    __slots__ = ("query_id", "result_metadata_id")

    opcode = 0x0A
    name = "EXECUTE"

    def __init__(
        self,
        query_id: bytes,
        query_params: Values | None,
        consistency_level: int,
        serial_consistency_level: int | None = None,
        fetch_size: int | None = None,
        paging_state: bytes | None = None,
        timestamp: int | None = None,
        skip_meta: bool = False,
        result_metadata_id: bytes | None = None,
    ) -> None:
        """Keep what the class describes."""
        # Not by way of the base class: nothing is made more often than this.
        self.query_id = query_id
        self.result_metadata_id = result_metadata_id
        self.query_params = query_params
        self.consistency_level = consistency_level
        self.serial_consistency_level = serial_consistency_level
        self.fetch_size = fetch_size
        self.paging_state = paging_state
        self.timestamp = timestamp
        self.skip_meta = skip_meta
        self.tracing = False
        self.custom_payload = self.options = None

    def send_body(self, f: BytesIO, protocol_version: int) -> None:
        """Write <id>[<result_metadata_id>]<query_parameters>.

        Raises:
            ValueError: v5 and no ``result_metadata_id``.
        """
        write_execute(f, self, protocol_version)


class ScyllaExecuteMessage(ExecuteMessage):
    """EXECUTE over a connection of v4 whose extensions add to it.

    Attributes:
        result_metadata_id: written unless it is None (``SCYLLA_USE_METADATA_ID``).
        tablet_version_block: four bits of the version of the tablet that the client knows, behind
            four that say which; not written if None (``TABLETS_ROUTING_V2_EXPERIMENTAL``).
    """

    __slots__ = ("tablet_version_block",)

    tablet_version_block: int | None

    @classmethod
    def of(
        cls,
        message: ExecuteMessage,
        result_metadata_id: bytes | None,
        tablet_version_block: int | None,
    ) -> Self:
        """The same execution with what the extensions add."""
        own = cls(
            message.query_id,
            message.query_params,
            message.consistency_level,
            message.serial_consistency_level,
            message.fetch_size,
            message.paging_state,
            message.timestamp,
            message.skip_meta,
            result_metadata_id,
        )
        own.tablet_version_block = tablet_version_block
        own.tracing = message.tracing
        own.custom_payload = message.custom_payload
        own.options = message.options
        return own

    def send_body(self, f: BytesIO, protocol_version: int) -> None:
        """Write <id>[<result_metadata_id>]<query_parameters>[<tablet_version_block>]."""
        write_scylla_execute(f, self, protocol_version)
