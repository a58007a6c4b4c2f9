"""OpenTelemetry: what is told of a request, and when it ends."""

import asyncio
import contextlib
import subprocess
import sys
import threading

import pytest
from cql_cluster import CqlCluster, eventually
from cql_node import SILENCE, error, rows
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from driver import aio
from driver.cluster import Cluster, ExecutionProfile
from driver.policies import ConstantSpeculativeExecutionPolicy, RoundRobinPolicy
from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.errors import InvalidRequest, NoHostAvailable, OperationTimedOut
from driver.statements import BatchStatement, SimpleStatement
from driver.telemetry import Telemetry, _summarised
from driver.types import Int32Type

COLUMNS = [("k", Int32Type)]
SELECT = "SELECT k FROM shop.cart WHERE k = ?"


@pytest.fixture
def nodes():
    with CqlCluster(2, versions=(4,)) as found:
        found.when("FROM shop.cart", rows(COLUMNS, [(1,), (2,)]))
        found.prepare(SELECT, markers=COLUMNS)
        yield found


class Seen:
    """Providers that keep what they are told."""

    def __init__(self, **options):
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.telemetry = Telemetry(self.provider, MeterProvider([self.reader]), **options)

    def spans(self, count=1):
        """The spans, as soon as there are so many: a waiting thread is woken before them."""
        assert eventually(lambda: len(self.exporter.get_finished_spans()) >= count)
        found = self.exporter.get_finished_spans()
        assert len(found) == count
        return found

    def points(self, name):
        data = self.reader.get_metrics_data()
        every = [m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics]
        (metric,) = [each for each in every if each.name == name]
        return metric.data.data_points


@pytest.fixture
def seen():
    return Seen()


@pytest.fixture
def session(nodes, seen):
    with Cluster(**nodes.options) as cluster:
        found = cluster.connect(wait_for_all_pools=True)
        seen.telemetry.watch(found)
        yield found


def test_a_cluster_is_not_watched(session, seen):
    with pytest.raises(TypeError, match=r"^watch takes a session, .*, not <Cluster: "):
        seen.telemetry.watch(session.cluster)


def test_a_prepared_select_has_a_span_with_what_the_conventions_name(session, seen):
    seen.telemetry.forget(session)
    prepared = session.prepare(SELECT)
    prepared.consistency_level = ConsistencyLevel.LOCAL_QUORUM
    seen.telemetry.watch(session)
    result = session.execute(prepared, (1,))
    (span,) = seen.spans()
    host = result.response_future.coordinator_host
    assert (span.name, span.kind) == ("SELECT shop.cart", SpanKind.CLIENT)
    assert span.status.status_code is StatusCode.UNSET
    assert dict(span.attributes) == {
        "db.system.name": "cassandra",
        "db.namespace": "ks",  # where the server says that the markers belong
        "db.operation.name": "SELECT",
        "db.collection.name": "shop.cart",
        "db.query.summary": "SELECT shop.cart",
        "db.query.text": SELECT,
        "db.response.returned_rows": 2,
        "cassandra.consistency.level": "local_quorum",
        "cassandra.page.size": 5000,
        "cassandra.query.idempotent": False,
        "cassandra.coordinator.dc": host.datacenter,
        "cassandra.coordinator.id": str(host.host_id),
        "server.address": host.address,
        "network.peer.address": host.address,
        "network.peer.port": host.endpoint.port,
        **({} if host.endpoint.port == 9042 else {"server.port": host.endpoint.port}),
    }


def test_a_span_ends_when_its_answer_is_there_and_not_before(nodes, session, seen):
    nodes.when("FROM slow", SILENCE)
    with pytest.raises(OperationTimedOut):
        session.execute("SELECT k FROM slow", timeout=0.2)
    (span,) = seen.spans()
    assert span.end_time - span.start_time >= 200_000_000
    assert span.status.status_code is StatusCode.ERROR
    assert span.attributes["error.type"] == "OperationTimedOut"
    (point,) = seen.points("db.client.operation.duration")
    assert point.sum == (span.end_time - span.start_time) / 1e9
    assert point.explicit_bounds == (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0)
    assert point.attributes["error.type"] == "OperationTimedOut"
    assert "db.query.text" not in point.attributes


