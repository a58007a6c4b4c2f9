"""What an independent driver decodes from each frame; the golden tests compare ours to it.

``cassandra-driver`` is that driver. Values are kept in the neutral form of
``asv_benchmarks.recordings.plain``; of large results, a digest and the first and the last row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cassandra
from cassandra.connection import locally_supported_compressions
from cassandra.protocol import ErrorMessage, ProtocolHandler, ResultMessage

from asv_benchmarks.recordings import digest, plain

if TYPE_CHECKING:
    from .catalogue import Record

MANY_ROWS = 5
KINDS = {1: "VOID", 2: "ROWS", 3: "SET_KEYSPACE", 4: "PREPARED", 5: "SCHEMA_CHANGE"}
#: Attributes of the exceptions that errors turn into.
ERROR_FACTS = [
    "consistency",
    "required_replicas",
    "alive_replicas",
    "required_responses",
    "received_responses",
    "data_retrieved",
    "write_type",
    "failures",
    "error_code_map",
    "keyspace",
    "table",
    "function",
    "arg_types",
]
#: Attributes of messages other than errors and results.
MESSAGE_FACTS = [
    "cql_versions",
    "options",
    "authenticator",
    "challenge",
    "token",
    "event_type",
    "event_args",
]


def decode(record: Record, result_metadata: object) -> Any:  # noqa: ANN401  (cassandra-driver's)
    """The message, decoded by cassandra-driver."""
    decompress = locally_supported_compressions.get(record.compression, (None, None))[1]
    flags, stream = record.frame.flags, int.from_bytes(record.frame.header[2:4], signed=True)
    return ProtocolHandler.decode_message(
        record.version,
        {},
        stream,
        flags,
        record.frame.opcode,
        record.frame.body,
        decompress,
        result_metadata,
    )


def version() -> str:
    """The version of the driver that decoded."""
    return f"cassandra-driver {cassandra.__version__}"


def columns(metadata: list[Any]) -> list[list[str]]:
    """Keyspace, table, name and CQL type of each column."""
    return [[ks, table, name, kind.cql_parameterized_type()] for ks, table, name, kind in metadata]


def rows(parsed: list[Any]) -> dict[str, Any]:
    """Rows, or what identifies them."""
    if len(parsed) <= MANY_ROWS:
        return {"rows": plain(parsed)}
    return {
        "row_count": len(parsed),
        "first_row": plain(parsed[0]),
        "last_row": plain(parsed[-1]),
        "rows_digest": digest(parsed),
    }


def schema_change(event: dict[str, Any]) -> dict[str, Any]:
    """A schema change; functions and aggregates as their name and argument types."""
    facts = {}
    for key, value in event.items():
        types = getattr(value, "argument_types", None)
        facts[key] = value if types is None else [value.name, list(types)]
    return facts


def of_result(message: Any) -> dict[str, Any]:  # noqa: ANN401  (cassandra-driver's)
    """The facts of a RESULT message."""
    facts: dict[str, Any] = {"kind": KINDS[message.kind]}
    if facts["kind"] == "ROWS":
        facts |= {
            "column_names": list(message.column_names),
            "column_types": [kind.cql_parameterized_type() for kind in message.column_types],
            "paging_state": plain(message.paging_state),
            "result_metadata_id": plain(getattr(message, "result_metadata_id", None)),
        } | rows(message.parsed_rows)
    elif facts["kind"] == "PREPARED":
        facts |= {
            "query_id": plain(message.query_id),
            "bind_metadata": columns(message.bind_metadata),
            "pk_indexes": plain(message.pk_indexes),
            "column_metadata": columns(message.column_metadata or []),
            "result_metadata_id": plain(getattr(message, "result_metadata_id", None)),
        }
    elif facts["kind"] == "SET_KEYSPACE":
        facts["new_keyspace"] = message.new_keyspace
    elif facts["kind"] == "SCHEMA_CHANGE":
        facts["schema_change_event"] = schema_change(message.schema_change_event)
    return facts


def of_error(message: Any) -> dict[str, Any]:  # noqa: ANN401  (cassandra-driver's)
    """The facts of an ERROR message and of the exception that it turns into."""
    facts: dict[str, Any] = {
        "code": message.code,
        "message": message.message,
        "class": type(message).__name__,
    }
    raised = message.to_exception() if hasattr(message, "to_exception") else message
    facts["exception"] = type(raised).__name__
    for name in ERROR_FACTS:
        if getattr(raised, name, None) is not None:
            facts[name] = plain(getattr(raised, name))
    if isinstance(message.info, bytes):
        facts["info"] = plain(message.info)
    return facts


def of_message(message: Any) -> dict[str, Any]:  # noqa: ANN401  (cassandra-driver's)
    """The facts of any message."""
    facts: dict[str, Any] = {
        "message_class": type(message).__name__,
        "stream": message.stream_id,
        "trace_id": plain(message.trace_id),
        "warnings": plain(message.warnings),
        "custom_payload": plain(message.custom_payload),
    }
    if isinstance(message, ErrorMessage):
        return facts | of_error(message)
    if isinstance(message, ResultMessage):
        # The fast row parser is a subclass of the same name for our purpose.
        return facts | {"message_class": "ResultMessage"} | of_result(message)
    found = {name: getattr(message, name) for name in MESSAGE_FACTS if hasattr(message, name)}
    return facts | {name: plain(value) for name, value in found.items()}


def of_all(records: list[Record]) -> dict[str, Any]:
    """The facts of every record, by ``v4/name``; prepared statements decode what follows them."""
    metadata: dict[tuple[int, str], Any] = {}
    facts = {}
    for record in records:
        message = decode(record, metadata.get((record.version, record.prepared)))
        if record.name.startswith("prepared_"):
            metadata[record.version, record.name] = message.column_metadata
        facts[f"v{record.version}/{record.name}"] = of_message(message)
    return facts
