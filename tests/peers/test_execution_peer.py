"""Retries agree with cassandra-driver: the same hosts, the same end, the same level, for any story.

The peer's future is told what each host said; ours gets it over an in-memory connection.
"""

import io
from unittest.mock import Mock

import answers
import pytest
from hypothesis import given
from hypothesis import strategies as st
from script import asked, session_of

from driver.policies import retry
from driver.protocol.errors import OperationTimedOut
from driver.statements import SimpleStatement
from driver.wire.primitives import write_consistency_level, write_int, write_string

cluster = pytest.importorskip("cassandra.cluster")
connection = pytest.importorskip("cassandra.connection")
policies = pytest.importorskip("cassandra.policies")
protocol = pytest.importorskip("cassandra.protocol")
query = pytest.importorskip("cassandra.query")

HOSTS = 3
QUORUM = 4
POLICIES = [
    "RetryPolicy",
    "FallthroughRetryPolicy",
    "NeverRetryPolicy",
    "DowngradingConsistencyRetryPolicy",
]
WRITE_TYPES = {"SIMPLE": 0, "BATCH": 1, "UNLOGGED_BATCH": 2, "BATCH_LOG": 4, "CAS": 5}

replicas = st.integers(0, 3)
responses = {
    "consistency": st.just(QUORUM),
    "received_responses": replicas,
    "required_responses": replicas,
}
failures = st.one_of(
    st.tuples(
        st.just("UnavailableErrorMessage"),
        st.fixed_dictionaries(
            {
                "consistency": st.just(QUORUM),
                "required_replicas": replicas,
                "alive_replicas": replicas,
            }
        ),
    ),
    st.tuples(
        st.just("ReadTimeoutErrorMessage"),
        st.fixed_dictionaries({**responses, "data_retrieved": st.booleans()}),
    ),
    st.tuples(
        st.just("WriteTimeoutErrorMessage"),
        st.fixed_dictionaries({**responses, "write_type": st.sampled_from(sorted(WRITE_TYPES))}),
    ),
    st.tuples(
        st.sampled_from(
            [
                "OverloadedErrorMessage",
                "IsBootstrappingErrorMessage",
                "TruncateError",
                "ServerError",
                "SyntaxException",
                "UnauthorizedErrorMessage",
                "InvalidRequestException",
                "ConfigurationException",
            ]
        ),
        st.none(),
    ),
    st.tuples(st.just("connection lost"), st.none()),
)
#: What is wrong with a host before it is asked.
states = st.sampled_from(["up", "up", "up", "down", "shut"])

CODES = {
    "ServerError": 0x0000,
    "UnavailableErrorMessage": 0x1000,
    "OverloadedErrorMessage": 0x1001,
    "IsBootstrappingErrorMessage": 0x1002,
    "TruncateError": 0x1003,
    "WriteTimeoutErrorMessage": 0x1100,
    "ReadTimeoutErrorMessage": 0x1200,
    "SyntaxException": 0x2000,
    "UnauthorizedErrorMessage": 0x2100,
    "InvalidRequestException": 0x2200,
    "ConfigurationException": 0x2300,
}


#: Fields of all errors, in the order in which each error that has them has them.
FIELDS = (
    "consistency",
    "required_replicas",
    "alive_replicas",
    "received_responses",
    "required_responses",
    "data_retrieved",
    "write_type",
)


def bytes_of(info):
    """The payload of an error, as it is on the wire."""
    f = io.BytesIO()
    for name in FIELDS:
        if info is None or name not in info:
            continue
        value = info[name]
        if name == "consistency":
            write_consistency_level(f, value)
        elif name == "write_type":
            write_string(f, value)
        elif name == "data_retrieved":
            f.write(bytes([value]))
        else:
            write_int(f, value)
    return f.getvalue()


