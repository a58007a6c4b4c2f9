"""What the versions of the protocol can carry in a request, and the error for what they cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...protocol.errors import UnsupportedOperation
from ...protocol.unset import UNSET_VALUE
from ...protocol.version import ProtocolVersion

if TYPE_CHECKING:
    from collections.abc import Iterable


def check_carried(what: str, is_carried: bool, protocol_version: int) -> None:
    """What came with v5 needs it.

    Raises:
        UnsupportedOperation: for earlier versions.
    """
    if not is_carried:
        raise UnsupportedOperation(
            f"{what} needs protocol v5 or later; this connection has v{protocol_version}"
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
