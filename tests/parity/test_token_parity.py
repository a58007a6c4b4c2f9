"""murmur3 of both implementations: same values, same errors."""

from importlib import import_module

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from names import plain

KEYS = st.binary(max_size=200)


@pytest.fixture(scope="session")
def murmurs(pure, compiled):
    return [
        import_module(f"{package.__name__}.topology.token").murmur3 for package in (pure, compiled)
    ]


def test_the_two_are_not_the_same_code(murmurs):
    assert murmurs[0] is not murmurs[1]


@given(key=KEYS)
@example(key=b"")
@example(key=b"\xff" * 15)
@example(key=b"\x80" * 17)
def test_keys_have_the_same_hash(murmurs, key):
    expected, actual = (murmur3(key) for murmur3 in murmurs)
    assert actual == expected


@given(key=KEYS, wrap=st.sampled_from([bytearray, memoryview]))
def test_other_buffers_have_the_same_hash(murmurs, key, wrap):
    expected, actual = (murmur3(wrap(key)) for murmur3 in murmurs)
    assert actual == expected == murmurs[0](key)


@pytest.mark.parametrize("key", ["text", None, 5, [1], object()], ids=plain)
def test_the_same_keys_are_refused_with_the_same_words(murmurs, key):
    errors = []
    for murmur3 in murmurs:
        with pytest.raises(TypeError) as caught:
            murmur3(key)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
