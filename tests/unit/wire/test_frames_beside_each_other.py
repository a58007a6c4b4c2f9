"""Frames that are encoded at the same time, or one within another, have nothing in common."""

import threading

import pytest

from driver.protocol.errors import UnsupportedOperation
from driver.wire.codec import ProtocolHandler
from driver.wire.messages import Request
from driver.wire.requests import ExecuteMessage, OptionsMessage, QueryMessage


def encoded(message, stream=1, version=5, compressor=None):
    return ProtocolHandler.encode_message(message, stream, version, compressor, False)


def query(text):
    """The frame of a QUERY in v5, by hand: consistency ONE, no flags."""
    body = len(text).to_bytes(4) + text + b"\0\1\0\0\0\0"
    return b"\5\0\0\1\7" + len(body).to_bytes(4) + body


@pytest.mark.parametrize("size", [0, 1, 1023, 1024, 1025, 100_000])
def test_texts_of_any_length_are_written_whole(size):
    text = b"x" * size
    assert encoded(QueryMessage(text.decode(), 1)) == query(text)


def test_a_short_message_after_a_long_one_has_nothing_of_it():
    encoded(QueryMessage("x" * 1000, 1))
    assert encoded(OptionsMessage()) == b"\5\0\0\1\5\0\0\0\0"
    assert encoded(QueryMessage("y", 1)) == query(b"y")


def test_frames_that_were_given_do_not_change():
    first = encoded(QueryMessage("a" * 50, 1))
    for _ in range(3):
        encoded(QueryMessage("b" * 50, 1))
    assert first == query(b"a" * 50)


class Raises(Request):
    opcode = 0x07

    def send_body(self, f, protocol_version):
        f.write(b"half of a body")
        raise UnsupportedOperation(protocol_version)


def test_a_message_that_cannot_be_encoded_leaves_nothing_behind():
    with pytest.raises(UnsupportedOperation):
        encoded(Raises())
    assert encoded(QueryMessage("y", 1)) == query(b"y")


class Encloses(Request):
    """Encodes another message while it is encoded."""

    opcode = 0x07

    def send_body(self, f, protocol_version):
        f.write(b"[")
        f.write(encoded(QueryMessage("inner", 1), version=protocol_version))
        f.write(b"]")


def test_a_message_may_encode_another_one_on_its_way():
    for _ in range(3):
        assert encoded(Encloses())[9:] == b"[" + query(b"inner") + b"]"


class Waits(Request):
    """Is encoded half when another thread encodes."""

    opcode = 0x07

    def __init__(self, letter, barrier):
        self.letter, self.barrier = letter, barrier

    def send_body(self, f, protocol_version):  # noqa: ARG002
        for _ in range(20):
            f.write(self.letter)
            self.barrier.wait(10)


def test_threads_do_not_write_into_each_other_s_frames():
    barrier = threading.Barrier(4)
    frames = {}

    def encode(letter):
        frames[letter] = encoded(Waits(letter, barrier))

    threads = [threading.Thread(target=encode, args=(bytes([n]),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert {letter: frame[9:] for letter, frame in frames.items()} == {
        bytes([n]): bytes([n]) * 20 for n in range(4)
    }


def test_threads_that_encode_all_the_time_get_what_they_encoded():
    messages = {
        n: ExecuteMessage(b"id", [bytes([n]) * n], 1, result_metadata_id=b"m") for n in range(1, 9)
    }
    wanted = {n: encoded(message) for n, message in messages.items()}
    wrong = []

    def encode(n):
        wrong.extend(f for _ in range(300) if (f := encoded(messages[n])) != wanted[n])

    threads = [threading.Thread(target=encode, args=(n,)) for n in messages]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert wrong == []
