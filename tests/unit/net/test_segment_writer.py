"""Frames of one iteration of the loop leave in one segment, before the next iteration."""

import asyncio
import socket

import pytest

from driver.net.segmenting import SegmentWriter
from driver.net.transport import SocketTransport
from driver.wire.segments import SegmentCodec


@pytest.fixture
def ends():
    near, far = socket.socketpair()
    near.setblocking(False)
    far.setblocking(False)
    with near, far:
        yield near, far


def test_what_is_written_together_is_sent_in_the_next_step_of_the_loop(ends):
    near, far = ends

    async def write():
        loop = asyncio.get_running_loop()
        transport = SocketTransport(loop, near)
        writer = SegmentWriter(loop, transport, SegmentCodec())
        writer.write(b"one")
        writer.write(b"two")
        with pytest.raises(BlockingIOError):
            far.recv(100)
        await asyncio.sleep(0)
        try:
            return far.recv(100)
        finally:
            transport.close()

    assert asyncio.run(write()) == SegmentCodec().encode(b"onetwo")


def test_what_waits_for_room_keeps_its_place(ends):
    near, far = ends
    large = bytes(4_000_000)

    async def write():
        loop = asyncio.get_running_loop()
        transport = SocketTransport(loop, near)
        transport.write(large)
        transport.send_now(b"end")
        got = b""
        while len(got) < len(large) + 3:
            await asyncio.sleep(0)
            try:
                got += far.recv(1 << 20)
            except BlockingIOError:
                continue
        transport.close()
        return got

    assert asyncio.run(write()) == large + b"end"