@pytest.mark.parametrize("fails", [True, False])
def test_the_rows_of_a_large_page_are_counted_and_left_to_who_waits(nodes, session, seen, fails):
    nodes.when("FROM large", rows(COLUMNS, [(number,) for number in range(20_000)]))
    threads = []

    def make(_names, found):
        threads.append(threading.get_ident())
        if fails:
            raise LookupError("mine")
        return found

    future = session.execute_async("SELECT k FROM large", row_factory=make)
    (span,) = seen.spans()
    assert threads == []
    assert span.attributes["db.response.returned_rows"] == 20_000
    with pytest.raises(LookupError) if fails else contextlib.nullcontext():
        assert len(future.result().current_rows) == 20_000
    assert threads == [threading.get_ident()]
    assert seen.spans() == (span,)
    assert span.status.status_code is StatusCode.UNSET


def test_an_error_of_the_server_has_its_code(nodes, session, seen):
    nodes.when("FROM nowhere", error(0x2200, "no such table"))
    with pytest.raises(InvalidRequest):
        session.execute("SELECT k FROM nowhere WHERE secret = 'x'")
    (span,) = seen.spans()
    assert span.attributes["db.response.status_code"] == str(0x2200)
    assert span.attributes["error.type"] == str(0x2200)
    assert "db.query.text" not in span.attributes  # a text without markers may hold values


def test_hosts_that_did_not_answer_are_events(nodes, session, seen):
    nodes.when("FROM busy", lambda _: error(0x1001, "too much to do"))
    with pytest.raises(NoHostAvailable):
        session.execute("SELECT k FROM busy")
    (span,) = seen.spans()
    assert [event.name for event in span.events] == ["cassandra.attempt.failed"] * 2
    assert {event.attributes["error.type"] for event in span.events} == {str(0x1001)}
    assert len({event.attributes["network.peer.port"] for event in span.events}) == 2
    assert span.attributes["error.type"] == str(0x1001)


def test_a_speculative_execution_is_counted(nodes, seen):
    asked = []

    def first_is_silent(request):
        asked.append(request)
        return SILENCE if len(asked) == 1 else rows(COLUMNS, [(1,)])

    nodes.when("FROM slow", first_is_silent)
    profile = ExecutionProfile(
        load_balancing_policy=RoundRobinPolicy(),
        speculative_execution_policy=ConstantSpeculativeExecutionPolicy(0.02, 1),
    )
    with Cluster(**nodes.options, execution_profiles={"default": profile}) as cluster:
        session = cluster.connect(wait_for_all_pools=True)
        seen.telemetry.watch(session)
        statement = SimpleStatement("SELECT k FROM slow", is_idempotent=True)
        session.execute(statement, execution_profile="default")
    (span,) = seen.spans()
    assert span.attributes["cassandra.speculative_execution.count"] == 1
    assert span.attributes["cassandra.query.idempotent"] is True


def test_every_page_has_a_span_of_its_own(nodes, session, seen):
    pages = iter([rows(COLUMNS, [(1,)], paging_state=b"next"), rows(COLUMNS, [(2,)])])
    nodes.when("FROM pages", lambda _: next(pages))
    assert len(list(session.execute("SELECT k FROM pages"))) == 2
    first, second = seen.spans(2)
    assert first.end_time <= second.end_time
    assert first.start_time < second.start_time
    assert [span.attributes["db.response.returned_rows"] for span in (first, second)] == [1, 1]


def test_preparing_is_told_too(session, seen):
    session.prepare(SELECT)  # at each host
    for span in seen.spans(2):
        assert (span.name, span.attributes["db.operation.name"]) == ("PREPARE", "PREPARE")


def test_a_batch_says_its_size(session, seen):
    batch = BatchStatement()
    for k in range(3):
        batch.add("INSERT INTO shop.cart (k) VALUES (%s)", (k,))
    session.execute(batch)
    (span,) = seen.spans()
    assert span.name == "BATCH"
    assert span.attributes["db.operation.batch.size"] == 3


def test_a_span_is_a_child_of_what_asked(session, seen):
    tracer = seen.provider.get_tracer("application")
    with tracer.start_as_current_span("request") as parent:
        session.execute("SELECT k FROM shop.cart")
    spans = {span.name: span for span in seen.spans(2)}
    child = spans["SELECT shop.cart"]
    assert child.parent.span_id == parent.get_span_context().span_id
    assert child.context.trace_id == parent.get_span_context().trace_id


