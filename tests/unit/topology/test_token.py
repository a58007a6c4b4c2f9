"""Tokens of each partitioner, against known values."""

import json
from pathlib import Path

import pytest

from driver.topology.token import (
    MAX_LONG,
    MIN_LONG,
    BytesToken,
    MD5Token,
    Murmur3Token,
    murmur3,
    token_class_for,
)

GOLDEN = json.loads(
    (Path(__file__).parents[2] / "golden/topology/murmur3.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(
    "case", [*GOLDEN["known"], *GOLDEN["borders"]], ids=lambda c: c["key"][:24]
)
def test_murmur3_gives_the_known_token(case):
    assert murmur3(bytes.fromhex(case["key"])) == case["token"]


@pytest.mark.parametrize("wrap", [bytearray, memoryview])
def test_murmur3_takes_any_buffer(wrap):
    assert murmur3(wrap(b"a" * 20)) == murmur3(b"a" * 20)


def test_murmur3_takes_a_buffer_with_gaps():
    assert murmur3(memoryview(b"a-b-c-")[::2]) == murmur3(b"abc")


@pytest.mark.parametrize("key", ["text", None, 5])
def test_murmur3_refuses_what_has_no_bytes(key):
    with pytest.raises(TypeError, match="bytes-like object is required"):
        murmur3(key)


def test_the_minimum_is_no_token_of_a_key(monkeypatch):
    monkeypatch.setattr("driver.topology.token.murmur3", lambda _: MIN_LONG)
    assert Murmur3Token.from_key(b"x").value == MAX_LONG


def test_md5_tokens_are_the_absolute_value_of_the_digest():
    # md5("abc") = 900150983cd24fb0d6963f7d28e17f72: negative as a signed integer.
    assert MD5Token.from_key(b"abc").value == 2**128 - 0x900150983CD24FB0D6963F7D28E17F72


def test_byte_ordered_tokens_are_the_key_itself():
    assert BytesToken.from_key(b"abc") == BytesToken.from_string("616263")


@pytest.mark.parametrize("token_class", [Murmur3Token, MD5Token])
def test_hashing_tokens_are_read_from_decimal_text(token_class):
    assert token_class.from_string("-12").value == token_class("-12").value == -12


def test_tokens_of_one_partitioner_are_ordered_and_hashable():
    low, high = Murmur3Token(-5), Murmur3Token(7)
    assert low < high
    assert high >= low
    assert {low, Murmur3Token(-5)} == {low}


def test_tokens_of_different_partitioners_are_neither_equal_nor_ordered():
    assert Murmur3Token(1) != MD5Token(1)
    with pytest.raises(TypeError):
        assert Murmur3Token(1) < MD5Token(2)
    with pytest.raises(TypeError):
        assert Murmur3Token(1) < 2
    assert Murmur3Token(1) != 1


def test_a_token_shows_its_value():
    assert repr(Murmur3Token(5)) == str(Murmur3Token(5)) == "<Murmur3Token: 5>"


@pytest.mark.parametrize(
    ("partitioner", "token_class"),
    [
        ("org.apache.cassandra.dht.Murmur3Partitioner", Murmur3Token),
        ("RandomPartitioner", MD5Token),
        ("org.apache.cassandra.dht.ByteOrderedPartitioner", BytesToken),
        ("org.example.OwnPartitioner", None),
    ],
)
def test_a_partitioner_has_its_token_class(partitioner, token_class):
    assert token_class_for(partitioner) is token_class
