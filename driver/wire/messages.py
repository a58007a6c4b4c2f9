"""What all messages share: an opcode, and what the frame around the body carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from io import BytesIO
    from uuid import UUID

    from ..protocol.columns import ColDesc, ColumnMetadata
    from ..types.base import CQLType
    from .features import ProtocolFeatures

#: Keyspace -> name of a user-defined type -> class of its values.
UserTypeMap: TypeAlias = "Mapping[str, Mapping[str, type]]"


class ColumnEncryptionPolicy(Protocol):
    """What binding and reading ask of a column encryption policy; policies/ holds the real ones."""

    def contains_column(self, coldesc: ColDesc) -> bool:
        """Whether a column is encrypted."""

    def column_type(self, coldesc: ColDesc) -> type[CQLType]:
        """The type of a column's values before encryption."""

    def encrypt(self, coldesc: ColDesc, obj_bytes: bytes) -> bytes:
        """The bytes of a value after encryption."""

    def decrypt(self, coldesc: ColDesc, encrypted_bytes: bytes) -> bytes:
        """The bytes of a value before encryption."""


class _MessageType:
    """A request or response of the native protocol, section 4.

    Attributes:
        opcode: which message it is, in the frame's header.
        name: the specification's name for it.
        tracing: a request asks the server to trace it.
        custom_payload: the [bytes map] that travels before the body (v4 and later).
        warnings: what the server had to say about the request (responses, v4 and later).
        trace_id: session of ``system_traces`` that holds the trace (responses).
        stream_id: which request a response answers; -1 for events.
    """

    __slots__ = ()

    opcode: ClassVar[int]
    name: ClassVar[str]

    tracing: bool = False
    custom_payload: dict[str, bytes | None] | None = None
    warnings: list[str] | None = None
    trace_id: UUID | None = None
    stream_id: int

    def _fields(self) -> dict[str, Any]:
        """What was set on this instance, by name, wherever the instance keeps it."""
        slots = (slot for kind in type(self).__mro__ for slot in getattr(kind, "__slots__", ()))
        return {slot: getattr(self, slot) for slot in slots if hasattr(self, slot)} | getattr(
            self, "__dict__", {}
        )

    def __repr__(self) -> str:
        """The class and what was set on this instance, in the order of the names."""
        fields = ", ".join(f"{name}={value!r}" for name, value in sorted(self._fields().items()))
        return f"<{type(self).__name__}({fields})>"


class Request(_MessageType):
    """A message that the client sends."""

    __slots__ = ()

    def update_custom_payload(self, other: Mapping[str, bytes | None] | None) -> None:
        """Add entries to the custom payload; None and an empty mapping add nothing."""
        if other:
            payload = {**(self.custom_payload or {}), **other}
            self.custom_payload = payload  # type: ignore[misc]  # subclasses have a place for it

    def send_body(self, f: BytesIO, protocol_version: int) -> None:
        """Write the body, without header, tracing or custom payload.

        Raises:
            UnsupportedOperation: the message has something that this version cannot carry.
        """
        raise NotImplementedError


class Response(_MessageType):
    """A message that the server sends."""

    __slots__ = ()

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
        """Read the body; trace id, warnings and custom payload have been read before it.

        Args:
            f: the frame's body. Bytes after the message are ignored, as section 4.2 asks.
            protocol_version: of the connection.
            protocol_features: what the server announced in SUPPORTED.
            user_type_map: class to give values of a user-defined type, by keyspace and type name.
            result_metadata: columns of the rows, for a result without metadata of its own.
            column_encryption_policy: what decrypts values of encrypted columns.

        Raises:
            MalformedFrameError: the body ends early or breaks the protocol.
            ColumnDecodeError: a value is none of its column's type.
        """
        raise NotImplementedError
