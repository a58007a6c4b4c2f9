"""Attempts: one object a sending, which the connection calls; never two sendings in one."""

import answers
import numpy as np
import pytest
from script import NOTHING_LEFT, NUMBER, OVERLOADED, leftovers, respond, row, session_of

from driver.execution import ResponseFuture
from driver.execution.request import Attempt
from driver.policies.speculative import ConstantSpeculativeExecutionPolicy
from driver.protocol.consistency import ConsistencyLevel
from driver.statements import SimpleStatement
from driver.wire.requests import PrepareMessage, QueryMessage
from driver.wire.requests.options import naming_option

#: Options that a statement has.
SETS = {"consistency_level", "fetch_size"}
IDEMPOTENT = SimpleStatement("q", is_idempotent=True)


def waiting(session, number=0):
    """What the connection to a host would call."""
    connection = session.pools[session.hosts[number]].connection
    return [callback for callback, *_ in connection._requests.values()]


def test_the_attempt_itself_is_what_the_connection_calls():
    session = session_of([None])
    future = session.execute_async("q")
    (attempt,) = waiting(session)
    assert type(attempt) is Attempt
    assert attempt.request is future
    assert future._in_flight == {attempt}


def test_executions_beside_each_other_have_attempts_of_their_own():
    session = session_of([None], [None])
    session.speculative_execution_policy = ConstantSpeculativeExecutionPolicy(1.0, 1)
    future = session.execute_async(IDEMPOTENT)
    session.timers.advance(1.0)
    (first,), (second,) = waiting(session, 0), waiting(session, 1)
    assert first is not second
    assert [first.host, second.host] == session.hosts
    respond(session, 1, row(2))
    assert future.result().one() == (2,)
    first("too late")
    assert future.result().one() == (2,)


def test_an_attempt_is_answered_once():
    session = session_of([None])
    future = session.execute_async("q")
    (attempt,) = waiting(session)
    respond(session, 0, row(1))
    attempt(ValueError("a second answer"))
    assert future.result().one() == (1,)
    assert leftovers(session) == leftovers(session_of([]))


def test_retries_and_pages_have_attempts_of_their_own():
    pages = [answers.rows(NUMBER, [(1,)], paging_state=b"p"), None]
    session = session_of([OVERLOADED], pages)
    future = session.execute_async(IDEMPOTENT)
    assert future._in_flight == set()
    future.start_fetching_next_page()
    (first,) = waiting(session, 0) + waiting(session, 1)
    assert future._in_flight == {first}
    assert future.message.paging_state == b"p"


def test_the_request_of_a_page_is_the_same_object_as_before():
    pages = [answers.rows(NUMBER, [(1,)], paging_state=b"p"), row(2)]
    future = session_of(pages).execute_async("q")
    message = future.message
    assert future.result().all() == [(1,), (2,)]
    assert future.message is message


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("consistency_level", "ONE"), ("fetch_size", "5"), ("paging_state", "of a page"),
        ("keyspace", 5), ("now_in_seconds", "now"), ("now_in_seconds", 2**31),
        ("custom_payload", {"a": "b"}), ("custom_payload", {1: b"b"}),
    ],
)  # fmt: skip
def test_an_option_that_cannot_be_sent_is_named(option, value):
    session = session_of([row(1)], protocol_version=5)
    asked = {option: value}
    statement = SimpleStatement("q", **{each: asked.pop(each) for each in SETS & {*asked}})
    with pytest.raises(TypeError, match=f"^{option} is a .*, not {value!r}$"):
        session.execute(statement, **asked)
    assert leftovers(session) == NOTHING_LEFT


@pytest.mark.parametrize("message", [QueryMessage(None, 1), PrepareMessage(SimpleStatement("q"))])
def test_a_text_that_is_none_is_named(message):
    session = session_of([row(1)])
    future = ResponseFuture(session, message, None)
    future.send_request()
    with pytest.raises(TypeError, match=r"^query is a text of CQL, not (None|<Sim)"):
        future.result()
    assert leftovers(session) == NOTHING_LEFT


def test_a_payload_that_can_be_sent_is_no_reason():
    error = TypeError("of a policy")
    message = QueryMessage("q", 1)
    message.update_custom_payload({"a": b"b", "c": None})
    assert naming_option(error, message) is error


@pytest.mark.parametrize("error", [ValueError("of a policy"), TypeError("of a policy")])
@pytest.mark.parametrize("level", [ConsistencyLevel.ONE, np.int64(1), None])
def test_an_error_that_no_option_explains_stays_as_it_is(error, level):
    assert naming_option(error, QueryMessage("q", level)) is error


def test_an_error_of_another_kind_is_not_of_an_option():
    error = ValueError("of a policy")
    assert naming_option(error, QueryMessage("q", "ONE")) is error
