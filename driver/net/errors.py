"""What goes wrong with a connection, as opposed to with a request."""

from __future__ import annotations

from ..vocabulary.errors import DriverException


class ConnectionException(DriverException):
    """A connection failed, or said something that makes no sense.

    Attributes:
        endpoint: the node's endpoint; None if there is none.
    """

    def __init__(self, message: str, endpoint: object = None) -> None:
        """Say what happened, and where."""
        super().__init__(message)
        self.endpoint = endpoint


class ConnectionShutdown(ConnectionException):
    """The connection was closed before the answer came, or before the request was sent."""


class ConnectionBusy(ConnectionException):
    """Every stream of the connection waits for an answer."""
