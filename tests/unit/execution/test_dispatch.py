"""Dispatch: what each kind of response does."""

import logging
from uuid import UUID

import answers
import pytest
from in_memory import InMemorySession

from driver.net.errors import ConnectionException, ConnectionShutdown
from driver.policies.column_encryption import AES256ColumnEncryptionPolicy
from driver.policies.retry import FallthroughRetryPolicy
from driver.protocol.columns import ColDesc
from driver.protocol.errors import DriverException, PreparedQueryNotFound, Unavailable
from driver.results import tuple_factory
from driver.statements import BatchStatement, SimpleStatement
from driver.topology.tablets import TABLET_PAYLOAD_TYPE, Tablet
from driver.topology.token import Murmur3Token
from driver.types import BytesType, Int32Type, UTF8Type, lookup_casstype
from driver.wire.features import TABLETS_ROUTING_PAYLOAD, ProtocolFeatures
from driver.wire.requests import ExecuteMessage, PrepareMessage
from driver.wire.responses import ReadyMessage

NUMBER = [("n", Int32Type)]
ROWS = answers.rows(NUMBER, [(1,)])
VERSIONS = pytest.mark.parametrize("version", [3, 4, 5])


class Server:
    """Gives answers in turn; remembers the opcodes that it was asked."""

    def __init__(self, *given):
        self.left = list(given)
        self.asked = []

    def __call__(self, request):
        self.asked.append(request.opcode)
        return self.left.pop(0) if self.left else None


def session_with(*given, **options):
    return InMemorySession(Server(*given), row_factory=tuple_factory, **options)


class CountingPool:
    def __init__(self):
        self.returned = []

    def return_connection(self, connection):
        self.returned.append(connection)


class TestResults:
    @VERSIONS
    def test_void_has_no_rows(self, version):
        future = InMemorySession(protocol_version=version).execute_async("q")
        assert future.result().all() == []
        assert future.coordinator_host is future.session.host

    @VERSIONS
    def test_rows_are_rows(self, version):
        assert session_with(ROWS, protocol_version=version).execute("q").all() == [(1,)]

    def test_rows_have_the_shape_of_the_row_factory(self):
        session = InMemorySession(lambda _: ROWS)
        assert session.execute("q").one().n == 1

    def test_set_keyspace_is_for_every_connection(self):
        session = session_with(answers.set_keyspace("other"))
        assert session.execute("USE other").all() == []
        assert (session.keyspace, session.connection.keyspace) == ("other", "other")

    def test_set_keyspace_fails_where_a_connection_does(self):
        session = session_with(answers.set_keyspace("other"))
        errors = {"one": [OSError("broken")], "two": [OSError("slow")]}
        session.set_keyspace_for_all_pools = lambda _, done: done(errors)
        with pytest.raises(ConnectionException, match=r"Not every connection uses .*broken.*slow"):
            session.execute("USE other")

    @pytest.mark.parametrize(
        ("words", "event"),
        [
            (("KEYSPACE", "ks"), {}),
            (("TABLE", "ks", "t"), {"table": "t"}),
            (("TYPE", "ks", "u"), {"type": "u"}),
        ],
    )
    def test_schema_changes_reach_the_cluster(self, words, event):
        session = session_with(answers.schema_change("DROPPED", *words))
        future = session.execute_async("DROP")
        assert future.result().all() == []
        expected = {"change_type": "DROPPED", "target_type": words[0], "keyspace": "ks", **event}
        assert session.cluster.schema_changes == [expected]
        assert future.is_schema_agreed

    def test_a_schema_change_that_cannot_be_taken_over_is_no_failure(self, caplog):
        session = session_with(answers.schema_change("CREATED", "KEYSPACE", "ks"))
        session.cluster.schema_changed = lambda *_: 1 / 0
        future = session.execute_async("CREATE")
        assert future.result().all() == []
        assert not future.is_schema_agreed
        assert "could not be taken over" in caplog.text

    @VERSIONS
    def test_prepared_becomes_a_statement(self, version):
        given = answers.prepared(b"id", NUMBER, [("r", UTF8Type)], version=version, pk=[0])
        session = session_with(given, protocol_version=version)
        prepared = session.prepare("q")
        assert prepared.query_id == b"id"
        assert [c.name for c in prepared.column_metadata] == ["n"]
        assert [c.name for c in prepared.result_metadata] == ["r"]
        assert prepared.result_metadata_id == (b"mid" if version == 5 else None)
        assert prepared.routing_key_indexes == ([0] if version > 3 else None)
        assert session.cluster.prepared_statements[b"id"] is prepared


