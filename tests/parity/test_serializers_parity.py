"""Serializers of both implementations: same bytes, same errors, for every type and any value."""

import array
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from names import plain
from strategies.cql import types_with_values

from driver.types import FloatType, lookup_cqltype
from driver.types.serializers import find_serializer

VERSIONS = st.sampled_from([3, 4, 5])
NUMBERS = ["float", "double", "int", "bigint"]
AWKWARD = st.one_of(
    st.integers(),
    st.floats(),
    st.booleans(),
    st.text(max_size=3),
    st.binary(max_size=4),
    st.decimals(allow_nan=False),
    st.builds(np.float32, st.floats(width=32)),
    st.builds(np.int64, st.integers(-(2**63), 2**63 - 1)),
)


class Sides:
    """What a type of this process encodes, in the pure and in the compiled driver."""

    def __init__(self, pure, compiled):
        packages = (pure, compiled)
        modules = [
            [import_module(f"{p.__name__}.types.{m}") for m in ("registry", "serializers")]
            for p in packages
        ]
        self.sides = [(types.lookup_casstype, s.find_serializer) for types, s in modules]

    def outcomes(self, cqltype, value, version):
        name = cqltype.cass_parameterized_type(full=True)
        found = []
        for lookup, find in self.sides:
            try:
                found.append(find(lookup(name)).serialize(value, version))
            except Exception as error:  # noqa: BLE001  (any error is an outcome to compare)
                found.append((type(error).__name__, str(error)))
        return found


@pytest.fixture(scope="session")
def sides(pure, compiled):
    return Sides(pure, compiled)


def test_the_compiled_serializer_is_another_class(pure, compiled):
    modules = [import_module(f"{p.__name__}.types.serializers") for p in (pure, compiled)]
    assert not hasattr(modules[0], "__twin__")
    assert modules[1].Serializer.__module__.endswith("_cython.types.serializers")


@given(typed=types_with_values(), version=VERSIONS)
def test_values_are_encoded_as_their_type_does_it(compiled, typed, version):  # noqa: ARG001
    # Values such as Time belong to one mount, so that the pure side is the type's own method.
    cqltype, value = typed
    encoded = find_serializer(cqltype).serialize(value, version)
    assert encoded == cqltype.serialize(value, version)


@pytest.mark.parametrize("name", NUMBERS)
@given(value=AWKWARD)
def test_whatever_is_given_as_a_number_has_the_same_bytes_or_the_same_error(sides, name, value):
    pure, compiled = sides.outcomes(lookup_cqltype(name), value, 4)
    assert compiled == pure


@pytest.mark.parametrize("name", NUMBERS)
@given(values=st.lists(AWKWARD, max_size=3))
def test_any_elements_of_a_vector_have_the_same_bytes_or_the_same_error(sides, name, values):
    pure, compiled = sides.outcomes(lookup_cqltype(f"vector<{name}, 2>"), values, 4)
    assert compiled == pure


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize(
    "value",
    [
        [1, 2, 3],
        (1, 2, 3),
        range(1, 4),
        {1: "a", 2: "b", 3: "c"},
        {1, 2, 3},
        b"abc",
        "abc",
        np.array([1, 2, 3]),
        np.array([1, 2, 3], dtype="f4"),
        np.array([1, 2, 3], dtype=">f8"),
        np.array([1, 2, 3], dtype="f8")[::-1],
        np.array([[1, 2, 3]]),
        np.array([1e300, 2, 3]),
        np.array([np.nan, np.inf, 3], dtype="f4"),
        array.array("i", [1, 2, 3]),
        array.array("f", [1, 2, 3]),
        memoryview(array.array("d", [1, 2, 3])),
        iter([1, 2, 3]),
        5,
        [1, 2],
        [1.5, 2, 3],
        [1, None, 3],
        [True, 2, 3],
        [2**31, 2, 3],
        [2**31 - 1, -(2**31), 3],
        [1e39, 2, 3],
        [10**400, 2, 3],
        [float("nan"), float("-inf"), -0.0],
    ],
    ids=plain,
)
def test_any_sequence_that_one_takes_the_other_takes_too(sides, name, value):
    pure, compiled = sides.outcomes(lookup_cqltype(f"vector<{name}, 3>"), value, 4)
    assert compiled == pure


def test_a_type_of_an_application_serializes_in_its_own_way():
    class Doubled(FloatType):
        @classmethod
        def serialize(cls, value, protocol_version):
            return super().serialize(value * 2, protocol_version)

    assert find_serializer(Doubled).serialize(2.0, 4) == FloatType.serialize(4.0, 4)


def test_the_same_type_has_the_same_serializer():
    vector = lookup_cqltype("vector<float, 3>")
    assert find_serializer(vector) is find_serializer(vector)
    assert find_serializer(lookup_cqltype("frozen<list<int>>")).cqltype.typename == "list"
