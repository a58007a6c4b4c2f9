"""User-defined types of the application: classes that stand for them in literals and in rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..types.type_string import quote_identifier

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..protocol.typing import CqlValue
    from ..topology.metadata import Metadata
    from ..types.literals import Encoder


class UserTypeDoesNotExist(Exception):  # noqa: N818  (the name that users of CQL drivers catch)
    """A class was registered for a type that the cluster does not have, as far as is known."""


def field_names(metadata: Metadata, keyspace: str, user_type: str) -> Sequence[str]:
    """The fields of a user-defined type.

    Raises:
        UserTypeDoesNotExist: the schema has no such type, or no such keyspace.
    """
    known = metadata.keyspaces.get(keyspace)
    if known is None:
        raise UserTypeDoesNotExist(
            f"no keyspace {keyspace} is known, in which the type {user_type} would be"
        )
    description = known.user_types.get(user_type)
    if description is None:
        raise UserTypeDoesNotExist(f"keyspace {keyspace} has no user-defined type {user_type}")
    names: Sequence[str] = description.field_names
    return names


def literal_of(
    metadata: Metadata, encoder: Encoder, keyspace: str, user_type: str
) -> Callable[[Any], str]:
    """What writes an instance of a registered class as ``{field: value, ...}``.

    The fields are looked up for each value: the type may be altered, or made after the class was
    registered.
    """

    def literal(value: CqlValue) -> str:
        names = field_names(metadata, keyspace, user_type)
        fields = (
            f"{quote_identifier(name)}: {encoder.cql_encode_all_types(getattr(value, name, None))}"
            for name in names
        )
        return f"{{{', '.join(fields)}}}"

    return literal
