"""Policies decide as cassandra-driver's do, given the same hosts, failures and random choices."""

import re
import warnings
from itertools import islice
from types import SimpleNamespace
from unittest import mock

import pytest
from cassandra import WriteType as PeerWriteType
from cassandra import policies as peer
from cassandra import timestamps as peer_timestamps
from hypothesis import assume, given
from hypothesis import strategies as st

from driver import policies as ours
from driver.policies import reconnection, timestamps
from driver.policies.load_balancing import dc_aware, round_robin, token_aware
from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.errors import OperationTimedOut
from driver.protocol.kinds import WriteType


class Node:
    """A host that both drivers can take."""

    def __init__(self, number, datacenter):
        self.address = f"10.0.0.{number}"
        self.endpoint = self.address
        self.datacenter = datacenter
        self.rack = "r1"
        self.is_up = True

    def __repr__(self):
        return f"{self.address}@{self.datacenter}"


NODES = [Node(number, dc) for number, dc in enumerate(["dc1", "dc2", "dc1", "dc3", "dc2", None])]
SIDES = (ours, peer)
nodes = st.sampled_from(NODES)
events = st.tuples(st.sampled_from(["on_up", "on_down", "on_add", "on_remove"]), nodes)
#: A plan is begun, taken from, events happen, and it goes on.
steps = st.lists(
    st.one_of(events, st.tuples(st.just("plan"), st.integers(0, 6), st.lists(events, max_size=3))),
    max_size=12,
)


def cluster(replicas=()):
    metadata = SimpleNamespace(
        get_replicas=lambda *_: list(replicas), can_support_partitioner=lambda: True
    )
    return SimpleNamespace(endpoints_resolved=[NODES[1].endpoint], metadata=metadata)


def walked(policy, history, query=None):
    """What the plans gave, and the distances afterwards."""
    seen = []
    for what, *arguments in history:
        if what != "plan":
            getattr(policy, what)(*arguments)
            continue
        taken, meanwhile = arguments
        plan = policy.make_query_plan("ks", query)
        begun = list(islice(plan, taken))
        for event, node in meanwhile:
            getattr(policy, event)(node)
        seen.append([*begun, *plan])
    return [*seen, [policy.distance(node) for node in NODES]]


def hosts_in(history):
    """The hosts that events are about."""
    parts = [part for what, *rest in history for part in (rest[1] if what == "plan" else [rest])]
    return [part[-1] for part in parts]


@given(history=steps, local_dc=st.sampled_from(["", "dc1", "dc2"]), remote=st.integers(0, 2))
def test_plans_of_a_datacenter_are_the_peer_s(history, local_dc, remote):
    # A host that nobody can place before the local datacenter is known is a difference of its own.
    assume(local_dc or NODES[5] not in hosts_in(history))
    seen = []
    for side in SIDES:
        policy = side.DCAwareRoundRobinPolicy(local_dc, remote)
        policy.populate(cluster(), [])
        seen.append(walked(policy, history))
    assert seen[0] == seen[1]


@given(
    history=steps, populated=st.lists(nodes, unique=True, max_size=6), position=st.integers(0, 5)
)
def test_plans_over_all_hosts_are_the_peer_s(history, populated, position):
    seen = []
    for side, module in ((ours, round_robin), (peer, peer)):
        with mock.patch.object(module, "randint", return_value=position):
            policy = side.RoundRobinPolicy()
            policy.populate(cluster(), populated)
        plan = list(policy.make_query_plan())
        # The order of a set is nobody's promise: where plans start is, and who is in them.
        starts = [next(policy.make_query_plan()) for _ in plan]
        assert starts == [*plan[1:], *plan[:1]]
        seen.append([set(part) for part in walked(policy, history)])
    assert seen[0] == seen[1]


@given(
    populated=st.lists(nodes, unique=True, max_size=6),
    replicas=st.lists(nodes, unique=True, max_size=4),
    remote=st.integers(0, 2),
    is_shuffled=st.booleans(),
    has_key=st.booleans(),
)
def test_plans_of_a_partition_are_the_peer_s(populated, replicas, remote, is_shuffled, has_key):
    query = SimpleNamespace(keyspace="ks", routing_key=b"key" if has_key else None, table=None)
    seen = []
    for side, module in ((ours, token_aware), (peer, peer)):
        child = side.DCAwareRoundRobinPolicy("dc1", remote)
        policy = side.TokenAwarePolicy(child, shuffle_replicas=is_shuffled)
        # Replicas that the child was never told of are a difference of its own.
        policy.populate(cluster([node for node in replicas if node in populated]), [])
        with mock.patch.object(module, "shuffle", list.reverse):
            seen.append(
                walked(policy, [*(("on_add", n) for n in populated), ("plan", 9, [])], query)
            )
    assert seen[0] == seen[1]


@given(history=steps, refused=st.sets(nodes))
def test_filtered_plans_are_the_peer_s(history, refused):
    seen = []
    for side in SIDES:
        child = side.DCAwareRoundRobinPolicy("dc1", 1)
        policy = side.HostFilterPolicy(child, lambda node: node not in refused)
        policy.populate(cluster(), [])
        seen.append(walked(policy, history))
    assert seen[0] == seen[1]


@given(history=steps, allowed=st.sets(nodes))
def test_plans_from_a_list_are_the_peer_s(history, allowed):
    seen = []
    for side in SIDES:
        policy = side.WhiteListRoundRobinPolicy([node.address for node in allowed])
        policy.populate(cluster(), [])
        seen.append([set(part) for part in walked(policy, history)])
    assert seen[0] == seen[1]