class TestFailures:
    def test_errors_become_exceptions(self):
        info = b"\0\x04\0\0\0\x03\0\0\0\x01"
        session = session_with(answers.error(0x1000, "few", info))
        session.retry_policy = FallthroughRetryPolicy()
        with pytest.raises(Unavailable) as caught:
            session.execute("q")
        assert (caught.value.required_replicas, caught.value.alive_replicas) == (3, 1)

    @pytest.mark.parametrize(
        ("error_type", "text"),
        [(ConnectionException, "lost"), (ConnectionShutdown, "x"), (OSError, "y")],
    )
    def test_exceptions_are_raised_as_they_are(self, error_type, text):
        # Made here: a parameter lives on, and its traceback would keep the request.
        error = error_type(text)
        session = session_with()
        future = session.execute_async("q")
        future._set_result(session.host, session.connection, None, error)
        with pytest.raises(error_type) as caught:
            future.result()
        assert caught.value is error

    def test_a_closed_connection_ends_the_waiting(self):
        session = session_with()
        session.retry_policy = FallthroughRetryPolicy()
        future = session.execute_async("q")
        session.connection.close()
        with pytest.raises(ConnectionShutdown):
            future.result()

    def test_other_messages_are_unexpected(self):
        session = session_with()
        future = session.execute_async("q")
        future._set_result(session.host, session.connection, None, ReadyMessage())
        with pytest.raises(ConnectionException, match="no answer to a request"):
            future.result()

    def test_what_a_row_factory_raises_is_told_to_who_waits_and_to_nobody_else(self, caplog):
        session = session_with(ROWS)
        session.row_factory = lambda *_: 1 / 0
        with caplog.at_level(logging.DEBUG), pytest.raises(ZeroDivisionError):
            session.execute("q")
        assert caplog.text == ""


@pytest.mark.parametrize("response", [ReadyMessage(), OSError()])
def test_the_connection_goes_back_whatever_the_answer(response):
    session, pool = session_with(), CountingPool()
    session.execute_async("q")._set_result(session.host, session.connection, pool, response)
    assert pool.returned == [session.connection]


