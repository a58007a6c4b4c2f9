"""Schemas of servers that are not at hand: Cassandra 3.11 with its legacy tables, and ScyllaDB.

The rows follow the documented tables: ``system_schema`` of Cassandra 3.11, and for ScyllaDB its
``scylla_tables``, ``scylla_keyspaces``, ``scylla_aggregates`` and schema extensions.
"""

import struct
from uuid import UUID

import pytest
from schema_server import SchemaServer

from driver.topology.schema.reader import read_keyspace, read_keyspaces, read_table

SIMPLE = {"class": "org.apache.cassandra.locator.SimpleStrategy", "replication_factor": "1"}


def table_row(name, flags=("compound",), **others):
    """A row of system_schema.tables of Cassandra 3.11."""
    return {
        "keyspace_name": "ks",
        "table_name": name,
        "bloom_filter_fp_chance": 0.01,
        "caching": {"keys": "ALL", "rows_per_partition": "NONE"},
        "cdc": None,
        "comment": "",
        "crc_check_chance": 1.0,
        "dclocal_read_repair_chance": 0.1,
        "default_time_to_live": 0,
        "extensions": {},
        "flags": set(flags),
        "gc_grace_seconds": 864000,
        "id": UUID(int=1),
        "read_repair_chance": 0.0,
        "speculative_retry": "99PERCENTILE",
        **others,
    }


def column_row(table, name, cql_type, kind="regular", position=-1, order="none"):
    return {
        "keyspace_name": "ks",
        "table_name": table,
        "column_name": name,
        "clustering_order": order,
        "column_name_bytes": name.encode(),
        "kind": kind,
        "position": position,
        "type": cql_type,
    }


def server(tables, columns, version="3.11.19", **others):
    keyspace = {"keyspace_name": "ks", "durable_writes": True, "replication": SIMPLE}
    return SchemaServer(
        {
            "system_schema.keyspaces": [keyspace],
            "system_schema.tables": tables,
            "system_schema.columns": columns,
            **{f"system_schema.{name}": rows for name, rows in others.items()},
        },
        version,
    )


class TestCassandra3:
    def test_its_own_options_are_kept(self):
        node = server([table_row("t")], [column_row("t", "k", "int", "partition_key", 0)])
        text = node.read(read_table, "ks", "t").as_cql_query()
        assert "dclocal_read_repair_chance = 0.1" in text
        assert "read_repair_chance = 0.0" in text
        assert "speculative_retry = '99PERCENTILE'" in text
        assert "cdc" not in text

    @pytest.mark.parametrize("flags", [(), None], ids=["empty", "null"])
    def test_a_static_compact_table_has_neither_column1_nor_value(self, flags):
        columns = [
            column_row("t", "a", "text", "static"),
            column_row("t", "column1", "text", "clustering", 0, "asc"),
            column_row("t", "k", "blob", "partition_key", 0),
            column_row("t", "value", "blob"),
        ]
        row = table_row("t") | {"flags": flags and set(flags)}
        table = server([row], columns).read(read_table, "ks", "t")
        text = table.as_cql_query(formatted=True)
        assert text.startswith(
            "CREATE TABLE ks.t (\n    k blob PRIMARY KEY,\n    a text\n) WITH COMPACT STORAGE\n"
        )
        assert "CLUSTERING" not in text

    def test_a_dense_table_without_values_has_no_empty_column(self):
        columns = [
            column_row("t", "column1", "text", "clustering", 0, "desc"),
            column_row("t", "key", "text", "partition_key", 0),
            column_row("t", "value", "empty"),
        ]
        table = server([table_row("t", {"dense"})], columns).read(read_table, "ks", "t")
        assert list(table.columns) == ["key", "column1"]
        assert "WITH COMPACT STORAGE AND CLUSTERING ORDER BY (column1 DESC) AND" in (
            table.as_cql_query()
        )

    def test_a_super_column_family_is_a_comment(self):
        columns = [
            column_row("t", "column1", "text", "clustering", 0, "asc"),
            column_row("t", "key", "text", "partition_key", 0),
            column_row("t", "", "map<text, text>"),
        ]
        row = table_row("t", {"super", "dense"})
        table = server([row], columns).read(read_table, "ks", "t")
        assert not table.is_cql_compatible
        text = table.export_as_string()
        assert text.startswith("/*\nWarning: Table ks.t omitted")
        assert text.endswith("*/")

    def test_a_trigger_is_created_after_its_table(self):
        node = server(
            [table_row("t")],
            [column_row("t", "k", "int", "partition_key", 0)],
            triggers=[
                {
                    "keyspace_name": "ks",
                    "table_name": "t",
                    "trigger_name": "Watch",
                    "options": {"class": "org.example.Watch"},
                }
            ],
        )
        text = node.read(read_table, "ks", "t").export_as_string()
        assert text.endswith(";\nCREATE TRIGGER \"Watch\" ON ks.t USING 'org.example.Watch';")

    def test_virtual_keyspaces_are_not_asked_for(self):
        node = server([], [])
        assert set(node.read(read_keyspaces)) == {"ks"}
        assert not any("virtual" in query for query in node.queries)


