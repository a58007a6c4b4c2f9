"""Pull request 800: a request becomes a frame, compressed or not, and its answer a message."""

from inspect import signature

from cassandra import ConsistencyLevel
from cassandra.protocol import ProtocolHandler, QueryMessage

from .proving import proved
from .wire import FEATURES, RESULT, STREAM, VERSION, VOID

try:
    from cassandra.connection import locally_supported_compressions

    LZ4 = locally_supported_compressions["lz4"][0]
except KeyError:
    LZ4 = None
MODULES = ("protocol",)
ENCODE, DECODE = "protocol:QueryMessage.send_body", "protocol:ResultMessage.recv_body"
#: A query's text is its body less length, consistency and flags.
SMALL, MIDDLE, LARGE = (
    QueryMessage("SELECT '" + "x" * (size - 7 - 9) + "'", ConsistencyLevel.ONE)
    for size in (64, 1024, 16384)
)
encode, decode = ProtocolHandler.encode_message, ProtocolHandler.decode_message
#: Older drivers encode without the features of a connection.
LAST = (FEATURES,) if "protocol_features" in signature(encode).parameters else ()


def setup():
    """Without python-lz4 there is nothing to compress with."""
    if LZ4 is None:
        raise NotImplementedError


def as_it_is(body):
    """The cheapest compressor that there can be: the largest part of the work is the driver's."""
    return body


@proved([ENCODE], MODULES)
def time_64b_lz4(encode=encode, message=SMALL, compress=LZ4):
    """64 bytes, compressed."""
    return encode(message, STREAM, VERSION, compress, False, *LAST)


@proved([ENCODE], MODULES)
def time_1kb_lz4(encode=encode, message=MIDDLE, compress=LZ4):
    """1 KiB, compressed."""
    return encode(message, STREAM, VERSION, compress, False, *LAST)


@proved([ENCODE], MODULES)
def time_16kb_lz4(encode=encode, message=LARGE, compress=LZ4):
    """16 KiB, compressed."""
    return encode(message, STREAM, VERSION, compress, False, *LAST)


@proved([ENCODE], MODULES)
def time_64b_as_it_is(encode=encode, message=SMALL):
    """64 bytes, by a compressor that does nothing."""
    return encode(message, STREAM, VERSION, as_it_is, False, *LAST)


@proved([ENCODE], MODULES)
def time_1kb_as_it_is(encode=encode, message=MIDDLE):
    """1 KiB, by a compressor that does nothing."""
    return encode(message, STREAM, VERSION, as_it_is, False, *LAST)


@proved([ENCODE], MODULES)
def time_16kb_as_it_is(encode=encode, message=LARGE):
    """16 KiB, by a compressor that does nothing."""
    return encode(message, STREAM, VERSION, as_it_is, False, *LAST)


@proved([ENCODE], MODULES)
def time_1kb_plain(encode=encode, message=MIDDLE):
    """1 KiB, without a compressor."""
    return encode(message, STREAM, VERSION, None, False, *LAST)


@proved([ENCODE, DECODE], MODULES, answer=lambda both: (both[0], both[1].kind))
def time_round_trip(encode=encode, decode=decode, message=SMALL):
    """64 bytes by a compressor that does nothing, and the VOID that answers it."""
    return (
        encode(message, STREAM, VERSION, as_it_is, False, *LAST),
        decode(VERSION, FEATURES, {}, STREAM, 0, RESULT, VOID, None, None),
    )