class TestNotPrepared:
    PREPARED = answers.prepared(b"id", NUMBER, NUMBER)
    UNPREPARED = answers.unprepared(b"id")
    EXECUTE, PREPARE, BATCH = ExecuteMessage.opcode, PrepareMessage.opcode, 0x0D

    def test_the_statement_is_prepared_and_sent_again(self):
        session = session_with(self.PREPARED, self.UNPREPARED, self.PREPARED, ROWS)
        prepared = session.prepare("q")
        assert session.execute(prepared, (1,)).all() == [(1,)]
        opcodes = [self.PREPARE, self.EXECUTE, self.PREPARE, self.EXECUTE]
        assert session.server.answer.asked == opcodes
        assert session.server.requests[1].body == session.server.requests[3].body

    def test_preparing_again_is_logged(self, caplog):
        session = session_with(self.PREPARED, self.UNPREPARED, self.PREPARED, ROWS)
        with caplog.at_level("DEBUG", logger="driver.execution.request"):
            session.execute(session.prepare("q"), (1,))
        assert [message for message in caplog.messages if message.startswith("Re-preparing")]

    def test_a_batch_prepares_each_of_its_statements(self):
        given = [answers.prepared(i, NUMBER) for i in (b"one", b"two")]
        again = [answers.unprepared(b"one"), given[0], answers.unprepared(b"two"), given[1]]
        session = session_with(*given, *again, answers.rows([], []))
        batch = BatchStatement()
        for text in ("q1", "q2"):
            batch.add(session.prepare(text), (1,))
        session.execute(batch)
        expected = [self.BATCH, self.PREPARE, self.BATCH, self.PREPARE, self.BATCH]
        assert session.server.answer.asked[2:] == expected

    def test_once_is_enough(self):
        session = session_with(self.PREPARED, self.UNPREPARED, self.PREPARED, self.UNPREPARED)
        prepared = session.prepare("q")
        with pytest.raises(PreparedQueryNotFound):
            session.execute(prepared, (1,))

    def test_a_statement_that_nobody_knows_cannot_be_prepared(self):
        session = session_with(answers.unprepared(b"unknown"))
        with pytest.raises(PreparedQueryNotFound) as caught:
            session.execute("q")
        assert caught.value.query_id == b"unknown"

    def test_another_id_is_another_statement(self):
        other = answers.prepared(b"other", NUMBER)
        session = session_with(self.PREPARED, self.UNPREPARED, other)
        prepared = session.prepare("q")
        with pytest.raises(DriverException, match=r"statement 6964 became 6f74686572"):
            session.execute(prepared, (1,))

    def test_an_error_in_preparing_is_the_failure(self):
        session = session_with(self.PREPARED, self.UNPREPARED, answers.error(0x2200, "dropped"))
        prepared = session.prepare("q")
        with pytest.raises(DriverException, match="dropped"):
            session.execute(prepared, (1,))

    def test_every_borrowed_connection_goes_back(self):
        session = session_with(self.PREPARED, self.UNPREPARED, self.PREPARED, ROWS)
        prepared = session.prepare("q")
        future = session.execute_async(prepared, (1,))
        assert future.attempted_hosts == [session.host] * 3
        assert session.pools[session.host].borrowed == 0

    def test_each_host_is_told_for_itself(self):
        def forgetful():
            return Server(self.UNPREPARED, self.PREPARED, answers.error(0x1001), ROWS)

        session = InMemorySession(hosts={"one": forgetful(), "two": forgetful()})
        session.hosts, hosts = session.hosts[:1], session.hosts
        session.servers[hosts[0]].answer.left.insert(0, self.PREPARED)
        prepared = session.prepare("q")
        session.hosts = hosts
        session.servers[hosts[1]].answer.left.pop(2)
        assert session.execute(prepared, (1,)).one().n == 1
        asked = [self.EXECUTE, self.PREPARE, self.EXECUTE]
        assert session.servers[hosts[1]].answer.asked == asked

    def test_a_host_that_cannot_be_told_is_followed_by_the_next(self):
        session = InMemorySession(
            hosts={"one": Server(self.PREPARED, self.UNPREPARED), "two": Server(ROWS)}
        )
        one, two = session.hosts
        prepared = session.prepare("q")
        borrow, pool = session.pools[one].borrow_connection, session.pools[one]

        def once(*args):
            pool.is_shutdown = True
            return borrow(*args)

        pool.borrow_connection = once
        future = session.execute_async(prepared, (1,))
        assert future.result().one().n == 1
        assert future.attempted_hosts == [one, two]

    def test_a_host_lost_while_it_is_told_is_followed_by_the_next(self):
        # It said that it did not run the statement, so that another host may, idempotent or not.
        one, two = Server(self.PREPARED, self.UNPREPARED), Server(ROWS)
        session = InMemorySession(hosts={"one": one, "two": two}, row_factory=tuple_factory)
        future = session.execute_async(session.prepare("q"), (1,))
        assert one.asked == [self.PREPARE, self.EXECUTE, self.PREPARE]
        lost = ConnectionException("lost")
        session.connection.defunct(lost)
        assert future.result().all() == [(1,)]
        assert two.asked == [self.EXECUTE]
        assert future._errors[session.host].__cause__ is lost
        assert [pool.borrowed for pool in session.pools.values()] == [0, 0]

    def test_before_v5_the_keyspace_must_be_in_use(self):
        session = session_with(self.PREPARED, self.UNPREPARED, self.PREPARED, ROWS)
        prepared = session.prepare("q")
        prepared.keyspace = "ks"
        with pytest.raises(ValueError, match="was prepared in 'ks'"):
            session.execute(prepared, (1,))

    def test_v5_names_the_keyspace(self):
        given = answers.prepared(b"id", NUMBER, NUMBER, version=5)
        session = session_with(given, self.UNPREPARED, given, ROWS, protocol_version=5)
        prepared = session.prepare("q", keyspace="ks")
        assert session.execute(prepared, (1,)).all() == [(1,)]
        first, again = (r for r in session.server.requests if r.opcode == self.PREPARE)
        assert first.body == again.body

    def test_the_result_may_have_changed_meanwhile(self):
        changed = answers.prepared(b"id", NUMBER, [("x", UTF8Type)], version=5, metadata_id=b"new")
        given = answers.prepared(b"id", NUMBER, NUMBER, version=5)
        rows = answers.rows([("x", UTF8Type)], [("text",)], skip=True)
        session = session_with(given, self.UNPREPARED, changed, rows, protocol_version=5)
        prepared = session.prepare("q")
        assert session.execute(prepared, (1,)).all() == [("text",)]
        assert prepared.result_metadata_id == b"new"
        assert b"new" in session.server.requests[-1].body


