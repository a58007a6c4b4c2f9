"""``cassandra.metadata``: a prefix, and an error that this driver has no use for."""

from __future__ import annotations

from typing import Final

REPLICATION_STRATEGY_CLASS_PREFIX: Final = "org.apache.cassandra.locator."


class NoMurmur3(Exception):  # noqa: N818  (the name there)
    """The hash is missing; never raised here, for it is part of the driver."""
