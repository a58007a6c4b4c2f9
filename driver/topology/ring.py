"""The token ring: from a token to the host that owns it and the hosts that replicate it."""

from __future__ import annotations

import threading
from bisect import bisect_left
from typing import TYPE_CHECKING

from ..implementation import hand_over

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..protocol.typing import TokenValue
    from .host import Host
    from .metadata import Metadata
    from .replication import ReplicaMap, ReplicationStrategy
    from .schema.keyspace import KeyspaceMetadata
    from .token import Token


class PlacedReplicas(dict["Token", tuple["Host", ...]]):
    """The replicas of each range of a keyspace, by the token at its end.

    Attributes:
        strategy: what chose them.
        in_order: the same in the order of the ring, to be found without a token; empty without
            replicas.
    """

    __slots__ = ("in_order", "strategy")

    def __init__(
        self, by_token: ReplicaMap, ring: Sequence[Token], strategy: ReplicationStrategy | None
    ) -> None:
        """Copy a map for all tokens of a ring, or for none."""
        super().__init__(by_token)
        self.strategy = strategy
        self.in_order = [by_token[token] for token in ring] if by_token else []


class TokenMap:
    """The ring and, for each keyspace, the replicas of each range.

    Attributes:
        token_class: class of the ring's tokens.
        token_to_host_owner: the host that owns each token.
        ring: all tokens, ascending.
        tokens_to_hosts_by_ks: replica map by keyspace, filled when first asked for.
    """

    # Where compiled code finds them.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_ahead",
        "_metadata",
        "_rebuild_lock",
        "_values",
        "ring",
        "token_class",
        "token_to_host_owner",
        "tokens_to_hosts_by_ks",
    )

    def __init__(
        self,
        token_class: type[Token],
        token_to_host_owner: Mapping[Token, Host],
        all_tokens: Sequence[Token],
        metadata: Metadata,
    ) -> None:
        """Describe a ring; tokens need not be ordered."""
        self.token_class = token_class
        self.token_to_host_owner = token_to_host_owner
        self.ring = sorted(all_tokens)
        self.tokens_to_hosts_by_ks: dict[str, PlacedReplicas] = {}
        self._ahead: dict[str, PlacedReplicas] = {}
        self._values = self._values_to_search()
        self._metadata = metadata
        self._rebuild_lock = threading.RLock()

    def _values_to_search(self) -> Sequence[TokenValue]:
        """The values of the tokens in their order, kept as they are searched fastest."""
        return [token.value for token in self.ring]

    def primary(self, token: Token) -> Host | None:
        """The host that owns a token, keyspaces aside; None on an empty ring."""
        end = self._range_end(token)
        return None if end is None else self.token_to_host_owner[end]

    def get_replicas(self, keyspace: str, token: Token) -> tuple[Host, ...]:
        """Hosts that hold a token of a keyspace, the primary first; empty if unknown."""
        return self.replicas_at(keyspace, token.value)

    def replicas_at(self, keyspace: str, value: TokenValue) -> tuple[Host, ...]:
        """The same for the value of a token, such as ``token_class.hash_fn`` gives for a key."""
        placed = self.tokens_to_hosts_by_ks.get(keyspace)
        if placed is None:
            self.rebuild_keyspace(keyspace, build_if_absent=True)
            placed = self.tokens_to_hosts_by_ks.get(keyspace)
        if not placed:
            return ()
        replicas = placed.in_order
        place = bisect_left(self._values, value)
        return replicas[place if place < len(replicas) else 0]

    def rebuild_keyspace(self, keyspace: str, build_if_absent: bool = False) -> None:
        """Work out the replicas of a keyspace anew, if they are known or wanted."""
        with self._rebuild_lock:
            known = self.tokens_to_hosts_by_ks.get(keyspace)
            if (known is None) if build_if_absent else (known is not None):
                self._place(keyspace)

    def _place(self, keyspace: str) -> None:
        """Work out the replicas of a keyspace as it is when that is done."""
        description = self._metadata.keyspaces.get(keyspace)
        while description is not None:
            placed = description
            self.tokens_to_hosts_by_ks[keyspace] = self._placed(placed)
            # Another thread may have replaced the keyspace meanwhile, and ``keyspace_changed`` come
            # too early for the replicas that are old now.
            description = self._metadata.keyspaces.get(keyspace)
            if description is placed:
                return
        self.remove_keyspace(keyspace)

    def _placed(self, description: KeyspaceMetadata) -> PlacedReplicas:
        return PlacedReplicas(
            self.replica_map_for_keyspace(description),
            self.ring,
            description.replication_strategy,
        )

    def is_placed(self, keyspace: str, description: KeyspaceMetadata) -> bool:
        """Whether the replicas of a keyspace are known, as this description wants them."""
        placed = self.tokens_to_hosts_by_ks.get(keyspace)
        return placed is not None and placed.strategy == description.replication_strategy

    def place_ahead(self, description: KeyspaceMetadata) -> None:
        """Work out the replicas of a keyspace that is about to change, from any thread."""
        self._ahead[description.name] = self._placed(description)

    def keyspace_changed(self, keyspace: str) -> None:
        """Forget the replicas of a keyspace, unless they are right or were worked out ahead."""
        ahead = self._ahead.pop(keyspace, None)
        description = self._metadata.keyspaces.get(keyspace)
        if description is None:
            self.remove_keyspace(keyspace)
        elif not self.is_placed(keyspace, description):
            self.remove_keyspace(keyspace)
            if ahead is not None and ahead.strategy == description.replication_strategy:
                self.tokens_to_hosts_by_ks[keyspace] = ahead

    def replica_map_for_keyspace(self, ks_metadata: KeyspaceMetadata) -> ReplicaMap:
        """The replicas of each token of the ring for a keyspace; empty without a strategy."""
        strategy = ks_metadata.replication_strategy
        if strategy is None:
            return {}
        return strategy.make_token_replica_map(self.token_to_host_owner, self.ring)

    def remove_keyspace(self, keyspace: str) -> None:
        """Forget the replicas of a keyspace."""
        self.tokens_to_hosts_by_ks.pop(keyspace, None)

    def _range_end(self, token: Token) -> Token | None:
        """The ring token whose range ``(previous, it]`` holds a token; past the end the first."""
        if not self.ring:
            return None
        return self.ring[bisect_left(self._values, token.value) % len(self.ring)]


hand_over(globals())
