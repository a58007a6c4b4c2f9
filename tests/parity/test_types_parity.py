"""Deserializers of both implementations: same values, same errors, for every type.

The two mounts have their own classes (``driver_pure.values.date.Date``), which are not equal to
each other, so that values are compared by class name and repr; repr tells -0.0, True and 1 apart.
"""

from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.cql import CUSTOM, SCALARS, cql_types, damaged, types_with_values, values_of

from driver.types import lookup_casstype, lookup_cqltype

VERSIONS = st.sampled_from([3, 4, 5])
SIMPLE = [lookup_cqltype(name) for name in SCALARS] + [lookup_casstype(CUSTOM)]
SHAPES = [
    "list<int>",
    "set<text>",
    "map<text, bigint>",
    "tuple<int, text>",
    "vector<float, 3>",
    "vector<double, 3>",
    "vector<int, 3>",
    "vector<bigint, 3>",
    "vector<uuid, 2>",
    "vector<text, 2>",
    "vector<vector<float, 2>, 2>",
    "frozen<list<frozen<set<int>>>>",
    "map<frozen<list<int>>, frozen<tuple<text, duration>>>",
]


class Sides:
    """What a type of this process decodes to, in the pure and in the compiled driver."""

    def __init__(self, pure, compiled):
        self.packages = (pure, compiled)
        self.lookups = [self._module(p, "types.registry").lookup_casstype for p in self.packages]
        self.finders = [
            self._module(p, "types.deserializers").find_deserializer for p in self.packages
        ]

    @staticmethod
    def _module(package, name):
        return import_module(f"{package.__name__}.{name}")

    def outcomes(self, cqltype, data, version):
        name = cqltype.cass_parameterized_type(full=True)
        found = []
        for lookup, find in zip(self.lookups, self.finders, strict=True):
            deserializer = find(lookup(name))
            try:
                value = deserializer.deserialize_bytes(data, version)
            except Exception as error:  # noqa: BLE001  (any error is an outcome to compare)
                found.append((type(error).__name__, str(error)))
            else:
                found.append((type(value).__name__, repr(value)))
        return found


@pytest.fixture(scope="session")
def sides(pure, compiled):
    return Sides(pure, compiled)


def test_the_compiled_deserializer_is_another_class(pure, compiled):
    modules = [import_module(f"{p.__name__}.types.deserializers") for p in (pure, compiled)]
    assert modules[0].__twin__ is None if hasattr(modules[0], "__twin__") else True
    assert modules[1].Deserializer.__module__.endswith("_cython.types.deserializers")


@pytest.mark.parametrize("cqltype", SIMPLE, ids=repr)
@given(data=st.data(), version=VERSIONS)
def test_values_of_simple_types_are_decoded_alike(sides, cqltype, data, version):
    encoded = cqltype.serialize(data.draw(values_of(cqltype)), version)
    pure, compiled = sides.outcomes(cqltype, encoded, version)
    assert compiled == pure


@pytest.mark.parametrize("cqltype", SIMPLE, ids=repr)
@given(encoded=st.none() | st.binary(max_size=20), version=VERSIONS)
def test_any_bytes_of_simple_types_have_the_same_outcome(sides, cqltype, encoded, version):
    pure, compiled = sides.outcomes(cqltype, encoded, version)
    assert compiled == pure


@pytest.mark.parametrize("name", SHAPES)
@given(data=st.data(), version=VERSIONS)
def test_values_of_compound_types_are_decoded_alike(sides, name, data, version):
    cqltype = lookup_cqltype(name)
    encoded = cqltype.serialize(data.draw(values_of(cqltype)), version)
    pure, compiled = sides.outcomes(cqltype, encoded, version)
    assert compiled == pure


@pytest.mark.parametrize("name", SHAPES)
@given(data=st.data(), version=VERSIONS)
def test_damaged_compound_values_have_the_same_outcome(sides, name, data, version):
    cqltype = lookup_cqltype(name)
    encoded = cqltype.serialize(data.draw(values_of(cqltype)), version)
    pure, compiled = sides.outcomes(cqltype, data.draw(damaged(encoded)), version)
    assert compiled == pure


@given(drawn=types_with_values(), version=VERSIONS)
def test_values_of_any_nested_type_are_decoded_alike(sides, drawn, version):
    cqltype, value = drawn
    pure, compiled = sides.outcomes(cqltype, cqltype.serialize(value, version), version)
    assert compiled == pure


@given(drawn=types_with_values(), data=st.data(), version=VERSIONS)
def test_damaged_values_of_any_nested_type_have_the_same_outcome(sides, drawn, data, version):
    cqltype, value = drawn
    encoded = data.draw(damaged(cqltype.serialize(value, version)))
    pure, compiled = sides.outcomes(cqltype, encoded, version)
    assert compiled == pure


