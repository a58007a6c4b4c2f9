"""Sessions: what of a statement, a profile and the session's settings reaches the server."""

import contextlib
import io
import threading
from collections import Counter, OrderedDict

import numpy as np
import pytest
from cql_cluster import CqlCluster
from cql_node import BATCH, EXECUTE, SILENCE, rows, schema_change
from wire_bodies import read_long

from driver.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, UserTypeDoesNotExist
from driver.policies import (
    AES256ColumnEncryptionPolicy,
    ConstantSpeculativeExecutionPolicy,
    FallthroughRetryPolicy,
    RoundRobinPolicy,
)
from driver.protocol.columns import ColDesc
from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.errors import NoHostAvailable, OperationTimedOut
from driver.results.rows import dict_factory, ordered_dict_factory, tuple_factory
from driver.statements import BatchStatement, SimpleStatement
from driver.types import BytesType, Int32Type, UTF8Type
from driver.wire import primitives as p
from driver.wire.handlers import LazyProtocolHandler, NumpyProtocolHandler

TRACING, PAYLOAD = 0x02, 0x04


@pytest.fixture
def nodes():
    with CqlCluster(2, versions=(4,)) as found:
        found.when("FROM t", rows([("k", Int32Type), ("v", UTF8Type)], [(1, "one"), (2, "two")]))
        yield found


@pytest.fixture
def cluster(nodes):
    with Cluster(**nodes.options) as connected:
        yield connected


@pytest.fixture
def session(cluster):
    return cluster.connect(wait_for_all_pools=True)


def request_of(nodes, text):
    """The one request with a text, whichever node got it."""
    (found,) = [r for node in nodes.nodes for r in node.requests if r.text == text]
    return found


def parameters_of(request):
    """Consistency and <query_parameters> of a QUERY in v4, section 4.1.4."""
    f = io.BytesIO(request.body)
    if request.flags & PAYLOAD:
        p.read_bytesmap(f)
    p.read_longstring(f)
    found = {"consistency": p.read_short(f)}
    flags = p.read_byte(f)
    for flag, name, read in (
        (0x04, "fetch_size", p.read_int),
        (0x08, "paging_state", p.read_binary_longstring),
        (0x10, "serial", p.read_short),
        (0x20, "timestamp", read_long),
    ):
        if flags & flag:
            found[name] = read(f)
    return found


# --- statements ----------------------------------------------------------------------------------


def test_rows_come_back_with_their_names(session):
    row = session.execute("SELECT * FROM t").one()
    assert (row.k, row.v) == (1, "one")


def test_parameters_of_a_text_are_written_as_literals(nodes, session):
    session.execute("INSERT INTO t (k, v) VALUES (%s, %s)", (1, "it's"))
    assert nodes.texts == ["INSERT INTO t (k, v) VALUES (1, 'it''s')"]


def test_a_text_without_parameters_may_have_percent_signs(nodes, session):
    session.execute("SELECT * FROM t WHERE v LIKE '%a'")
    assert nodes.texts == ["SELECT * FROM t WHERE v LIKE '%a'"]


def test_a_prepared_statement_is_executed_with_its_values(nodes, session):
    text = "INSERT INTO t (k, v) VALUES (?, ?)"
    nodes.prepare(text, markers=[("k", Int32Type), ("v", UTF8Type)])
    prepared = session.prepare(text)
    session.execute(prepared, (7, "seven"))
    session.execute(prepared.bind((7, "seven")))
    sent = [r for node in nodes.nodes for r in node.requests if r.opcode == EXECUTE]
    assert [request.values for request in sent] == [[b"\0\0\0\7", b"seven"]] * 2


def test_a_batch_is_one_request(nodes, session):
    batch = BatchStatement(session=session)
    batch.add("INSERT INTO a (k) VALUES (%s)", (1,))
    batch.add("INSERT INTO b (k) VALUES (%s)", (2,))
    session.execute(batch)
    text = "INSERT INTO a (k) VALUES (1); INSERT INTO b (k) VALUES (2)"
    assert request_of(nodes, text).opcode == BATCH


def test_something_else_is_no_statement(session):
    with pytest.raises(TypeError, match="object cannot be executed"):
        session.execute(object())


def test_rows_and_errors_reach_callbacks(session):
    heard, done = [], threading.Event()

    def take(found):
        heard.extend(found)
        done.set()

    session.execute_async("SELECT * FROM t").add_callbacks(take, pytest.fail)
    assert done.wait(10)
    assert [row.k for row in heard] == [1, 2]


