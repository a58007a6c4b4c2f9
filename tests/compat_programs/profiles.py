"""Execution profiles, policies in them, timeouts, and the older attributes of a session."""
# ruff: noqa: T201  (a program prints)

from cassandra import ConsistencyLevel, Unavailable
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.policies import (
    ConstantSpeculativeExecutionPolicy,
    DCAwareRoundRobinPolicy,
    FallthroughRetryPolicy,
    RetryPolicy,
    RoundRobinPolicy,
    TokenAwarePolicy,
    WhiteListRoundRobinPolicy,
)
from cassandra.query import SimpleStatement, dict_factory, tuple_factory
from keyspaces import CONTACT_POINT, connected


class Counting(RetryPolicy):
    """Counts what it is asked."""

    asked = 0

    def on_unavailable(self, *_, **__):
        """Never again."""
        type(self).asked += 1
        return self.RETHROW, None


PROFILES = {
    EXEC_PROFILE_DEFAULT: ExecutionProfile(
        TokenAwarePolicy(DCAwareRoundRobinPolicy()), row_factory=tuple_factory
    ),
    "dicts": ExecutionProfile(RoundRobinPolicy(), row_factory=dict_factory, request_timeout=30),
    "strict": ExecutionProfile(
        WhiteListRoundRobinPolicy([CONTACT_POINT]),
        retry_policy=Counting(),
        consistency_level=ConsistencyLevel.THREE,
        speculative_execution_policy=ConstantSpeculativeExecutionPolicy(5, 1),
    ),
}
with connected(execution_profiles=PROFILES) as (cluster, session):
    session.execute("CREATE TABLE t (k int PRIMARY KEY, v int)")
    session.execute("INSERT INTO t (k, v) VALUES (1, 2)")
    print(session.execute("SELECT * FROM t").one())
    print(session.execute("SELECT * FROM t", execution_profile="dicts").one())
    try:
        session.execute("INSERT INTO t (k, v) VALUES (3, 4)", execution_profile="strict")
    except Unavailable as error:
        print(error.required_replicas, error.alive_replicas, error.consistency, Counting.asked)
    copy = session.execution_profile_clone_update("dicts", row_factory=tuple_factory)
    print(session.execute("SELECT * FROM t", execution_profile=copy).one())
    cluster.add_execution_profile("late", ExecutionProfile(row_factory=dict_factory))
    print(session.execute("SELECT v FROM t", execution_profile="late").one())
    for faulty in ("nobody", 5):
        try:
            session.execute("SELECT v FROM t", execution_profile=faulty)
        except ValueError:
            print("ValueError")
    try:
        session.default_timeout = 5
    except ValueError:
        print("ValueError")

with connected(
    default_retry_policy=FallthroughRetryPolicy(), load_balancing_policy=RoundRobinPolicy()
) as (cluster, session):
    session.default_consistency_level = ConsistencyLevel.ONE
    session.default_timeout = 20
    session.row_factory = dict_factory
    print(session.execute("SELECT key FROM system.local").one(), session.default_timeout)
    statement = SimpleStatement("SELECT key FROM system.local", retry_policy=RetryPolicy())
    print(session.execute(statement, timeout=None).one(), session.default_consistency_level)
    print(type(cluster.load_balancing_policy).__name__, type(cluster.default_retry_policy).__name__)
try:
    Cluster([CONTACT_POINT], execution_profiles=PROFILES, load_balancing_policy=RoundRobinPolicy())
except ValueError:
    print("ValueError")
