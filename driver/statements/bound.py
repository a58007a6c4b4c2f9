"""Bound statements: a prepared statement and the bytes of its values."""

from __future__ import annotations

import struct
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Any, Never, Self

from ..implementation import hand_over
from ..protocol.columns import ColDesc, ColumnMetadata
from ..protocol.limits import shortened
from ..protocol.unset import UNSET_VALUE, UnsetType
from .base import FETCH_SIZE_UNSET, FetchSizeUnset, Statement
from .routing_key import pack_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..policies.retry import RetryPolicy
    from ..protocol.typing import Parameters
    from ..wire.messages import ColumnEncryptionPolicy
    from .prepared import PreparedStatement

#: The oldest version whose requests can leave a bound value out.
_UNSET_SINCE = 4


class BoundStatement(Statement):
    """A prepared statement whose bind markers have values.

    Attributes:
        prepared_statement: what was bound.
        values: serialised values, ``None`` for null, ``UNSET_VALUE`` for what is left as it is.
        raw_values: the values as they were given, in the order of the bind markers: a list or
            tuple.
    """

    __slots__ = ("prepared_statement", "raw_values", "values")

    values: list[bytes | UnsetType | None]
    raw_values: Sequence[Any]

    def __init__(
        self,
        prepared_statement: PreparedStatement,
        retry_policy: RetryPolicy | None = None,
        consistency_level: int | None = None,
        routing_key: bytes | Sequence[bytes] | None = None,
        serial_consistency_level: int | None = None,
        fetch_size: int | FetchSizeUnset | None = FETCH_SIZE_UNSET,
        keyspace: str | None = None,
        custom_payload: dict[str, bytes | None] | None = None,
    ) -> None:
        """Start without values; options that are not given come from the prepared statement."""
        self.prepared_statement = prepared_statement
        self.values = []
        self.raw_values = []
        if consistency_level is None:
            consistency_level = prepared_statement.consistency_level
        if serial_consistency_level is None:
            serial_consistency_level = prepared_statement.serial_consistency_level
        if fetch_size is FETCH_SIZE_UNSET:
            fetch_size = prepared_statement.fetch_size
        # What the base class does, but not by way of it: every request begins here.
        self.retry_policy = (
            prepared_statement.retry_policy if retry_policy is None else retry_policy
        )
        self.consistency_level = consistency_level
        self.fetch_size = fetch_size
        self.custom_payload = custom_payload or prepared_statement.custom_payload
        self.is_idempotent = prepared_statement.is_idempotent
        markers = prepared_statement.column_metadata
        if markers:
            first = markers[0]
            self.keyspace, self.table = first.keyspace_name, first.table_name
        else:
            self.keyspace, self.table = keyspace, None
        self._routing_key = None
        self._serial_consistency_level = None
        if routing_key is not None:
            self.routing_key = routing_key
        if serial_consistency_level is not None:
            self.serial_consistency_level = serial_consistency_level

    def bind(self, values: Parameters) -> Self:
        """Serialise values for the bind markers.

        Args:
            values: a sequence in the order of the markers, or a dict by column name. From
                protocol v4 on, markers without a value are left unset.

        Returns:
            This statement.

        Raises:
            ValueError: too many values, or too few before v4; a name that no marker has;
                UNSET_VALUE before v4, or for a part of the partition key; a value that its type
                cannot express.
            KeyError: a dict lacks a column, before v4.
            TypeError: a text or a set in place of a sequence; a value of the wrong type, or outside
                the type's range; the message says which.
        """
        prepared = self.prepared_statement
        markers = prepared.column_metadata
        given: list[Any] | tuple[Any, ...]
        if (type(values) is tuple or type(values) is list) and len(values) == len(markers):
            given = values  # as nearly always
        else:
            given = self._in_marker_order(values)
        found: list[bytes | UnsetType | None] = []
        if prepared.column_encryption_policy is None:
            try:
                prepared.serializer.append(found, given, prepared.protocol_version)
            except _CANNOT_SERIALIZE as exc:
                self._refuse(found, given, exc)
        else:
            self._serialize_encrypted(found, given, prepared.column_encryption_policy)
        if len(found) < len(markers):
            self._leave_unset(found, given)
        # Only now, and as a whole: other threads may bind this statement as well.
        self.raw_values = given
        self.values = found
        if prepared.key_of is not None:
            self._routing_key = None
        return self

    def _leave_unset(self, found: list[Any], given: list[Any] | tuple[Any, ...]) -> None:
        """Append what is unset or was not given, and the bytes of what is between."""
        prepared = self.prepared_statement
        while len(found) < len(given):
            self._append_unset_value(found)
            try:
                prepared.serializer.append(found, given, prepared.protocol_version)
            except _CANNOT_SERIALIZE as exc:
                self._refuse(found, given, exc)
        for _ in range(len(prepared.column_metadata) - len(found)):
            self._append_unset_value(found)

    def _refuse(
        self, found: list[Any], given: list[Any] | tuple[Any, ...], exc: Exception
    ) -> Never:
        """Raise what is wrong with the value behind those that have their bytes."""
        at = len(found)
        _raise_naming_column(exc, given[at], self.prepared_statement.column_metadata[at])

    def _serialize_encrypted(
        self, found: list[Any], given: Sequence[Any], policy: ColumnEncryptionPolicy
    ) -> None:
        """The same, but encrypt the values of columns that the policy has."""
        prepared = self.prepared_statement
        proto_version = prepared.protocol_version
        for value, col_spec in zip(given, prepared.column_metadata, strict=False):
            if value is None:
                found.append(None)
            elif value is UNSET_VALUE:
                self._append_unset_value(found)
            else:
                try:
                    col_desc = ColDesc(col_spec.keyspace_name, col_spec.table_name, col_spec.name)
                    if policy.contains_column(col_desc):
                        col_bytes = policy.column_type(col_desc).serialize(value, proto_version)
                        col_bytes = policy.encrypt(col_desc, col_bytes)
                    else:
                        col_bytes = col_spec.type.serialize(value, proto_version)
                    found.append(col_bytes)
                except _CANNOT_SERIALIZE as exc:
                    _raise_naming_column(exc, value, col_spec)

    def is_lwt(self) -> bool:
        """What the prepared statement is known to be."""
        return self.prepared_statement.is_lwt()

    @property
    def routing_key(self) -> bytes | None:
        """The partition key of the bound values; None if it is not bound whole, or not known.

        It is packed when first asked for. Where the statement does not know its partition key,
        it is what was set.
        """
        if self._routing_key is None:
            prepared = self.prepared_statement
            if prepared.key_of is not None and self.values:
                key = prepared.key_of(self.values)
                try:
                    self._routing_key = pack_parts(key) if prepared.has_composite_key else key
                except TypeError:
                    # A null has no length. The server refuses it, in better words than ours; to
                    # look for it beforehand cost every key 5 %.
                    return None
        return self._routing_key

    @routing_key.setter
    def routing_key(self, key: bytes | str | Sequence[bytes] | None) -> None:
        self._set_routing_key(key)

    @routing_key.deleter
    def routing_key(self) -> None:
        self._routing_key = None

    def _in_marker_order(self, values: Parameters) -> list[Any] | tuple[Any, ...]:
        """The given values as a list or tuple, not too long nor, before v4, too short."""
        prepared = self.prepared_statement
        markers, unset_allowed = prepared.column_metadata, prepared.protocol_version >= _UNSET_SINCE
        if isinstance(values, dict):
            return self._of_dict(values, unset_allowed)
        if values is None:
            values = ()
        try:
            count = len(values)
        except TypeError:
            _refuse_text(values)
            raise
        if count > len(markers):
            _refuse_text(values)
            raise ValueError(f"{count} values are too many for {len(markers)} bind markers")
        if count < len(markers) and not unset_allowed:
            raise ValueError(
                f"{count} values are too few for {len(markers)} bind markers: none can be "
                f"left unset before protocol version {_UNSET_SINCE}"
            )
        if type(values) is tuple or type(values) is list:
            return values
        _refuse_text(values)
        return list(islice(values, len(markers)))

    def _of_dict(self, values: dict[str, Any], unset_allowed: bool) -> list[Any]:
        """The values of a dict in the order of the markers, if it has no others."""
        names = self.prepared_statement.marker_names
        try:
            given = [values[name] for name in names]
        except KeyError as missing:
            _refuse_unknown(values, names)
            if unset_allowed:
                return [values.get(name, UNSET_VALUE) for name in names]
            raise KeyError(f"the dict has no value for column {missing.args[0]!r}") from None
        if len(values) > self.prepared_statement.distinct_names:
            _refuse_unknown(values, names)
        return given

    def _append_unset_value(self, found: list[Any]) -> None:
        """Leave the next bind marker unset."""
        prepared = self.prepared_statement
        if prepared.protocol_version < _UNSET_SINCE:
            raise ValueError(
                f"UNSET_VALUE needs protocol version {_UNSET_SINCE}, this is "
                f"{prepared.protocol_version}"
            )
        index = len(found)
        if index in prepared.routing_key_index_set:
            name = prepared.column_metadata[index].name
            raise ValueError(f"UNSET_VALUE for {name!r}, a part of the partition key")
        found.append(UNSET_VALUE)

    def __repr__(self) -> str:
        """Text, values as given, and consistency level."""
        return (
            f'<{type(self).__name__} query="{self.prepared_statement.query_string}", '
            f"values={self.raw_values}, consistency={self._consistency_name()}>"
        )