@pytest.mark.parametrize("module", [dc_aware, peer], ids=["ours", "peer"])
def test_both_start_in_a_datacenter_at_the_random_host(module):
    with mock.patch.object(module, "randint", return_value=1):
        policy = module.DCAwareRoundRobinPolicy("dc1")
        policy.populate(cluster(), [NODES[0], NODES[2]])
    hosts = policy._dc_live_hosts["dc1"]
    assert list(policy.make_query_plan()) == [hosts[1], hosts[0]]


# --- decisions ------------------------------------------------------------------------------------

CONSISTENCY = st.none() | st.sampled_from([level.value for level in ConsistencyLevel])
COUNT = st.integers(0, 5)
RETRIES = st.integers(0, 3)
FAILURES = {
    "on_read_timeout": (CONSISTENCY, COUNT, COUNT, st.booleans(), RETRIES),
    "on_write_timeout": (
        CONSISTENCY,
        st.sampled_from([kind.value for kind in WriteType]),
        COUNT,
        COUNT,
        RETRIES,
    ),
    "on_unavailable": (CONSISTENCY, COUNT, COUNT, RETRIES),
    "on_request_error": (CONSISTENCY, st.just(OSError()), RETRIES),
}


@pytest.mark.parametrize(
    "name",
    [
        "RetryPolicy",
        "FallthroughRetryPolicy",
        "DowngradingConsistencyRetryPolicy",
        "NeverRetryPolicy",
    ],
)
@pytest.mark.parametrize("failure", FAILURES)
@given(data=st.data())
def test_retry_decisions_are_the_peer_s(name, failure, data):
    arguments = [data.draw(strategy) for strategy in FAILURES[failure]]
    with warnings.catch_warnings():
        # The peer wants to be rid of the downgrading policy.
        warnings.simplefilter("ignore", DeprecationWarning)
        mine, expected = (
            getattr(getattr(side, name)(), failure)(None, *arguments) for side in SIDES
        )
    assert mine == expected


def test_decisions_and_write_types_have_the_peer_s_numbers():
    for name in ("RETRY", "RETHROW", "IGNORE", "RETRY_NEXT_HOST"):
        assert getattr(ours.RetryPolicy, name) == getattr(peer.RetryPolicy, name)
    for name in ("IGNORED", "LOCAL", "REMOTE"):
        assert getattr(ours.HostDistance, name) == getattr(peer.HostDistance, name)
    for kind in WriteType:
        assert kind == PeerWriteType.name_to_value[kind.name]


DELAYS = st.floats(0, 1e6) | st.just(1e300)
ATTEMPTS = st.none() | st.integers(-1, 80)


def schedule(make, *arguments):
    """The first attempts, or the error of the arguments."""
    try:
        return list(islice(make(*arguments).new_schedule(), 100))
    except ValueError as error:
        return str(error)


@given(delay=DELAYS | st.just(-1.0), attempts=ATTEMPTS)
def test_constant_schedules_are_the_peer_s(delay, attempts):
    mine, expected = (schedule(side.ConstantReconnectionPolicy, delay, attempts) for side in SIDES)
    assert mine == expected


@given(base=DELAYS | st.just(-1.0), limit=DELAYS, attempts=ATTEMPTS, percent=st.integers(85, 115))
def test_exponential_schedules_are_the_peer_s(base, limit, attempts, percent):
    seen = []
    for side, module in ((ours, reconnection), (peer, peer)):
        with mock.patch.object(module, "randint", return_value=percent):
            seen.append(schedule(side.ExponentialReconnectionPolicy, base, limit, attempts))
    assert seen[0] == (seen[1] if isinstance(seen[1], str) else pytest.approx(seen[1]))


@given(delay=st.floats(0, 10), attempts=st.integers(0, 5), asked=st.integers(0, 8))
def test_speculative_executions_are_the_peer_s(delay, attempts, asked):
    plans = [
        side.ConstantSpeculativeExecutionPolicy(delay, attempts).new_plan("ks", None)
        for side in SIDES
    ]
    mine, expected = ([plan.next_execution(None) for _ in range(asked)] for plan in plans)
    assert mine == expected


@pytest.mark.parametrize("error", [OSError(), ValueError()])
def test_convictions_are_the_peer_s(error):
    mine, expected = (side.SimpleConvictionPolicy(None).add_failure(error) for side in SIDES)
    assert mine == expected
    assert not ours.SimpleConvictionPolicy(None).add_failure(OperationTimedOut())


@given(
    ticks=st.lists(st.integers(0, 60 * 10**6), max_size=20),
    warn=st.booleans(),
    threshold=st.integers(0, 5),
    interval=st.integers(0, 5),
)
def test_timestamps_and_their_warnings_are_the_peer_s(ticks, warn, threshold, interval):
    seen = []
    for module in (timestamps, peer_timestamps):
        with mock.patch.object(module, "log") as log, mock.patch.object(module, "time") as clock:
            generator = module.MonotonicTimestampGenerator(warn, threshold, interval)
            given = []
            for tick in ticks:
                clock.time.return_value = tick / 10**6
                given.append(generator())
            said = [str(call.args[0]) for call in log.warning.call_args_list]
            # In words of their own, but of the same numbers in the same order.
            seen.append((given, [(text[:20], re.findall(r"\d+", text)) for text in said]))
    assert seen[0] == seen[1]


def test_ec2_addresses_are_translated_as_by_the_peer():
    mine, expected = (side.EC2MultiRegionTranslator().translate("127.0.0.1") for side in SIDES)
    assert mine == expected
