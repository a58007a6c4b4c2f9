"""A connection: requests to a node over one transport, and its answers to who waits for them.

Requests are encoded and written on the thread that sends them, answers are read, decoded and handed
out on the loop's thread, many from one read, or on the thread that waits for the only one on its
way. There is no lock and no task for a request: a stream
id belongs to one request at a time, and every change of the table of waiting requests is a single
operation of a dict. Who takes a request out of that table is the one that calls it back.

Long because these are the two ends of one table, and who may touch it when is told in one place.
"""

from __future__ import annotations

import asyncio
import logging
import time
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final, Self

from ..implementation import hand_over
from ..protocol.consistency import ConsistencyLevel
from ..protocol.errors import OperationTimedOut
from ..protocol.kinds import RESULT_KIND_ROWS, RESULT_KIND_VOID
from ..wire.conversation import Conversation
from ..wire.features import NO_FEATURES
from ..wire.late_rows import LARGE_BODY, RESULT_KIND_LATE_ROWS, late_handler
from ..wire.malformed import MalformedFrameError, ResultMetadataMismatch
from ..wire.requests import QueryMessage, RegisterMessage
from ..wire.responses import ErrorMessage, EventMessage, ResultMessage
from .after_read import begin_read, end_read
from .errors import ConnectionException, ConnectionShutdown, as_exception
from .fork import INHERITED_LOOP, ForkedError, refuse_in_child
from .handshake import shake_hands
from .heartbeat import Heartbeat
from .loop import call_on_loop, outlive
from .open import open_transport
from .segmenting import SegmentWriter
from .streams import StreamIds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..protocol.columns import ColumnMetadata
    from ..topology.endpoint import EndPoint
    from ..wire.codec import ProtocolHandler
    from ..wire.features import ProtocolFeatures
    from ..wire.frame import Frame
    from ..wire.messages import Request, Response
    from .settings import ConnectionSettings
    from .transport import SocketTransport, Transport

    #: Takes the response, or the exception that came instead of one.
    ResponseCallback = Callable[[Response | Exception], None]
    #: Takes an event of the server.
    EventCallback = Callable[[EventMessage], None]
    #: Takes the connection that is closed, and what went wrong, if something did.
    ConnectionClosedCallback = Callable[["Connection", Exception | None], None]

log = logging.getLogger(__name__)

_EVENT_STREAM: Final = -1
#: Share of the streams that may be orphaned before the connection should be replaced.
_MOST_ORPHANS: Final = 0.75
#: Why a connection closes that did not fail.
_BY_US: Final = ": its session was shut down, or the node is not used any more"


