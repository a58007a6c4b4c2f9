"""Parts of a schema made by hand: their names, their text, and what a keyspace keeps of them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver.topology.schema.column import ColumnMetadata
from driver.topology.schema.function import Aggregate, Function, comparable_type
from driver.topology.schema.keyspace import KeyspaceMetadata
from driver.topology.schema.quoting import (
    cql_keywords,
    cql_keywords_reserved,
    cql_keywords_unreserved,
    escape_name,
    is_valid_name,
    map_literal,
    protect_name,
    protect_names,
    protect_value,
)
from driver.topology.schema.table import (
    IndexMetadata,
    MaterializedViewMetadata,
    TableMetadata,
    TriggerMetadata,
)
from driver.topology.schema.user_type import UserType
from driver.types.type_string import parse_cqltype

SIMPLE = {"replication_factor": "3"}


class TestNames:
    @pytest.mark.parametrize("name", ["abc", "a_b", "a1", "type", "key", "ttl"])
    def test_plain_names_stay_as_they_are(self, name):
        assert is_valid_name(name)
        assert protect_name(name) == name

    @pytest.mark.parametrize(
        "name", ["", "Abc", "1a", "_a", "a b", "é", 'a"b', "select", "order", "a-b", "a\n"]
    )
    def test_other_names_are_quoted(self, name):
        assert not is_valid_name(name)
        assert protect_name(name) == escape_name(name)

    def test_quotes_are_doubled_inside(self):
        assert protect_names(["a", 'b"c']) == ["a", '"b""c"']

    def test_no_name_is_no_valid_name(self):
        assert not is_valid_name(None)

    def test_a_keyword_is_reserved_or_not(self):
        assert cql_keywords == cql_keywords_reserved | cql_keywords_unreserved
        assert not cql_keywords_reserved & cql_keywords_unreserved

    @given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
    def test_a_protected_name_is_read_back_as_the_name(self, name):
        parsed = parse_cqltype(protect_name(name))
        assert (parsed.name, parsed.arguments) == (name, ())


class TestValues:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (None, "NULL"),
            (True, "true"),
            (False, "false"),
            (1, "1"),
            (0.01, "0.01"),
            ("it's", "'it''s'"),
            ("", "''"),
        ],
    )
    def test_values_are_written_as_cql_has_them(self, value, text):
        assert protect_value(value) == text

    def test_a_map_of_options_has_texts_alone(self):
        assert map_literal({"a": 1, "b'": True, "c": "x"}) == "{'a': '1', 'b''': 'true', 'c': 'x'}"


def small_table():
    table = TableMetadata("ks", "T")
    key = ColumnMetadata(table, "k", "int")
    order = ColumnMetadata(table, "C", "text", is_reversed=True)
    static = ColumnMetadata(table, "s", "list<int>", is_static=True)
    table.partition_key, table.clustering_key = [key], [order]
    table.columns = {column.name: column for column in (key, order, static)}
    return table


class TestTables:
    def test_a_table_on_one_line_and_on_several(self):
        table = small_table()
        table.options = {"gc_grace_seconds": 10, "comment": "it's", "caching": {"keys": "ALL"}}
        assert table.as_cql_query() == (
            'CREATE TABLE ks."T" (k int, "C" text, s list<int> static, PRIMARY KEY (k, "C")) '
            "WITH CLUSTERING ORDER BY (\"C\" DESC) AND caching = {'keys': 'ALL'} "
            "AND comment = 'it''s' AND gc_grace_seconds = 10"
        )
        assert table.as_cql_query(formatted=True) == (
            'CREATE TABLE ks."T" (\n    k int,\n    "C" text,\n    s list<int> static,\n'
            '    PRIMARY KEY (k, "C")\n) WITH CLUSTERING ORDER BY ("C" DESC)\n'
            "    AND caching = {'keys': 'ALL'}\n    AND comment = 'it''s'\n"
            "    AND gc_grace_seconds = 10"
        )

    def test_a_key_of_one_column_stands_with_the_column(self):
        table = TableMetadata("ks", "t")
        table.partition_key = [ColumnMetadata(table, "Key", "int")]
        table.columns = {"Key": table.partition_key[0]}
        assert table.as_cql_query() == 'CREATE TABLE ks.t ("Key" int PRIMARY KEY)'

    def test_a_partition_key_of_several_columns_has_parentheses(self):
        table = small_table()
        table.partition_key, table.clustering_key = table.primary_key, []
        assert 'PRIMARY KEY ((k, "C")))' in table.as_cql_query()

    def test_what_belongs_to_a_table_comes_after_it(self):
        table = small_table()
        table.indexes["i"] = IndexMetadata("ks", "T", "I", "COMPOSITES", {"target": "values(s)"})
        table.triggers["t"] = TriggerMetadata(table, "t", {"class": "org.X"})
        view = MaterializedViewMetadata("ks", "v", "T", True, "k IS NOT NULL", None)
        view.partition_key = [table.columns["C"]]
        table.views["v"] = view
        assert table.export_as_string().partition(";\n")[2] == (
            'CREATE INDEX "I" ON ks."T" (values(s));\n'
            "CREATE TRIGGER t ON ks.\"T\" USING 'org.X';\n\n"
            'CREATE MATERIALIZED VIEW ks.v AS\n    SELECT *\n    FROM ks."T"\n'
            '    WHERE k IS NOT NULL\n    PRIMARY KEY ("C");'
        )

    def test_a_custom_index_names_its_class_and_options(self):
        options = {"target": "s", "class_name": "a.b", "mode": "x'y"}
        index = IndexMetadata("ks", "t", "i", "CUSTOM", options)
        assert index.as_cql_query() == (
            "CREATE CUSTOM INDEX i ON ks.t (s) USING 'a.b' WITH OPTIONS = {'mode': 'x''y'}"
        )
        assert index.index_options == options

    def test_the_time_to_live_of_a_view_is_that_of_its_table(self):
        view = MaterializedViewMetadata("ks", "v", "t", True, "", {"default_time_to_live": 0})
        assert "time_to_live" not in view.as_cql_query()


class TestFunctions:
    def function(self, **others):
        arguments = {
            "keyspace": "ks",
            "name": "F",
            "argument_types": ["int", "frozen<list<text>>"],
            "argument_names": ["a", "B"],
            "return_type": "frozen<map<int, int>>",
            "language": "java",
            "body": "return 1;",
            "called_on_null_input": True,
        }
        return Function(**arguments | others)

    def test_arguments_are_written_without_frozen(self):
        function = self.function()
        assert function.signature == "F(int,frozen<list<text>>)"
        assert function.as_cql_query() == (
            'CREATE FUNCTION ks."F"(a int, "B" list<text>) CALLED ON NULL INPUT '
            "RETURNS map<int, int> LANGUAGE java AS $$return 1;$$"
        )

    @pytest.mark.parametrize("body", ["x'$$", "$$x'", "x' $"], ids=["end", "start", "one"])
    def test_a_body_with_dollars_stands_in_quotes(self, body):
        text = self.function(body=body).as_cql_query(formatted=True)
        quoted = body.replace("'", "''")
        assert text.endswith(f"\n    AS '{quoted}'")

    def test_a_dollar_elsewhere_needs_no_quotes(self):
        assert self.function(body="$x$y").as_cql_query().endswith("AS $$$x$y$$")

    @pytest.mark.parametrize(
        ("columns", "text"),
        [([], "MONOTONIC"), (["B"], 'MONOTONIC ON "B"'), (["a", "B"], "MONOTONIC")],
    )
    def test_what_it_promises_is_written(self, columns, text):
        function = self.function(
            called_on_null_input=False, deterministic=True, monotonic=True, monotonic_on=columns
        )
        wanted = f"RETURNS NULL ON NULL INPUT RETURNS map<int, int> DETERMINISTIC {text} LANGUAGE"
        assert wanted in function.as_cql_query()

    @pytest.mark.parametrize(
        ("in_row", "in_event"),
        [
            ('"Two Words"', "rich.Two Words"),
            ("list<frozen<pair>>", "list<frozen<rich.pair>>"),
            ('frozen<tuple<frozen<"A b">, int>>', "tuple<frozen<rich.A b>, int>"),
            ("vector<pair, 2>", "vector<rich.pair,2>"),
        ],
    )
    def test_rows_and_events_mean_the_same_types(self, in_row, in_event):
        assert comparable_type(in_row, "rich") == comparable_type(in_event, "rich")

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("tuple<tuple<int>, int>", "tuple<tuple<int, int>>"),
            ("int", "bigint"),
            ("pair", "other.pair"),
            ("list<frozen<int", "list<int>"),
        ],
    )
    def test_other_types_stay_apart(self, one, other):
        assert comparable_type(one, "rich") != comparable_type(other, "rich")

    def test_an_aggregate_names_its_functions(self):
        aggregate = Aggregate("ks", "A", ["int"], "sf", "int", "Ff", "0", "int", True)
        assert aggregate.as_cql_query(formatted=True) == (
            'CREATE AGGREGATE ks."A"(int)\n    SFUNC sf\n    STYPE int\n    FINALFUNC "Ff"\n'
            "    INITCOND 0\n    DETERMINISTIC"
        )


@st.composite
def dependent_types(draw):
    """Types by name, each made of some that were made before it; in any order."""
    names = draw(st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1))
    types = []
    for position, name in enumerate(names):
        fields = draw(st.lists(st.sampled_from(["int", *names[:position]]), max_size=4))
        wrapped = [f"frozen<map<text, frozen<{field}>>>" for field in fields]
        types.append(UserType("ks", name, [f"f{i}" for i in range(len(fields))], wrapped))
    return {user_type.name: user_type for user_type in draw(st.permutations(types))}


class TestKeyspaces:
    @given(dependent_types())
    def test_no_type_is_created_before_those_that_it_is_made_of(self, user_types):
        keyspace = KeyspaceMetadata("ks", True, "SimpleStrategy", SIMPLE)
        keyspace.user_types = user_types
        created = set()
        for text in keyspace.user_type_strings():
            assert set(re.findall(r"frozen<(\w)>", text)) <= created
            created.add(re.match(r"CREATE TYPE ks\.(\w)", text)[1])
        assert created == set(user_types)

    def test_types_that_need_each_other_are_written_all_the_same(self):
        keyspace = KeyspaceMetadata("ks", True, "SimpleStrategy", SIMPLE)
        for name, other in ("ab", "ba"):
            keyspace.user_types[name] = UserType("ks", name, ["f"], [f"frozen<{other}>"])
        assert len(keyspace.user_type_strings()) == 2

    def test_a_type_that_is_not_understood_needs_nothing(self):
        keyspace = KeyspaceMetadata("ks", True, "SimpleStrategy", SIMPLE)
        keyspace.user_types["a"] = UserType("ks", "a", ["f"], ["list<<"])
        assert keyspace.user_type_strings() == ["CREATE TYPE ks.a (\n    f list<<\n);"]

    def test_a_keyspace_alone(self):
        keyspace = KeyspaceMetadata("Ks", False, "org.x.SimpleStrategy", SIMPLE)
        assert keyspace.export_as_string() == (
            "CREATE KEYSPACE \"Ks\" WITH replication = {'class': 'SimpleStrategy', "
            "'replication_factor': '3'}  AND durable_writes = false;"
        )

    def test_a_replaced_table_keeps_its_views_and_loses_its_old_indexes(self):
        keyspace = KeyspaceMetadata("ks", True, "SimpleStrategy", SIMPLE)
        old, new = small_table(), small_table()
        old.indexes["gone"] = IndexMetadata("ks", "T", "gone", "COMPOSITES", {"target": "s"})
        new.indexes["come"] = IndexMetadata("ks", "T", "come", "COMPOSITES", {"target": "s"})
        view = MaterializedViewMetadata("ks", "v", "T", True, "", None)
        keyspace.add_table(old)
        keyspace.add_view(view)
        keyspace.add_table(new)
        assert keyspace.tables == {"T": new}
        assert set(keyspace.indexes) == {"come"}
        assert new.views == {"v": view}

    def test_a_dropped_table_takes_what_belongs_to_it_along(self):
        keyspace = KeyspaceMetadata("ks", True, "SimpleStrategy", SIMPLE)
        table = small_table()
        table.indexes["i"] = IndexMetadata("ks", "T", "i", "COMPOSITES", {"target": "s"})
        keyspace.add_table(table)
        keyspace.add_view(MaterializedViewMetadata("ks", "v", "T", True, "", None))
        keyspace.drop_table("T")
        assert (keyspace.tables, keyspace.indexes, keyspace.views) == ({}, {}, {})

    def test_a_dropped_view_leaves_its_table(self):
        keyspace = KeyspaceMetadata("ks", True, "SimpleStrategy", SIMPLE)
        keyspace.add_table(small_table())
        keyspace.add_view(MaterializedViewMetadata("ks", "v", "T", True, "", None))
        keyspace.drop_table("v")
        assert set(keyspace.tables) == {"T"}
        assert keyspace.tables["T"].views == {}

    def test_a_view_whose_table_is_unknown_is_written_too(self):
        keyspace = KeyspaceMetadata("ks", True, "SimpleStrategy", SIMPLE)
        keyspace.add_view(MaterializedViewMetadata("ks", "v", "lost", True, "x", None))
        assert "CREATE MATERIALIZED VIEW ks.v AS" in keyspace.export_as_string()