def by_us(policy, story, host_states):
    """Hosts asked, level of consistency of the last request, and how it ended."""
    session = session_of(*[[] for _ in range(HOSTS)])
    left = list(story)
    ours = getattr(retry, policy)()

    def answer_for(host):
        def answer(request):
            session.scripts[host].requests.append(request)
            if not left:
                return answers.Answer(0x08, b"\0\0\0\x01")
            kind, info = left.pop(0)
            if kind == "connection lost":
                lost.append(host)
                return None
            return answers.error(CODES[kind], "m", bytes_of(info))

        return answer

    lost = []
    for host, state in zip(session.hosts, host_states, strict=True):
        session.servers[host].answer = answer_for(host)
        if state == "down":
            del session.pools[host]
        elif state == "shut":
            session.pools[host].is_shutdown = True
    session.retry_policy = ours
    statement = SimpleStatement("q", is_idempotent=True, consistency_level=QUORUM)
    future = session.execute_async(statement)
    while lost:
        session.pools[lost.pop(0)].connection.close()
    hosts = [session.hosts.index(host) for host in future.attempted_hosts]
    return hosts, future.message.consistency_level, outcome_of(future, session.hosts)


def by_the_peer(policy, story, host_states):
    """The same of the peer."""
    hosts = [Mock() for _ in range(HOSTS)]
    pools, attempted = {}, []

    def pool_of(host, is_shutdown):
        lent = Mock()
        lent.send_msg.return_value = 1

        def borrow(*_, **__):
            attempted.append(host)
            return lent, 1

        return Mock(host=host, is_shutdown=is_shutdown, borrow_connection=borrow)

    for host, state in zip(hosts, host_states, strict=True):
        if state != "down":
            pools[host] = pool_of(host, state == "shut")
    session = Mock(_pools=pools, submit=lambda fn, *args: fn(*args))
    session.cluster.protocol_version = 4
    balancer = Mock(make_query_plan=lambda *_: iter(hosts))
    future = cluster.ResponseFuture(
        session,
        protocol.QueryMessage("q", QUORUM),
        query.SimpleStatement("q", is_idempotent=True),
        None,
        load_balancer=balancer,
        retry_policy=getattr(policies, policy)(),
    )
    future.send_request()
    left = list(story)
    closed = set()
    while not future._event.is_set():
        host = attempted[-1]
        if not left:
            response = protocol.ResultMessage(protocol.RESULT_KIND_VOID)
        else:
            kind, info = left.pop(0)
            if kind == "connection lost":
                pools[host].is_shutdown = True
                closed.add(host)
                response = connection.ConnectionShutdown("lost")
            else:
                if info and "write_type" in info:
                    info = {**info, "write_type": WRITE_TYPES[info["write_type"]]}
                response = getattr(protocol, kind)(CODES[kind], "m", info)
        future._set_result(host, None, None, response)
    asked_hosts = [hosts.index(host) for host in attempted]
    return asked_hosts, future.message.consistency_level, outcome_of(future, hosts)


def outcome_of(future, hosts):
    """The class of the exception and the hosts that it names; or the rows."""
    try:
        return future.result().all()
    except Exception as error:  # noqa: BLE001  (it is what is compared)
        named = getattr(error, "errors", None)
        return name_of(error), named and {
            hosts.index(host): name_of(why) for host, why in named.items()
        }


def name_of(error):
    """Its class; the peer raises messages of the protocol where it has no exception for them."""
    return type(error).__name__.removesuffix("ErrorMessage")


@pytest.mark.filterwarnings("ignore:DowngradingConsistencyRetryPolicy is deprecated")
@given(
    policy=st.sampled_from(POLICIES),
    story=st.lists(failures, max_size=6),
    host_states=st.tuples(*[states] * HOSTS),
)
def test_requests_take_the_same_way_and_come_to_the_same_end(policy, story, host_states):
    assert by_us(policy, story, host_states) == by_the_peer(policy, story, host_states)


def test_known_difference_a_request_that_may_have_been_executed_is_not_sent_again():
    """The peer's default policy sends a statement again that is not idempotent; ours does not."""
    session = session_of([], [answers.Answer(0x08, b"\0\0\0\x01")])
    future = session.execute_async(SimpleStatement("q"))
    session.connection.close()
    with pytest.raises(Exception, match="was closed"):
        future.result()
    assert asked(session) == [1, 0]
    peer = policies.RetryPolicy().on_request_error(None, None, error=None, retry_num=0)
    assert peer == (policies.RetryPolicy.RETRY_NEXT_HOST, None)


def test_known_difference_time_outs_name_hosts_by_host():
    """The peer names a host that did not answer by its address, and others by ``Host``."""
    session = session_of([])
    future = session.execute_async("q")
    session.timers.advance(10)
    with pytest.raises(OperationTimedOut) as caught:
        future.result()
    assert list(caught.value.errors) == [session.host]
