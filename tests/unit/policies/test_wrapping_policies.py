"""Policies over other policies: token aware, host filter, a wanted host."""

import random
import struct
from collections import Counter
from itertools import islice
from types import SimpleNamespace

import pytest
from unit.policies.hosts import cluster, host

from driver.policies import (
    DCAwareRoundRobinPolicy,
    DefaultLoadBalancingPolicy,
    HostDistance,
    HostFilterPolicy,
    LoadBalancingPolicy,
    RackAwareRoundRobinPolicy,
    TokenAwarePolicy,
    WrapperPolicy,
)
from driver.policies.load_balancing import dc_aware, token_aware
from driver.protocol.columns import ColumnMetadata
from driver.protocol.consistency import ConsistencyLevel
from driver.statements import BatchStatement, PreparedStatement, SimpleStatement
from driver.types import Int32Type

A, B, C, D = (host(name) for name in "abcd")
REMOTE = host("r", "dc2")
KEY = struct.pack(">i", 7)


@pytest.fixture(autouse=True)
def _no_randomness(monkeypatch):
    monkeypatch.setattr(dc_aware, "randint", lambda *_: 0)
    monkeypatch.setattr(token_aware, "shuffle", list.reverse)


def statement(**options):
    return SimpleStatement("SELECT", routing_key=KEY, keyspace="ks", **options)


def token_aware_policy(child, replicas, hosts=(A, B, C, D, REMOTE), leaders=None, **options):
    policy = TokenAwarePolicy(child, **options)
    known = cluster(replicas=replicas, leaders=leaders)
    policy.populate(known, list(hosts))
    return policy, known


def local(used_hosts_per_remote_dc=0):
    return DCAwareRoundRobinPolicy("dc1", used_hosts_per_remote_dc)


# --- token aware ----------------------------------------------------------------------------------


def test_replicas_come_first_and_every_host_once():
    policy, _ = token_aware_policy(local(), [C, B], shuffle_replicas=False)
    assert list(policy.make_query_plan(None, statement())) == [C, B, A, D]


def test_replicas_are_shuffled_by_default():
    policy, _ = token_aware_policy(local(), [C, B])
    assert list(policy.make_query_plan(None, statement())) == [B, C, A, D]


def test_each_order_of_three_replicas_is_about_as_frequent_as_the_others(monkeypatch):
    monkeypatch.undo()  # the order that this module's tests have in place of chance
    random.seed(20)
    policy, _ = token_aware_policy(local(), [A, B, C])
    plans = Counter(
        tuple(islice(policy.make_query_plan(None, statement()), 3)) for _ in range(6000)
    )
    assert len(plans) == 6
    assert all(900 < count < 1100 for count in plans.values())


def test_the_statement_s_keyspace_goes_before_the_session_s():
    policy, known = token_aware_policy(local(), [C])
    list(policy.make_query_plan("session", statement()))
    list(policy.make_query_plan("session", SimpleStatement("q", routing_key=KEY)))
    list(policy.make_query_plan("session", statement(table="t")))
    assert known.asked == [("ks", KEY), ("session", KEY), ("ks", KEY, "t")]


@pytest.mark.parametrize(
    ("leader", "remote_hosts", "plan"),
    [
        (B, 0, [B, C, A, D]),
        (REMOTE, 1, [REMOTE, C, B, A, D]),  # nearer ones would hand the request on to it
        (REMOTE, 0, [C, B, A, D]),  # the child ignores it
        (host("x", is_up=False), 0, [C, B, A, D]),
        (None, 0, [C, B, A, D]),  # not known
    ],
)
def test_the_leader_of_a_tablet_is_asked_first(leader, remote_hosts, plan):
    policy, _ = token_aware_policy(
        local(remote_hosts), [C, B], leaders={"ks": leader}, shuffle_replicas=False
    )
    assert list(policy.make_query_plan(None, statement(table="t"))) == plan


@pytest.mark.parametrize(
    "query",
    [
        statement(table="t", consistency_level=ConsistencyLevel.ONE),
        statement(table="t", consistency_level=ConsistencyLevel.LOCAL_ONE),
        statement(),
        SimpleStatement("q", routing_key=KEY, keyspace="other", table="t"),
        SimpleStatement("q", keyspace="ks", table="t"),
    ],
    ids=["ONE", "LOCAL_ONE", "no table", "another keyspace", "no routing key"],
)
def test_what_needs_no_leader_does_not_ask_it_first(query):
    policy, _ = token_aware_policy(local(), [A], leaders={"ks": B}, shuffle_replicas=False)
    assert next(policy.make_query_plan(None, query)) is A


