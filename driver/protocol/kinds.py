"""Kinds that requests, responses and events come in, as the protocol writes them."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, ClassVar, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

RESULT_KIND_VOID: Final = 0x0001
RESULT_KIND_ROWS: Final = 0x0002
RESULT_KIND_SET_KEYSPACE: Final = 0x0003
RESULT_KIND_PREPARED: Final = 0x0004
RESULT_KIND_SCHEMA_CHANGE: Final = 0x0005

#: The name of each kind of RESULT message (native_protocol_v5 section 4.2.5).
RESULT_KIND_NAMES: Final[Mapping[int, str]] = {
    RESULT_KIND_VOID: "VOID",
    RESULT_KIND_ROWS: "ROWS",
    RESULT_KIND_SET_KEYSPACE: "SET_KEYSPACE",
    RESULT_KIND_PREPARED: "PREPARED",
    RESULT_KIND_SCHEMA_CHANGE: "SCHEMA_CHANGE",
}


class WriteType(IntEnum):
    """What a write was that timed out or failed; the wire has the name, drivers the number.

    Attributes:
        value_to_name: the name of each number.
        name_to_value: the member of each name, as the wire writes it.
    """

    SIMPLE = 0
    BATCH = 1
    UNLOGGED_BATCH = 2
    COUNTER = 3
    BATCH_LOG = 4
    CAS = 5
    VIEW = 6
    CDC = 7

    value_to_name: ClassVar[Mapping[int, str]]
    name_to_value: ClassVar[Mapping[str, WriteType]]


WriteType.value_to_name = {kind.value: kind.name for kind in WriteType}
WriteType.name_to_value = {kind.name: kind for kind in WriteType}


class BatchType(IntEnum):
    """The kind of a BATCH message (native_protocol_v5 section 4.1.7)."""

    LOGGED = 0
    UNLOGGED = 1
    COUNTER = 2

    def __str__(self) -> str:
        """The name, as CQL has it: ``BEGIN UNLOGGED BATCH``."""
        return self.name


class SchemaChangeType(StrEnum):
    """What happened in a schema change."""

    CREATED = "CREATED"
    UPDATED = "UPDATED"
    DROPPED = "DROPPED"


class SchemaTargetType(StrEnum):
    """What a schema change happened to."""

    KEYSPACE = "KEYSPACE"
    TABLE = "TABLE"
    TYPE = "TYPE"
    FUNCTION = "FUNCTION"
    AGGREGATE = "AGGREGATE"


class OperationType(IntEnum):
    """The operation that a rate limit rejected (ScyllaDB's protocol extensions)."""

    Read = 0
    Write = 1
