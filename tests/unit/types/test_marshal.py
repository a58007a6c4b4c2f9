"""Numbers and bytes, by properties; bytes from the specification are in tests/golden."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver.protocol.errors import MarshalException
from driver.types import marshal

WIDTHS = [("int8", 8), ("int16", 16), ("int32", 32), ("int64", 64)]


@pytest.mark.parametrize(("kind", "bits"), WIDTHS)
@given(data=st.data())
def test_signed_integers_come_back(kind, bits, data):
    value = data.draw(st.integers(-(1 << bits - 1), (1 << bits - 1) - 1))
    packed = getattr(marshal, f"{kind}_pack")(value)
    assert packed == value.to_bytes(bits // 8, "big", signed=True)
    assert getattr(marshal, f"{kind}_unpack")(packed) == value


@pytest.mark.parametrize(("kind", "bits"), WIDTHS)
@given(data=st.data())
def test_unsigned_integers_come_back(kind, bits, data):
    value = data.draw(st.integers(0, (1 << bits) - 1))
    packed = getattr(marshal, f"u{kind}_pack")(value)
    assert packed == value.to_bytes(bits // 8, "big")
    assert getattr(marshal, f"u{kind}_unpack")(packed) == value


@given(value=st.floats(width=32))
def test_floats_come_back(value):
    for kind in ("float", "double"):
        packed = getattr(marshal, f"{kind}_pack")(value)
        unpacked = getattr(marshal, f"{kind}_unpack")(packed)
        assert repr(unpacked) == repr(value)


@given(value=st.integers())
def test_a_varint_comes_back_and_is_the_shortest(value):
    packed = marshal.varint_pack(value)
    assert marshal.varint_unpack(packed) == value
    if len(packed) > 1:
        with pytest.raises(OverflowError):
            value.to_bytes(len(packed) - 1, "big", signed=True)


@given(value=st.integers(0, (1 << 64) - 1), tail=st.binary(max_size=3))
def test_an_unsigned_vint_knows_its_length(value, tail):
    packed = marshal.uvint_pack(value)
    assert marshal.uvint_unpack(packed + tail) == (value, len(packed))
    assert len(packed) == max(1, min(9, -(-value.bit_length() // 7)))
    for cut in range(len(packed)):
        with pytest.raises(MarshalException):
            marshal.uvint_unpack(packed[:cut])


@given(values=st.lists(st.integers(-(1 << 63), (1 << 63) - 1)))
def test_vints_come_back(values):
    assert marshal.vints_unpack(marshal.vints_pack(values)) == tuple(values)


@pytest.mark.parametrize(
    ("name", "value"),
    [("uvint_pack", -1), ("uvint_pack", 1 << 64), ("vints_pack", [1 << 63])],
)
def test_vints_have_64_bits(name, value):
    with pytest.raises(OverflowError, match="64 bits"):
        getattr(marshal, name)(value)


@pytest.mark.parametrize("size", [0, 3, 5])
def test_fixed_widths_take_their_width_only(size):
    with pytest.raises(struct.error):
        marshal.int32_unpack(bytes(size))