def test_requests_of_tasks_have_spans_too(nodes, seen):
    async def use():
        async with aio.Cluster(**nodes.options) as cluster:
            session = await cluster.connect(wait_for_all_pools=True)
            seen.telemetry.watch(session)
            tracer = seen.provider.get_tracer("application")

            async def one(name):
                with tracer.start_as_current_span(name):
                    await session.execute("SELECT k FROM shop.cart")

            await asyncio.gather(one("a"), one("b"))

    asyncio.run(use())
    spans = seen.spans(4)
    asked = {span.context.span_id: span.name for span in spans if span.kind is SpanKind.INTERNAL}
    told = [asked[span.parent.span_id] for span in spans if span.kind is SpanKind.CLIENT]
    assert sorted(told) == ["a", "b"]


@pytest.mark.usefixtures("session")
def test_connections_are_counted_a_pool_a_host(seen):
    points = seen.points("db.client.connection.count")
    idle = [p.value for p in points if p.attributes["db.client.connection.state"] == "idle"]
    assert len(points) == 4
    assert all(count >= 1 for count in idle)
    assert len({p.attributes["db.client.connection.pool.name"] for p in points}) == 2


def test_a_session_can_be_forgotten(session, seen):
    seen.telemetry.forget(session)
    session.execute("SELECT k FROM shop.cart")
    assert seen.exporter.get_finished_spans() == ()
    with pytest.raises(ValueError, match="not in list"):
        seen.telemetry.forget(session)


def test_texts_are_left_out_where_they_shall_be(nodes):
    seen = Seen(query_text=False)
    with Cluster(**nodes.options) as cluster:
        session = cluster.connect()
        prepared = session.prepare(SELECT)
        seen.telemetry.watch(session)
        session.execute(prepared, (1,))
    (span,) = seen.spans()
    assert "db.query.text" not in span.attributes
    assert span.name == "SELECT shop.cart"


@pytest.mark.parametrize(
    ("text", "summary", "table"),
    [
        ("select * from t", "SELECT t", "t"),
        ("SELECT a,\n b FROM ks.t WHERE x = 'FROM y'", "SELECT ks.t", "ks.t"),
        ("SELECT from_x, b FROM t", "SELECT t", "t"),
        ("INSERT INTO ks.t (a) VALUES ('x FROM y INTO z')", "INSERT ks.t", "ks.t"),
        ("UPDATE t SET a = 'FROM b'", "UPDATE t", "t"),
        ('DELETE a FROM "Ks"."T ""x""" WHERE a = 1', 'DELETE "Ks"."T ""x"""', '"Ks"."T ""x"""'),
        ("-- why\n/* because\n*/ TRUNCATE TABLE ks.t", "TRUNCATE ks.t", "ks.t"),
        ("TRUNCATE t", "TRUNCATE t", "t"),
        ("USE ks", "USE ks", None),
        ("CREATE TABLE IF NOT EXISTS ks.t (a int)", "CREATE TABLE ks.t", None),
        ("create  materialized view v AS SELECT", "CREATE MATERIALIZED VIEW v", None),
        ("DROP KEYSPACE IF EXISTS ks", "DROP KEYSPACE ks", None),
        ("BEGIN UNLOGGED BATCH INSERT", "BATCH", None),
        ("LIST ROLES", "LIST", None),
        ("", None, None),
        ("???", None, None),
    ],
)
def test_a_text_in_few_words(text, summary, table):
    found = dict(_summarised(text))
    assert (found.get("db.query.summary"), found.get("db.collection.name")) == (summary, table)


def test_a_long_text_takes_no_longer_than_its_length():
    _summarised("SELECT " + "f" * 1_000_000)
    _summarised("/*" * 200_000)


def test_without_opentelemetry_one_line_says_what_to_install():
    script = (
        "import sys; sys.modules['opentelemetry'] = None\n"
        "try:\n    import driver.telemetry\nexcept ImportError as missing:\n    print(missing)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert "pip install 'cqlpath[opentelemetry]'" in answer.stdout