@given(cqltype=cql_types(), encoded=st.binary(max_size=40), version=VERSIONS)
def test_any_bytes_of_any_type_have_the_same_outcome(sides, cqltype, encoded, version):
    pure, compiled = sides.outcomes(cqltype, encoded, version)
    assert compiled == pure


HOSTILE = [
    ("list<int>", "7fffffff"),  # a count that would allocate 16 GB
    ("list<int>", "80000000"),
    ("list<int>", "00000001 7fffffff 00"),
    ("list<int>", "00000001 00000004 00000001 00"),  # a byte too many
    ("list<int>", "0000"),
    ("list<int>", "00000001 80000000"),  # any negative length is null
    ("set<int>", "7fffffff 00000004"),
    ("map<int, int>", "10000000 ffffffff ffffffff"),
    ("map<int, int>", "00000001 ffffffff"),
    ("tuple<int, int>", "00"),
    ("tuple<int, int>", "00000004 00000001 0000"),
    ("tuple<int>", "00000004 00000001 ffffffff"),  # a field added since
    ("vector<text, 2>", "ff ffffffffffffffff"),
    ("vector<text, 2>", "ff 7fffffffffffffff 00"),
    ("vector<text, 2>", "01"),
    ("vector<text, 2>", "c0"),
    ("vector<text, 1>", "00 00"),
    ("vector<float, 2147483647>", "00000000"),
    ("duration", "ff"),
    ("duration", "02 04"),
    ("duration", "02 04 06 08"),
    ("duration", "fffffffffffffffffe ffffffffffffffffff fffffffffffffffffe"),
    ("decimal", "000000"),
    ("decimal", "00000001"),
    ("decimal", "80000000 01"),
    ("decimal", "00000000" + "7f" * 3000),  # more digits than Python converts to text
    ("varint", "ff" * 20),
    ("time", "ffffffffffffffff"),
    ("time", "00004e94914f0000"),  # 24 hours
    ("timestamp", "7fffffffffffffff"),
    ("timestamp", "8000000000000000"),
    ("timestamp", "0000e677d21fdc00"),  # 10000-01-01
    ("timestamp", "0000e677d21fdbff"),  # the last of 9999
    ("timestamp", "ffffc77cedd32800"),  # 0001-01-01
    ("timestamp", "ffffc77cedd327ff"),
    ("inet", "000000"),
    ("uuid", "00" * 15),
    ("boolean", "0000"),
    ("boolean", "02"),
    ("text", "ff"),
    ("ascii", "80"),
]


@pytest.mark.parametrize(("name", "data"), HOSTILE)
def test_hostile_bytes_have_the_same_outcome(sides, name, data):
    pure, compiled = sides.outcomes(lookup_cqltype(name), bytes.fromhex(data), 4)
    assert compiled == pure


@pytest.mark.parametrize("support", [False, True])
def test_zero_bytes_are_empty_only_where_asked_for(pure, compiled, support):
    for package in (pure, compiled):
        base = import_module(f"{package.__name__}.types.base")
        int32 = base.casstypes["Int32Type"]
        find = import_module(f"{package.__name__}.types.deserializers").find_deserializer
        int32.support_empty_values = support
        try:
            value = find(int32).deserialize_bytes(b"", 4)
        finally:
            int32.support_empty_values = False
        assert value is (base.EMPTY if support else None)


def test_a_type_that_decodes_in_its_own_way_is_asked(pure, compiled):
    for package in (pure, compiled):
        int32 = import_module(f"{package.__name__}.types").Int32Type
        find = import_module(f"{package.__name__}.types.deserializers").find_deserializer

        class Celsius(int32, register=False):
            @classmethod
            def deserialize(cls, data, protocol_version):
                return f"{super().deserialize(data, protocol_version)} °C"

        assert find(Celsius).deserialize_bytes(b"\0\0\0\x15", 4) == "21 °C"


def test_a_mapped_class_receives_the_fields_by_name(pure, compiled):
    for package in (pure, compiled):
        types = import_module(f"{package.__name__}.types")
        find = import_module(f"{package.__name__}.types.deserializers").find_deserializer
        point = types.UserType.make_udt_class(
            "ks", "point", ("x", "y"), (types.Int32Type, types.Int32Type), mapped_class=dict
        )
        data = point.serialize({"x": 1, "y": 2}, 4)
        assert find(point).deserialize_bytes(data, 4) == {"x": 1, "y": 2}
        assert find(point).deserialize_bytes(data[:8], 4) == {"x": 1, "y": None}


def test_deserializers_take_nothing_but_bytes(compiled):
    find = import_module(f"{compiled.__name__}.types.deserializers").find_deserializer
    with pytest.raises(TypeError):
        find(lookup_cqltype("int")).deserialize_bytes("text", 4)
