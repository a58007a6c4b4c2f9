"""What the versions of the protocol can carry in a request, and the error for what they cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...vocabulary.errors import UnsupportedOperation
from ...vocabulary.protocol_version import ProtocolVersion
from ...vocabulary.unset import UNSET_VALUE

if TYPE_CHECKING:
    from collections.abc import Iterable


def check_keyspace(protocol_version: int) -> None:
    """A keyspace beside the query needs v5.

    Raises:
        UnsupportedOperation: for earlier versions.
    """
    if not ProtocolVersion.uses_keyspace_flag(protocol_version):
        raise UnsupportedOperation(
            f"a keyspace on a request needs protocol v5 or later; this connection has "
            f"v{protocol_version}"
        )


def check_now_in_seconds(protocol_version: int) -> None:
    """The server's idea of now can be set from v5 on.

    Raises:
        UnsupportedOperation: for earlier versions.
    """
    if not ProtocolVersion.uses_int_query_flags(protocol_version):
        raise UnsupportedOperation(
            f"now_in_seconds needs protocol v5 or later; this connection has v{protocol_version}"
        )


def check_unset(values: Iterable[object], protocol_version: int) -> None:
    """UNSET_VALUE needs v4: servers of v3 take its length of -2 for null and delete the cell.

    Raises:
        UnsupportedOperation: v3 and one of the values is UNSET_VALUE.
    """
    if protocol_version < ProtocolVersion.V4 and any(v is UNSET_VALUE for v in values):
        raise UnsupportedOperation(
            f"UNSET_VALUE needs protocol v4 or later; this connection has v{protocol_version}"
        )
