"""Prepared statements: what the server said about a text that it parsed once."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, Protocol, Self

from ..protocol.consistency import consistency_value_to_name
from ..protocol.errors import DriverException
from ..types.serializers import ValuesSerializer
from .base import FETCH_SIZE_UNSET, FetchSizeUnset
from .bound import bind_prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..policies.retry import RetryPolicy
    from ..protocol.columns import ColumnMetadata
    from ..wire.messages import ColumnEncryptionPolicy


#: The last bind marker whose position is one byte.
_MAX_BYTE = 255


class _Named(Protocol):
    @property
    def name(self) -> str: ...


class _Table(Protocol):
    @property
    def partition_key(self) -> Iterable[_Named]: ...


class _Keyspace(Protocol):
    @property
    def tables(self) -> Mapping[str, _Table]: ...


class ClusterMetadata(Protocol):
    """Where the partition key of a table is looked up: ``driver.topology.metadata.Metadata``."""

    @property
    def keyspaces(self) -> Mapping[str, _Keyspace]:
        """By name."""


class PreparedStatement:
    """A text that the server parsed once, to be bound to values many times.

    Attributes:
        column_metadata: a description of each bind marker, in order.
        marker_names: the name of each bind marker, in order.
        distinct_names: how many of them differ.
        query_id: the server's name for the statement; one that no server knows once it is outdated.
        outdated: what a change of the schema did to its markers, for which it has to be prepared
            anew; empty as long as nothing did.
        routing_key_indexes: bind markers that hold the partition key, in the key's order; None
            if some part of it is not bound.
        routing_key_index_set: the same as a set; empty without.
        key_of: takes the bound values, gives those of the partition key: one by itself, several
            as a tuple; None without ``routing_key_indexes``, from which it is made once.
        has_composite_key: whether ``key_of`` gives several.
        query_string: the CQL text.
        keyspace: the keyspace in which it was prepared (v5).
        protocol_version: version of the connection that prepared it, and of bound bytes.
        result_metadata: description of the result's columns; None or empty without rows.
        result_metadata_id: the server's name for that description (v5).
        column_encryption_policy: what encrypts bound values; None if nothing does.
        serializer: encodes the values of the bind markers, in a way chosen once for each by its
            type.
        known_by: where the same text was prepared before, that statement: the cluster remembers
            one a text, for as long as somebody holds it.
        consistency_level: default for statements bound from this one; so are
            serial_consistency_level, fetch_size, retry_policy, custom_payload, is_idempotent.
    """

    # As of ``Statement``.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_is_lwt",
        "_key_markers",
        "_routing_key_indexes",
        "column_encryption_policy",
        "column_metadata",
        "consistency_level",
        "custom_payload",
        "distinct_names",
        "fetch_size",
        "has_composite_key",
        "is_idempotent",
        "key_of",
        "keyspace",
        "known_by",
        "marker_names",
        "outdated",
        "protocol_version",
        "query_id",
        "query_string",
        "result_metadata",
        "result_metadata_id",
        "retry_policy",
        "routing_key_index_set",
        "serial_consistency_level",
        "serializer",
    )

    def __init__(
        self,
        column_metadata: Sequence[ColumnMetadata],
        query_id: bytes,
        routing_key_indexes: Sequence[int] | None,
        query: str,
        keyspace: str | None,
        protocol_version: int,
        result_metadata: Sequence[ColumnMetadata] | None,
        result_metadata_id: bytes | None,
        is_lwt: bool = False,
        column_encryption_policy: ColumnEncryptionPolicy | None = None,
    ) -> None:
        """Describe a statement that a server prepared."""
        self.column_metadata = column_metadata
        self.marker_names = [column.name for column in column_metadata]
        self.distinct_names = len(set(self.marker_names))
        self.query_id = query_id
        self.routing_key_indexes = routing_key_indexes
        self.query_string = query
        self.keyspace = keyspace
        self.protocol_version = protocol_version
        self.result_metadata = result_metadata
        self.result_metadata_id = result_metadata_id
        self._is_lwt = is_lwt
        self.known_by: PreparedStatement | None = None
        self.outdated = ""
        self.column_encryption_policy = column_encryption_policy
        self.serializer = ValuesSerializer(column.type for column in column_metadata)
        self.consistency_level: int | None = None
        self.serial_consistency_level: int | None = None
        self.fetch_size: int | FetchSizeUnset | None = FETCH_SIZE_UNSET
        self.retry_policy: RetryPolicy | None = None
        self.custom_payload: dict[str, bytes | None] | None = None
        self.is_idempotent = False

    @property
    def routing_key_indexes(self) -> Sequence[int] | None:
        """See the class."""
        return self._routing_key_indexes

    @routing_key_indexes.setter
    def routing_key_indexes(self, indexes: Sequence[int] | None) -> None:
        self._routing_key_indexes = indexes
        self.routing_key_index_set = frozenset(indexes or ())
        # A byte each, for compiled code; none where one byte cannot say it.
        fits = all(0 <= at <= _MAX_BYTE for at in self.routing_key_index_set)
        self._key_markers = bytes([*(indexes or ())]) if fits else b""
        self.key_of: Callable[[Sequence[Any]], Any] | None = (
            itemgetter(*indexes) if indexes else None
        )
        self.has_composite_key = indexes is not None and len(indexes) > 1

    def is_lwt(self) -> bool:
        """Whether the server marked it as conditional (ScyllaDB)."""
        return self._is_lwt

    @classmethod
    def from_message(
        cls,
        query_id: bytes,
        column_metadata: Sequence[ColumnMetadata],
        pk_indexes: Sequence[int] | None,
        cluster_metadata: ClusterMetadata | None,
        query: str,
        prepared_keyspace: str | None,
        protocol_version: int,
        result_metadata: Sequence[ColumnMetadata] | None,
        result_metadata_id: bytes | None,
        is_lwt: bool = False,
        column_encryption_policy: ColumnEncryptionPolicy | None = None,
    ) -> Self:
        """A statement from the fields of a PREPARED result.

        Args:
            query_id: the server's name for it.
            column_metadata: its bind markers.
            pk_indexes: the markers of the partition key as the server says (v4 and later).
            cluster_metadata: where the key is looked up if the server does not say.
            query: the CQL text.
            prepared_keyspace: the keyspace that the request named.
            protocol_version: version of the connection.
            result_metadata: the result's columns.
            result_metadata_id: the server's name for these (v5).
            is_lwt: whether the server marked it as conditional.
            column_encryption_policy: what encrypts bound values.

        Returns:
            The prepared statement.
        """
        if pk_indexes:
            routing_key_indexes: Sequence[int] | None = pk_indexes
        else:
            routing_key_indexes = _partition_key_markers(column_metadata, cluster_metadata)
        return cls(
            column_metadata,
            query_id,
            routing_key_indexes,
            query,
            prepared_keyspace,
            protocol_version,
            result_metadata,
            result_metadata_id,
            is_lwt,
            column_encryption_policy,
        )

    bind = bind_prepared

    def is_routing_key_index(self, i: int) -> bool:
        """Whether bind marker ``i`` is part of the partition key."""
        return i in self.routing_key_index_set

    def update_result_metadata(
        self, result_metadata: Sequence[ColumnMetadata] | None, result_metadata_id: bytes | None
    ) -> None:
        """Take over a new description of the result, after a change of the schema.

        The description goes first: a request that is built in between names the old one, so the
        server sends the description along. The other way round it would be decoded wrongly.
        """
        self.result_metadata = result_metadata
        self.result_metadata_id = result_metadata_id

    def difference_from(
        self, column_metadata: Sequence[ColumnMetadata], pk_indexes: Sequence[int] | None
    ) -> str:
        """How other markers of the same text differ from these; nothing if values stay the same.

        A user type is the same by its name, whatever fields were added to it.

        Args:
            column_metadata: the markers, as a server says now.
            pk_indexes: those of the partition key; None or empty if it does not say. In v3 they
                come from the schema, which may have been read since these were.
        """
        pairs = zip(self.column_metadata, column_metadata, strict=False)
        types = [(old.name, _type_of(old), _type_of(new)) for old, new in pairs]
        found = [f"{name} was {old}, is {new}" for name, old, new in types if old != new]
        known = self.routing_key_indexes
        if pk_indexes and known and list(pk_indexes) != list(known):
            found.append("the partition key is another one")
        return ", ".join(found)

    def outdate(self, difference: str) -> None:
        """Have no server take values that were bound to markers as they were.

        Servers give the same text the same id, whatever its table is now, so the bytes of an int
        would be written as a float. With an id that no server knows, executing one that was bound
        before is an error, and others do not pay for being asked.
        """
        self.outdated = difference
        self.query_id = bytes(byte ^ 0xFF for byte in self.query_id)

    def outdated_error(self) -> DriverException:
        """Why it cannot be executed any more."""
        return DriverException(
            f"the schema changed ({self.outdated}): prepare {self.query_string!r} anew, and bind "
            "again"
        )

    def __repr__(self) -> str:
        """Text and consistency level."""
        return (
            f'<{type(self).__name__} query="{self.query_string}", '
            f"consistency={consistency_value_to_name(self.consistency_level)}>"
        )


def _type_of(column: ColumnMetadata) -> str:
    """The type of a column in CQL."""
    return str(column.type.cql_parameterized_type())


def _partition_key_markers(
    column_metadata: Sequence[ColumnMetadata], cluster_metadata: ClusterMetadata | None
) -> list[int] | None:
    """The bind markers of the partition key by the schema; None if one is missing or unknown.

    A v3 server does not say them. If a column is bound twice, its last marker counts.
    """
    if not column_metadata or cluster_metadata is None:
        return None
    first = column_metadata[0]
    keyspace = cluster_metadata.keyspaces.get(first.keyspace_name)
    table = keyspace.tables.get(first.table_name) if keyspace else None
    if table is None:
        return None
    marker_of = {column.name: index for index, column in enumerate(column_metadata)}
    markers = [marker_of.get(column.name) for column in table.partition_key]
    known = [marker for marker in markers if marker is not None]
    return known if known and len(known) == len(markers) else None
