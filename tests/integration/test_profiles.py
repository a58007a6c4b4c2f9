"""Execution profiles and retry policies, as the server makes them act."""

import pytest

from driver.cluster import EXEC_PROFILE_DEFAULT, ExecutionProfile
from driver.policies import (
    DowngradingConsistencyRetryPolicy,
    FallthroughRetryPolicy,
    RetryPolicy,
    RoundRobinPolicy,
)
from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.errors import DriverException, Unavailable
from driver.results import dict_factory, tuple_factory
from driver.statements import SimpleStatement

UNREACHABLE = (
    "ALTER KEYSPACE {} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 3}}"
)
READ = "SELECT k FROM t WHERE k = 1"


@pytest.fixture
def three_copies(session):
    """Three copies on one node: more than one cannot be had."""
    session.execute("CREATE TABLE t (k int PRIMARY KEY)")
    session.execute("INSERT INTO t (k) VALUES (1)")
    session.execute(UNREACHABLE.format(session.keyspace))
    return session.keyspace


def test_a_profile_says_how_a_request_is_executed(clusters, one_node):
    profiles = {
        EXEC_PROFILE_DEFAULT: ExecutionProfile(
            load_balancing_policy=RoundRobinPolicy(), row_factory=tuple_factory
        ),
        "dicts": ExecutionProfile(
            load_balancing_policy=RoundRobinPolicy(), row_factory=dict_factory, request_timeout=33
        ),
    }
    cluster = clusters(one_node.addresses, execution_profiles=profiles)
    session = cluster.connect()
    query = "SELECT key FROM system.local"
    assert session.execute(query).one() == ("local",)
    assert session.execute(query, execution_profile="dicts").one() == {"key": "local"}
    assert session.execute_async(query, execution_profile="dicts").timeout == 33
    cluster.add_execution_profile(
        "later",
        ExecutionProfile(load_balancing_policy=RoundRobinPolicy(), row_factory=dict_factory),
    )
    assert session.execute(query, execution_profile="later").one() == {"key": "local"}
    changed = session.execution_profile_clone_update("dicts", row_factory=tuple_factory)
    assert session.execute(query, execution_profile=changed).one() == ("local",)
    with pytest.raises(ValueError, match="unknown"):
        session.execute(query, execution_profile="unknown")


def test_the_profiles_consistency_level_is_asked_for(clusters, one_node, three_copies):
    profiles = {
        EXEC_PROFILE_DEFAULT: ExecutionProfile(retry_policy=FallthroughRetryPolicy()),
        "all": ExecutionProfile(
            retry_policy=FallthroughRetryPolicy(), consistency_level=ConsistencyLevel.ALL
        ),
    }
    session = clusters(one_node.addresses, execution_profiles=profiles).connect(three_copies)
    assert session.execute(READ).one().k == 1
    with pytest.raises(Unavailable) as caught:
        session.execute(READ, execution_profile="all")
    assert caught.value.consistency == ConsistencyLevel.ALL
    # A statement's own level goes before the profile's.
    own = SimpleStatement(READ, consistency_level=ConsistencyLevel.ONE)
    assert session.execute(own, execution_profile="all").one().k == 1


def test_a_downgrading_policy_reads_at_a_level_that_can_be_had(clusters, one_node, three_copies):
    profile = ExecutionProfile(
        retry_policy=DowngradingConsistencyRetryPolicy(), consistency_level=ConsistencyLevel.ALL
    )
    session = clusters(
        one_node.addresses, execution_profiles={EXEC_PROFILE_DEFAULT: profile}
    ).connect(three_copies)
    assert session.execute(READ).one().k == 1


def test_the_policy_of_a_statement_decides(session, three_copies):
    asked = []

    class Asked(RetryPolicy):
        def on_unavailable(self, *args, **kwargs):
            names = ("query", "consistency", "required_replicas", "alive_replicas", "retry_num")
            given = {**dict(zip(names, args, strict=False)), **kwargs}
            retry_num = given["retry_num"]
            asked.append(tuple(given[name] for name in names[1:]))
            if retry_num < 2:
                return self.RETRY, ConsistencyLevel.TWO
            return self.RETHROW, None

    assert three_copies
    statement = SimpleStatement(READ, consistency_level=ConsistencyLevel.ALL, retry_policy=Asked())
    with pytest.raises(DriverException):
        session.execute(statement)
    assert asked == [
        (ConsistencyLevel.ALL, 3, 1, 0),
        (ConsistencyLevel.TWO, 2, 1, 1),
        (ConsistencyLevel.TWO, 2, 1, 2),
    ]