def scylla_map(pairs):
    texts = [text.encode() for pair in pairs.items() for text in pair]
    return struct.pack("<I", len(pairs)) + b"".join(struct.pack("<I", len(t)) + t for t in texts)


class TestScyllaDB:
    VERSION = "3.0.8"

    def scylla(self, tables, columns=None, **others):
        columns = columns or [
            column_row(row["table_name"], "k", "int", "partition_key", 0) for row in tables
        ]
        return server(tables, columns, self.VERSION, **others)

    def test_options_come_from_scylla_tables_and_from_extensions(self):
        extensions = {
            "tombstone_gc": scylla_map({"mode": "repair"}),
            "paxos_grace_seconds": struct.pack("<i", 500),
            "unknown": b"\x01",
        }
        more = {"keyspace_name": "ks", "table_name": "t", "cdc": {"enabled": "true"}}
        more |= {"in_memory": True, "version": UUID(int=5), "partitioner": None}
        node = self.scylla([table_row("t", extensions=extensions)], scylla_tables=[more])
        table = node.read(read_table, "ks", "t")
        text = table.as_cql_query()
        assert "cdc = {'enabled': 'true'} AND" in text
        assert "in_memory = true AND" in text
        assert "paxos_grace_seconds = 500 AND" in text
        assert text.endswith("tombstone_gc = {'mode': 'repair'}")
        assert table.extensions == extensions
        assert "unknown" not in text
        assert "version" not in text

    @pytest.mark.parametrize("blob", [b"", b"\x01\x00\x00\x00", scylla_map({"a": "b"})[:-1]])
    def test_an_extension_that_cannot_be_read_costs_nothing_else(self, blob):
        node = self.scylla([table_row("t", extensions={"tombstone_gc": blob})])
        table = node.read(read_table, "ks", "t")
        assert table._exc_info is None
        assert "tombstone_gc" not in table.options

    def test_the_views_of_indexes_are_not_created_twice(self):
        view = table_row("by_v_index") | {
            "view_name": "by_v_index",
            "base_table_name": "t",
            "include_all_columns": False,
            "where_clause": "v IS NOT NULL",
        }
        view.pop("table_name")
        columns = [
            column_row("t", "k", "int", "partition_key", 0),
            column_row("t", "v", "int"),
            column_row("by_v_index", "v", "int", "partition_key", 0),
            column_row("by_v_index", "k", "int", "clustering", 0, "asc"),
        ]
        index = {"keyspace_name": "ks", "table_name": "t", "index_name": "by_v"}
        index |= {"kind": "COMPOSITES", "options": {"target": "v"}}
        node = self.scylla([table_row("t")], columns, views=[view], indexes=[index])
        keyspace = node.read(read_keyspace, "ks")
        assert set(keyspace.views) == {"by_v_index"}
        text = keyspace.export_as_string()
        assert "CREATE INDEX by_v ON ks.t (v);" in text
        assert "MATERIALIZED VIEW" not in text

    def test_tables_that_the_server_makes_are_not_created(self):
        names = ["t", "t_scylla_cdc_log", "t$paxos", "alone_scylla_cdc_log"]
        node = self.scylla([table_row(name) for name in names])
        text = node.read(read_keyspace, "ks").export_as_string()
        created = [line.split()[2] for line in text.splitlines() if line.startswith("CREATE TABLE")]
        assert created == ["ks.t", "ks.alone_scylla_cdc_log"]

    def test_tablets_are_an_option_of_the_keyspace(self):
        node = self.scylla([], scylla_keyspaces=[{"keyspace_name": "ks", "initial_tablets": 4}])
        text = node.read(read_keyspace, "ks").as_cql_query()
        assert text.endswith("AND tablets = {'enabled': true, 'initial': 4}")

    def test_a_keyspace_without_tablets_says_nothing_of_them(self):
        node = self.scylla([], scylla_keyspaces=[{"keyspace_name": "ks", "initial_tablets": None}])
        assert "tablets" not in node.read(read_keyspace, "ks").as_cql_query()

    @pytest.mark.parametrize(
        ("option", "text"),
        [("GLOBAL", "'global'"), ("eventual", "'eventual'"), ("o'clock", "'o''clock'")],
    )
    def test_consistency_is_an_option_of_the_keyspace(self, option, text):
        row = {"keyspace_name": "ks", "initial_tablets": None, "consistency": option}
        keyspace = self.scylla([], scylla_keyspaces=[row]).read(read_keyspace, "ks")
        assert keyspace.as_cql_query().endswith(f" AND consistency = {text}")
        assert keyspace.has_leaders == (option == "GLOBAL")

    def test_an_aggregate_may_join_states(self):
        aggregate = {
            "keyspace_name": "ks",
            "aggregate_name": "total",
            "argument_types": ["int"],
            "final_func": None,
            "initcond": "0",
            "return_type": "int",
            "state_func": "plus",
            "state_type": "int",
        }
        more = {"keyspace_name": "ks", "aggregate_name": "total", "argument_types": ["int"]}
        more |= {"reduce_func": "Join", "state_type": "int"}
        node = self.scylla([], aggregates=[aggregate], scylla_aggregates=[more])
        text = node.read(read_keyspace, "ks").aggregates["total(int)"].as_cql_query()
        assert (
            text
            == 'CREATE AGGREGATE ks.total(int) SFUNC plus STYPE int REDUCEFUNC "Join" INITCOND 0'
        )


