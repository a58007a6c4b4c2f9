"""Objects of the driver, made from recorded frames: what the cases are about.

The driver is imported inside, so that a suite can be discovered on any commit.
"""

# ruff: noqa: ANN401  (objects of whichever driver is installed)

from __future__ import annotations

from typing import Any

from . import recordings


def handler() -> Any:
    """The protocol handler whose rows are tuples."""
    from driver.wire.handlers import ProtocolHandler

    return ProtocolHandler


def decode_frame(frame: recordings.Recorded) -> Any:
    """A frame, decoded; with the metadata of its prepared statement if it has none of its own."""
    prepared = frame.about["prepared"]
    return handler().decode_message(
        frame.version,
        None,
        {},
        frame.stream,
        frame.flags,
        frame.opcode,
        frame.body,
        None,
        metadata_of(prepared, frame.version) if prepared else None,
    )


def decode(name: str, version: int = 4) -> Any:
    """A recorded frame, decoded."""
    return decode_frame(recordings.frame(name, version))


def metadata_of(name: str, version: int = 4) -> Any:
    """The result metadata of a recorded PREPARED."""
    return decode(name, version).column_metadata


def prepared(name: str, version: int = 4, policy: Any = None) -> Any:
    """A PreparedStatement from the recorded answer ``prepared_<name>``."""
    from driver.statements.prepared import PreparedStatement

    frame = recordings.frame(f"prepared_{name}", version)
    message = decode(f"prepared_{name}", version)
    return PreparedStatement.from_message(
        message.query_id,
        message.bind_metadata,
        message.pk_indexes,
        None,
        frame.about["query"],
        None,
        version,
        message.column_metadata,
        message.result_metadata_id,
        column_encryption_policy=policy,
    )


def recorded_value(name: str, column: str) -> Any:
    """The value of a column in the first row of a recorded result."""
    message = decode(name)
    return message.parsed_rows[0][message.column_names.index(column)]
