"""Conviction policies: which failures of a connection mean that its host is down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..protocol.errors import OperationTimedOut

if TYPE_CHECKING:
    from ..topology.host import Host


class ConvictionPolicy:
    """Judges the failures of one host; every host has its own policy object.

    Attributes:
        host: the host.
    """

    def __init__(self, host: Host) -> None:
        """Remember whom it judges."""
        self.host = host

    def add_failure(self, connection_exc: BaseException) -> bool:
        """Hear of a connection's failure; whether the host is to be marked down."""
        raise NotImplementedError

    def reset(self) -> None:
        """Forget earlier failures: the host is up again."""
        raise NotImplementedError


class SimpleConvictionPolicy(ConvictionPolicy):
    """Takes every failure for the end of the host, but for an answer that came late."""

    def add_failure(self, connection_exc: BaseException) -> bool:
        """True unless a request merely timed out."""
        return not isinstance(connection_exc, OperationTimedOut)

    def reset(self) -> None:
        """Nothing was kept."""
