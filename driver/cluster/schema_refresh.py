"""Schema refresh: what a schema change made stale is read again, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..protocol.kinds import SchemaTargetType
from ..topology.metadata import Metadata
from ..topology.schema import reader

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from ..topology.schema.keyspace import KeyspaceMetadata
    from ..topology.schema.reader import Ask

_KEYSPACE = SchemaTargetType.KEYSPACE
_WITH_SIGNATURE = (SchemaTargetType.FUNCTION, SchemaTargetType.AGGREGATE)
#: What reads each part of the schema (None if it is gone), and what puts that into the metadata.
#: Both are told where it is: its keyspace, its name, and the types of its arguments if it has such.
_PARTS: dict[str, tuple[Callable[..., Awaitable[Any]], Callable[..., None]]] = {
    SchemaTargetType.KEYSPACE: (reader.read_keyspace, Metadata.set_keyspace),
    SchemaTargetType.TABLE: (reader.read_table, Metadata.set_table),
    SchemaTargetType.TYPE: (reader.read_type, Metadata.set_user_type),
    SchemaTargetType.FUNCTION: (reader.read_function, Metadata.set_function),
    SchemaTargetType.AGGREGATE: (reader.read_aggregate, Metadata.set_aggregate),
}


async def read_schema(
    metadata: Metadata,
    ask: Ask,
    release_version: str | None,
    before: Callable[[Iterable[KeyspaceMetadata]], Awaitable[None]] | None = None,
    *,
    target_type: str | None = None,
    keyspace: str | None = None,
    **names: object,
) -> None:
    """Read a part of the schema and put it into the metadata; what is gone is taken out.

    The part is read whatever kind of change is announced: what holds is what the server says now.

    Args:
        metadata: where the schema is kept.
        ask: runs queries, as ``driver.topology.schema.reader`` describes.
        release_version: of the server that answers.
        before: told of keyspaces that are about to be put there, and waited for.
        target_type: ``KEYSPACE``, ``TABLE`` (a view as well), ``TYPE``, ``FUNCTION`` or
            ``AGGREGATE``; None for everything.
        keyspace: in which keyspace the target is, or which one it is.
        names: ``table``, ``type``, ``function`` or ``aggregate``: a name, or for the latter two
            an object with ``name`` and ``argument_types``.

    Raises:
        DriverException: what asking raised; the metadata is as it was.
        ValueError: there is no such target, or it is not named.
    """
    if target_type is None:
        keyspaces = await reader.read_keyspaces(ask, release_version)
        if before is not None:
            await before(keyspaces.values())
        metadata.set_keyspaces(keyspaces)
        return
    name: Any = keyspace if target_type == _KEYSPACE else names.get(target_type.lower())
    if target_type not in _PARTS or keyspace is None or name is None:
        raise ValueError(f"no {target_type} of keyspace {keyspace!r} is named: {names}")
    where: tuple[Any, ...] = (keyspace, name)
    if target_type == _KEYSPACE or keyspace not in metadata.keyspaces:
        # Whoever changes something in a keyspace knows it; so should we, as a whole.
        target_type, where = _KEYSPACE, (keyspace,)
    elif target_type in _WITH_SIGNATURE:
        where = (keyspace, name.name, tuple(name.argument_types))
    read, put = _PARTS[target_type]
    new = await read(ask, release_version, *where)
    if target_type == _KEYSPACE and new is not None and before is not None:
        await before([new])
    put(metadata, *where, new)
