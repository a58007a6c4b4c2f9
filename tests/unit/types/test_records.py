"""Tuples and user-defined types."""

import copy
import pickle
import threading

import pytest

from driver.types import Int32Type, TupleType, UserType, UTF8Type, lookup_cqltype
from driver.types.deserializers import find_deserializer

ADDRESS = UserType.make_udt_class("ks", "address", ("street", "zip"), (UTF8Type, Int32Type))
ENCODED = bytes.fromhex("00000001 61 00000004 00000001")


class Record:
    def __init__(self, street, zip):  # noqa: A002  (the field is called so)
        self.street = street
        self.zip = zip


@pytest.mark.parametrize(
    "value",
    [("a", 1), ["a", 1], {"street": "a", "zip": 1}, Record("a", 1), ADDRESS.tuple_type("a", 1)],
    ids=lambda v: type(v).__name__,
)
def test_a_user_type_takes_sequences_mappings_and_objects(value):
    assert ADDRESS.serialize(value, 4) == ENCODED


def test_a_user_type_gives_a_named_tuple():
    value = ADDRESS.deserialize(ENCODED, 4)
    assert (value.street, value.zip) == ("a", 1)
    assert type(value).__name__ == "address"
    assert find_deserializer(ADDRESS).deserialize_bytes(ENCODED, 4) == value
    assert type(find_deserializer(ADDRESS).deserialize_bytes(ENCODED, 4)) is type(value)


def test_missing_fields_are_null_and_missing():
    assert ADDRESS.serialize({"zip": 1}, 4) == bytes.fromhex("ffffffff 00000004 00000001")
    assert ADDRESS.serialize(("a",), 4) == bytes.fromhex("00000001 61")
    assert ADDRESS.deserialize(bytes.fromhex("00000001 61"), 4) == ("a", None)


def test_fields_that_were_added_since_are_ignored():
    assert ADDRESS.deserialize(ENCODED + bytes.fromhex("00000001 ff"), 4) == ("a", 1)


def test_fields_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match=r"no fields \['town'\]"):
        ADDRESS.serialize({"street": "a", "town": "b"}, 4)
    with pytest.raises(ValueError, match="2 fields, got 3"):
        ADDRESS.serialize(("a", 1, 2), 4)


def test_a_registered_class_receives_keywords():
    mapped = UserType.make_udt_class(
        "ks", "address", ("street", "zip"), (UTF8Type, Int32Type), mapped_class=Record
    )
    assert mapped is not ADDRESS
    for value in (
        mapped.deserialize(ENCODED, 4),
        find_deserializer(mapped).deserialize_bytes(ENCODED, 4),
    ):
        assert isinstance(value, Record)
        assert (value.street, value.zip) == ("a", 1)
    assert ADDRESS.mapped_class is None


def test_names_that_python_does_not_take_are_replaced_by_position():
    names = ("class", "two words", "_private", "fine", "9lives")
    cqltype = UserType.make_udt_class("ks", "two words", names, [Int32Type] * 5)
    fields = ("field_0_", "field_1_", "field_2_", "fine", "field_4_")
    assert cqltype.tuple_type._fields == fields
    assert cqltype.tuple_type.__name__ == "udt"
    assert cqltype.fieldnames == names
    assert cqltype.serialize(dict.fromkeys(names, 1), 4) == bytes.fromhex("00000004 00000001") * 5


def test_the_same_description_is_the_same_class():
    again = UserType.make_udt_class("ks", "address", ["street", "zip"], [UTF8Type, Int32Type])
    assert again is ADDRESS
    assert UserType.make_udt_class("ks2", "address", ["street"], [UTF8Type]) is not ADDRESS
    assert TupleType.apply_parameters([Int32Type]) is TupleType.apply_parameters((Int32Type,))


def test_names_and_types_come_in_pairs():
    with pytest.raises(ValueError, match="1 field names and 0 types"):
        UserType.make_udt_class("ks", "t", ["a"], [])


def test_threads_that_race_get_one_class():
    made, start = [], threading.Barrier(8)

    def make():
        start.wait()
        made.append(UserType.make_udt_class("ks", "raced", ["a"], [Int32Type]))

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8
    assert len(set(made)) == 1


def test_a_user_type_is_written_in_both_notations():
    assert ADDRESS.cql_parameterized_type() == "frozen<address>"
    upper = UserType.make_udt_class("ks", 'The "A"', ["a"], [Int32Type])
    assert upper.cql_parameterized_type() == 'frozen<"The ""A""">'
    assert ADDRESS.cass_parameterized_type() == (
        "UserType(ks,61646472657373,737472656574:UTF8Type,7a6970:Int32Type)"
    )


def test_a_short_tuple_is_filled_with_none():
    cqltype = lookup_cqltype("tuple<int, text, int>")
    assert cqltype.deserialize(cqltype.serialize((1,), 4), 4) == (1, None, None)
    assert cqltype.deserialize(b"", 4) == (None, None, None)


@pytest.mark.parametrize("name", ["address", "two words"])
def test_a_value_without_a_class_of_the_application_survives_a_copy_and_a_pickle(name):
    cqltype = UserType.make_udt_class("ks", name, ["a", "1b"], [Int32Type, UTF8Type])
    value = cqltype.from_binary(cqltype.serialize((5, "x"), 4), 4)
    for kept in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):  # noqa: S301  (our own bytes)
        assert kept == value
        assert (type(kept), kept._fields) == (type(value), ("a", "field_1_"))


def test_a_class_that_lacks_a_field_of_its_type_is_an_error_that_names_both():
    def point(x):
        return x

    cqltype = UserType.make_udt_class("ks", "point", ["x", "y"], [Int32Type] * 2, point)
    value = cqltype.serialize((1, 2), 4)
    for read in (cqltype.from_binary, find_deserializer(cqltype).deserialize_bytes):
        with pytest.raises(TypeError, match=r"point\(\) got an unexpected keyword argument 'y'"):
            read(value, 4)
