"""The bodies of QUERY and EXECUTE, which share <query_parameters>: sections 4.1.4 and 4.1.6."""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from typing import TYPE_CHECKING

from ...protocol.version import ProtocolVersion
from ...types.marshal import int32_pack, int64_pack, uint16_pack
from ..primitives import write_short, write_string, write_value, write_values
from .versions import check_unset

if TYPE_CHECKING:
    from io import BytesIO

    from .query import ExecuteMessage, QueryMessage, ScyllaExecuteMessage, Values, _QueryMessage

VALUES_FLAG = 0x01
SKIP_METADATA_FLAG = 0x02
PAGE_SIZE_FLAG = 0x04
WITH_PAGING_STATE_FLAG = 0x08
WITH_SERIAL_CONSISTENCY_FLAG = 0x10
DEFAULT_TIMESTAMP_FLAG = 0x20
NAMES_FOR_VALUES_FLAG = 0x40

#: ``ProtocolVersion.uses_int_query_flags`` as a number: a call for every request costs more.
_INT_FLAGS_SINCE = ProtocolVersion.V5
#: <consistency><flags>, which are an [int] from v5 on.
_consistency_and_flags = Struct(">HB").pack
_consistency_and_int_flags = Struct(">HI").pack


def write_query(f: BytesIO, message: QueryMessage, protocol_version: int) -> None:
    """Write <query><query_parameters>.

    Raises:
        UnsupportedOperation: the message has something that this version cannot carry.
    """
    text = message.query
    data = text.encode("utf8") if isinstance(text, str) else text
    f.write(int32_pack(len(data)))
    f.write(data)
    _write_parameters(f, message, protocol_version)


def write_execute(f: BytesIO, message: ExecuteMessage, protocol_version: int) -> None:
    """Write <id>[<result_metadata_id>]<query_parameters>.

    Raises:
        UnsupportedOperation: the message has something that this version cannot carry.
        ValueError: v5 and no ``result_metadata_id``.
    """
    query_id = message.query_id
    f.write(uint16_pack(len(query_id)) + query_id)
    if ProtocolVersion.uses_prepared_metadata(protocol_version):
        metadata_id = message.result_metadata_id
        if metadata_id is None:
            raise ValueError(
                f"EXECUTE needs a result_metadata_id in protocol v{protocol_version}: "
                "prepare the statement on a connection of that version"
            )
        f.write(uint16_pack(len(metadata_id)) + metadata_id)
    _write_parameters(f, message, protocol_version)


def write_scylla_execute(f: BytesIO, message: ScyllaExecuteMessage, protocol_version: int) -> None:
    """Write <id>[<result_metadata_id>]<query_parameters>[<tablet_version_block>].

    Raises:
        UnsupportedOperation: the message has something that this version cannot carry.
    """
    for part in (message.query_id, message.result_metadata_id):
        if part is not None:
            f.write(uint16_pack(len(part)) + part)
    _write_parameters(f, message, protocol_version)
    if message.tablet_version_block is not None:
        f.write(bytes([message.tablet_version_block]))


def _write_parameters(f: BytesIO, message: _QueryMessage, protocol_version: int) -> None:
    """Write <consistency><flags>[values][page size][paging state][serial][timestamp]...

    What comes behind the values is collected while the flags are, and written at once.
    """
    values, flags, behind = message.query_params, 0, b""
    if values is not None:
        flags = VALUES_FLAG
        if isinstance(values, Mapping):
            flags |= NAMES_FOR_VALUES_FLAG
    if message.skip_meta:
        flags |= SKIP_METADATA_FLAG
    if message.fetch_size:
        flags |= PAGE_SIZE_FLAG
        behind = int32_pack(message.fetch_size)
    if message.paging_state:
        flags |= WITH_PAGING_STATE_FLAG
        behind += int32_pack(len(message.paging_state)) + message.paging_state
    if message.serial_consistency_level:
        flags |= WITH_SERIAL_CONSISTENCY_FLAG
        behind += uint16_pack(message.serial_consistency_level)
    if message.timestamp is not None:
        flags |= DEFAULT_TIMESTAMP_FLAG
        behind += int64_pack(message.timestamp)
    if message.options is not None:
        flags |= message.options_flags(protocol_version)
        behind += message.options_bytes()
    pack = (
        _consistency_and_int_flags
        if protocol_version >= _INT_FLAGS_SINCE
        else _consistency_and_flags
    )
    f.write(pack(message.consistency_level, flags))
    if values is not None:
        _write_values(f, values, protocol_version)
    if behind:
        f.write(behind)


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