def test_many_statements_are_executed_at_a_time(nodes, session):
    statements = [("INSERT INTO t (k) VALUES (%s)", (k,)) for k in range(50)]
    results = session.execute_concurrent(statements, concurrency=8)
    assert len(results) == 50
    assert all(result.success for result in results)
    assert len([text for text in nodes.texts if text.startswith("INSERT")]) == 50


def test_options_are_used_again_while_they_are_the_same(session):
    core = session.core
    profile = core.default_profile
    first = core._options_of(profile)
    assert first == profile.options._replace(fetch_size=5000)
    assert core._options_of(profile) is first
    profile.consistency_level = ConsistencyLevel.TWO
    second = core._options_of(profile)
    assert (first[0], second[0]) == (ConsistencyLevel.LOCAL_ONE, ConsistencyLevel.TWO)
    core.default_fetch_size = None
    assert core._options_of(profile).fetch_size is None
    core.client_protocol_handler = LazyProtocolHandler
    assert issubclass(core._options_of(profile).protocol_handler, LazyProtocolHandler)
    profile.serial_consistency_level = ConsistencyLevel.SERIAL
    assert core._options_of(profile).serial_consistency_level is ConsistencyLevel.SERIAL


def test_threads_that_set_two_options_of_a_profile_both_get_theirs(session):
    profile = session.core.default_profile
    names = ["request_timeout", "consistency_level"]

    def count(name):
        for value in range(2000):
            setattr(profile, name, value)

    threads = [threading.Thread(target=count, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [getattr(profile, name) for name in names] == [1999, 1999]


def test_threads_with_profiles_of_their_own_do_not_get_each_other_s_defaults(session):
    core = session.core
    levels = [ConsistencyLevel.ONE, ConsistencyLevel.TWO, ConsistencyLevel.ALL]
    wrong = []

    def ask(level):
        profile = core.default_profile.clone_update(consistency_level=level)
        wrong.extend(found for _ in range(2000) if (found := core._options_of(profile))[0] != level)

    threads = [threading.Thread(target=ask, args=(level,)) for level in levels]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert wrong == []


# --- what goes with them -------------------------------------------------------------------------


def test_a_statement_decides_before_its_profile_and_the_profile_before_the_defaults(nodes, session):
    session.execute("SELECT 1")
    assert parameters_of(request_of(nodes, "SELECT 1"))["consistency"] == ConsistencyLevel.LOCAL_ONE
    quorum = session.execution_profile_clone_update(
        EXEC_PROFILE_DEFAULT, consistency_level=ConsistencyLevel.QUORUM
    )
    session.execute("SELECT 2", execution_profile=quorum)
    assert parameters_of(request_of(nodes, "SELECT 2"))["consistency"] == ConsistencyLevel.QUORUM
    session.execute(
        SimpleStatement("SELECT 3", consistency_level=ConsistencyLevel.ALL),
        execution_profile=quorum,
    )
    assert parameters_of(request_of(nodes, "SELECT 3"))["consistency"] == ConsistencyLevel.ALL


def test_the_session_has_defaults_of_its_own(nodes, cluster, session):
    other = cluster.connect()
    session.default_consistency_level = ConsistencyLevel.TWO
    session.default_serial_consistency_level = ConsistencyLevel.LOCAL_SERIAL
    session.default_fetch_size = 17
    session.execute("SELECT 1")
    sent = parameters_of(request_of(nodes, "SELECT 1"))
    assert sent["consistency"] == ConsistencyLevel.TWO
    assert sent["serial"] == ConsistencyLevel.LOCAL_SERIAL
    assert sent["fetch_size"] == 17
    assert other.default_consistency_level == ConsistencyLevel.LOCAL_ONE
    assert other.default_fetch_size == 5000


def test_defaults_of_a_session_and_profiles_exclude_each_other(nodes, session):
    session.default_timeout = 3
    with pytest.raises(ValueError, match="no execution profiles"):
        session.execute("SELECT 1", execution_profile=ExecutionProfile())
    with Cluster(
        **nodes.options, execution_profiles={EXEC_PROFILE_DEFAULT: ExecutionProfile()}
    ) as cluster:
        other = cluster.connect()
        with pytest.raises(ValueError, match=r"Session\.default_timeout cannot be set"):
            other.default_timeout = 3


def test_a_profile_is_named_or_given(nodes):
    profiles = {
        "rows as dicts": ExecutionProfile(
            row_factory=dict_factory, retry_policy=FallthroughRetryPolicy()
        )
    }
    with Cluster(**nodes.options, execution_profiles=profiles) as cluster:
        session = cluster.connect()
        by_name = session.execute("SELECT * FROM t", execution_profile="rows as dicts")
        given = session.execute("SELECT * FROM t", execution_profile=profiles["rows as dicts"])
        assert by_name.one() == given.one() == {"k": 1, "v": "one"}
        assert session.execute("SELECT * FROM t").one() == (1, "one")
        with pytest.raises(ValueError, match="no such"):
            session.execute("SELECT * FROM t", execution_profile="no such")


@pytest.mark.parametrize(
    ("factory", "row"),
    [
        (tuple_factory, (1, "one")),
        (dict_factory, {"k": 1, "v": "one"}),
        (ordered_dict_factory, OrderedDict([("k", 1), ("v", "one")])),
    ],
)
def test_rows_have_the_shape_that_is_asked_for(session, factory, row):
    session.row_factory = factory
    found = session.execute("SELECT * FROM t").one()
    assert found == row
    assert type(found) is type(row)


def test_a_protocol_handler_decides_what_becomes_of_rows(session):
    session.client_protocol_handler = NumpyProtocolHandler
    session.row_factory = tuple_factory
    page = session.execute("SELECT * FROM t").one()
    assert page["k"].dtype == np.dtype("int32")
    assert page["k"].tolist() == [1, 2]
    session.client_protocol_handler = LazyProtocolHandler
    assert list(session.execute("SELECT * FROM t")) == [(1, "one"), (2, "two")]


def test_a_request_is_traced_if_that_is_asked_for(nodes, session):
    session.execute("SELECT 1")
    assert not request_of(nodes, "SELECT 1").flags & TRACING
    session.execute("SELECT 2", trace=True)
    assert request_of(nodes, "SELECT 2").flags & TRACING


def test_custom_payloads_of_statement_and_call_are_sent_together(nodes, session):
    statement = SimpleStatement("SELECT 1", custom_payload={"a": b"1"})
    session.execute(statement, custom_payload={"b": b"2"})
    request = request_of(nodes, "SELECT 1")
    assert request.flags & PAYLOAD
    assert p.read_bytesmap(io.BytesIO(request.body)) == {"a": b"1", "b": b"2"}
    assert statement.custom_payload == {"a": b"1"}


def test_timestamps_of_requests_only_ever_grow(nodes, session):
    for _ in range(20):
        session.execute("SELECT 1")
    stamps = [
        parameters_of(request)["timestamp"]
        for node in nodes.nodes
        for request in node.requests
        if request.text == "SELECT 1"
    ]
    assert len(set(stamps)) == 20
    assert min(stamps) > 1_600_000_000_000_000


def test_a_generator_of_the_application_makes_timestamps_or_nobody_does(nodes):
    with Cluster(**nodes.options, timestamp_generator=lambda: 42) as cluster:
        session = cluster.connect()
        session.execute("SELECT 1")
        assert parameters_of(request_of(nodes, "SELECT 1"))["timestamp"] == 42
        session.use_client_timestamp = False
        session.execute("SELECT 2")
        assert "timestamp" not in parameters_of(request_of(nodes, "SELECT 2"))


# --- pages ---------------------------------------------------------------------------------------


def page(request):
    """Two pages: the second one starts where the state of the first says."""
    state = parameters_of(request).get("paging_state")
    columns = [("k", Int32Type)]
    return (
        rows(columns, [(3,)])
        if state == b"here"
        else rows(columns, [(1,), (2,)], paging_state=b"here")
    )


def test_pages_are_fetched_as_they_are_reached(nodes, session):
    nodes.when("FROM paged", page)
    assert [row.k for row in session.execute("SELECT k FROM paged")] == [1, 2, 3]


def test_a_paging_state_goes_on_in_another_process(nodes, session):
    nodes.when("FROM paged", page)
    state = session.execute("SELECT k FROM paged").paging_state
    assert state == b"here"
    with Cluster(**nodes.options) as other:
        result = other.connect().execute("SELECT k FROM paged", paging_state=state)
        assert [row.k for row in result] == [3]
        assert result.paging_state is None


# --- hosts and times -----------------------------------------------------------------------------


def test_a_host_that_is_named_is_the_only_one_asked(session):
    for host in session.hosts:
        futures = [session.execute_async("SELECT 1", host=host) for _ in range(4)]
        for future in futures:
            future.result()
        assert {future.coordinator_host for future in futures} == {host}
        assert all(future.attempted_hosts == [host] for future in futures)


def test_requests_go_to_all_hosts_in_turn(nodes):
    with Cluster(**nodes.options, load_balancing_policy=RoundRobinPolicy()) as cluster:
        session = cluster.connect(wait_for_all_pools=True)
        futures = [session.execute_async("SELECT 1") for _ in range(10)]
        for future in futures:
            future.result()
        used = [future.coordinator_host for future in futures]
        assert {used.count(host) for host in session.hosts} == {5}


def test_a_request_that_takes_too_long_names_the_host_and_frees_its_connection(nodes, session):
    nodes.when("FROM slow", SILENCE)
    with pytest.raises(OperationTimedOut) as caught:
        session.execute("SELECT * FROM slow", timeout=0.05)
    assert caught.value.last_host in session.hosts
    assert list(caught.value.errors) == [caught.value.last_host]
    assert session.execute("SELECT * FROM t").one().k == 1


@pytest.mark.parametrize("timeout", [0, 0.0, -0.5, -5, float("nan")])
@pytest.mark.parametrize("names_host", [False, True])
def test_a_request_without_time_is_not_sent(nodes, session, timeout, names_host):
    host = session.hosts[0] if names_host else None
    with pytest.raises(OperationTimedOut, match="was over before"):
        session.execute("SELECT * FROM t", timeout=timeout, host=host)
    future = session.execute_async("SELECT * FROM t", timeout=timeout, host=host)
    with pytest.raises(OperationTimedOut, match="was over before"):
        future.result()
    assert nodes.texts == []
    assert session.execute("SELECT * FROM t", timeout=None, host=host).one().k == 1


@pytest.mark.parametrize("send", ["execute", "execute_async"])
def test_a_timeout_is_a_number(nodes, session, send):
    with pytest.raises(TypeError, match="timeout is a number or None, not '5'"):
        getattr(session, send)("SELECT * FROM t", timeout="5")
    assert nodes.texts == []


def test_the_timeout_of_the_session_counts_where_a_call_names_none(nodes, session):
    nodes.when("FROM slow", SILENCE)
    session.default_timeout = 0.05
    with pytest.raises(OperationTimedOut):
        session.execute("SELECT * FROM slow")


def test_without_a_host_there_is_an_error_for_each(session):
    host = session.hosts[0]
    session.cluster.run(session.core.pools.take(host).close())
    with pytest.raises(NoHostAvailable) as caught:
        session.execute("SELECT 1", host=host)
    assert list(caught.value.errors) == [host]


# --- listeners, types ----------------------------------------------------------------------------


def test_a_request_listener_hears_of_each_request_until_it_is_removed(session):
    heard = []

    def listen(request, *args, **kwargs):
        heard.append((request.query.query_string, args, kwargs))

    session.add_request_init_listener(listen, 1, by="name")
    session.execute("SELECT 1")
    assert heard == [("SELECT 1", (1,), {"by": "name"})]
    with pytest.raises(ValueError, match="not in list"):
        session.remove_request_init_listener(listen)
    session.remove_request_init_listener(listen, 1, by="name")
    session.execute("SELECT 2")
    assert len(heard) == 1


class Address:
    """Stands for a user-defined type."""

    def __init__(self, street=None, number=None):
        self.street = street
        self.number = number


class FakeKeyspace:
    """A keyspace with one user-defined type."""

    class _Type:
        field_names = ("street", "Number")

    def __init__(self):
        self.user_types = {"address": self._Type}


def test_a_registered_class_is_written_as_its_type(nodes, cluster, session):
    cluster.metadata.keyspaces["ks"] = FakeKeyspace()
    cluster.register_user_type("ks", "address", Address)
    session.execute("INSERT INTO u (a) VALUES (%s)", (Address("Main St", 5),))
    assert nodes.texts == ["INSERT INTO u (a) VALUES ({street: 'Main St', \"Number\": NULL})"]


def test_a_class_that_was_registered_before_is_known_to_later_sessions(nodes):
    with Cluster(**nodes.options) as cluster:
        cluster.register_user_type("ks", "address", Address)
        session = cluster.connect()
        cluster.metadata.keyspaces["ks"] = FakeKeyspace()
        session.execute("INSERT INTO u (a) VALUES (%s)", (Address("Main St"),))
        assert "{street: 'Main St'" in nodes.texts[0]


def test_what_is_no_class_cannot_be_registered(cluster):
    with pytest.raises(TypeError, match=r"^klass is a class, .*, not 5$"):
        cluster.register_user_type("ks", "address", 5)


def test_a_type_that_does_not_exist_cannot_be_registered(cluster, session):
    with pytest.raises(UserTypeDoesNotExist, match="no keyspace nowhere"):
        cluster.register_user_type("nowhere", "address", Address)
    cluster.metadata.keyspaces["ks"] = FakeKeyspace()
    with pytest.raises(UserTypeDoesNotExist, match="no user-defined type other"):
        session.user_type_registered("ks", "other", Address)


# --- what the rest of the cluster does for a request ---------------------------------------------


def schema_questions(nodes):
    return sum("system_schema" in text for node in nodes.nodes for text in node.texts)


def test_a_schema_change_is_done_when_the_schema_was_read_again(nodes, session):
    nodes.when("CREATE TABLE", schema_change("CREATED", "TABLE", "ks", "t"))
    before = schema_questions(nodes)
    result = session.execute("CREATE TABLE ks.t (k int PRIMARY KEY)")
    assert result.response_future.is_schema_agreed
    assert schema_questions(nodes) > before


def test_an_idempotent_statement_is_sent_to_a_second_host_if_the_first_is_slow(nodes):
    profile = ExecutionProfile(
        RoundRobinPolicy(),
        speculative_execution_policy=ConstantSpeculativeExecutionPolicy(0.02, 1),
    )
    with Cluster(**nodes.options, execution_profiles={"eager": profile}) as cluster:
        session = cluster.connect(wait_for_all_pools=True)
        slow, quick = nodes.nodes
        slow.when("FROM s", SILENCE)
        quick.when("FROM s", rows([("k", Int32Type)], [(9,)]))
        statement = SimpleStatement("SELECT k FROM s", is_idempotent=True)
        for _ in range(2):
            assert session.execute(statement, execution_profile="eager").one().k == 9
        careful = SimpleStatement("SELECT k FROM s")
        futures = [
            session.execute_async(careful, execution_profile="eager", timeout=0.1) for _ in range(2)
        ]
        outcomes = []
        for future in futures:
            with contextlib.suppress(OperationTimedOut):
                future.result()
            outcomes.append(type(future._final_exception))
        assert Counter(outcomes) == {type(None): 1, OperationTimedOut: 1}


def test_encrypted_columns_are_encrypted_on_their_way_out_and_decrypted_on_their_way_in(nodes):
    pytest.importorskip("cryptography")
    column = ColDesc("ks", "t", "v")
    policy = AES256ColumnEncryptionPolicy()
    policy.add_column(column, bytes(32), "text")
    insert, stored = "INSERT INTO t (v) VALUES (?)", policy.encode_and_encrypt(column, "secret")
    nodes.prepare(insert, markers=[("v", BytesType)])
    nodes.when("SELECT v", rows([("v", BytesType)], [(stored,)]))
    with Cluster(**nodes.options, column_encryption_policy=policy) as cluster:
        # A node whose pool opens after the PREPARE would not know it, and be asked twice.
        session = cluster.connect(wait_for_all_pools=True)
        session.execute(session.prepare(insert), ("secret",))
        assert session.execute("SELECT v FROM t").one().v == "secret"
        session.client_protocol_handler = LazyProtocolHandler
        assert list(session.execute("SELECT v FROM t")) == [("secret",)]
    (sent,) = [r for node in nodes.nodes for r in node.requests if r.opcode == EXECUTE]
    assert b"secret" not in sent.body
    assert policy.decrypt(column, sent.values[0]) == b"secret"


def test_a_session_waits_for_schema_agreement(session):
    assert session.wait_for_schema_agreement()
    assert session.wait_for_schema_agreement(5, "rack")
    for wrong in ({"wait_time": 0}, {"scope": "planet"}):
        with pytest.raises(ValueError, match=r"more than 0|no scope"):
            session.wait_for_schema_agreement(**wrong)


def test_a_cluster_tells_of_its_pools_and_shards(cluster, session):
    assert set(cluster.get_all_pools()) == set(session.get_pools())
    assert not cluster.is_shard_aware()
    assert cluster.shard_aware_stats() is None
    assert cluster.session_id != session.session_id
    assert session.metrics is cluster.metrics is None


def test_programs_of_other_drivers_find_the_version_and_the_host_that_was_asked_last(session):
    future = session.execute_async("SELECT k FROM t")
    future.result()
    assert session._protocol_version == session.cluster.protocol_version
    assert future._current_host in session.cluster.metadata.all_hosts()
