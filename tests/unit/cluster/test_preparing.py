"""What a session keeps prepared, and the texts that it prepares by itself."""

import asyncio
import gc
import threading
import time
from uuid import UUID

import pytest
from cql_cluster import CqlCluster
from cql_node import EXECUTE, PREPARE, QUERY, VOID, error

from driver.aio import Cluster as AioCluster
from driver.cluster import Cluster
from driver.policies import (
    AES256ColumnEncryptionPolicy,
    FallthroughRetryPolicy,
    PreparationPolicy,
)
from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.errors import DriverException, InvalidRequest
from driver.statements import BatchStatement, BoundStatement, SimpleStatement
from driver.types import DecimalType, FloatType, Int32Type, ListType, UUIDType

SELECT = "SELECT v FROM t WHERE k = ?"
TEXT = "SELECT v FROM t WHERE k = %s"


@pytest.fixture(params=[4, 5])
def node(request):
    with CqlCluster(1, versions=(request.param,)) as nodes:
        (only,) = nodes.nodes
        only.cluster = nodes
        only.prepare(SELECT, markers=[("k", Int32Type)], pk=[0])
        nodes.when("FROM t", VOID)
        yield only


def connected_to(node, policy, **options):
    return Cluster(**node.cluster.options, preparation_policy=policy, **options)


@pytest.fixture
def session(node):
    with connected_to(node, PreparationPolicy(capacity=2, after=2)) as cluster:
        yield cluster.connect("ks", wait_for_all_pools=True)


def prepared_since(node):
    """The texts of all PREPARE so far."""
    return [request.text for request in node.requests if request.opcode == PREPARE]


def until(condition):
    """Wait for what happens beside the requests."""
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.005)
    pytest.fail("it did not happen")


def settled(session):
    """Wait until nothing is being prepared."""
    texts = session.core.prepared_cache.texts
    until(lambda: not any(text.is_asked for text in list(texts._values.values())))


def executed(session, text, parameters, times=1, **options):
    """Execute a text some times, each with what was prepared before; the last future."""
    for _ in range(times):
        future = session.execute_async(text, parameters, **options)
        future.result()
        settled(session)
    return future


def last(node):
    """The last request that was no PREPARE."""
    return [request for request in node.requests if request.opcode in {QUERY, EXECUTE}][-1]


# --- the cache of Session.prepare -----------------------------------------------------------------


def test_what_is_kept_is_not_prepared_again(node, session):
    first, second = session.prepare(SELECT), session.prepare(SELECT)
    assert prepared_since(node) == [SELECT]
    assert first.query_id == second.query_id
    session.execute(second, (1,))
    assert last(node).opcode == EXECUTE


def test_each_caller_has_a_statement_of_its_own(session):
    first = session.prepare(SELECT)
    first.consistency_level = ConsistencyLevel.ALL
    assert session.prepare(SELECT).consistency_level is None


def test_what_was_not_used_for_longest_goes_first(node, session):
    for text in ("a", "b", "a", "c", "a", "b"):
        session.prepare(text)
    assert prepared_since(node) == ["a", "b", "c", "b"]
    assert len(session.core.prepared_cache.statements) == 2


def test_a_statement_that_is_held_stays_known_when_it_is_kept_no_longer(node, session):
    held = session.prepare(SELECT)
    for text in ("a", "b", "c"):
        session.prepare(text)
    gc.collect()
    node.forget_prepared()
    session.execute(held, (1,))
    assert held.query_id in session.cluster.core.prepared_statements


def test_nothing_is_kept_over_a_change_of_the_schema(node, session):
    session.prepare(SELECT)
    executed(session, TEXT, (1,), times=3)
    session.cluster.refresh_schema_metadata()
    assert session.execute_async(TEXT, (1,)).query.query_string == TEXT
    session.prepare(SELECT)
    assert prepared_since(node) == [SELECT] * 2


def test_a_text_whose_markers_have_other_types_is_prepared_anew(node, session):
    executed(session, TEXT, (1,), times=3)
    node.prepare(SELECT, markers=[("k", FloatType)], pk=[0])
    node.forget_prepared()
    with pytest.raises(DriverException, match="k was int, is float"):
        session.execute(TEXT, (1,))
    executed(session, TEXT, (1.5,))
    executed(session, TEXT, (1.5,))
    assert last(node).opcode == EXECUTE
    assert not session.prepare(SELECT).outdated


def test_another_keyspace_is_another_statement(node, session):
    session.prepare(SELECT)
    session.set_keyspace("other")
    session.prepare(SELECT)
    assert prepared_since(node) == [SELECT] * 2