@pytest.mark.parametrize(
    "query",
    [None, SimpleStatement("q", keyspace="ks"), SimpleStatement("q", routing_key=KEY)],
    ids=["no statement", "no routing key", "no keyspace"],
)
def test_what_has_no_partition_goes_as_the_child_says(query):
    policy, known = token_aware_policy(local(), [C])
    assert list(policy.make_query_plan(None, query)) == [A, B, C, D]
    assert known.asked == []


def test_remote_replicas_are_left_to_the_child():
    policy, _ = token_aware_policy(local(1), [REMOTE, C], shuffle_replicas=False)
    assert list(policy.make_query_plan(None, statement())) == [C, A, B, D, REMOTE]
    policy, _ = token_aware_policy(local(0), [REMOTE, C], shuffle_replicas=False)
    assert list(policy.make_query_plan(None, statement())) == [C, A, B, D]


@pytest.mark.parametrize("is_up", [False, None])
def test_a_replica_that_is_not_known_to_be_up_keeps_its_place_in_the_child_s_plan(is_up):
    doubtful = host("e", is_up=is_up)
    hosts = [A, doubtful, B]
    policy, _ = token_aware_policy(local(), [doubtful, B], hosts, shuffle_replicas=False)
    assert list(policy.make_query_plan(None, statement())) == [B, A, doubtful]


def test_a_replica_that_goes_down_in_between_is_not_asked_first():
    last = host("e")
    policy, _ = token_aware_policy(local(), [A, last], [A, B], shuffle_replicas=False)
    plan = policy.make_query_plan(None, statement())
    assert next(plan) == A
    last.set_down()
    assert list(plan) == [B]


def test_replicas_of_the_local_rack_come_first():
    near, far, far2 = host("n"), host("f", rack="r2"), host("g", rack="r3")
    child = RackAwareRoundRobinPolicy("dc1", "r1")
    hosts = [far, far2, near, A]
    policy, _ = token_aware_policy(child, [far, far2, near], hosts, shuffle_replicas=False)
    assert list(policy.make_query_plan(None, statement())) == [near, far, far2, A]


def test_racks_count_through_policies_in_between():
    near, far = host("n"), host("f", rack="r2")
    child = HostFilterPolicy(RackAwareRoundRobinPolicy("dc1", "r1"), lambda _: True)
    policy, _ = token_aware_policy(child, [far, near], [far, near], shuffle_replicas=False)
    assert list(policy.make_query_plan(None, statement())) == [near, far]


class Reverses(TokenAwarePolicy):
    """Knows racks where its child knows none."""

    def in_local_rack(self, host):
        return host is not A


@pytest.mark.parametrize("between", [lambda p: p, lambda p: HostFilterPolicy(p, lambda _: True)])
def test_nobody_is_asked_for_racks_that_nobody_knows(between, monkeypatch):
    policy, _ = token_aware_policy(between(local()), [C, B], shuffle_replicas=False)
    monkeypatch.setattr(TokenAwarePolicy, "_is_in_another_rack", None)  # calling it would raise
    assert list(policy.make_query_plan(None, statement())) == [C, B, A, D]


def test_a_subclass_that_knows_racks_is_asked():
    policy = Reverses(local(), shuffle_replicas=False)
    policy.populate(cluster(replicas=[A, B]), [A, B])
    assert list(policy.make_query_plan(None, statement())) == [B, A]


def test_one_replica_is_neither_shuffled_nor_ranked(monkeypatch):
    monkeypatch.setattr(token_aware, "shuffle", None)  # calling it would raise
    policy, _ = token_aware_policy(RackAwareRoundRobinPolicy("dc1", "r1"), [C])
    assert list(policy.make_query_plan(None, statement())) == [C, A, B, D]


def test_shuffling_leaves_the_replicas_of_the_cluster_in_their_order():
    policy, known = token_aware_policy(local(), [C, B])
    replicas = [C, B]
    known.metadata.get_replicas = lambda *_: replicas
    assert list(policy.make_query_plan(None, statement())) == [B, C, A, D]
    assert replicas == [C, B]


def test_hosts_are_compared_only_by_a_plan_that_goes_past_the_replicas(monkeypatch):
    policy, _ = token_aware_policy(local(), [C, B], shuffle_replicas=False)
    hashed = []
    hash_of = type(A).__hash__
    monkeypatch.setattr(type(A), "__hash__", lambda host: hashed.append(host) or hash_of(host))
    plan = policy.make_query_plan(None, statement())
    assert [next(plan), next(plan)] == [C, B]
    assert hashed == []
    assert list(plan) == [A, D]
    assert hashed != []


def prepared(is_lwt):
    marker = ColumnMetadata("ks", "t", "k", Int32Type)
    return PreparedStatement([marker], b"id", [0], "q", None, 4, None, None, is_lwt)


