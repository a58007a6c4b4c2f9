"""Routing keys: parts and their frames."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver.statements.routing_key import pack_parts


def unpack(key):
    parts = []
    while key:
        (length,) = struct.unpack_from(">H", key)
        assert key[2 + length] == 0
        parts.append(key[2 : 2 + length])
        key = key[3 + length :]
    return parts


def test_one_part_is_the_key_itself():
    assert pack_parts([b"\x00\x00\x00\x01"]) == b"\x00\x00\x00\x01"


def test_each_of_several_parts_has_a_length_and_ends_with_a_zero():
    assert pack_parts([b"a", b"", b"bcd"]) == b"\x00\x01a\x00\x00\x00\x00\x00\x03bcd\x00"


@given(st.lists(st.binary(max_size=300), min_size=2, max_size=5))
def test_the_parts_can_be_read_back(parts):
    assert unpack(pack_parts(parts)) == parts


def test_a_part_has_at_most_what_a_short_can_say():
    assert len(pack_parts([b"x" * 65535, b"y"])) == 65535 + 3 + 4
    with pytest.raises(struct.error):
        pack_parts([b"x" * 65536, b"y"])
