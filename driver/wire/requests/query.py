"""QUERY and EXECUTE, which share their <query_parameters>: sections 4.1.4 and 4.1.6."""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias

from ...protocol.errors import UnsupportedOperation
from ...protocol.unset import UNSET_VALUE
from ...protocol.version import ProtocolVersion
from ...types.marshal import int32_pack, int64_pack, uint16_pack
from ..primitives import write_short, write_string, write_value
from .options import RequestWithOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from io import BytesIO

    from ...protocol.unset import UnsetType

#: A bound value on its way out: serialized, null (None) or not set (UNSET_VALUE).
Value: TypeAlias = "bytes | UnsetType | None"
#: Values by position, or by the name of their marker.
Values: TypeAlias = "Sequence[Value] | Mapping[str, Value]"

VALUES_FLAG: Final = 0x01
SKIP_METADATA_FLAG: Final = 0x02
PAGE_SIZE_FLAG: Final = 0x04
WITH_PAGING_STATE_FLAG: Final = 0x08
WITH_SERIAL_CONSISTENCY_FLAG: Final = 0x10
DEFAULT_TIMESTAMP_FLAG: Final = 0x20
NAMES_FOR_VALUES_FLAG: Final = 0x40

# Versions as numbers: to ask ``ProtocolVersion`` by a call for every request costs more.
_UNSET_SINCE: Final = ProtocolVersion.V4
_INT_FLAGS_SINCE: Final = ProtocolVersion.V5
_METADATA_IDS_SINCE: Final = ProtocolVersion.V5
_WITHOUT_METADATA_IDS: Final = ProtocolVersion.DSE_V1
#: <consistency><flags>, which are an [int] from v5 on.
_consistency_and_flags = Struct(">HB").pack
_consistency_and_int_flags = Struct(">HI").pack
_NULL: Final = int32_pack(-1)
_NOT_SET: Final = int32_pack(-2)


def write_values(f: BytesIO, values: Sequence[Value], protocol_version: int) -> None:
    """Write <n><value_1>...<value_n>, at once: a call for each costs more.

    Raises:
        UnsupportedOperation: v3 and one of the values is UNSET_VALUE.
    """
    if protocol_version < _UNSET_SINCE:
        _refuse_unset(values, protocol_version)
    parts: list[Any] = [uint16_pack(len(values))]
    for value in values:
        if value is None:
            parts.append(_NULL)
        elif value is UNSET_VALUE:
            parts.append(_NOT_SET)
        else:
            parts.append(int32_pack(len(value)))  # type: ignore[arg-type]  # it is bytes
            parts.append(value)
    f.write(b"".join(parts))


def _write_named_values(f: BytesIO, values: Mapping[str, Value], protocol_version: int) -> None:
    """Write <n><name_1><value_1>...<name_n><value_n>; raises as ``write_values``."""
    if protocol_version < _UNSET_SINCE:
        _refuse_unset(values.values(), protocol_version)
    write_short(f, len(values))
    for name, value in values.items():
        write_string(f, name)
        write_value(f, value)


def _refuse_unset(values: Iterable[Value], protocol_version: int) -> None:
    """UNSET_VALUE needs v4: servers of v3 take its length of -2 for null and delete the cell."""
    if any(value is UNSET_VALUE for value in values):
        raise UnsupportedOperation(
            f"UNSET_VALUE needs protocol v4 or later; this connection has v{protocol_version}"
        )


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

    def _write_parameters(self, f: BytesIO, protocol_version: int) -> None:
        """Write <consistency><flags>[values][page size][paging state][serial][timestamp]...

        What comes behind the values is collected while the flags are, and written at once.
        """
        values, flags, behind = self.query_params, 0, b""
        if values is not None:
            flags = VALUES_FLAG
            # Nearly always a list, of which the abstract class need not be asked.
            if type(values) is not list and isinstance(values, Mapping):
                flags |= NAMES_FOR_VALUES_FLAG
        if self.skip_meta:
            flags |= SKIP_METADATA_FLAG
        if self.fetch_size:
            flags |= PAGE_SIZE_FLAG
            behind = int32_pack(self.fetch_size)
        if self.paging_state:
            flags |= WITH_PAGING_STATE_FLAG
            behind += int32_pack(len(self.paging_state)) + self.paging_state
        if self.serial_consistency_level:
            flags |= WITH_SERIAL_CONSISTENCY_FLAG
            behind += uint16_pack(self.serial_consistency_level)
        if self.timestamp is not None:
            flags |= DEFAULT_TIMESTAMP_FLAG
            behind += int64_pack(self.timestamp)
        if self.options is not None:
            flags |= self.options_flags(protocol_version)
            behind += self.options_bytes()
        pack = (
            _consistency_and_int_flags
            if protocol_version >= _INT_FLAGS_SINCE
            else _consistency_and_flags
        )
        f.write(pack(self.consistency_level, flags))
        if values is not None:
            if flags & NAMES_FOR_VALUES_FLAG:
                _write_named_values(f, values, protocol_version)  # type: ignore[arg-type]
            else:
                write_values(f, values, protocol_version)  # type: ignore[arg-type]
        if behind:
            f.write(behind)


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
        """Write <query><query_parameters>.

        Raises:
            UnsupportedOperation: the message has something that this version cannot carry.
        """
        text = self.query
        data = text.encode("utf8") if isinstance(text, str) else text
        f.write(int32_pack(len(data)))
        f.write(data)
        self._write_parameters(f, protocol_version)


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
            UnsupportedOperation: the message has something that this version cannot carry.
            ValueError: v5 and no ``result_metadata_id``.
        """
        query_id = self.query_id
        f.write(uint16_pack(len(query_id)) + query_id)
        if protocol_version >= _METADATA_IDS_SINCE and protocol_version != _WITHOUT_METADATA_IDS:
            metadata_id = self.result_metadata_id
            if metadata_id is None:
                raise ValueError(
                    f"EXECUTE needs a result_metadata_id in protocol v{protocol_version}: "
                    "prepare the statement on a connection of that version"
                )
            f.write(uint16_pack(len(metadata_id)) + metadata_id)
        self._write_parameters(f, protocol_version)


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
        """Write <id>[<result_metadata_id>]<query_parameters>[<tablet_version_block>].

        Raises:
            UnsupportedOperation: the message has something that this version cannot carry.
        """
        for part in (self.query_id, self.result_metadata_id):
            if part is not None:
                f.write(uint16_pack(len(part)) + part)
        self._write_parameters(f, protocol_version)
        if self.tablet_version_block is not None:
            f.write(bytes([self.tablet_version_block]))
