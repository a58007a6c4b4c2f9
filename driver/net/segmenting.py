"""Frames into v5 segments: those that leave together share segments, and so their checksums."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..implementation import hand_over
from ..wire.segments import MAX_PAYLOAD_LENGTH
from .after_read import WriteCoalescer
from .transport import Transport  # noqa: TC001  (compiled, this calls that one's functions)

if TYPE_CHECKING:
    import asyncio

    from ..wire.segments import SegmentCodec


class SegmentWriter:
    """Writes frames to a transport, in segments.

    What is written within one iteration of the loop goes into as few segments as possible. Another
    thread sends its frame at once, in a segment of its own.
    """

    # Where compiled code finds them.
    __slots__ = ("__weakref__", "_codec", "_frames", "_send", "_transport")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, transport: Transport, codec: SegmentCodec
    ) -> None:
        """On the loop's thread."""
        self._transport = transport
        # What is coalesced here need not wait for another iteration of the loop there. A transport
        # of an application's own may not know that.
        self._send = getattr(transport, "send_now", transport.write)
        self._codec = codec
        self._frames = WriteCoalescer(loop, self._send_together)

    def write(self, data: bytes) -> None:
        """Send a frame, from any thread."""
        if self._frames.is_possible:
            self._frames.add(data)
        else:
            self._transport.write(self._codec.encode(data))

    def _send_together(self, frames: list[bytes]) -> None:
        """Send frames in as few segments as possible."""
        encode = self._codec.encode
        together: list[bytes] = []
        size = 0
        for frame in frames:
            size += len(frame)
            if size > MAX_PAYLOAD_LENGTH and together:
                self._send(encode(b"".join(together)))
                together, size = [], len(frame)
            together.append(frame)
        self._send(encode(b"".join(together)))


hand_over(globals())