class TestMetadata:
    def test_is_the_prepared_statement_s_where_the_rows_have_none(self):
        rows = answers.rows(NUMBER, [(1,)], skip=True)
        session = session_with(answers.prepared(b"id", NUMBER, NUMBER), rows)
        result = session.execute(session.prepare("q"), (1,))
        assert (result.column_names, result.all()) == (["n"], [(1,)])

    def test_that_changed_is_used_from_now_on(self):
        wider = [("n", Int32Type), ("x", UTF8Type)]
        session = session_with(
            answers.prepared(b"id", NUMBER, NUMBER, version=5),
            answers.rows(wider, [(1, "a")], new_id=b"new"),
            answers.rows(wider, [(2, "b")], skip=True),
            protocol_version=5,
        )
        prepared = session.prepare("q")
        assert session.execute(prepared, (1,)).all() == [(1, "a")]
        assert session.execute(prepared, (1,)).all() == [(2, "b")]
        assert prepared.result_metadata_id == b"new"
        assert b"new" in session.server.requests[-1].body

    def test_has_the_names_that_came_with_the_rows_and_never_older_ones(self):
        # Names that a statement keeps apart from its metadata, as pull request 805 does, would be
        # those of before the change: ("n",) for rows of two values, and silently so.
        wider = [("n", Int32Type), ("x", UTF8Type)]
        session = session_with(
            answers.prepared(b"id", NUMBER, NUMBER, version=5),
            answers.rows(NUMBER, [(1,)], skip=True),
            answers.rows(wider, [(1, "a")], new_id=b"new"),
            answers.rows(wider, [(2, "b")], skip=True),
            protocol_version=5,
        )
        prepared = session.prepare("q")
        names = [session.execute(prepared, (1,)).column_names for _ in range(3)]
        assert names == [["n"], ["n", "x"], ["n", "x"]]
        assert prepared.result_metadata.names == ["n", "x"]

    def test_lends_its_names_to_nobody(self):
        session = session_with(
            answers.prepared(b"id", NUMBER, NUMBER),
            answers.rows(NUMBER, [(1,)], skip=True),
            answers.rows(NUMBER, [(1,)], skip=True),
        )
        prepared = session.prepare("q")
        session.execute(prepared, (1,)).column_names.clear()
        assert session.execute(prepared, (1,)).column_names == ["n"]


