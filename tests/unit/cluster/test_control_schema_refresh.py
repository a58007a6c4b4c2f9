"""Schema refresh: for each kind of change, what is read and where it goes."""

import asyncio

import pytest
from control_core import FakeConnection, FakeCore, on_a_loop

from driver.cluster.core import ClusterCore
from driver.cluster.options import ClusterOptions
from driver.cluster.schema_refresh import read_schema
from driver.cluster.system_tables import SystemTables, side_by_side, time_limit
from driver.net.errors import ConnectionShutdown
from driver.protocol.errors import InvalidRequest
from driver.topology.endpoint import DefaultEndPoint
from driver.topology.metadata import KeyspaceMetadata, Metadata
from driver.wire.responses.events import SignatureDescriptor


class Server:
    """Answers queries of the schema; each table is a list of rows, and a missing one has none."""

    def __init__(self):
        self.tables = {}
        self.asked = []

    async def ask(self, queries):
        self.asked += queries
        return [self._rows(query) for query in queries]

    def _rows(self, query):
        table = query.partition(" FROM ")[2].split()[0].rstrip(";")
        rows = self.tables.get(table, [])
        return [row for row in rows if all(self._matches(query, row, c) for c in row)]

    @staticmethod
    def _matches(query, row, column):
        named = query.partition(f"{column} = '")[2].partition("'")[0]
        return not named or row[column] == named


def keyspace_row(name):
    replication = {"class": "LocalStrategy"}
    return {"keyspace_name": name, "durable_writes": True, "replication": replication}


def table_row(keyspace, name):
    return {"keyspace_name": keyspace, "table_name": name, "flags": {"compound"}}


def column_row(keyspace, table, name):
    return {
        "keyspace_name": keyspace,
        "table_name": table,
        "column_name": name,
        "type": "int",
        "kind": "partition_key",
        "position": 0,
        "clustering_order": "none",
    }


@pytest.fixture
def server():
    server = Server()
    server.tables = {
        "system_schema.keyspaces": [keyspace_row("ks"), keyspace_row("other")],
        "system_schema.tables": [table_row("ks", "t"), table_row("ks", "u")],
        "system_schema.columns": [column_row("ks", "t", "k"), column_row("ks", "u", "k")],
        "system_schema.types": [
            {
                "keyspace_name": "ks",
                "type_name": "address",
                "field_names": ["street"],
                "field_types": ["text"],
            }
        ],
        "system_schema.functions": [
            {
                "keyspace_name": "ks",
                "function_name": "f",
                "argument_names": ["a"],
                "argument_types": ["int"],
                "body": "return a;",
                "called_on_null_input": False,
                "language": "java",
                "return_type": "int",
            }
        ],
        "system_schema.aggregates": [
            {
                "keyspace_name": "ks",
                "aggregate_name": "g",
                "argument_types": ["int"],
                "state_func": "f",
                "state_type": "int",
                "final_func": None,
                "initcond": None,
                "return_type": "int",
            }
        ],
    }
    return server


@pytest.fixture
def metadata():
    metadata = Metadata()
    metadata.set_keyspace("ks", KeyspaceMetadata("ks", True, "LocalStrategy", {}))
    return metadata


def refresh(metadata, server, **target):
    asyncio.run(read_schema(metadata, server.ask, "5.0.0", **target))


def test_everything_is_read_at_once(metadata, server):
    metadata.set_keyspace("gone", KeyspaceMetadata("gone", True, "LocalStrategy", {}))
    refresh(metadata, server)
    assert set(metadata.keyspaces) == {"ks", "other"}
    assert set(metadata.keyspaces["ks"].tables) == {"t", "u"}


def test_one_keyspace_is_read_with_what_is_in_it(metadata, server):
    refresh(metadata, server, target_type="KEYSPACE", keyspace="ks")
    assert set(metadata.keyspaces) == {"ks"}
    ks = metadata.keyspaces["ks"]
    assert (set(ks.tables), set(ks.user_types)) == ({"t", "u"}, {"address"})
    server.tables["system_schema.keyspaces"].pop(0)
    refresh(metadata, server, target_type="KEYSPACE", keyspace="ks")
    assert metadata.keyspaces == {}


TARGETS = {
    "TABLE": ({"table": "t"}, "tables", "system_schema.tables"),
    "TYPE": ({"type": "address"}, "user_types", "system_schema.types"),
    "FUNCTION": (
        {"function": SignatureDescriptor("f", ("int",))},
        "functions",
        "system_schema.functions",
    ),
    "AGGREGATE": (
        {"aggregate": SignatureDescriptor("g", ("int",))},
        "aggregates",
        "system_schema.aggregates",
    ),
}


