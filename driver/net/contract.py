"""What every connection offers to the layers above, whatever carries its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet

    from ..vocabulary.columns import ColumnMetadata
    from ..wire.codec import ProtocolHandler
    from ..wire.features import ProtocolFeatures
    from ..wire.messages import Request, Response

    #: Takes the response, or the exception that came instead of one.
    ResponseCallback = Callable[[Response | Exception], None]


class Connection(Protocol):
    """Sends requests and calls back with their responses.

    Attributes:
        endpoint: the node at the other end.
        protocol_version: what both ends speak.
        keyspace: the keyspace that the connection uses; None before the first USE.
        features: what the server announced.
        handler: encodes requests and decodes responses, unless a request brings its own.
        is_closed: nothing can be sent any more.
        is_defunct: it is closed because something went wrong.
        last_error: what went wrong; None if nothing did.
        orphaned_request_ids: streams whose answer nobody waits for and which are not free yet.
        max_in_flight: how many requests may wait for an answer.
    """

    protocol_version: int
    keyspace: str | None
    features: ProtocolFeatures
    handler: type[ProtocolHandler]
    is_closed: bool
    is_defunct: bool
    last_error: Exception | None
    max_in_flight: int

    @property
    def endpoint(self) -> object:
        """The node at the other end."""

    @property
    def orphaned_request_ids(self) -> AbstractSet[int]:
        """Streams whose answer nobody waits for and which are not free yet."""

    @property
    def orphaned_threshold_reached(self) -> bool:
        """Whether so many streams are orphaned that the connection should be replaced."""

    @property
    def in_flight(self) -> int:
        """How many streams are taken."""

    def get_request_id(self) -> int:
        """A stream that waits for no answer.

        It has to be sent on or released.

        Raises:
            ConnectionBusy: there is none.
        """

    def release_request_id(self, request_id: int) -> None:
        """Give a stream back that was taken and not sent on; also if ``send_msg`` raised."""

    def send_msg(
        self,
        msg: Request,
        request_id: int,
        cb: ResponseCallback,
        result_metadata: Sequence[ColumnMetadata] | None = None,
        handler: type[ProtocolHandler] | None = None,
    ) -> int:
        """Send a request, from any thread.

        Args:
            msg: the request.
            request_id: its stream, from ``get_request_id``.
            cb: called once, with the response or with an exception; maybe before this returns.
            result_metadata: columns for a response that leaves its own out.
            handler: encodes and decodes instead of the connection's own.

        Returns:
            Number of bytes sent.

        Raises:
            ConnectionShutdown: the connection is closed.
            UnsupportedOperation: the protocol version cannot say this.
        """

    def abandon(self, request_id: int) -> None:
        """Stop waiting for the answer of a request that was sent; its callback is not called."""