class TestTablets:
    TYPE = lookup_casstype(TABLET_PAYLOAD_TYPE)
    REPLICAS = ((UUID(int=1), 3), (UUID(int=2), 0))
    STATEMENT = SimpleStatement("q", keyspace="ks", table="t")

    def learnt(self, payload, statement=STATEMENT, *, enabled=True):
        session = session_with(
            answers.along(ROWS, payload=payload),
            features=ProtocolFeatures(tablets_routing_v1=enabled),
        )
        assert session.execute(statement).all() == [(1,)]
        return session.cluster.metadata.tablets.get_tablet_for_key("ks", "t", Murmur3Token(5))

    def payload(self, replicas=REPLICAS):
        return {TABLETS_ROUTING_PAYLOAD: self.TYPE.serialize((0, 10, replicas), 4)}

    def test_in_the_payload_are_learnt(self):
        assert self.learnt(self.payload()) == Tablet(0, 10, self.REPLICAS)

    def test_of_a_server_without_tablets_are_not(self):
        assert self.learnt(self.payload(), enabled=False) is None

    @pytest.mark.parametrize("replicas", [(), None])
    def test_without_replicas_say_nothing(self, replicas):
        assert self.learnt(self.payload(replicas)) is None

    def test_of_an_unknown_table_are_of_no_use(self):
        assert self.learnt(self.payload(), SimpleStatement("q")) is None

    def test_are_learnt_for_the_keyspace_in_use_where_the_statement_names_none(self):
        session = session_with(
            answers.along(ROWS, payload=self.payload()),
            answers.along(ROWS, payload=self.payload()),
            features=ProtocolFeatures(tablets_routing_v1=True),
        )
        statement = SimpleStatement("q")
        statement.table = "t"
        session.execute(statement)
        assert not session.cluster.metadata.tablets.table_has_tablets(None, "t")
        session.keyspace = "ks"
        session.execute(statement)
        assert session.cluster.metadata.tablets.table_has_tablets("ks", "t")

    def test_are_told_from_other_payloads(self):
        assert self.learnt({"other": b"x"}) is None

    @pytest.mark.parametrize("broken", [b"\0\0\0\x08abc", b""])
    def test_that_cannot_be_read_do_not_fail_the_request(self, broken, caplog):
        assert self.learnt({TABLETS_ROUTING_PAYLOAD: broken}) is None
        assert "Cannot read the tablet" in caplog.text

    def test_that_are_null_are_none(self, caplog):
        assert self.learnt({TABLETS_ROUTING_PAYLOAD: None}) is None
        assert not caplog.text

    def test_are_learnt_from_bound_statements_too(self):
        session = session_with(
            answers.prepared(b"id", NUMBER, NUMBER, pk=[0]),
            answers.along(ROWS, payload=self.payload()),
            features=ProtocolFeatures(tablets_routing_v1=True),
        )
        session.execute(session.prepare("q"), (1,))
        assert session.cluster.metadata.tablets.table_has_tablets("ks", "t")


class TestEncryptedColumns:
    SECRET = ColDesc("ks", "t", "secret")
    COLUMNS = (("n", Int32Type), ("secret", BytesType))

    def test_are_sent_encrypted_and_read_decrypted(self):
        policy = AES256ColumnEncryptionPolicy()
        policy.add_column(self.SECRET, bytes(range(32)), "text")
        encrypted = policy.encode_and_encrypt(self.SECRET, "hidden")
        session = session_with(
            answers.prepared(b"id", self.COLUMNS, self.COLUMNS),
            answers.rows(self.COLUMNS, [(1, encrypted), (2, None)]),
            column_encryption_policy=policy,
        )
        result = session.execute(session.prepare("q"), (1, "hidden"))
        sent = session.server.requests[1].body
        assert encrypted in sent
        assert b"hidden" not in sent
        assert result.all() == [(1, "hidden"), (2, None)]

    def test_that_cannot_be_decrypted_are_named(self):
        policy = AES256ColumnEncryptionPolicy()
        policy.add_column(self.SECRET, bytes(range(32)), "text")
        session = session_with(
            answers.rows(self.COLUMNS, [(1, b"plain")]), column_encryption_policy=policy
        )
        with pytest.raises(DriverException, match=r'column "secret".*no AES-256 CBC text'):
            session.execute("q")
