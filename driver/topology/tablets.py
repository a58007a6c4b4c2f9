"""Tablets: ScyllaDB's ranges of a table's tokens, learnt from payloads of answers.

A node that receives a request for a token it does not own adds ``tablets-routing-v1`` to the
custom payload of its answer: first token, last token and replicas of the tablet. By the second
version of the extension, each EXECUTE shows a part of the version of the tablet that the client
knows, and a node adds ``tablets-routing-v2``, with the version, wherever that part is another one.
Source: ScyllaDB's ``docs/dev/protocol-extensions.md`` ("Tablets routing v1" and "v2").
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from dataclasses import dataclass
from operator import attrgetter
from random import getrandbits
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from .token import Token

#: Types of the payloads, as strings of the server's marshal classes.
TABLET_PAYLOAD_TYPE = "TupleType(LongType, LongType, ListType(TupleType(UUIDType, Int32Type)))"
TABLET_V2_PAYLOAD_TYPE = (
    "TupleType(LongType, LongType, ListType(TupleType(UUIDType, Int32Type)), LongType)"
)

_last_token = attrgetter("last_token")
_first_token = attrgetter("first_token")


@dataclass(frozen=True, slots=True)
class Tablet:
    """One tablet: the tokens in ``(first_token, last_token]`` and who holds them.

    Attributes:
        first_token: lower border, not part of the tablet.
        last_token: upper border, part of the tablet.
        replicas: pairs of host id and shard.
        version: changes with them; None from a server that says none.
    """

    first_token: int
    last_token: int
    replicas: tuple[tuple[UUID, int], ...]
    version: int | None = None

    @staticmethod
    def from_row(
        first_token: int,
        last_token: int,
        replicas: Iterable[tuple[UUID, int]] | None,
        version: int | None = None,
    ) -> Tablet | None:
        """A tablet from the fields of its payload; None if it names no replicas, or no shard."""
        known = []
        for host, shard in replicas or ():
            if shard is None or shard < 0:
                return None
            known.append((host, shard))
        return Tablet(first_token, last_token, tuple(known), version) if known else None

    def replica_contains_host_id(self, host_id: UUID) -> bool:
        """Whether a host holds this tablet."""
        return any(replica == host_id for replica, _ in self.replicas)


def version_block(tablet: Tablet | None) -> int:
    """What an EXECUTE shows of the version of a tablet: a byte.

    The upper four bits say which four of the version's 64 the lower ones are, counted from the
    least significant. They are drawn, so that in time all of them are compared. Any byte is right
    for a version that is not known; most of them make the server tell the tablet.
    """
    if tablet is None or tablet.version is None:
        return getrandbits(8)
    block = getrandbits(4)
    return block << 4 | tablet.version >> 4 * block & 0xF


class Tablets:
    """The tablets known of each table: disjoint, ordered by token, found by bisection.

    Lists are never changed, only replaced, so that lookups need no lock.

    Attributes:
        by_table: tablets by keyspace and table; empty for most clusters.
    """

    __slots__ = ("_lock", "by_table")

    def __init__(self, tablets: dict[tuple[str, str], list[Tablet]] | None = None) -> None:
        """Start from tablets by keyspace and table, ordered by token; empty by default."""
        self.by_table: dict[tuple[str, str], list[Tablet]] = dict(tablets or {})
        self._lock = threading.Lock()

    def table_has_tablets(self, keyspace: str, table: str) -> bool:
        """Whether any tablet of a table is known."""
        return bool(self.by_table.get((keyspace, table)))

    def get_tablet_for_key(self, keyspace: str, table: str, token: Token) -> Tablet | None:
        """The known tablet that a token falls into, or None."""
        return self.tablet_at(keyspace, table, token.value)

    def tablet_at(self, keyspace: str, table: str, value: int) -> Tablet | None:
        """The same for the value of a token."""
        tablets = self.by_table.get((keyspace, table))
        if not tablets:
            return None
        index = bisect_left(tablets, value, key=_last_token)
        if index < len(tablets) and tablets[index].first_token < value:
            return tablets[index]
        return None

    def add_tablet(self, keyspace: str, table: str, tablet: Tablet) -> None:
        """Remember a tablet and forget those that it overlaps: they were split, merged or moved."""
        with self._lock:
            known = self.by_table.get((keyspace, table), [])
            # Disjoint and ordered, so the overlapping ones stand together.
            start = bisect_left(known, tablet.first_token + 1, key=_last_token)
            end = bisect_left(known, tablet.last_token, key=_first_token)
            self.by_table[keyspace, table] = [*known[:start], tablet, *known[max(start, end) :]]

    def drop_tablets(self, keyspace: str, table: str | None = None) -> None:
        """Forget the tablets of a table, or of all tables of a keyspace."""
        with self._lock:
            self.by_table = {
                key: tablets
                for key, tablets in self.by_table.items()
                if key[0] != keyspace or (table is not None and key[1] != table)
            }

    def drop_tablets_by_host_id(self, host_id: UUID | None) -> None:
        """Forget the tablets that a host holds: it left, or changed its shards."""
        if host_id is None:
            return
        with self._lock:
            self.by_table = {
                key: [t for t in tablets if not t.replica_contains_host_id(host_id)]
                for key, tablets in self.by_table.items()
            }