class Connection:
    """A connection to one node; :meth:`connect` opens one.

    A subclass that brings another ``open_transport`` carries the bytes over something else than a
    socket to the node: a tunnel, a proxy's channel, memory. ``Cluster`` takes it as its
    ``connection_class``. It is called as the one of ``driver.net.open``, and gives a ``Transport``.

    Attributes:
        endpoint: the node at the other end.
        protocol_version: what both ends speak.
        keyspace: the keyspace in use; None before the first USE.
        features: what the server announced in SUPPORTED.
        handler: encodes requests and decodes responses, unless a request brings its own.
        compression: what bodies or segments are compressed with; None for nothing.
        is_closed: nothing can be sent any more.
        is_defunct: it is closed because something went wrong.
        last_error: what went wrong; None if nothing did.
        orphaned_request_ids: streams whose answer nobody waits for and which are not free yet.
        max_in_flight: how many requests may wait for an answer.
        get_request_id: takes a stream that waits for no answer, which has to be sent on or
            released; raises ConnectionBusy if there is none.
        heard: a request was answered since the heartbeat looked last.
    """

    # Where compiled code finds them.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_conversation",
        "_heartbeat",
        "_loop",
        "_on_closed",
        "_on_event",
        "_requests",
        "_settings",
        "_streams",
        "_take_over_reading",
        "_thread",
        "_transport",
        "_user_type_map",
        "_write",
        "compression",
        "endpoint",
        "features",
        "get_request_id",
        "handler",
        "heard",
        "is_closed",
        "is_defunct",
        "keyspace",
        "last_error",
        "max_in_flight",
        "orphaned_request_ids",
        "protocol_version",
    )

    open_transport = staticmethod(open_transport)

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        endpoint: EndPoint,
        settings: ConnectionSettings,
        transport: Transport,
        on_event: EventCallback | None = None,
        on_closed: ConnectionClosedCallback | None = None,
    ) -> None:
        """Over a connected transport, before the first message; on the loop's thread."""
        self.endpoint = endpoint
        self.protocol_version = settings.protocol_version
        self.keyspace: str | None = None
        self.features: ProtocolFeatures = NO_FEATURES
        self.handler = settings.handler
        self.compression: str | None = None
        self.is_closed = False
        self.is_defunct = False
        self.last_error: Exception | None = None
        self.orphaned_request_ids: set[int] = set()
        self.max_in_flight = settings.max_requests
        self.heard = False
        self._loop = loop
        self._thread = get_ident()
        self._settings = settings
        self._user_type_map = settings.user_type_map
        self._on_event = on_event
        self._on_closed = on_closed
        self._heartbeat: Heartbeat | None = None
        self._streams = StreamIds(settings.max_requests, endpoint)
        self.get_request_id: Callable[[], int] = self._streams.take
        self._requests: dict[
            int,
            tuple[ResponseCallback, Sequence[ColumnMetadata] | None, type[ProtocolHandler]],
        ] = {}
        self.set_compression(None)
        self._transport = transport
        self._write = transport.write
        # A transport of an application's own, and TLS, are read by the loop alone.
        self._take_over_reading: Callable[[], bool] | None = getattr(
            transport, "take_over_reading", None
        )
        refuse_in_child(self)
        transport.start(self._receive, self._on_transport_closed)

    @classmethod
    async def connect(
        cls,
        loop: asyncio.AbstractEventLoop,
        endpoint: EndPoint,
        settings: ConnectionSettings,
        *,
        on_event: EventCallback | None = None,
        on_closed: ConnectionClosedCallback | None = None,
        local_port: int | None = None,
    ) -> Self:
        """Open a connection that is ready for requests.

        Args:
            loop: the running loop.
            endpoint: which node.
            settings: how.
            on_event: takes the events that ``register`` asks for, on the loop's thread.
            on_closed: called once when an open connection closes, on the loop's thread.
            local_port: source port to bind to, which chooses the shard on a shard-aware port.

        Raises:
            ConnectionException: the node cannot be reached, or does not speak CQL as it should.
            ProtocolVersionUnsupported: it does not speak this version.
            AuthenticationFailed: it does not accept who we say we are, or asks and we cannot tell.
            OperationTimedOut: it took longer than ``settings.connect_timeout``.
        """
        timeout = settings.connect_timeout
        deadline = None if timeout is None else loop.time() + timeout
        transport = await cls.open_transport(
            loop,
            endpoint,
            tls=settings.tls,
            sockopts=settings.sockopts,
            timeout=timeout,
            local_port=local_port,
        )
        connection = cls(loop, endpoint, settings, transport, on_event)
        try:
            async with asyncio.timeout_at(deadline):
                await shake_hands(connection, settings)
            connection._check_open()
        except TimeoutError as error:
            connection.close()
            raise OperationTimedOut(
                {str(endpoint): f"the server did not finish the handshake within {timeout} s"},
                endpoint,
            ) from error
        except BaseException:
            connection.close()
            raise
        connection._on_closed = on_closed
        if settings.idle_heartbeat_interval:
            connection._heartbeat = Heartbeat(
                loop,
                connection,
                settings.idle_heartbeat_interval,
                settings.idle_heartbeat_timeout,
            )
        return connection

    def set_compression(self, compression: str | None) -> None:
        """Compress from the answer to STARTUP on, which has not been sent yet."""
        self.compression = compression
        self._conversation = Conversation(
            self.protocol_version,
            compression,
            handler=self.handler,
            allow_beta_protocol_version=self._settings.allow_beta_protocol_version,
        )

    def use_segments(self) -> None:
        """Send segments from now on, if the conversation has come to them."""
        codec = self._conversation.segment_codec
        if codec is not None:
            self._write = SegmentWriter(self._loop, self._transport, codec).write

    # --- the hot path: requests out -------------------------------------------------------------

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
            cb: called once, on the loop's thread, with the response or with an exception. If it
                has a true attribute ``takes_late_rows``, those of a large page are ``LateRows``.
            result_metadata: columns for a response that leaves its own out.
            handler: encodes and decodes instead of the connection's own.

        Returns:
            Number of bytes of the frame.

        Raises:
            ConnectionShutdown: the connection is closed; nothing was sent.
            UnsupportedOperation: the protocol version cannot say this; nothing was sent.
        """
        if self.is_closed:
            raise self._refusal()
        data = self._conversation.encode(msg, request_id, handler)
        self._requests[request_id] = (cb, result_metadata, handler or self.handler)
        if self.is_closed and self._requests.pop(request_id, None) is not None:
            # It closed in between, and whoever closed it did not see this request any more.
            raise self._refusal()
        self._write(data)
        return len(data)

    def release_request_id(self, request_id: int) -> None:
        """Give a stream back that was taken and not sent on; also if ``send_msg`` raised."""
        self._streams.free.append(request_id)

    # --- the hot path: answers in ---------------------------------------------------------------

    def _receive(self, data: bytes) -> None:
        """Take bytes of the server, and see to what they lead to."""
        is_outermost, answers = begin_read(), 0
        try:
            frames = self._conversation.feed(data)
            answers = len(frames)
            self._dispatch(frames)
        except MalformedFrameError as error:
            self._take_malformed(error)
        finally:
            if is_outermost:
                end_read(answers)

    def _dispatch(self, frames: Sequence[Frame], is_loop: bool = True) -> None:
        """Decode each frame for the request that waits for it.

        Args:
            frames: what came.
            is_loop: whether this is the loop's thread. On another one a request is answered if
                nothing follows for it; what else an answer leads to is the loop's.
        """
        take = self._requests.pop
        give_back = self._streams.free.append
        for frame in frames:
            stream_id, version, flags, opcode, body = frame
            request = take(stream_id, None)
            if request is None:
                self._handle_unexpected(frame)
                continue
            give_back(stream_id)
            self.heard = True
            callback, result_metadata, handler = request
            try:
                if len(body) > LARGE_BODY and getattr(callback, "takes_late_rows", False):
                    handler = late_handler(handler)
                response: Response | Exception = handler.decode_message(
                    version,
                    self.features,
                    self._user_type_map,
                    stream_id,
                    flags,
                    opcode,
                    body,
                    self._conversation.decompressor,
                    result_metadata,
                )
            except BaseException as error:  # noqa: BLE001  (whoever waits has to hear of it)
                response = as_exception(error, f"decoding an answer of {self.endpoint}")
                outlive(error)
                self.take_undecodable(error)
            if not is_loop and not _is_final(response):
                call_on_loop(self._loop, self._thread, self._call_back, callback, response)
                continue
            try:
                callback(response)
            except BaseException as error:
                log.exception("The callback of a request to %s raised an exception", self.endpoint)
                outlive(error)

    def _call_back(self, callback: ResponseCallback, response: Response | Exception) -> None:
        """Hand an answer out; on the loop's thread."""
        try:
            callback(response)
        except BaseException as error:
            log.exception("The callback of a request to %s raised an exception", self.endpoint)
            outlive(error)

    def take_undecodable(self, error: BaseException) -> None:
        """Close, from any thread, if an answer met an error that says that its frame is broken."""
        if isinstance(error, MalformedFrameError) and not isinstance(error, ResultMetadataMismatch):
            self._break(error)

    def _take_malformed(self, error: MalformedFrameError) -> None:
        """Hand out what came before what cannot be read, and close."""
        self._dispatch(error.frames)
        self._break(error)

    def take_over_reading(self) -> bool:
        """Have this thread read the answer to the request that it is about to send.

        Returns:
            False if the loop reads: others wait for answers, or the transport cannot do it. Else
            ``read_answer`` or ``hand_reading_back`` has to follow.
        """
        take_over = self._take_over_reading
        return take_over is not None and not self._requests and take_over()

    def hand_reading_back(self) -> None:
        """Have the loop read, after all; nothing if this thread has not taken over."""
        self._transport.hand_reading_back()  # type: ignore[attr-defined]  # which it can

    def read_answer(self, request_id: int, timeout: float | None) -> None:
        """Read until a request is answered, having taken over, and call back what waits for it.

        Whatever comes beside it is left to the loop, and so is the request if it is not answered
        in time, if the answers of others come first, or if the connection ends.

        Args:
            request_id: its stream.
            timeout: seconds; None waits for ever.
        """
        transport: SocketTransport = self._transport  # type: ignore[assignment]  # for it was asked
        until = None if timeout is None else time.monotonic() + timeout
        mine = self._requests.get(request_id)  # its stream may be another's as soon as it is taken
        frames: Sequence[Frame] = ()
        others: Sequence[Frame] = ()
        is_torn = is_back = False
        try:
            while not frames and transport.wait_for_data(until):
                is_torn = True
                frames = transport.read(self._conversation.feed) or ()
                is_torn = len(frames) > 0
            if len(frames) > 1 or (frames and frames[0].stream_id != request_id):
                others = [each for each in frames if each.stream_id != request_id]
                # Before the loop reads on: events stay in their order.
                call_on_loop(self._loop, self._thread, self._dispatch, others)
                frames = [each for each in frames if each.stream_id == request_id]
                is_torn = len(frames) > 0
            transport.hand_reading_back(is_disturbed=len(others) > 0)
            is_back = True
            if frames:
                self._dispatch(frames, is_loop=False)
        except MalformedFrameError as error:
            is_torn = False
            call_on_loop(self._loop, self._thread, self._take_malformed, error)
        finally:
            if is_torn and mine is not None and self._requests.get(request_id) is mine:
                # By Ctrl-C, say: what was read is lost.
                self._break(ConnectionException("reading was interrupted", self.endpoint))
            if not is_back:
                transport.hand_reading_back()

    def _handle_unexpected(self, frame: Frame) -> None:
        """A frame that no request waits for: an event, or the late answer to an abandoned one."""
        if frame.stream_id in self.orphaned_request_ids:
            self.heard = True
            self.orphaned_request_ids.discard(frame.stream_id)
            self._streams.free.append(frame.stream_id)
        elif frame.stream_id == _EVENT_STREAM:
            self._handle_event(frame)
        elif not self.is_closed:
            log.warning("%s answered on stream %d, which has no request", self, frame.stream_id)

    def _handle_event(self, frame: Frame) -> None:
        """Hand an event on. One of an unknown type is no reason to lose the connection."""
        try:
            event = self.handler.decode_message(
                frame.version,
                self.features,
                self._user_type_map,
                frame.stream_id,
                frame.flags,
                frame.opcode,
                frame.body,
                self._conversation.decompressor,
                None,
            )
            if isinstance(event, ErrorMessage):
                # An error on no stream is about the connection, such as a broken frame of ours.
                self._break(event.to_exception())
            elif isinstance(event, EventMessage) and self._on_event is not None:
                self._on_event(event)
        except BaseException as error:
            log.exception("Cannot handle an event of %s", self.endpoint)
            outlive(error)

    @property
    def hears_events(self) -> bool:
        """Whether somebody takes events: such a connection tells the node more of the client."""
        return self._on_event is not None

    # --- requests of the driver's own -----------------------------------------------------------

    async def ask(
        self,
        msg: Request,
        timeout: float | None = None,
        result_metadata: Sequence[ColumnMetadata] | None = None,
    ) -> Any:  # noqa: ANN401  (a Response; which one depends on the request)
        """Send a request and wait for its response, on the loop.

        Args:
            msg: the request.
            timeout: seconds; None waits for ever.
            result_metadata: columns for a response that leaves its own out.

        Returns:
            The response, which is no error.

        Raises:
            DriverException: the exception of an error response.
            ConnectionException: the connection is closed, or was before the answer came.
            OperationTimedOut: there was no answer in time.
        """
        waiter: asyncio.Future[Response | Exception] = self._loop.create_future()
        request_id = self.get_request_id()
        try:
            self.send_msg(msg, request_id, _Resolve(waiter), result_metadata)
        except BaseException:
            self.release_request_id(request_id)
            raise
        try:
            async with asyncio.timeout(timeout):
                response = await waiter
        except TimeoutError as error:
            self.abandon(request_id)
            raise OperationTimedOut(
                {str(self.endpoint): f"no answer to {msg.name} within {timeout} s"}, self.endpoint
            ) from error
        except asyncio.CancelledError:
            self.abandon(request_id)
            raise
        if isinstance(response, ErrorMessage):
            raise response.to_exception()
        if isinstance(response, Exception):
            raise response
        return response

    async def register(self, event_types: Sequence[str], timeout: float | None = None) -> None:
        """Have the server send events of some types to ``on_event``; errors as for ``ask``."""
        await self.ask(RegisterMessage(event_types), timeout)

    async def use_keyspace(self, keyspace: str | None, timeout: float | None = None) -> None:
        """Use a keyspace, named exactly as it is; nothing if it is in use or None.

        Raises:
            InvalidRequest: there is no such keyspace; others as for ``ask``.
        """
        if not keyspace or keyspace == self.keyspace:
            return
        quoted = '"{}"'.format(keyspace.replace('"', '""'))
        await self.ask(QueryMessage(f"USE {quoted}", ConsistencyLevel.ONE), timeout)
        self.keyspace = keyspace

    # --- streams --------------------------------------------------------------------------------

    @property
    def server_version(self) -> int | None:
        """The version that the server answered in, if that was another one than ours."""
        return self._conversation.server_version

    @property
    def arrived_of_next(self) -> int:
        """Bytes that are here of a frame whose end is not."""
        return self._conversation.kept

    @property
    def is_encrypted(self) -> bool:
        """Whether it speaks TLS."""
        return self._settings.tls is not None

    @property
    def host(self) -> str:
        """The address of the endpoint."""
        return self.endpoint.address

    @property
    def port(self) -> int | None:
        """The port of the endpoint."""
        return self.endpoint.port

    @property
    def max_request_id(self) -> int:
        """The highest stream id."""
        return self.max_in_flight - 1

    @property
    def in_flight(self) -> int:
        """How many streams are taken, orphaned ones among them."""
        return self._streams.taken

    @property
    def orphaned_threshold_reached(self) -> bool:
        """Whether so many streams are orphaned that the connection should be replaced."""
        return len(self.orphaned_request_ids) > self.max_in_flight * _MOST_ORPHANS

    def abandon(self, request_id: int) -> None:
        """Stop waiting for an answer; the callback is not called any more.

        The stream stays taken until the server has answered on it. Called on the loop's thread,
        as timers and cancellations are, it does nothing to a request that was just answered. From
        another thread, whoever calls has to know that the request still waits.
        """
        if get_ident() == self._thread:
            self._abandon(request_id, self._requests.get(request_id))
        else:
            call_on_loop(
                self._loop, self._thread, self._abandon, request_id, self._requests.get(request_id)
            )

    def _abandon(self, request_id: int, request: object) -> None:
        if request is not None and self._requests.get(request_id) is request:
            self.orphaned_request_ids.add(request_id)
            self._requests.pop(request_id, None)

    # --- the end --------------------------------------------------------------------------------

    def close(self) -> None:
        """Close, from any thread; requests without an answer get ConnectionShutdown."""
        self.is_closed = True
        call_on_loop(self._loop, self._thread, self._close, None)

    def defunct(self, exc: Exception) -> None:
        """Close because something went wrong, from any thread; nothing if it is closed."""
        if self.is_closed:
            return
        self.last_error = exc
        self.is_closed = True
        self.is_defunct = True
        call_on_loop(self._loop, self._thread, self._close, exc)

    def _break(self, error: Exception) -> None:
        """Close because the server broke the protocol."""
        log.warning("Closing %s: %s", self, error)
        failure = ConnectionException(
            f"Connection to {self.endpoint} is defunct: {error}", self.endpoint
        )
        failure.__cause__ = error
        self.defunct(failure)

    def _on_transport_closed(self, error: BaseException | None) -> None:
        """The transport is gone; by our own wish if we closed it."""
        if self.is_closed:
            return
        reason = error or "the server closed it"
        failure = ConnectionShutdown(
            f"Connection to {self.endpoint} was lost: {reason}", self.endpoint
        )
        failure.__cause__ = error
        self.defunct(failure)

    def _close(self, error: Exception | None) -> None:
        """Close the transport, and tell everybody; on the loop's thread, once."""
        on_closed, self._on_closed = self._on_closed, None
        if self._heartbeat is not None:
            self._heartbeat.stop()
        self._transport.close()
        while self._requests:
            try:
                _, (callback, _, _) = self._requests.popitem()
            except KeyError:
                break  # send_msg on another thread took the last one out
            self._call_back(callback, self._shutdown())
        if on_closed is not None:
            on_closed(self, error)

    def forked(self) -> None:
        """Refuse all requests of the child; those that wait are the parent's."""
        self.last_error = ForkedError()
        self.is_closed = self.is_defunct = True
        self._loop = INHERITED_LOOP
        self._on_closed = None
        self._requests = {}

    def _shutdown(self) -> ConnectionShutdown:
        """For one waiting request: its own exception, for a traceback belongs to one thread."""
        error = self.last_error
        why = str(error) if error else f"Connection to {self.endpoint} was closed{_BY_US}"
        shutdown = ConnectionShutdown(why, self.endpoint)
        shutdown.__cause__ = error
        return shutdown

    def _refusal(self) -> ConnectionShutdown:
        """For a request that was not sent."""
        reason = f": {self.last_error}" if self.last_error else ""
        return ConnectionShutdown(
            f"Connection to {self.endpoint} is closed{reason}", self.endpoint, was_sent=False
        )

    def _check_open(self) -> None:
        """Raise if the connection closed.

        Raises:
            ConnectionShutdown: it did.
        """
        if self.is_closed:
            raise self._refusal()

    def __str__(self) -> str:
        """The endpoint and the state, as logs show it."""
        state = "defunct" if self.is_defunct else "closed" if self.is_closed else "open"
        return f"<{type(self).__name__} to {self.endpoint}, {state}, {self.in_flight} in flight>"

    __repr__ = __str__


def _is_final(response: object) -> bool:
    """Whether a request has its answer with this, and nothing has to be done beside."""
    return (
        isinstance(response, ResultMessage)
        and response.kind in {RESULT_KIND_ROWS, RESULT_KIND_LATE_ROWS, RESULT_KIND_VOID}
        and not response.custom_payload
    )


class _Resolve:
    """Resolves a future with a response; an object, since a closure would keep more alive."""

    __slots__ = ("_waiter",)

    def __init__(self, waiter: asyncio.Future[Response | Exception]) -> None:
        self._waiter = waiter

    def __call__(self, response: Response | Exception) -> None:
        if not self._waiter.done():
            self._waiter.set_result(response)


hand_over(globals())
