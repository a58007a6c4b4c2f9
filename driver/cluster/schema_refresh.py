"""Schema refresh: what a schema change made stale is read again, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ..protocol.kinds import SchemaTargetType
from ..topology.schema import reader

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ..topology.metadata import Metadata
    from ..topology.schema.reader import Ask
    from ..wire.responses.schema_change import SignatureDescriptor

    #: Reads one part of the schema, and puts it into the metadata.
    Refresh: TypeAlias = Callable[[Metadata, Ask, str | None, str, Any], Awaitable[None]]


async def read_schema(
    metadata: Metadata,
    ask: Ask,
    release_version: str | None,
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
        metadata.set_keyspaces(await reader.read_keyspaces(ask, release_version))
        return
    refresh = _REFRESHES.get(target_type)
    name = keyspace if refresh is _keyspace else names.get(target_type.lower())
    if refresh is None or keyspace is None or name is None:
        raise ValueError(f"no {target_type} of keyspace {keyspace!r} is named: {names}")
    if keyspace not in metadata.keyspaces:
        # Whoever changes something in a keyspace knows it; so should we, as a whole.
        refresh = _keyspace
    await refresh(metadata, ask, release_version, keyspace, name)


async def _keyspace(
    metadata: Metadata, ask: Ask, release_version: str | None, keyspace: str, _: object
) -> None:
    metadata.set_keyspace(keyspace, await reader.read_keyspace(ask, release_version, keyspace))


async def _table(
    metadata: Metadata, ask: Ask, release_version: str | None, keyspace: str, name: str
) -> None:
    metadata.set_table(
        keyspace, name, await reader.read_table(ask, release_version, keyspace, name)
    )


async def _type(
    metadata: Metadata, ask: Ask, release_version: str | None, keyspace: str, name: str
) -> None:
    metadata.set_user_type(
        keyspace, name, await reader.read_type(ask, release_version, keyspace, name)
    )


async def _function(
    metadata: Metadata,
    ask: Ask,
    release_version: str | None,
    keyspace: str,
    signature: SignatureDescriptor,
) -> None:
    name, types = signature.name, tuple(signature.argument_types)
    found = await reader.read_function(ask, release_version, keyspace, name, types)
    metadata.set_function(keyspace, name, types, found)


async def _aggregate(
    metadata: Metadata,
    ask: Ask,
    release_version: str | None,
    keyspace: str,
    signature: SignatureDescriptor,
) -> None:
    name, types = signature.name, tuple(signature.argument_types)
    found = await reader.read_aggregate(ask, release_version, keyspace, name, types)
    metadata.set_aggregate(keyspace, name, types, found)


_REFRESHES: dict[str, Refresh] = {
    SchemaTargetType.KEYSPACE: _keyspace,
    SchemaTargetType.TABLE: _table,
    SchemaTargetType.TYPE: _type,
    SchemaTargetType.FUNCTION: _function,
    SchemaTargetType.AGGREGATE: _aggregate,
}
