"""The bodies of QUERY and EXECUTE, which share <query_parameters>: sections 4.1.4 and 4.1.6."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...implementation import hand_over
from ...protocol.version import ProtocolVersion
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
from .versions import check_unset

if TYPE_CHECKING:
    from io import BytesIO

    from .query import ExecuteMessage, QueryMessage, Values, _QueryMessage

__all__ = ["write_execute", "write_query"]

VALUES_FLAG = 0x01
SKIP_METADATA_FLAG = 0x02
PAGE_SIZE_FLAG = 0x04
WITH_PAGING_STATE_FLAG = 0x08
WITH_SERIAL_CONSISTENCY_FLAG = 0x10
DEFAULT_TIMESTAMP_FLAG = 0x20
NAMES_FOR_VALUES_FLAG = 0x40


def write_query(f: BytesIO, message: QueryMessage, protocol_version: int) -> None:
    """Write <query><query_parameters>.

    Raises:
        UnsupportedOperation: the message has something that this version cannot carry.
    """
    write_longstring(f, message.query)
    _write_parameters(f, message, protocol_version)


def write_execute(f: BytesIO, message: ExecuteMessage, protocol_version: int) -> None:
    """Write <id>[<result_metadata_id>]<query_parameters>.

    Raises:
        UnsupportedOperation: the message has something that this version cannot carry.
        ValueError: v5 and no ``result_metadata_id``.
    """
    write_binary_string(f, message.query_id)
    if ProtocolVersion.uses_prepared_metadata(protocol_version):
        if message.result_metadata_id is None:
            raise ValueError(
                f"EXECUTE needs a result_metadata_id in protocol v{protocol_version}: "
                "prepare the statement on a connection of that version"
            )
        write_binary_string(f, message.result_metadata_id)
    _write_parameters(f, message, protocol_version)


def _write_parameters(f: BytesIO, message: _QueryMessage, protocol_version: int) -> None:
    """Write <consistency><flags>[values][page size][paging state][serial][timestamp]..."""
    write_consistency_level(f, message.consistency_level)
    flags = _flags(message, protocol_version)
    if ProtocolVersion.uses_int_query_flags(protocol_version):
        write_uint(f, flags)
    else:
        write_byte(f, flags)
    if message.query_params is not None:
        _write_values(f, message.query_params, protocol_version)
    if message.fetch_size:
        write_int(f, message.fetch_size)
    if message.paging_state:
        write_longstring(f, message.paging_state)
    if message.serial_consistency_level:
        write_consistency_level(f, message.serial_consistency_level)
    if message.timestamp is not None:
        write_long(f, message.timestamp)
    if message.options is not None:
        f.write(message.options_bytes())


def _flags(message: _QueryMessage, protocol_version: int) -> int:
    """The flags of what is present, after a check that this version has them."""
    flags = 0
    if message.query_params is not None:
        flags |= VALUES_FLAG
        if isinstance(message.query_params, Mapping):
            flags |= NAMES_FOR_VALUES_FLAG
    if message.skip_meta:
        flags |= SKIP_METADATA_FLAG
    if message.fetch_size:
        flags |= PAGE_SIZE_FLAG
    if message.paging_state:
        flags |= WITH_PAGING_STATE_FLAG
    if message.serial_consistency_level:
        flags |= WITH_SERIAL_CONSISTENCY_FLAG
    if message.timestamp is not None:
        flags |= DEFAULT_TIMESTAMP_FLAG
    if message.options is not None:
        flags |= message.options_flags(protocol_version)
    return flags


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


hand_over(globals())