def bind_prepared(self: PreparedStatement, values: Parameters) -> BoundStatement:
    """A statement of this one and values; see ``BoundStatement.bind``."""
    return BoundStatement(self).bind(values)


def _refuse_text(values: Sequence[Any]) -> None:
    """Refuse a text, of which each character would be a value; a value alone; and a set."""
    if isinstance(values, set | frozenset):
        raise TypeError(f"values are a sequence or a dict, not {values!r}: a set has no order")
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise TypeError(f"values are a sequence or a dict, not {values!r}: a tuple of one is (x,)")


def _refuse_unknown(values: dict[str, Any], names: list[str]) -> None:
    """Refuse a dict with names that are no markers: one that is misspelt would be left unset."""
    for unknown in values:
        if unknown not in names:
            near = get_close_matches(str(unknown), names, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
            raise ValueError(f"no bind marker is called {unknown!r}: {shortened(hint)}")


#: What serializers raise -> what binding raises, and how it says so. The first that fits counts:
#: ValueError, the last, is for a value of the right type that has no bytes (an address that is
#: none, text outside ASCII). A number out of range stays a TypeError, which callers of CQL drivers
#: catch for both; the message tells them apart.
_REFUSALS: tuple[tuple[type[Exception], type[Exception], str], ...] = (
    (OverflowError, TypeError, "a value out of range"),
    (struct.error, TypeError, "a value out of range"),
    (TypeError, TypeError, "an argument of invalid type"),
    (AttributeError, TypeError, "an argument of invalid type"),
    (ValueError, ValueError, "an invalid argument"),
)
_CANNOT_SERIALIZE = tuple(raised for raised, _, _ in _REFUSALS)


def _raise_naming_column(exc: Exception, value: object, column: ColumnMetadata) -> Never:
    """Raise TypeError or ValueError that says which column could not be bound, and why.

    The first words are those of other drivers: applications match on them.
    """
    kind, problem = next(
        (kind, problem) for raised, kind, problem in _REFUSALS if isinstance(exc, raised)
    )
    raise kind(
        f'Received {problem} for column "{column.name}". '
        f"Expected: {column.type}, Got: {type(value)}; ({exc})"
    ) from exc


hand_over(globals())
