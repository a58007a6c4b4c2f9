"""The extensions of ScyllaDB's protocol, as bytes and options of a server.

Source of every name and layout: scylladb/scylladb, docs/dev/protocol-extensions.md.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass

TABLETS = "TABLETS_ROUTING_V1"
TABLETS_V2 = "TABLETS_ROUTING_V2_EXPERIMENTAL"
METADATA_ID = "SCYLLA_USE_METADATA_ID"
LWT = "SCYLLA_LWT_ADD_METADATA_MARK"
RATE_LIMIT = "SCYLLA_RATE_LIMIT_ERROR"

#: Both are the server's to choose; a client learns them from SUPPORTED.
LWT_MASK = 0x80000000
RATE_LIMIT_CODE = 0xF000

#: What a client gets for the rate limit that did not turn the extension on ("Config_error").
CONFIG_ERROR_CODE = 0x2300

_CUSTOM_PAYLOAD_FLAG = 0x04


def sharding_options(shard, shards, ignore_msb, port=None, ssl_port=None):
    """ "Intranode sharding": numbers in SUPPORTED are decimal text."""
    options = {
        "SCYLLA_SHARD": [str(shard)],
        "SCYLLA_NR_SHARDS": [str(shards)],
        "SCYLLA_PARTITIONER": ["org.apache.cassandra.dht.Murmur3Partitioner"],
        "SCYLLA_SHARDING_ALGORITHM": ["biased-token-round-robin"],
        "SCYLLA_SHARDING_IGNORE_MSB": [str(ignore_msb)],
    }
    if port is not None:
        options["SCYLLA_SHARD_AWARE_PORT"] = [str(port)]
    if ssl_port is not None:
        options["SCYLLA_SHARD_AWARE_PORT_SSL"] = [str(ssl_port)]
    return options


def negotiable_options():
    """The extensions that a client turns on by naming them in STARTUP."""
    return {
        TABLETS: [""],
        TABLETS_V2: [""],
        METADATA_ID: [""],
        LWT: [f"LWT_OPTIMIZATION_META_BIT_MASK={LWT_MASK}"],
        RATE_LIMIT: [f"ERROR_CODE={RATE_LIMIT_CODE}"],
    }


def metadata_id(columns):
    """What tells descriptions of columns apart; the server's to choose."""
    return hashlib.sha256(repr(columns).encode()).digest()[:16]


def shard_of(token, shards, ignore_msb):
    """The algorithm ``biased-token-round-robin``, step by step as it is described."""
    biased_token = token - (-(2**63))
    biased_token = (biased_token << ignore_msb) % (2**64)
    return (biased_token * shards) // 2**64


@dataclass(frozen=True)
class Tablet:
    """A range of a table's tokens ``(first, last]`` and its replicas (host id, shard)."""

    first: int
    last: int
    replicas: tuple

    def __contains__(self, token):
        return self.first < token <= self.last

    def payload(self):
        """A tuple of two longs and a list of tuples of a uuid and an int.

        The fields of a tuple and the elements of a list are [bytes]; a list starts with its length
        (native_protocol_v4, section 6).
        """
        replicas = [
            _bytes(_bytes(host_id.bytes) + _bytes(_int(shard))) for host_id, shard in self.replicas
        ]
        listed = _int(len(replicas)) + b"".join(replicas)
        return _bytes(_long(self.first)) + _bytes(_long(self.last)) + _bytes(listed)

    @property
    def version(self):
        """64 bits that change with the replicas; the server's to derive."""
        return int.from_bytes(hashlib.sha256(repr(self.replicas).encode()).digest()[:8])

    def has_version_block(self, byte):
        """Whether four bits of the version, counted by the upper half of a byte, are its lower."""
        return (self.version >> 4 * (byte >> 4)) & 0xF == byte & 0xF


def with_tablet(body, tablet, has_version=False):
    """A response's body behind the tablet in its custom payload, a [bytes map]; and the flag."""
    key, value = b"tablets-routing-v1", tablet.payload()
    if has_version:
        key, value = b"tablets-routing-v2", value + _bytes(tablet.version.to_bytes(8))
    payload = _short(1) + _short(len(key)) + key + _bytes(value)
    return payload + body, _CUSTOM_PAYLOAD_FLAG


def rate_limit_fields(is_write, rejected_by_coordinator):
    """What follows code and message of the error: two [byte]."""
    return bytes([is_write, rejected_by_coordinator])


def _short(number):
    return struct.pack(">H", number)


def _int(number):
    return struct.pack(">i", number)


def _long(number):
    return struct.pack(">q", number)


def _bytes(data):
    return _int(len(data)) + data
