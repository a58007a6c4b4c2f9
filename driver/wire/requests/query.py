"""QUERY and EXECUTE, which share their <query_parameters>: sections 4.1.4 and 4.1.6."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from ...vocabulary.protocol_version import ProtocolVersion
from ..messages import Request
from ..primitives import (
    write_binary_string,
    write_byte,
    write_consistency_level,
    write_int,
    write_long,
    write_longstring,
    write_short,
    write_string,
    write_uint,
    write_value,
    write_values,
)
from .versions import check_keyspace, check_now_in_seconds, check_unset

if TYPE_CHECKING:
    from collections.abc import Sequence
    from io import BytesIO

    from ...vocabulary.unset import UnsetType

#: A bound value on its way out: serialized, null (None) or not set (UNSET_VALUE).
Value: TypeAlias = "bytes | UnsetType | None"
#: Values by position, or by the name of their marker.
Values: TypeAlias = "Sequence[Value] | Mapping[str, Value]"

VALUES_FLAG = 0x01
SKIP_METADATA_FLAG = 0x02
PAGE_SIZE_FLAG = 0x04
WITH_PAGING_STATE_FLAG = 0x08
WITH_SERIAL_CONSISTENCY_FLAG = 0x10
DEFAULT_TIMESTAMP_FLAG = 0x20
NAMES_FOR_VALUES_FLAG = 0x40
WITH_KEYSPACE_FLAG = 0x80
NOW_IN_SECONDS_FLAG = 0x100


class _QueryMessage(Request):
    """The parameters of a query, and how they are written.

    Attributes:
        query_params: serialized values; None sends no values at all.
        fetch_size: rows a page; None and 0 ask for no paging.
        paging_state: where the page begins, from the result before it.
        timestamp: default timestamp in microseconds since the epoch.
        skip_meta: ask the server to leave the metadata of the result out.
        keyspace: which keyspace the query is in (v5).
        now_in_seconds: what the server shall take for the current time, in seconds since the
            epoch (v5); for tests of expiring data.
    """

    now_in_seconds: int | None = None

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
        self.keyspace = keyspace

    def _write_query_params(self, f: BytesIO, protocol_version: int) -> None:
        """Write <consistency><flags>[values][page size][paging state][serial][timestamp]..."""
        write_consistency_level(f, self.consistency_level)
        flags = self._flags(protocol_version)
        if ProtocolVersion.uses_int_query_flags(protocol_version):
            write_uint(f, flags)
        else:
            write_byte(f, flags)
        if self.query_params is not None:
            self._write_values(f, self.query_params, protocol_version)
        if self.fetch_size:
            write_int(f, self.fetch_size)
        if self.paging_state:
            write_longstring(f, self.paging_state)
        if self.serial_consistency_level:
            write_consistency_level(f, self.serial_consistency_level)
        if self.timestamp is not None:
            write_long(f, self.timestamp)
        if self.keyspace is not None:
            write_string(f, self.keyspace)
        if self.now_in_seconds is not None:
            write_int(f, self.now_in_seconds)

    def _flags(self, protocol_version: int) -> int:
        """The flags of what is present, after a check that this version has them."""
        flags = 0
        if self.query_params is not None:
            flags |= VALUES_FLAG
            if isinstance(self.query_params, Mapping):
                flags |= NAMES_FOR_VALUES_FLAG
        if self.skip_meta:
            flags |= SKIP_METADATA_FLAG
        if self.fetch_size:
            flags |= PAGE_SIZE_FLAG
        if self.paging_state:
            flags |= WITH_PAGING_STATE_FLAG
        if self.serial_consistency_level:
            flags |= WITH_SERIAL_CONSISTENCY_FLAG
        if self.timestamp is not None:
            flags |= DEFAULT_TIMESTAMP_FLAG
        if self.keyspace is not None:
            check_keyspace(protocol_version)
            flags |= WITH_KEYSPACE_FLAG
        if self.now_in_seconds is not None:
            check_now_in_seconds(protocol_version)
            flags |= NOW_IN_SECONDS_FLAG
        return flags

    @staticmethod
    def _write_values(f: BytesIO, values: Values, protocol_version: int) -> None:
        """Write <n>[name_1]<value_1>..., with names where the values are a mapping."""
        if isinstance(values, Mapping):
            check_unset(values.values(), protocol_version)
            write_short(f, len(values))
            for name, value in values.items():
                write_string(f, name)
                write_value(f, value)
        else:
            check_unset(values, protocol_version)
            write_values(f, values, len(values))


class QueryMessage(_QueryMessage):
    """QUERY, section 4.1.4: run a query from its text.

    Args:
        query: the CQL text.
        query_params: serialized values of its markers, by position or by name.
        consistency_level, serial_consistency_level, fetch_size, paging_state, timestamp, keyspace:
            see :class:`_QueryMessage`.
    """

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
        write_longstring(f, self.query)
        self._write_query_params(f, protocol_version)


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
        self.query_id = query_id
        self.result_metadata_id = result_metadata_id
        super().__init__(
            query_params,
            consistency_level,
            serial_consistency_level,
            fetch_size,
            paging_state,
            timestamp,
            skip_meta,
        )

    def send_body(self, f: BytesIO, protocol_version: int) -> None:
        """Write <id>[<result_metadata_id>]<query_parameters>.

        Raises:
            ValueError: v5 and no ``result_metadata_id``.
        """
        write_binary_string(f, self.query_id)
        if ProtocolVersion.uses_prepared_metadata(protocol_version):
            if self.result_metadata_id is None:
                raise ValueError(
                    f"EXECUTE needs a result_metadata_id in protocol v{protocol_version}: "
                    "prepare the statement on a connection of that version"
                )
            write_binary_string(f, self.result_metadata_id)
        self._write_query_params(f, protocol_version)
