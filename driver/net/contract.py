"""What every connection offers to the floors above, whatever carries its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..vocabulary.columns import ColumnMetadata
    from ..wire.messages import Request, Response

    #: Takes the response, or the exception that came instead of one.
    ResponseCallback = Callable[[Response | Exception], None]


class Connection(Protocol):
    """Sends requests and calls back with their responses.

    Attributes:
        endpoint: the node at the other end.
        protocol_version: what both ends speak.
        keyspace: the keyspace that the connection uses; None before the first USE.
    """

    endpoint: object
    protocol_version: int
    keyspace: str | None

    def get_request_id(self) -> int:
        """A stream that waits for no answer.

        Raises:
            ConnectionBusy: there is none.
        """

    def send_msg(
        self,
        msg: Request,
        request_id: int,
        cb: ResponseCallback,
        result_metadata: Sequence[ColumnMetadata] | None = None,
    ) -> int:
        """Send a request.

        Args:
            msg: the request.
            request_id: its stream, from ``get_request_id``.
            cb: called once, with the response or with an exception; maybe before this returns.
            result_metadata: columns for a response that leaves its own out.

        Returns:
            Number of bytes sent.

        Raises:
            ConnectionShutdown: the connection is closed.
            UnsupportedOperation: the protocol version cannot say this.
        """
