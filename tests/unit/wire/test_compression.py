"""Bodies survive compression, and hostile ones cost an exception, not memory."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver.wire.compression import locally_supported_compressions
from driver.wire.malformed import MalformedFrameError

EACH = pytest.mark.parametrize("name", ["lz4", "snappy"])


@EACH
@given(body=st.binary(max_size=2000))
def test_a_body_comes_back(name, body):
    compress, decompress = locally_supported_compressions[name]
    assert decompress(compress(body)) == body


@EACH
@given(noise=st.binary(max_size=50))
def test_noise_is_decompressed_or_refused_with_the_one_error(name, noise):
    _, decompress = locally_supported_compressions[name]
    with contextlib.suppress(MalformedFrameError):
        assert isinstance(decompress(noise), bytes)


@EACH
def test_a_truncated_body_is_malformed(name):
    compress, decompress = locally_supported_compressions[name]
    with pytest.raises(MalformedFrameError):
        decompress(compress(b"hello world, hello world" * 9)[:-3])


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("lz4", b"\x7f\xff\xff\xff\x10a"),
        ("snappy", b"\xff\xff\xff\xff\x0f\x00a"),
    ],
)
def test_a_body_that_claims_gigabytes_is_refused_before_anything_is_reserved(name, body):
    with pytest.raises(MalformedFrameError, match="268435456 are allowed"):
        locally_supported_compressions[name][1](body)


def test_an_lz4_body_states_its_size_in_four_bytes_big_endian():
    compress, _ = locally_supported_compressions["lz4"]
    assert compress(b"a" * 300)[:4] == b"\x00\x00\x01\x2c"


def test_an_lz4_body_that_holds_less_than_it_states_is_malformed():
    compress, decompress = locally_supported_compressions["lz4"]
    body = b"\x00\x00\x01\x2d" + compress(b"a" * 300)[4:]
    with pytest.raises(MalformedFrameError, match="holds 300 bytes and claims 301"):
        decompress(body)


@EACH
def test_a_body_without_a_size_is_malformed(name):
    with pytest.raises(MalformedFrameError, match="has no size"):
        locally_supported_compressions[name][1](b"\xff" * 3)


def test_lz4_is_preferred():
    assert list(locally_supported_compressions) == ["lz4", "snappy"]
