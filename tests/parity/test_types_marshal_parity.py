"""marshal of both implementations: same bytes, same values, same errors."""

from importlib import import_module

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

SIZES = {
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "uint8": 1,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
    "float": 4,
    "double": 8,
}
INTEGERS = (
    st.integers()
    | st.integers(-(1 << 66), 1 << 66)
    | st.integers(0, 66).flatmap(lambda bits: st.sampled_from([1 << bits, -(1 << bits)]))
)


@pytest.fixture(scope="session")
def marshals(pure, compiled):
    return [import_module(f"{package.__name__}.types.marshal") for package in (pure, compiled)]


def outcomes(marshals, name, *arguments):
    """What the function of each side returns or raises."""
    found = []
    for marshal in marshals:
        try:
            value = getattr(marshal, name)(*arguments)
        except Exception as error:  # noqa: BLE001  (any error is an outcome to compare)
            found.append((type(error).__name__, str(error)))
        else:
            found.append((type(value).__name__, repr(value)))
    return found


def test_each_side_has_its_own_code(marshals):
    pure, compiled = marshals
    assert pure.varint_pack is not compiled.varint_pack
    assert not hasattr(pure, "__twin__")


@pytest.mark.parametrize("name", ["varint_pack", "uvint_pack"])
@given(value=INTEGERS)
@example(value=0)
@example(value=-1)
@example(value=(1 << 64) - 1)
@example(value=1 << 64)
def test_integers_are_packed_alike(marshals, name, value):
    pure, compiled = outcomes(marshals, name, value)
    assert compiled == pure


@given(values=st.lists(INTEGERS, max_size=4))
@example(values=[-(1 << 63), (1 << 63) - 1])
def test_vints_are_packed_alike(marshals, values):
    pure, compiled = outcomes(marshals, "vints_pack", values)
    assert compiled == pure


@pytest.mark.parametrize("name", ["varint_unpack", "uvint_unpack", "vints_unpack"])
@given(data=st.binary(max_size=24))
@example(data=b"")
@example(data=b"\xff" * 9)
@example(data=b"\xff" * 8)
def test_any_bytes_are_unpacked_alike(marshals, name, data):
    pure, compiled = outcomes(marshals, name, data)
    assert compiled == pure


@pytest.mark.parametrize("kind", SIZES)
@given(data=st.data())
def test_fixed_widths_are_unpacked_alike(marshals, kind, data):
    size = SIZES[kind]
    raw = data.draw(st.binary(min_size=size, max_size=size) | st.binary(max_size=9))
    wrapped = data.draw(st.sampled_from([bytes, bytearray, memoryview]))(raw)
    pure, compiled = outcomes(marshals, f"{kind}_unpack", wrapped)
    assert compiled == pure


@pytest.mark.parametrize("name", ["uvint_unpack", "vints_unpack", "varint_unpack"])
@given(data=st.binary(max_size=10), wrap=st.sampled_from([bytearray, memoryview]))
def test_other_buffers_are_unpacked_alike(marshals, name, data, wrap):
    pure, compiled = outcomes(marshals, name, wrap(data))
    assert compiled == pure


@pytest.mark.parametrize("value", ["a", 1.5, None], ids=repr)
def test_values_of_the_wrong_type_raise_the_same(marshals, value):
    for name in ("varint_pack", "uvint_pack"):
        pure, compiled = outcomes(marshals, name, value)
        assert compiled == pure