class TestPartsThatCannotBeRead:
    @pytest.fixture(autouse=True)
    def quiet(self, caplog):
        self.log = caplog

    def test_a_broken_table_says_so_and_hides_nothing(self):
        columns = [
            column_row("good", "k", "int", "partition_key", 0),
            column_row("bad", "k", "int", "partition_key", None),
            column_row("bad", "c", "int", "clustering", 0),
        ]
        node = server([table_row("bad"), table_row("good")], columns)
        keyspace = node.read(read_keyspace, "ks")
        bad = keyspace.tables["bad"]
        assert bad._exc_info[0] is TypeError
        assert "Cannot read the schema of Table ks.bad" in self.log.text
        text = keyspace.export_as_string()
        assert "/*\nWarning: Table ks.bad is incomplete" in text
        assert "\n\nCREATE TABLE ks.good (" in text
        assert bad.export_as_string().endswith("*/")

    def test_a_part_that_cannot_be_written_is_a_comment_and_hides_nothing(self):
        function = {
            "keyspace_name": "ks", "function_name": "f", "argument_types": [], "argument_names": [],
            "return_type": "int", "language": "java", "called_on_null_input": True, "body": 7,
        }  # fmt: skip
        columns = [column_row("good", "k", "int", "partition_key", 0)]
        keyspace = server([table_row("good")], columns, functions=[function]).read(
            read_keyspace, "ks"
        )
        text = keyspace.export_as_string()
        assert "/*\nWarning: Function ks.f" in text
        assert "cannot be written" in text
        assert "\n\nCREATE TABLE ks.good (" in text

    def test_a_keyspace_with_a_replication_that_is_not_understood_keeps_its_tables(self):
        node = server([table_row("t")], [column_row("t", "k", "int", "partition_key", 0)])
        node.tables["system_schema.keyspaces"][0] |= {
            "replication": {"class": "NetworkTopologyStrategy", "dc1": "['r1', 'r2']"}
        }
        keyspace = node.read(read_keyspace, "ks")
        assert keyspace._exc_info is not None
        assert set(keyspace.tables) == {"t"}
        text = keyspace.export_as_string()
        assert text.startswith("/*\nWarning: Keyspace ks is incomplete")
        assert text.count("*/") == 1
        assert "'dc1': '[''r1'', ''r2'']'" in text

    def test_a_type_a_function_and_an_aggregate_may_fail_alone(self):
        names = {"keyspace_name": "ks", "argument_types": []}
        node = server(
            [],
            [],
            types=[
                {"keyspace_name": "ks", "type_name": "t", "field_names": ["a"], "field_types": []}
            ],
            functions=[{**names, "function_name": "f"}],
            aggregates=[{**names, "aggregate_name": "a"}],
        )
        keyspace = node.read(read_keyspace, "ks")
        assert keyspace._exc_info is None
        for part in (
            keyspace.user_types["t"],
            keyspace.functions["f()"],
            keyspace.aggregates["a()"],
        ):
            assert part._exc_info is not None
            assert "is incomplete because of an error" in part.export_as_string()

    def test_a_comment_cannot_be_ended_from_inside(self):
        columns = [
            column_row("*/ DROP", "k", "int", "partition_key", None),
            column_row("*/ DROP", "c", "int", "clustering", 0),
        ]
        table = server([table_row("*/ DROP")], columns).read(read_table, "ks", "*/ DROP")
        text = table.export_as_string()
        assert text.startswith("/*\nWarning: Table ks.* / DROP is incomplete")
        assert text.count("*/") == 1

    def test_what_went_wrong_keeps_no_row_alive(self):
        columns = [column_row("bad", "k", "int", "partition_key", None)]
        columns += [column_row("bad", "c", "int", "clustering", 0)]
        bad = server([table_row("bad")], columns).read(read_table, "ks", "bad")
        assert bad._exc_info[1].__traceback__ is None
        assert bad._exc_info[2] is None


