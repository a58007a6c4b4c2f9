"""BATCH, section 4.1.7."""

from __future__ import annotations

from struct import error as struct_error
from typing import TYPE_CHECKING, TypeAlias

from ...protocol.version import ProtocolVersion
from ..primitives import (
    write_binary_string,
    write_byte,
    write_consistency_level,
    write_long,
    write_longstring,
    write_short,
    write_uint,
)
from .options import RequestWithOptions
from .query import DEFAULT_TIMESTAMP_FLAG, WITH_SERIAL_CONSISTENCY_FLAG, write_values

if TYPE_CHECKING:
    from collections.abc import Sequence
    from io import BytesIO

    from ...protocol.kinds import BatchType
    from .query import Value

#: (is it prepared, its text or its id, its serialized values).
BatchedQuery: TypeAlias = "tuple[bool, str | bytes, Sequence[Value]]"


class BatchMessage(RequestWithOptions):
    """BATCH: several statements as one.

    Args:
        batch_type: logged, unlogged or counter.
        queries: triples (is_prepared, query text or id, values).
        timestamp: default timestamp in microseconds since the epoch.
        keyspace: see ``RequestWithOptions``.
    """

    # See ``_QueryMessage``.
    __slots__ = (
        "batch_type",
        "consistency_level",
        "custom_payload",
        "options",
        "queries",
        "serial_consistency_level",
        "timestamp",
        "tracing",
    )

    opcode = 0x0D
    name = "BATCH"

    def __init__(
        self,
        batch_type: BatchType,
        queries: Sequence[BatchedQuery],
        consistency_level: int,
        serial_consistency_level: int | None = None,
        timestamp: int | None = None,
        keyspace: str | None = None,
    ) -> None:
        """Keep what the class describes."""
        self.batch_type = batch_type
        self.queries = queries
        self.consistency_level = consistency_level
        self.serial_consistency_level = serial_consistency_level
        self.timestamp = timestamp
        self.tracing = False
        self.custom_payload = self.options = None
        if keyspace is not None:
            self.keyspace = keyspace

    def send_body(self, f: BytesIO, protocol_version: int) -> None:
        """Write <type><n><query_1>...<consistency><flags>[<serial>][<timestamp>]..."""
        write_byte(f, self.batch_type.value)
        try:
            write_short(f, len(self.queries))
        except struct_error:
            raise ValueError(
                f"a batch holds 65535 statements at most, not {len(self.queries)}"
            ) from None
        for prepared, text_or_id, values in self.queries:
            self._write_query(f, prepared, text_or_id)
            write_values(f, values, protocol_version)
        write_consistency_level(f, self.consistency_level)
        self._write_options(f, protocol_version)

    @staticmethod
    def _write_query(f: BytesIO, prepared: bool, text_or_id: str | bytes) -> None:
        """Write <kind><string_or_id>."""
        if prepared:
            write_byte(f, 1)
            write_binary_string(f, text_or_id)  # type: ignore[arg-type]  # an id is bytes
        else:
            write_byte(f, 0)
            write_longstring(f, text_or_id)

    def _write_options(self, f: BytesIO, protocol_version: int) -> None:
        """Write <flags>, and what they announce, after a check that this version has it."""
        flags = 0
        if self.serial_consistency_level:
            flags |= WITH_SERIAL_CONSISTENCY_FLAG
        if self.timestamp is not None:
            flags |= DEFAULT_TIMESTAMP_FLAG
        if self.options is not None:
            flags |= self.options_flags(protocol_version)
        if ProtocolVersion.uses_int_query_flags(protocol_version):
            write_uint(f, flags)
        else:
            write_byte(f, flags)
        if self.serial_consistency_level:
            write_consistency_level(f, self.serial_consistency_level)
        if self.timestamp is not None:
            write_long(f, self.timestamp)
        if self.options is not None:
            f.write(self.options_bytes())