def test_lightweight_transactions_keep_the_order_of_replicas():
    far, near = host("f", rack="r2"), host("n")
    child = RackAwareRoundRobinPolicy("dc1", "r1")
    policy, _ = token_aware_policy(child, [far, near], [near, far])
    batch = BatchStatement().add(prepared(is_lwt=True), (7,))
    for query in (prepared(is_lwt=True).bind((7,)), batch):
        assert list(policy.make_query_plan(None, query)) == [far, near]
    assert list(policy.make_query_plan(None, prepared(is_lwt=False).bind((7,)))) == [near, far]


def test_a_batch_forgets_that_it_was_a_lightweight_transaction():
    batch = BatchStatement().add(prepared(is_lwt=False), (7,))
    assert not batch.is_lwt()
    batch.add(prepared(is_lwt=True), (7,)).add(prepared(is_lwt=False), (7,))
    assert batch.is_lwt()
    batch.clear()
    assert not batch.is_lwt()


def test_an_unknown_partitioner_is_refused():
    policy, known = token_aware_policy(local(), [])
    policy.check_supported()
    known.metadata.can_support_partitioner = lambda: False
    with pytest.raises(RuntimeError, match="Murmur3Partitioner"):
        policy.check_supported()


# --- a child of somebody's own --------------------------------------------------------------------


class Recorder:
    """A policy that knows nothing of ours, and notes what it is told."""

    def __init__(self):
        self.told = []

    def __getattr__(self, name):
        if name == "in_local_rack":
            raise AttributeError(name)
        return lambda *args, **kwargs: self.told.append((name, *args, *kwargs.values()))

    def distance(self, host):  # noqa: ARG002  (all alike)
        return HostDistance.LOCAL

    def make_query_plan(self, working_keyspace=None, query=None):
        self.told.append(("make_query_plan", working_keyspace, query))
        return iter([A, B])


@pytest.mark.parametrize(
    "wrap",
    [
        WrapperPolicy,
        TokenAwarePolicy,
        DefaultLoadBalancingPolicy,
        lambda child: HostFilterPolicy(child, lambda _: True),
    ],
    ids=["wrapper", "token aware", "default", "filter"],
)
def test_a_wrapped_policy_hears_everything(wrap):
    child = Recorder()
    policy = wrap(child)
    known = cluster()
    policy.populate(known, [A])
    events = ["on_add", "on_up", "on_down", "on_remove"]
    for event in events:
        getattr(policy, event)(A)
    policy.check_supported()
    query = statement()
    assert list(policy.make_query_plan("session", query))[:1] == [A]
    assert policy.distance(A) == HostDistance.LOCAL
    assert not policy.in_local_rack(A)
    assert child.told[0] == ("populate", known, [A])
    assert child.told[1:-1] == [*((event, A) for event in events), ("check_supported",)]
    keyspace = "ks" if isinstance(policy, TokenAwarePolicy | DefaultLoadBalancingPolicy) else None
    assert child.told[-1] == ("make_query_plan", keyspace or "session", query)


def test_token_awareness_works_over_a_child_of_somebody_s_own():
    policy, _ = token_aware_policy(Recorder(), [B])
    assert list(policy.make_query_plan(None, statement())) == [B, A]


# --- filter, wanted host --------------------------------------------------------------------------


def test_refused_hosts_are_in_no_plan_and_ignored():
    policy = HostFilterPolicy(local(), lambda host: host.address != "b")
    policy.populate(cluster(), [A, B, C])
    assert list(policy.make_query_plan()) == [A, C]
    assert policy.distance(A) == HostDistance.LOCAL
    assert policy.distance(B) == HostDistance.IGNORED
    assert policy.distance(REMOTE) == HostDistance.IGNORED


def test_the_predicate_of_a_filter_cannot_be_replaced():
    with pytest.raises(AttributeError):
        HostFilterPolicy(local(), bool).predicate = bool


def wanted(address, is_up=True):
    policy = DefaultLoadBalancingPolicy(local())
    known = [host("c", is_up=is_up)]
    policy.populate(cluster(known=known), [A, B, C])
    return list(policy.make_query_plan(None, SimpleNamespace(keyspace=None, target_host=address)))


def test_the_host_that_a_statement_wants_comes_first():
    assert wanted("c") == [C, A, B]


def test_a_wanted_host_that_is_down_or_unknown_is_not_asked_for():
    assert wanted("c", is_up=False) == [A, B, C]
    assert wanted("elsewhere") == [A, B, C]
    assert wanted(None) == [A, B, C]


@pytest.mark.parametrize("method", ["on_up", "on_down", "on_add", "on_remove", "distance"])
def test_a_policy_must_say_what_it_makes_of_hosts(method):
    with pytest.raises(NotImplementedError):
        getattr(LoadBalancingPolicy(), method)(A)
    with pytest.raises(NotImplementedError):
        LoadBalancingPolicy().make_query_plan()
    with pytest.raises(NotImplementedError):
        LoadBalancingPolicy().populate(None, [])
