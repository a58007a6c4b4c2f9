"""RESULT, section 4.2.5: what a query, a prepared statement or a batch came to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from ...protocol.kinds import (
    RESULT_KIND_NAMES,
    RESULT_KIND_PREPARED,
    RESULT_KIND_ROWS,
    RESULT_KIND_SCHEMA_CHANGE,
    RESULT_KIND_SET_KEYSPACE,
    RESULT_KIND_VOID,
)
from ...protocol.version import ProtocolVersion
from ..malformed import MalformedFrameError, ResultMetadataMismatch
from ..messages import Response
from ..primitives import read_binary_string, read_int, read_string
from ..row_shape import RowShape
from ..rows import LazyRows, parse_columns, parse_rows
from .events import read_schema_change
from .metadata import read_bind_metadata, read_result_metadata

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from io import BytesIO

    from ...protocol.columns import ColumnMetadata
    from ..features import ProtocolFeatures
    from ..messages import ColumnEncryptionPolicy, UserTypeMap
    from .events import SchemaChange


class ResultMessage(Response):
    """RESULT, of the kind that ``kind`` tells; what belongs to other kinds stays None.

    Attributes:
        kind: one of the ``RESULT_KIND_*`` of ``driver.protocol.kinds``.
        paging_state: rows: where the next page begins; None on the last page.
        column_names: rows: names in the order of the values.
        column_types: rows: classes of ``driver.types`` in the order of the values.
        parsed_rows: rows: what ``row_parser`` made of them.
        column_metadata: rows: columns as the server sent them, None if it left them out.
            prepared: the columns of the rows that an execution will give, None if there are none.
        result_metadata: prepared: the same as ``column_metadata``.
        result_metadata_id: prepared: id of ``result_metadata`` (v5, ScyllaDB).
            rows: id of ``column_metadata``, if they are not those that the client has.
        bind_metadata: prepared: columns of the bind markers.
        pk_indexes: prepared: which markers make the partition key, in its order (v4 and later).
        query_id: prepared: id to execute.
        is_lwt: prepared: the server marked a lightweight transaction (ScyllaDB).
        new_keyspace: set_keyspace: which one.
        schema_change_event: schema_change: what changed.
    """

    opcode = 0x08
    name = "RESULT"

    #: ``row_parser(body, offset, columns, deserializers, protocol_version, policy)``.
    row_parser: ClassVar[Callable[..., Any]] = staticmethod(parse_rows)

    __slots__ = (
        "bind_metadata",
        "column_metadata",
        "column_names",
        "column_types",
        "custom_payload",
        "is_lwt",
        "kind",
        "new_keyspace",
        "paging_state",
        "parsed_rows",
        "pk_indexes",
        "query_id",
        "result_metadata",
        "result_metadata_id",
        "schema_change_event",
        "stream_id",
        "trace_id",
        "warnings",
    )

    kind: int
    paging_state: bytes | None
    column_names: list[str] | None
    column_types: list[Any] | None
    parsed_rows: Any
    column_metadata: RowShape | None
    result_metadata: RowShape | None
    result_metadata_id: bytes | None
    bind_metadata: list[ColumnMetadata] | None
    pk_indexes: list[int] | None
    query_id: bytes | None
    is_lwt: bool
    new_keyspace: str | None
    schema_change_event: SchemaChange | None

    def __init__(self, kind: int) -> None:
        """A result of a kind, with nothing in it."""
        self.kind = kind
        self.is_lwt = False
        self.bind_metadata = self.column_metadata = self.result_metadata = None
        self.column_names = self.column_types = self.parsed_rows = self.paging_state = None
        self.pk_indexes = self.query_id = self.result_metadata_id = None
        self.new_keyspace = self.schema_change_event = None
        self.custom_payload = self.trace_id = self.warnings = None

    @classmethod
    def recv_body(
        cls,
        f: BytesIO,
        protocol_version: int,
        protocol_features: ProtocolFeatures | None,
        user_type_map: UserTypeMap,
        result_metadata: Sequence[ColumnMetadata] | None,
        column_encryption_policy: ColumnEncryptionPolicy | None,
    ) -> Self:
        """Read <kind> and what belongs to it; arguments and errors as in the base class."""
        kind = read_int(f)
        msg = cls(kind)
        if kind == RESULT_KIND_ROWS:
            msg.recv_results_rows(
                f, protocol_version, user_type_map, result_metadata, column_encryption_policy
            )
        elif kind == RESULT_KIND_SET_KEYSPACE:
            msg.new_keyspace = read_string(f)
        elif kind == RESULT_KIND_PREPARED:
            msg.recv_results_prepared(f, protocol_version, protocol_features, user_type_map)
        elif kind == RESULT_KIND_SCHEMA_CHANGE:
            msg.schema_change_event = read_schema_change(f)
        elif kind != RESULT_KIND_VOID:
            raise MalformedFrameError(f"a result of an unknown kind: {kind}")
        return msg

    def recv_results_rows(
        self,
        f: BytesIO,
        protocol_version: int,
        user_type_map: UserTypeMap,
        result_metadata: Sequence[ColumnMetadata] | None,
        column_encryption_policy: ColumnEncryptionPolicy | None,
    ) -> None:
        """Read <metadata><rows_count><rows_content>.

        Args:
            f: the frame's body, at the metadata.
            protocol_version: of the connection.
            user_type_map: class to give values of a user-defined type.
            result_metadata: the columns to use if the server left them out.
            column_encryption_policy: what decrypts values of encrypted columns.

        Raises:
            MalformedFrameError: the frame ends early or breaks the protocol.
            ResultMetadataMismatch: the server left the columns out, and ``result_metadata`` is
                None or has another number of columns.
            ColumnDecodeError: a value is none of its column's type.
        """
        metadata = read_result_metadata(f, user_type_map)
        self.paging_state = metadata.paging_state
        self.result_metadata_id = metadata.metadata_id
        self.column_metadata = metadata.columns
        columns = result_metadata if metadata.columns is None else metadata.columns
        if columns is None:
            raise ResultMetadataMismatch(
                "a result has no metadata, and the request did not keep any"
            )
        if len(columns) != metadata.column_count:
            raise ResultMetadataMismatch(
                f"a result has {metadata.column_count} columns without metadata; the metadata of "
                f"the prepared statement has {len(columns)}"
            )
        # A prepared statement keeps the shape; who brings a mere list of columns gets one made.
        shape = columns if isinstance(columns, RowShape) else RowShape(columns)
        self.column_names = shape.names
        self.column_types = shape.types
        self.parsed_rows = self.row_parser(
            f.getvalue(),
            f.tell(),
            shape,
            shape.deserializers,
            protocol_version,
            column_encryption_policy,
        )

    def recv_results_prepared(
        self,
        f: BytesIO,
        protocol_version: int,
        protocol_features: ProtocolFeatures | None,
        user_type_map: UserTypeMap,
    ) -> None:
        """Read <id>[<result_metadata_id>]<metadata><result_metadata>."""
        self.query_id = read_binary_string(f)
        has_metadata_id = protocol_features is not None and protocol_features.use_metadata_id
        if has_metadata_id or ProtocolVersion.uses_prepared_metadata(protocol_version):
            self.result_metadata_id = read_binary_string(f)
        flags, self.bind_metadata, self.pk_indexes = read_bind_metadata(
            f, protocol_version, user_type_map
        )
        if protocol_features is not None:
            self.is_lwt = bool(flags & protocol_features.lwt_metadata_mask)
        metadata = read_result_metadata(f, user_type_map)
        self.column_metadata = self.result_metadata = metadata.columns

    def __repr__(self) -> str:
        """The kind by name, and what the result has."""
        kind = RESULT_KIND_NAMES.get(self.kind or 0, self.kind)
        fields = {
            name: value
            for name, value in self._fields().items()
            if name != "kind" and value is not None and value is not False
        }
        shown = "".join(f", {name}={value!r}" for name, value in sorted(fields.items()))
        return f"<{type(self).__name__}(kind={kind}{shown})>"


class LazyResultMessage(ResultMessage):
    """A result whose rows are decoded when they are iterated over."""

    __slots__ = ()

    row_parser = LazyRows


class NumpyResultMessage(ResultMessage):
    """A result whose rows are a dict of column name -> NumPy array."""

    __slots__ = ()

    row_parser = staticmethod(parse_columns)