def test_a_payload_asks_the_server_each_time(node, session):
    session.prepare(SELECT)
    session.prepare(SELECT, custom_payload={"a": b"b"})
    assert prepared_since(node) == [SELECT] * 2


def test_those_who_ask_at_once_share_one_prepare(node, session, monkeypatch):
    free = threading.Event()
    usual = node._on_prepare
    monkeypatch.setattr(node, "_on_prepare", lambda request: free.wait(5) and usual(request))
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(session.prepare(SELECT))) for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    until(lambda: session.core.prepared_cache._asking)
    free.set()
    for thread in threads:
        thread.join()
    assert len({id(statement) for statement in found}) == 5
    assert prepared_since(node) == [SELECT]


def test_one_who_is_cancelled_is_nothing_to_the_others(node):
    async def both():
        options = {**node.cluster.options, "preparation_policy": PreparationPolicy()}
        async with AioCluster(**options) as cluster:
            session = await cluster.connect()
            first = asyncio.create_task(session.prepare(SELECT))
            second = asyncio.create_task(session.prepare(SELECT))
            await asyncio.sleep(0)
            first.cancel()
            return await second

    assert asyncio.run(both()).query_string == SELECT
    assert prepared_since(node) == [SELECT]


def test_what_the_server_refuses_is_raised_and_not_kept(node, session, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(node, "_on_prepare", lambda _: error(0x2200, "no such table"))
        with pytest.raises(InvalidRequest, match="no such table"):
            session.prepare(SELECT)
    assert session.prepare(SELECT).query_string == SELECT


# --- texts with parameters ------------------------------------------------------------------------


def test_nothing_is_prepared_without_a_policy(node):
    with Cluster(**node.cluster.options) as cluster:
        session = cluster.connect("ks")
        for _ in range(5):
            session.execute(TEXT, (1,))
        assert prepared_since(node) == []


def test_a_text_is_prepared_when_it_was_executed_often_enough(node, session):
    future = executed(session, TEXT, (1,), times=2)
    assert last(node).opcode == QUERY
    assert isinstance(future.query, SimpleStatement)
    future = executed(session, TEXT, (1,))
    assert last(node).opcode == EXECUTE
    assert last(node).text == SELECT
    assert future.query.routing_key == b"\0\0\0\1"
    assert prepared_since(node) == [SELECT]


def test_values_by_name_are_bound_in_the_order_of_the_text(node, session):
    executed(session, "SELECT v FROM t WHERE k = %(key)s", {"key": 7, "more": 8}, times=3)
    assert last(node).opcode == EXECUTE


def test_a_session_only_keeps_if_it_is_never_to_prepare(node):
    with connected_to(node, PreparationPolicy(after=None)) as cluster:
        session = cluster.connect("ks")
        executed(session, TEXT, (1,), times=5)
        assert prepared_since(node) == []


def test_a_policy_chooses_texts(node):
    class OnlyReads(PreparationPolicy):
        def should_prepare(self, query, executions):
            return query.startswith("SELECT") and executions == 1

    with connected_to(node, OnlyReads()) as cluster:
        session = cluster.connect("ks")
        executed(session, TEXT, (1,))
        executed(session, "DELETE FROM t WHERE k = %s", (1,), times=3)
        assert prepared_since(node) == [SELECT]


@pytest.mark.parametrize("values", [(), None])
def test_a_text_without_parameters_stays_as_it_is(node, session, values):
    executed(session, "SELECT v FROM t", values, times=4)
    assert prepared_since(node) == []


def test_a_batch_and_a_bound_statement_stay_as_they_are(node, session):
    batch = BatchStatement()
    batch.add(TEXT, (1,))
    bound = session.prepare(SELECT).bind((1,))
    for _ in range(3):
        session.execute(batch)
        session.execute(bound)
    with pytest.raises(TypeError, match="takes no parameters"):
        session.execute(bound, (1,))
    assert prepared_since(node) == [SELECT]


def test_the_options_of_a_statement_hold_for_what_is_prepared(node, session):
    retry_policy = FallthroughRetryPolicy()
    statement = SimpleStatement(
        TEXT,
        retry_policy=retry_policy,
        consistency_level=ConsistencyLevel.TWO,
        serial_consistency_level=ConsistencyLevel.LOCAL_SERIAL,
        fetch_size=7,
        routing_key=b"key",
        custom_payload={"a": b"b"},
        is_idempotent=True,
    )
    future = executed(session, statement, (1,), times=3, timeout=9.0)
    assert last(node).opcode == EXECUTE
    bound, message = future.query, future.message
    assert isinstance(bound, BoundStatement)
    assert (bound.retry_policy, bound.routing_key) == (retry_policy, b"key")
    assert bound.is_idempotent
    assert message.consistency_level == ConsistencyLevel.TWO
    assert message.serial_consistency_level == ConsistencyLevel.LOCAL_SERIAL
    assert message.fetch_size == 7
    assert message.custom_payload == {"a": b"b"}
    assert future.timeout == 9.0


def test_values_that_cannot_be_bound_go_as_literals(node, session):
    executed(session, TEXT, (1,), times=2)
    executed(session, TEXT, ("text",))
    assert last(node).opcode == QUERY
    assert last(node).text == "SELECT v FROM t WHERE k = 'text'"
    executed(session, TEXT, (1,))
    assert last(node).opcode == EXECUTE


def test_other_parameters_than_the_text_needs_fail_as_they_do_without(session):
    executed(session, TEXT, (1,), times=3)
    with pytest.raises(TypeError, match="the text needs a %s for each of 2 parameters"):
        session.execute(TEXT, (1, 2))


@pytest.mark.parametrize("cqltype", [DecimalType, ListType.apply_parameters([DecimalType])])
def test_a_text_with_a_decimal_stays_as_it_is(node, session, cqltype):
    node.prepare(SELECT, markers=[("k", cqltype)])
    executed(session, TEXT, (0.1,), times=4)
    assert prepared_since(node) == [SELECT]
    assert last(node).text == "SELECT v FROM t WHERE k = 0.1"


def test_what_the_server_does_not_prepare_is_asked_once(node, session, monkeypatch):
    monkeypatch.setattr(node, "_on_prepare", lambda _: error(0x2200, "no marker there"))
    executed(session, TEXT, (1,), times=5)
    assert len(prepared_since(node)) == 1
    assert last(node).opcode == QUERY


def test_what_could_not_be_prepared_then_is_tried_again_later(node, session, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(node, "_on_prepare", lambda _: error(0x0000, "not now"))
        executed(session, TEXT, (1,), times=2)
    executed(session, TEXT, (1,), times=3)
    assert last(node).opcode == EXECUTE


def test_many_requests_at_once_have_a_text_prepared_once(node, session):
    futures = [session.execute_async(TEXT, (k,)) for k in range(50)]
    for future in futures:
        future.result()
    settled(session)
    assert prepared_since(node) == [SELECT]


def test_texts_that_were_not_executed_for_longest_are_forgotten(node, session):
    executed(session, TEXT, (1,), times=3)
    for table in "abc":
        executed(session, f"SELECT v FROM {table} WHERE k = %s", (1,))
    assert len(session.core.prepared_cache.texts) == 2
    executed(session, TEXT, (1,))
    assert last(node).opcode == QUERY


def test_a_text_of_another_keyspace_is_prepared_there(node, session):
    executed(session, TEXT, (1,), times=3)
    session.set_keyspace("other")
    executed(session, TEXT, (1,))
    assert last(node).opcode == QUERY
    executed(session, TEXT, (1,), times=2)
    assert prepared_since(node) == [SELECT] * 2


def test_an_awaitable_session_prepares_as_well(node):
    async def run():
        options = {**node.cluster.options, "preparation_policy": PreparationPolicy(after=1)}
        async with AioCluster(**options) as cluster:
            session = await cluster.connect()
            await session.execute(TEXT, (1,))
            for _ in range(1000):
                if session.core.prepared_cache.texts.get((TEXT, None)).prepared is not None:
                    break
                await asyncio.sleep(0.005)
            await session.execute(TEXT, (1,))

    asyncio.run(run())
    assert last(node).opcode == EXECUTE


def test_a_value_is_the_same_bytes_as_when_it_is_bound_by_hand(node, session):
    node.prepare(SELECT, markers=[("k", UUIDType)], pk=[0])
    key = UUID(int=5)
    future = executed(session, TEXT, (key,), times=3)
    assert future.query.values == [key.bytes]


@pytest.mark.parametrize("keywords", [{"capacity": 0}, {"after": 0}])
def test_a_policy_refuses_what_cannot_work(keywords):
    with pytest.raises(ValueError, match="must be 1 or more"):
        PreparationPolicy(**keywords)


def test_encrypted_columns_and_automatic_preparation_exclude_each_other():
    with pytest.raises(ValueError, match="does not go together with column_encryption_policy"):
        Cluster(
            preparation_policy=PreparationPolicy(),
            column_encryption_policy=AES256ColumnEncryptionPolicy(),
        )
