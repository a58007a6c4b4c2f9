"""Compression in both forms: each reads the other's blocks, refusals are word for word."""

import subprocess
import sys
from importlib import import_module
from threading import Thread

import lz4.block
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

#: Texts, what repeats far apart, and noise; around the sizes from which on another way is taken.
BODIES = st.one_of(
    st.binary(max_size=300),
    st.text(max_size=300).map(str.encode),
    st.tuples(st.binary(min_size=1, max_size=9), st.integers(1, 3000)).map(
        lambda of: of[0] * of[1]
    ),
    st.tuples(st.binary(max_size=40), st.integers(0, 140_000)).map(
        lambda of: of[0] + bytes(of[1]) + of[0]
    ),
)
EDGES = [0, 1, 4, 5, 12, 13, 2**16 - 1, 2**16, 2**16 + 1, 2**17 - 1]


def functions(package):
    """Of a mounted driver: of bodies, then of segments."""
    module = import_module(f"{package.__name__}.wire.compression")
    of_bodies = module.locally_supported_compressions["lz4"]
    return *of_bodies, module.segment_compress, module.segment_decompress


def outcome(call, *given):
    """The result of a call, or its error."""
    try:
        return call(*given)
    except Exception as error:  # noqa: BLE001  (any error is an outcome to compare)
        return type(error).__name__, str(error)


def test_the_library_in_the_package_is_found(pure, compiled):
    assert functions(compiled)[0].__module__ != functions(pure)[0].__module__
    assert "_cython" in functions(compiled)[0].__module__


@given(BODIES)
def test_each_reads_the_blocks_of_the_other(pure, compiled, body):
    for one, other in ((pure, compiled), (compiled, pure), (compiled, compiled)):
        compress, _, compress_segment, _ = functions(one)
        _, decompress, _, decompress_segment = functions(other)
        assert decompress(compress(body)) == body
        assert decompress_segment(compress_segment(body), len(body)) == body


@pytest.mark.parametrize("size", EDGES)
@pytest.mark.parametrize("kind", ["zeros", "counting", "noise"])
def test_blocks_of_any_size_come_back_and_are_those_of_the_library(pure, compiled, size, kind):
    made = {
        "zeros": bytes(size),
        "counting": b"".join(i.to_bytes(4, "big") for i in range(size // 4 + 1))[:size],
        "noise": import_module("random").Random(size).randbytes(size),
    }[kind]
    packed = functions(compiled)[0](made)
    assert packed[:4] == size.to_bytes(4, "big")
    assert lz4.block.decompress(packed[4:], uncompressed_size=max(size, 1)) == made
    assert functions(compiled)[1](packed) == functions(pure)[1](packed) == made


def test_a_block_tells_nothing_of_the_blocks_before_it(compiled):
    # The table of matches is kept from block to block: none may refer to what another one held.
    compress, decompress, _, _ = functions(compiled)
    for i in range(3000):
        body = (b"a secret that was sent before %d, " % (i % 7)) * (i % 5 + 1)
        packed = compress(body)
        assert lz4.block.decompress(packed[4:], uncompressed_size=len(body)) == body
        assert decompress(packed) == body


@example(b"", 0, 0)
@example(b"abcdabcdabcdabcdabcdabcd", 0, -1)
@example(b"abcdabcdabcdabcdabcdabcd", 0, 1)
@example(bytes(100_000), 0, 70_000)
@example(bytes(100_000), 3, 0)
@given(BODIES, st.integers(0, 40), st.integers(-50, 300))
def test_cut_blocks_and_sizes_that_lie_end_alike(pure, compiled, body, cut, lie):
    packed = lz4.block.compress(body, store_size=False)
    packed = packed[: len(packed) - cut]
    claimed = max(len(body) + lie, 0)
    sent = claimed.to_bytes(4, "big") + packed
    _, decompress, _, decompress_segment = functions(compiled)
    _, decompress_plainly, _, decompress_segment_plainly = functions(pure)
    assert outcome(decompress, sent) == outcome(decompress_plainly, sent)
    wanted = outcome(decompress_segment_plainly, packed, claimed)
    assert outcome(decompress_segment, packed, claimed) == wanted


@given(st.binary(max_size=60), st.integers(-2, 2**40))
def test_noise_ends_alike(pure, compiled, noise, claimed):
    assert outcome(functions(compiled)[1], noise) == outcome(functions(pure)[1], noise)
    small = claimed % 2**17
    wanted = outcome(functions(pure)[3], noise, small)
    assert outcome(functions(compiled)[3], noise, small) == wanted


@pytest.mark.parametrize("size", [-1, 0, 2**31, 2**40, 2**64, None, "1"])
def test_sizes_that_no_segment_has_end_alike(pure, compiled, size):
    wanted = outcome(functions(pure)[3], b"\x10a", size)
    assert outcome(functions(compiled)[3], b"\x10a", size) == wanted


@pytest.mark.parametrize("body", [None, "text", bytearray(b"abc" * 9), memoryview(b"abc" * 9)])
def test_what_is_no_bytes_ends_alike(pure, compiled, body):
    for index in range(3):
        wanted = outcome(functions(pure)[index], body)
        assert outcome(functions(compiled)[index], body) == wanted


def test_threads_do_not_disturb_each_other(compiled):
    compress, decompress, _, _ = functions(compiled)
    wrong = []

    def work(seed):
        drawn = import_module("random").Random(seed)
        for _ in range(200):
            size = drawn.choice([50, 5_000, 70_000])
            body = drawn.randbytes(8) * (size // 8)
            if decompress(compress(body)) != body:
                wrong.append(seed)

    threads = [Thread(target=work, args=(seed,)) for seed in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert wrong == []


def test_a_package_without_symbols_is_called_itself(compiled):  # noqa: ARG001  (compiled alone)
    program = """
import lz4.block
lz4.block._block.__file__ = "/nonexistent/library.so"
from driver.wire import compression
from driver.wire.requests import QueryMessage
from driver.wire.codec import ProtocolHandler
compress, decompress = compression.locally_supported_compressions["lz4"]
assert compress.__module__ == "driver.wire.compression", compress.__module__
assert decompress(compress(b"abc" * 99)) == b"abc" * 99
assert compression.segment_compress.__module__ == "driver.wire.compression"
frame = ProtocolHandler.encode_message(QueryMessage("select " * 9, 1), 1, 4, compress, False)
assert b"select " * 9 in decompress(frame[9:])
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
