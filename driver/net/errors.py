"""What goes wrong with a connection, as opposed to with a request."""

from __future__ import annotations

from ..protocol.errors import DriverException


class ConnectionException(DriverException):
    """A connection failed, or said something that makes no sense.

    Attributes:
        endpoint: the node's endpoint; None if there is none.
        was_sent: False if the request certainly never left this process, so that any other host
            may be asked; True if the server may have run it.
    """

    def __init__(
        self, message: str, endpoint: object = None, *, was_sent: bool | None = None
    ) -> None:
        """Say what happened, where, and whether the request may have been run."""
        super().__init__(message)
        self.endpoint = endpoint
        self.was_sent = self._was_sent if was_sent is None else was_sent

    #: What an exception of the class says about its request, unless told otherwise.
    _was_sent = True


def as_exception(error: BaseException, what: str) -> Exception:
    """What to fail a request with that met an error: itself, or an exception in its place.

    SystemExit or KeyboardInterrupt, raised where a result is taken, would end another thread than
    the one that raised it.
    """
    if isinstance(error, Exception):
        return error
    failure = DriverException(f"{what} raised {error!r}")
    failure.__cause__ = error
    return failure


class ConnectionShutdown(ConnectionException):
    """The connection was closed before the answer came, or before the request was sent."""


class ConnectionBusy(ConnectionException):
    """Every stream of the connection waits for an answer."""

    _was_sent = False


class NoConnectionsAvailable(ConnectionException):
    """A pool has no connection to lend at the moment."""

    _was_sent = False


class ProtocolVersionUnsupported(ConnectionException):
    """The server does not speak the protocol version that was tried.

    Attributes:
        attempted: the version that was tried.
        server_version: the version that the server answered in; None if it is not known.
    """

    _was_sent = False

    def __init__(self, endpoint: object, attempted: int, server_version: int | None = None) -> None:
        """Name both versions."""
        answered = "" if server_version is None else f"; it answered in v{server_version}"
        super().__init__(f"{endpoint} does not speak protocol v{attempted}{answered}", endpoint)
        self.attempted = attempted
        self.server_version = server_version