class TestRowsThatCannotBeRead:
    @pytest.mark.parametrize(
        ("table", "bad"),
        [
            ("types", {"keyspace_name": "ks"}),
            ("functions", {"keyspace_name": "ks", "function_name": "f", "argument_types": 7}),
            (
                "aggregates",
                {"keyspace_name": "ks", "aggregate_name": None, "argument_types": [None]},
            ),
            ("tables", {"keyspace_name": "ks"}),
            ("tables", {"keyspace_name": ["ks"], "table_name": "u"}),
            ("views", {"keyspace_name": "ks", "view_name": "v"}),
            ("keyspaces", {"keyspace_name": "other"}),
            ("keyspaces", {"durable_writes": True}),
        ],
    )
    def test_one_hides_no_other(self, table, bad, caplog):
        columns = [column_row("t", "k", "int", "partition_key", 0)]
        node = server([table_row("t")], columns)
        name = f"system_schema.{table}"
        node.tables[name] = [bad, *node.tables.get(name, ())]
        found = node.read(read_keyspaces)
        assert list(found["ks"].tables["t"].columns) == ["k"]
        assert "Cannot read" in caplog.text

    @pytest.mark.parametrize("version", ["9" * 60_000, "4" * 60_000 + ".0", "", "x"])
    def test_a_version_that_cannot_be_is_none(self, version):
        columns = [column_row("t", "k", "int", "partition_key", 0)]
        assert "ks" in server([table_row("t")], columns, version).read(read_keyspaces)
