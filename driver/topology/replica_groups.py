"""Groups partition keys by a replica that holds them, so that each group goes to one host."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from ..types.composite import CompositeType
from ..types.record import UserType
from ..types.registry import lookup_cqltype

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..types.base import CQLType
    from .host import Host
    from .schema.keyspace import KeyspaceMetadata

#: The group of keys that no host that is up holds, as far as is known.
NO_VALID_REPLICA: Final = object()

_LOCAL: Final = 0  # HostDistance.LOCAL, which lives a layer higher


def group_keys_by_replica(
    session: Any,  # noqa: ANN401  (of layer 9)
    keyspace: str,
    table: str,
    keys: Iterable[Sequence[Any]],
) -> dict[Host | object, list[Sequence[Any]]]:
    """Partition keys by a replica that is up, a local one if there is one, chosen at random.

    Args:
        session: whose cluster's metadata and default load balancing policy are asked.
        keyspace: its name.
        table: its name.
        keys: the values of the partition key's columns, in their order, for each key.

    Returns:
        Keys by host; under ``NO_VALID_REPLICA`` those without a replica that is up.

    Raises:
        KeyError: the keyspace or table is unknown.
        TypeError: a value is none of its column's type; so are ValueError and OverflowError.
    """
    cluster = session.cluster
    description = cluster.metadata.keyspaces[keyspace]
    types = [_type_of(description, c.cql_type) for c in description.tables[table].partition_key]
    composite = CompositeType.apply_parameters(types)
    distance = cluster.load_balancing_policy.distance
    groups: dict[Host | object, list[Sequence[Any]]] = defaultdict(list)
    for key in keys:
        version = cluster.protocol_version
        routing_key = (
            types[0].serialize(key[0], version)
            if len(types) == 1
            else composite.serialize(key, version)
        )
        alive = [h for h in cluster.metadata.get_replicas(keyspace, routing_key, table) if h.is_up]
        local = [host for host in alive if distance(host) == _LOCAL]
        chosen = local or alive
        # To spread load, not to keep a secret.
        host = random.choice(chosen) if chosen else NO_VALID_REPLICA  # noqa: S311
        groups[host].append(key)
    return dict(groups)


def _type_of(keyspace: KeyspaceMetadata, cql_type: str) -> type[CQLType]:
    """The type that a text means in a keyspace, with the keyspace's own types."""
    known: dict[str, type[CQLType]] = {}
    for description in keyspace.user_types_of(cql_type):
        fields = [lookup_cqltype(text, known) for text in description.field_types]
        known[description.name] = UserType.make_udt_class(
            keyspace.name, description.name, description.field_names, fields
        )
    return lookup_cqltype(cql_type, known)
