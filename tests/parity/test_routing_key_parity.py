"""Routing keys of both implementations: the same bytes, or the same error."""

from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

PART = st.one_of(
    st.binary(max_size=20),
    st.none(),
    st.builds(bytearray, st.binary(max_size=3)),
    st.text(max_size=2),
    st.integers(0, 1),
)


def outcome(package, parts):
    pack_parts = import_module(f"{package.__name__}.statements.routing_key").pack_parts
    try:
        return pack_parts(parts)
    except Exception as error:  # noqa: BLE001  (any error is an outcome to compare)
        return type(error).__name__, str(error)


@given(st.lists(PART, max_size=4), st.sampled_from([list, tuple, dict.fromkeys]))
def test_any_parts(pure, compiled, parts, kind):
    try:
        joined = kind(parts)
    except TypeError:  # a bytearray cannot be a key
        joined = parts
    assert outcome(compiled, joined) == outcome(pure, joined)


@pytest.mark.parametrize("size", [65_535, 65_536])
def test_the_longest_parts(pure, compiled, size):
    for parts in ([b"x" * size, b"y"], (b"y", b"x" * size), [b"x" * size]):
        assert outcome(compiled, parts) == outcome(pure, parts)
