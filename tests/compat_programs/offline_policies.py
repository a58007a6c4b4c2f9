"""Policies: plans over hosts, decisions, schedules, without a server."""
# ruff: noqa: T201  (a program prints)

from itertools import islice
from unittest.mock import Mock

from cassandra import ConsistencyLevel, OperationTimedOut, WriteType
from cassandra.policies import (
    ConstantReconnectionPolicy,
    ConstantSpeculativeExecutionPolicy,
    DCAwareRoundRobinPolicy,
    DefaultLoadBalancingPolicy,
    DowngradingConsistencyRetryPolicy,
    ExponentialReconnectionPolicy,
    FallthroughRetryPolicy,
    HostDistance,
    HostFilterPolicy,
    IdentityTranslator,
    NeverRetryPolicy,
    NoSpeculativeExecutionPolicy,
    RetryPolicy,
    RoundRobinPolicy,
    SimpleConvictionPolicy,
    TokenAwarePolicy,
    WhiteListRoundRobinPolicy,
)
from cassandra.pool import Host
from cassandra.query import SimpleStatement


def host(number, dc, rack="r1"):
    """A host that is up."""
    made = Host(f"127.0.0.{number}", SimpleConvictionPolicy)
    made.set_location_info(dc, rack)
    made.set_up()
    return made


HOSTS = [host(1, "dc1"), host(2, "dc1"), host(3, "dc1"), host(4, "dc2"), host(5, "dc2")]


def plan(policy, *args):
    """Addresses of a plan, sorted: where a plan starts is random."""
    return sorted(h.address for h in policy.make_query_plan(*args))


def cluster(replicas=()):
    """What policies ask of a cluster."""
    made = Mock()
    made.metadata.get_replicas.return_value = list(replicas)
    made.metadata.get_host.return_value = None
    made.metadata.all_hosts.return_value = HOSTS
    made.metadata.tablets.get_tablet_for_key.return_value = None
    made.endpoints_resolved = [h.endpoint for h in HOSTS[:1]]
    return made


for policy in (
    RoundRobinPolicy(),
    DCAwareRoundRobinPolicy("dc1"),
    DCAwareRoundRobinPolicy("dc1", used_hosts_per_remote_dc=1),
    WhiteListRoundRobinPolicy(["127.0.0.1", "127.0.0.4"]),
    HostFilterPolicy(RoundRobinPolicy(), lambda h: h.datacenter == "dc2"),
    TokenAwarePolicy(DCAwareRoundRobinPolicy("dc1")),
    DefaultLoadBalancingPolicy(RoundRobinPolicy()),
):
    policy.populate(cluster(), HOSTS)
    print(type(policy).__name__, len(plan(policy)), [policy.distance(h) for h in HOSTS[:1]])
    down = HOSTS[1]
    policy.on_down(down)
    print("   down:", down.address in plan(policy))
    policy.on_up(down)
    print("   up:", plan(policy)[:3])

aware = TokenAwarePolicy(RoundRobinPolicy(), shuffle_replicas=False)
aware.populate(cluster([HOSTS[2], HOSTS[0]]), HOSTS)
statement = SimpleStatement("SELECT", routing_key=b"key", keyspace="ks")
print([h.address for h in islice(aware.make_query_plan("ks", statement), 2)])
print(HostDistance.LOCAL, HostDistance.REMOTE, HostDistance.IGNORED)


def shown(decision):
    """What to do, and at which level: levels are plain numbers here, whatever prints there."""
    what, level, *_ = decision
    return int(what), None if level is None else int(level)


query = SimpleStatement("INSERT", is_idempotent=True)
for policy in (
    RetryPolicy(),
    FallthroughRetryPolicy(),
    NeverRetryPolicy(),
    DowngradingConsistencyRetryPolicy(),
):
    print(type(policy).__name__)
    for data, received in ((False, 2), (True, 2), (False, 1)):
        print(
            "  read",
            shown(policy.on_read_timeout(query, ConsistencyLevel.QUORUM, 2, received, data, 0)),
        )
    for kind in (WriteType.SIMPLE, WriteType.BATCH_LOG, WriteType.UNLOGGED_BATCH):
        print(
            "  write", shown(policy.on_write_timeout(query, ConsistencyLevel.QUORUM, kind, 2, 1, 0))
        )
    for retry in (0, 1):
        print(
            "  unavailable",
            shown(policy.on_unavailable(query, ConsistencyLevel.QUORUM, 3, 2, retry)),
        )
    print(
        "  error",
        shown(policy.on_request_error(query, ConsistencyLevel.ONE, OperationTimedOut(), 0)),
    )
print(RetryPolicy.RETRY, RetryPolicy.RETHROW, RetryPolicy.IGNORE, RetryPolicy.RETRY_NEXT_HOST)

print(list(ConstantReconnectionPolicy(0.5, 3).new_schedule()))
delays = list(islice(ExponentialReconnectionPolicy(1.0, 8.0).new_schedule(), 6))
print(all(0.8 * 2**n <= d or d >= 6.8 for n, d in enumerate(delays)), max(delays) <= 9.2)
for arguments in ((-1, 5), (2.0, 1.0)):
    try:
        ExponentialReconnectionPolicy(*arguments)
    except ValueError as error:
        print("ValueError", bool(str(error)))
speculative = ConstantSpeculativeExecutionPolicy(0.1, 2).new_plan("ks", query)
print([speculative.next_execution(None) for _ in range(3)])
print(NoSpeculativeExecutionPolicy().new_plan("ks", query).next_execution(None))
print(IdentityTranslator().translate("10.0.0.1"))
conviction = SimpleConvictionPolicy(HOSTS[0])
print(conviction.add_failure(OSError()), conviction.reset())