@pytest.mark.parametrize("target_type", TARGETS)
@pytest.mark.parametrize("change_type", ["CREATED", "UPDATED", "DROPPED"])
def test_one_thing_is_read_alone_and_what_holds_is_what_the_server_says(
    metadata, server, target_type, change_type
):
    names, attribute, table = TARGETS[target_type]
    target = {"target_type": target_type, "keyspace": "ks", "change_type": change_type, **names}
    refresh(metadata, server, **target)
    assert len(getattr(metadata.keyspaces["ks"], attribute)) == 1
    assert not any("system_schema.keyspaces" in query for query in server.asked)
    server.tables[table] = []
    refresh(metadata, server, **target)
    assert len(getattr(metadata.keyspaces["ks"], attribute)) == 0


def test_a_change_in_an_unknown_keyspace_brings_the_whole_keyspace(metadata, server):
    metadata.set_keyspaces({})
    refresh(metadata, server, target_type="TABLE", keyspace="ks", table="t")
    assert set(metadata.keyspaces["ks"].tables) == {"t", "u"}


@pytest.mark.parametrize(
    "target",
    [
        {"target_type": "TABLE", "keyspace": "ks"},
        {"target_type": "TABLE", "table": "t"},
        {"target_type": "INDEX", "keyspace": "ks", "index": "i"},
    ],
    ids=str,
)
def test_what_is_not_named_cannot_be_read(metadata, server, target):
    with pytest.raises(ValueError, match="is named"):
        refresh(metadata, server, **target)
    assert server.asked == []


# --- asking ------------------------------------------------------------------------------------


def tables_over(core):
    return SystemTables(FakeConnection(core, DefaultEndPoint("a"), None, None), 1.0)


@on_a_loop
async def test_a_table_that_the_server_lacks_has_no_rows():
    core = FakeCore()
    core.answer = lambda _, query: InvalidRequest("no") if "missing" in query else [{"k": 1}]
    answers = await tables_over(core).ask(["FROM there", "FROM missing"])
    assert answers == [[{"k": 1}], []]


@on_a_loop
async def test_all_pages_of_an_answer_are_read():
    core = FakeCore()
    pages = [[{"k": 1}], [{"k": 2}], [{"k": 3}]]
    states = []

    class Paged(FakeConnection):
        async def ask(self, msg, timeout=None):  # noqa: ASYNC109  (the contract's)
            states.append(msg.paging_state)
            result = await super().ask(msg, timeout)
            result.paging_state = str(len(states)).encode() if pages else None
            return result

    core.answer = lambda _endpoint, _query: pages.pop(0)
    connection = Paged(core, DefaultEndPoint("a"), None, None)
    rows = await SystemTables(connection, 1.0).rows("SELECT k FROM t")
    assert (rows, states) == ([{"k": 1}, {"k": 2}, {"k": 3}], [None, b"1", b"2"])


@pytest.mark.parametrize(
    ("seconds", "asked"),
    [
        (None, "SELECT k FROM t"),
        (0, "SELECT k FROM t"),
        (4.0, "SELECT k FROM t USING TIMEOUT 4000ms"),
    ],
)
@on_a_loop
async def test_a_node_can_be_told_when_to_give_a_question_up(seconds, asked):
    core, questions = FakeCore(), []
    core.answer = lambda _, query: questions.append(query) or []
    connection = FakeConnection(core, DefaultEndPoint("a"), None, None)
    await SystemTables(connection, 1.0, time_limit(seconds)).rows("SELECT k FROM t")
    assert questions == [asked]


@on_a_loop
async def test_when_one_of_several_questions_fails_none_goes_on_alone():
    ended = []

    async def slow():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("slow")

    async def failing():
        await asyncio.sleep(0)
        raise InvalidRequest("no")

    with pytest.raises(InvalidRequest):
        await side_by_side(slow(), failing())
    assert ended == ["slow"]


@on_a_loop
async def test_a_connection_that_is_lost_meanwhile_is_a_warning_and_no_fault_of_ours(caplog):
    core, agreed = ClusterCore(ClusterOptions()), []

    async def refresh(**_):
        raise ConnectionShutdown("lost", "node")

    core.control_connection.refresh_schema = refresh
    await core._schema_changed(None, {"target_type": "TABLE"}, agreed.append)
    assert agreed == [False]
    assert [each.levelname for each in caplog.records] == ["WARNING"]
