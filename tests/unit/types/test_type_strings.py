"""The grammar of type strings, and what the registry makes of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver import types
from driver.types import lookup_casstype, lookup_casstype_simple, lookup_cqltype
from driver.types.base import casstypes, cqltypes
from driver.types.type_string import (
    Argument,
    parse_casstype,
    parse_cqltype,
    quote_identifier,
)

PREFIX = "org.apache.cassandra.db.marshal."


def test_both_notations_give_the_same_tree():
    tree = Argument("map", (Argument("text"), Argument("list", (Argument("int"),))))
    assert parse_cqltype(" map< text ,list<int> > ") == tree
    assert parse_casstype("map(text,list(int))") == tree


def test_labels_stand_in_front_of_types():
    parsed = parse_casstype("C(a=>X, 666f:Y(Z))")
    assert [argument.label for argument in parsed.arguments] == ["a", "666f"]
    assert [argument.name for argument in parsed.arguments] == ["X", "Y"]


@pytest.mark.parametrize(
    "text", ["", " ", "a(", "a)", "a(b", "a(b))", "a(,b)", "a(b,)", "(a)", "a b", "a!", "a:", "'x"]
)
def test_text_that_is_no_class_name_is_a_value_error(text):
    with pytest.raises(ValueError, match="Don't know how to parse type string"):
        parse_casstype(text)


@given(text=st.text(alphabet="ab(),:=><'\" 1", max_size=20))
def test_any_text_is_a_tree_or_a_value_error(text):
    for parse in (parse_casstype, parse_cqltype):
        try:
            parsed = parse(text)
        except ValueError:
            continue
        assert parsed.name


def test_deep_nesting_is_a_value_error_and_no_stack_overflow():
    with pytest.raises(ValueError, match="nested deeper"):
        lookup_cqltype("list<" * 10_000)


@pytest.mark.parametrize("name", sorted(casstypes))
def test_every_class_is_found_with_and_without_its_package(name):
    assert lookup_casstype(name) is casstypes[name]
    assert lookup_casstype(PREFIX + name) is casstypes[name]
    assert lookup_casstype_simple(PREFIX + name) is casstypes[name]


@pytest.mark.parametrize("name", sorted(n for n in cqltypes if "." not in n))
def test_every_simple_cql_name_is_found_in_any_case(name):
    if cqltypes[name].num_subtypes == 0:
        assert lookup_cqltype(name.upper()) is cqltypes[name]


ROUND_TRIPS = [
    "ascii",
    "list<int>",
    "map<text, frozen<list<int>>>",
    "frozen<set<timeuuid>>",
    "frozen<tuple<int, text>>",
    "vector<float, 3>",
    "vector<frozen<list<text>>, 2>",
    "'com.acme.Sketch'",
]


@pytest.mark.parametrize("text", ROUND_TRIPS)
def test_a_type_in_cql_comes_back_as_it_was(text):
    cqltype = lookup_cqltype(text)
    assert cqltype.cql_parameterized_type() == text
    assert lookup_casstype(cqltype.cass_parameterized_type()) is cqltype
    assert repr(cqltype) == f"<CQL {text}>"


CLASSES = [
    ("ListType(Int32Type)", "list<int>"),
    ("ReversedType(Int32Type)", "int"),
    ("FrozenType(MapType(UTF8Type,Int32Type))", "frozen<map<text, int>>"),
    ("VectorType(FloatType , 3)", "vector<float, 3>"),
    ("TupleType(Int32Type,UTF8Type)", "frozen<tuple<int, text>>"),
    (
        "CompositeType(Int32Type, UTF8Type)",
        f"'{PREFIX}CompositeType({PREFIX}Int32Type, {PREFIX}UTF8Type)'",
    ),
    ("DynamicCompositeType(a=>Int32Type)", f"'{PREFIX}DynamicCompositeType(a=>{PREFIX}Int32Type)'"),
    (
        "ColumnToCollectionType(666f6f:ListType(Int32Type))",
        f"'{PREFIX}ColumnToCollectionType(666f6f:{PREFIX}ListType({PREFIX}Int32Type))'",
    ),
    ("com.acme.Sketch(a:Int32Type)", "'com.acme.Sketch(a:Int32Type)'"),
    ("TimestampType", "timestamp"),
    ("DateType", "timestamp"),
    ("UserType(ks,616464,61:Int32Type)", "frozen<add>"),
]


@pytest.mark.parametrize(("name", "cql"), CLASSES)
def test_a_class_name_has_its_cql(name, cql):
    cqltype = lookup_casstype(name)
    assert cqltype.cql_parameterized_type() == cql
    assert lookup_casstype(cqltype.cass_parameterized_type(full=True)) is cqltype


def test_a_type_is_its_own_lookup():
    assert lookup_casstype(types.Int32Type) is types.Int32Type


def test_the_current_timestamp_type_is_found_by_cql():
    assert lookup_cqltype("timestamp") is types.TimestampType


def test_user_types_are_found_where_they_are_given():
    address = types.UserType.make_udt_class("ks", "Address", ["a"], [types.Int32Type])
    known = {"address": types.Int32Type, "Address": address, "ks.t": types.UTF8Type}
    assert lookup_cqltype('list<frozen<"Address">>', known).subtypes[0].subtypes == (address,)
    assert lookup_cqltype("ADDRESS", known) is types.Int32Type
    assert lookup_cqltype("ks.t", known) is types.UTF8Type


@pytest.mark.parametrize(
    "text",
    [
        "address",
        '"int"',
        "list",
        "map<int>",
        "list<int, int>",
        "int<int>",
        "vector<int>",
        "vector<int, x>",
    ],
)
def test_types_that_do_not_exist_are_value_errors(text):
    with pytest.raises(ValueError, match=r"."):
        lookup_cqltype(text)


@pytest.mark.parametrize(
    "text",
    [
        "UserType(ks)",
        "UserType(ks,zz)",
        "UserType(ks,616464,Int32Type)",
        "ListType(Int32Type,Int32Type)",
        "VectorType(Int32Type)",
    ],
)
def test_arguments_that_do_not_fit_are_value_errors(text):
    with pytest.raises(ValueError, match=r"."):
        lookup_casstype(text)


@pytest.mark.parametrize(("name", "quoted"), [("a_1", "a_1"), ("A", '"A"'), ('a"b', '"a""b"')])
def test_identifiers_are_quoted_where_cql_needs_it(name, quoted):
    assert quote_identifier(name) == quoted


def test_a_type_that_an_application_defines_is_registered_and_found():
    class SketchType(types.BytesType):
        typename = "sketch"

    try:
        assert lookup_casstype("SketchType") is SketchType
        assert lookup_cqltype("list<sketch>").subtypes == (SketchType,)
    finally:
        del casstypes["SketchType"], cqltypes["sketch"]


def test_columns_to_collections_keep_their_bytes():
    cqltype = lookup_casstype("ColumnToCollectionType(666f6f:ListType(Int32Type))")
    assert cqltype.fieldnames == ("666f6f",)
    assert cqltype.serialize(b"a", 4) == cqltype.deserialize(b"a", 4) == b"a"
