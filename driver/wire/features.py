"""What a server's SUPPORTED says beyond Cassandra: ScyllaDB's protocol extensions.

Source: ScyllaDB, docs/dev/protocol-extensions.md. An extension is there if its key is in the
multimap of SUPPORTED; parameters are entries ``NAME=VALUE`` of its list. A client turns an
extension on by sending its key in STARTUP.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from ..protocol.limits import shortened
from ..protocol.version import ProtocolVersion

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping, Sequence

log = logging.getLogger(__name__)

#: More than any machine has cores: each is a connection.
_MOST_SHARDS: Final = 1024
#: Of a token of 64 bits, one at least has to choose the shard.
_MOST_IGNORED: Final = 63
_PORTS: Final = (1, 65535)
_INTS: Final = (-(1 << 31), (1 << 31) - 1)
_MASKS: Final = (1, (1 << 32) - 1)

RATE_LIMIT_ERROR_EXTENSION = "SCYLLA_RATE_LIMIT_ERROR"
TABLETS_ROUTING_V1 = "TABLETS_ROUTING_V1"
#: The server's name for it while its format may change.
TABLETS_ROUTING_V2 = "TABLETS_ROUTING_V2_EXPERIMENTAL"
USE_METADATA_ID = "SCYLLA_USE_METADATA_ID"
LWT_ADD_METADATA_MARK = "SCYLLA_LWT_ADD_METADATA_MARK"
_LWT_MASK = "LWT_OPTIMIZATION_META_BIT_MASK"

#: Keys of the custom payload in which tablets arrive.
TABLETS_ROUTING_PAYLOAD = "tablets-routing-v1"
TABLETS_ROUTING_V2_PAYLOAD = "tablets-routing-v2"


@dataclass(frozen=True, slots=True)
class ShardingInfo:
    """How a node splits its tokens among its cores, and which core this connection reached.

    Attributes:
        shard_id: the core behind this connection, counted from 0.
        shards_count: cores of the node.
        partitioner: full class name.
        sharding_algorithm: ``biased-token-round-robin`` is the only one defined.
        sharding_ignore_msb: most significant bits of the token that the algorithm ignores.
        shard_aware_port: port where the client's own port chooses the shard; None if none.
        shard_aware_port_ssl: the same with TLS.
    """

    shard_id: int
    shards_count: int
    partitioner: str
    sharding_algorithm: str
    sharding_ignore_msb: int
    shard_aware_port: int | None = None
    shard_aware_port_ssl: int | None = None

    @classmethod
    def parse(cls, options: Mapping[str, Sequence[str]]) -> Self | None:
        """The sharding of a SUPPORTED multimap; None if it has none, or one that we do not know."""
        shards = _number(options, "SCYLLA_NR_SHARDS", (1, _MOST_SHARDS))
        shard = _number(options, "SCYLLA_SHARD", (0, (shards or 1) - 1))
        ignore_msb = _number(options, "SCYLLA_SHARDING_IGNORE_MSB", (0, _MOST_IGNORED))
        partitioner = _first(options, "SCYLLA_PARTITIONER")
        algorithm = _first(options, "SCYLLA_SHARDING_ALGORITHM")
        # The class counts, not its package: the document gives one, servers send another.
        known = (
            partitioner.rpartition(".")[2] == "Murmur3Partitioner"
            and algorithm == "biased-token-round-robin"
        )
        if shard is None or shards is None or ignore_msb is None or not known:
            return None
        return cls(
            shard,
            shards,
            partitioner,
            algorithm,
            ignore_msb,
            _number(options, "SCYLLA_SHARD_AWARE_PORT", _PORTS),
            _number(options, "SCYLLA_SHARD_AWARE_PORT_SSL", _PORTS),
        )


@dataclass(frozen=True, slots=True)
class ProtocolFeatures:
    """The extensions that one connection uses.

    Attributes:
        rate_limit_error: code of the error for a partition's rate limit; None without it.
        sharding_info: how the node shards; None on Cassandra.
        tablets_routing_v1: results may bring a tablet in their custom payload.
        tablets_routing_v2: the same, with the version of the tablet, of which each EXECUTE shows
            a part; in place of the first one.
        use_metadata_id: PREPARED and EXECUTE have the id of the result's metadata as in v5.
        lwt_metadata_mask: bit of a prepared statement's metadata flags that marks a lightweight
            transaction; 0 without the extension.
    """

    rate_limit_error: int | None = None
    sharding_info: ShardingInfo | None = None
    tablets_routing_v1: bool = False
    lwt_metadata_mask: int = 0
    tablets_routing_v2: bool = False
    use_metadata_id: bool = False

    @classmethod
    def parse_from_supported(
        cls,
        supported: Mapping[str, Sequence[str]],
        protocol_version: int = ProtocolVersion.V4,
    ) -> Self:
        """Read the multimap of a SUPPORTED message.

        What is missing or malformed is off; a number that cannot be is logged, too. So is what
        changes EXECUTE unless the version is v4, for which it is meant, and the shards are known:
        requests look at what a connection needs where they look for its shard.
        """
        sharding = ShardingInfo.parse(supported)
        changes_execute = sharding is not None and protocol_version == ProtocolVersion.V4
        tablets_routing_v2 = changes_execute and TABLETS_ROUTING_V2 in supported
        return cls(
            rate_limit_error=_parameter(supported, RATE_LIMIT_ERROR_EXTENSION, "ERROR_CODE", _INTS),
            sharding_info=sharding,
            tablets_routing_v1=TABLETS_ROUTING_V1 in supported and not tablets_routing_v2,
            lwt_metadata_mask=_parameter(supported, LWT_ADD_METADATA_MARK, _LWT_MASK, _MASKS) or 0,
            tablets_routing_v2=tablets_routing_v2,
            use_metadata_id=changes_execute and USE_METADATA_ID in supported,
        )

    @property
    def shard_id(self) -> int:
        """The core behind this connection; 0 where there is no sharding."""
        return self.sharding_info.shard_id if self.sharding_info else 0

    def add_startup_options(self, options: MutableMapping[str, str]) -> None:
        """Add the keys to STARTUP's options that turn the extensions on."""
        if self.rate_limit_error is not None:
            options[RATE_LIMIT_ERROR_EXTENSION] = ""
        if self.tablets_routing_v1:
            options[TABLETS_ROUTING_V1] = ""
        if self.tablets_routing_v2:
            options[TABLETS_ROUTING_V2] = ""
        if self.use_metadata_id:
            options[USE_METADATA_ID] = ""
        if self.lwt_metadata_mask:
            options[LWT_ADD_METADATA_MARK] = f"{_LWT_MASK}={self.lwt_metadata_mask}"


#: A server without extensions.
NO_FEATURES = ProtocolFeatures()


def _first(options: Mapping[str, Sequence[str]], key: str) -> str:
    """The first value of a key, or an empty string."""
    values = options.get(key)
    return values[0] if values else ""


def _number(options: Mapping[str, Sequence[str]], key: str, bounds: tuple[int, int]) -> int | None:
    """The first value of a key, if it is a decimal number within bounds."""
    return _decimal(key, _first(options, key), bounds)


def _parameter(
    options: Mapping[str, Sequence[str]], key: str, name: str, bounds: tuple[int, int]
) -> int | None:
    """The number of ``name=number`` among the values of a key, if it is within bounds."""
    for value in options.get(key, ()):
        found, _, number = value.partition("=")
        if found == name:
            return _decimal(key, number, bounds)
    return None


def _decimal(key: str, text: str, bounds: tuple[int, int]) -> int | None:
    """A decimal number within bounds, or None, which turns off what it is for."""
    try:
        number = int(text)
    except ValueError:
        return None
    least, most = bounds
    if least <= number <= most:
        return number
    log.warning(
        "A server announces %s=%s, which is not within %d and %d: what it is for is off",
        key,
        shortened(text),
        least,
        most,
    )
    return None
