"""Shards: which core of a ScyllaDB node owns a token.

Source: ScyllaDB's ``docs/dev/protocol-extensions.md`` ("Intranode sharding"). A node announces its
number of shards and how many of the token's most significant bits to ignore in SUPPORTED, which
``driver.wire.features`` parses.
"""

from __future__ import annotations

_MASK = 0xFFFFFFFFFFFFFFFF
_SIGN = 1 << 63


def shard_of(token: int, nr_shards: int, msb_ignore: int = 0) -> int:
    """The shard that owns a Murmur3 token: the "biased-token-round-robin" algorithm.

    Args:
        token: signed 64-bit token.
        nr_shards: shards of the node, at least 1.
        msb_ignore: most significant bits to drop, so that all shards share every range.

    Returns:
        A number from 0 to ``nr_shards - 1``.
    """
    biased = ((token + _SIGN) << msb_ignore) & _MASK
    return (biased * nr_shards) >> 64


def source_ports_of_shard(
    shard: int, nr_shards: int, lowest: int = 49152, highest: int = 65535
) -> range:
    """Source ports that make a node's shard-aware port choose a shard: those equal to it modulo.

    Args:
        shard: the wanted shard.
        nr_shards: shards of the node.
        lowest: first port that may be used; the default is the start of the ephemeral range.
        highest: last port that may be used.

    Returns:
        The ports in ascending order, empty if the interval is too narrow.
    """
    first = lowest + (shard - lowest) % nr_shards
    return range(first, highest + 1, nr_shards)
