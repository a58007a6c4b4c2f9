"""Options in rows of the schema tables: Cassandra's, and those that ScyllaDB keeps elsewhere.

Source of the latter: ScyllaDB's ``db/schema_tables.cc`` (``scylla_tables``, ``scylla_keyspaces``,
``scylla_aggregates``) and the classes derived from ``schema_extension``, whose blobs are written by
its serializer: 32-bit little-endian numbers, texts and maps with a 32-bit length in front.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

#: What a row of ``system_schema.tables`` or ``views`` has besides options. Everything else is taken
#: for an option, so that those of later servers are seen without a change here.
_NO_OPTIONS: Final = frozenset(
    {
        "keyspace_name",
        "table_name",
        "view_name",
        "id",
        "flags",
        "extensions",
        "base_table_id",
        "base_table_name",
        "include_all_columns",
        "where_clause",
    }
)
#: Cassandra 4.0 keeps these columns and takes their options for obsolete (CASSANDRA-13910).
_OBSOLETE_SINCE_4: Final = frozenset({"read_repair_chance", "dclocal_read_repair_chance"})
#: Columns of ``system_schema.scylla_tables`` that are options of the table.
_OPTION_COLUMNS: Final = ("cdc", "in_memory", "per_partition_rate_limit")


def options_of_row(row: Mapping[str, Any], major_version: int) -> dict[str, Any]:
    """The options in a row; those that are null have the server's default and are left out."""
    left_out = _NO_OPTIONS | _OBSOLETE_SINCE_4 if major_version >= 4 else _NO_OPTIONS
    return {
        name: dict(value) if isinstance(value, Mapping) else value
        for name, value in row.items()
        if name not in left_out and value is not None
    }


def _read_map(blob: bytes) -> dict[str, str]:
    """A map of texts."""
    texts = []
    (count,) = struct.unpack_from("<I", blob)
    offset = 4
    for _ in range(2 * count):
        (size,) = struct.unpack_from("<I", blob, offset)
        offset += 4
        if offset + size > len(blob):
            raise ValueError(f"a text of {size} bytes, {len(blob) - offset} are left")
        texts.append(blob[offset : offset + size].decode())
        offset += size
    return dict(zip(texts[::2], texts[1::2], strict=True))


def _read_int(blob: bytes) -> int:
    """A signed number."""
    (number,) = struct.unpack("<i", blob)
    return int(number)


#: How the blobs are read that are options in CQL.
_EXTENSIONS: Final[Mapping[str, Callable[[bytes], Any]]] = {
    "cdc": _read_map,
    "paxos_grace_seconds": _read_int,
    "per_partition_rate_limit": _read_map,
    "scylla_encryption_options": _read_map,
    "tombstone_gc": _read_map,
}


def options_of_extensions(extensions: Mapping[str, bytes]) -> dict[str, Any]:
    """The options among a table's extensions; unknown and unreadable blobs are left out."""
    options = {}
    for name, blob in extensions.items():
        read = _EXTENSIONS.get(name)
        if read is None:
            continue
        try:
            options[name] = read(blob)
        except (
            ValueError,
            struct.error,
        ):  # another version's format is no reason to lose the table
            continue
    return options


def options_of_scylla_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The options in a row of ``scylla_tables``; maps that are empty mean the default."""
    return {name: row[name] for name in _OPTION_COLUMNS if row.get(name) not in (None, {}, False)}


def consistency_of_row(row: Mapping[str, Any]) -> str | None:
    """The ``consistency`` option in a row of ``scylla_keyspaces``; None if it says nothing."""
    option = row.get("consistency")
    return option.lower() if isinstance(option, str) and option else None


def tablets_of_row(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """The ``tablets`` option in a row of ``scylla_keyspaces``; None if it says nothing."""
    initial = row.get("initial_tablets")
    if initial is None:
        return None
    return {"enabled": True, "initial": initial} if initial else {"enabled": True}
