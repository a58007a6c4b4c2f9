"""Round robin, over all hosts, in a datacenter, in a rack, and from a list."""

import pytest
from unit.policies.hosts import cluster, host

from driver.policies import (
    AllowListRoundRobinPolicy,
    DCAwareRoundRobinPolicy,
    HostDistance,
    RackAwareRoundRobinPolicy,
    RoundRobinPolicy,
)
from driver.policies.load_balancing import dc_aware, round_robin
from driver.topology.endpoint import DefaultEndPoint, UnixSocketEndPoint

A, B, C, D = (host(name) for name in "abcd")
E, F, G = (host(name, "dc2") for name in "efg")


@pytest.fixture(autouse=True)
def _plans_start_at_the_first_host(monkeypatch):
    monkeypatch.setattr(round_robin, "randint", lambda *_: 0)
    monkeypatch.setattr(dc_aware, "randint", lambda *_: 0)


def populated(policy, *hosts, contact_points=()):
    policy.populate(cluster(contact_points), list(hosts))
    return policy


def plan(policy):
    return list(policy.make_query_plan())


# --- over all hosts -------------------------------------------------------------------------------


def test_every_plan_has_every_host_once_and_starts_one_further():
    policy = populated(RoundRobinPolicy(), A, B, C, D)
    first = plan(policy)
    assert sorted(first) == [A, B, C, D]
    assert plan(policy) == [*first[1:], first[0]]
    assert [plan(policy)[0] for _ in range(3)] == [first[2], first[3], first[0]]


def test_plans_start_at_a_random_host(monkeypatch):
    monkeypatch.setattr(round_robin, "randint", lambda low, high: (low, high)[1])
    policy = populated(RoundRobinPolicy(), A, B, C)
    assert plan(policy)[0] == list(policy._live_hosts)[2]


def test_without_hosts_there_is_an_empty_plan():
    assert plan(populated(RoundRobinPolicy())) == []
    assert plan(populated(DCAwareRoundRobinPolicy("dc1"))) == []


def test_hosts_come_and_go():
    policy = populated(RoundRobinPolicy(), A, B)
    policy.on_down(A)
    policy.on_remove(B)
    policy.on_up(C)
    policy.on_add(D)
    policy.on_add(D)
    assert sorted(plan(policy)) == [C, D]


def test_a_plan_that_was_begun_does_not_change():
    policy = populated(RoundRobinPolicy(), A, B)
    begun = policy.make_query_plan()
    first = next(begun)
    policy.on_add(C)
    policy.on_down(A)
    policy.on_down(B)
    assert {first, *begun} == {A, B}


def test_all_hosts_are_local():
    assert RoundRobinPolicy().distance(E) == HostDistance.LOCAL


# --- in a datacenter ------------------------------------------------------------------------------


def test_local_hosts_come_first_and_then_some_of_each_other_datacenter():
    policy = populated(DCAwareRoundRobinPolicy("dc1", 2), A, E, B, F, G)
    assert [plan(policy), plan(policy)] == [[A, B, E, F], [B, A, E, F]]
    assert [policy.distance(h) for h in (A, B, E, F, G)] == [
        *[HostDistance.LOCAL] * 2,
        *[HostDistance.REMOTE] * 2,
        HostDistance.IGNORED,
    ]


def test_other_datacenters_are_ignored_unless_they_are_asked_for():
    policy = populated(DCAwareRoundRobinPolicy("dc1"), A, E)
    assert plan(policy) == [A]
    assert policy.distance(E) == HostDistance.IGNORED


def test_a_host_of_an_unknown_datacenter_is_local():
    stranger = host("s", None)
    policy = populated(DCAwareRoundRobinPolicy("dc1"), stranger)
    assert plan(policy) == [stranger]
    assert policy.distance(stranger) == HostDistance.LOCAL


def test_a_host_whose_datacenter_became_known_moves():
    moving = host("m", None)
    policy = populated(DCAwareRoundRobinPolicy("dc1", 1), A, moving)
    moving.set_location_info("dc2", "r1")
    policy.on_up(moving)
    assert plan(policy) == [A, moving]
    moving.set_location_info("dc3", "r1")
    policy.on_down(moving)
    assert plan(policy) == [A]


def test_the_datacenter_of_a_contact_point_becomes_the_local_one():
    policy = populated(DCAwareRoundRobinPolicy(), contact_points=[DefaultEndPoint("e")])
    policy.on_add(A)
    assert policy.local_dc == ""
    policy.on_up(E)
    policy.on_add(F)
    assert policy.local_dc == "dc2"
    assert plan(policy) == [E, F]


def test_the_datacenter_of_a_contact_point_may_be_known_from_the_start():
    contact_points = [DefaultEndPoint("f"), DefaultEndPoint("b")]
    policy = populated(DCAwareRoundRobinPolicy(), A, E, F, contact_points=contact_points)
    assert policy.local_dc == "dc2"
    assert plan(policy) == [E, F]


def test_the_datacenter_that_was_given_is_kept():
    policy = populated(DCAwareRoundRobinPolicy("dc1"), contact_points=[DefaultEndPoint("e")])
    policy.on_add(E)
    assert policy.local_dc == "dc1"


def test_remote_hosts_are_looked_up_when_the_plan_gets_there():
    policy = populated(DCAwareRoundRobinPolicy("dc1", 2), A, E)
    begun = policy.make_query_plan()
    assert next(begun) == A
    policy.on_down(E)
    policy.on_up(F)
    assert list(begun) == [F]


# --- in a rack ------------------------------------------------------------------------------------


def test_the_rack_comes_before_the_datacenter_and_that_before_others():
    near, near2 = host("n1", rack="r1"), host("n2", rack="r1")
    far, far2 = host("f1", rack="r2"), host("f2", rack="r2")
    policy = populated(RackAwareRoundRobinPolicy("dc1", "r1", 1), far, E, near, far2, near2)
    assert [plan(policy), plan(policy)] == [
        [near, near2, far, far2, E],
        [near2, near, far2, far, E],
    ]
    assert policy.distance(near) == policy.distance(far) == HostDistance.LOCAL


def test_the_rack_of_the_same_name_elsewhere_is_another_one():
    policy = populated(RackAwareRoundRobinPolicy("dc1", "r1"), A, E)
    assert [policy.in_local_rack(A), policy.in_local_rack(E)] == [True, False]
    assert not policy.in_local_rack(host("x", "dc1", "r2"))


@pytest.mark.parametrize("where", [("", "r1"), ("dc1", "")])
def test_datacenter_and_rack_must_be_given(where):
    with pytest.raises(ValueError, match="must be specified"):
        RackAwareRoundRobinPolicy(*where)


# --- from a list ----------------------------------------------------------------------------------


def test_only_the_hosts_of_the_list_are_used():
    allowed, other = host("127.0.0.1"), host("127.0.0.2")
    policy = populated(AllowListRoundRobinPolicy(["127.0.0.1"]), allowed, other)
    policy.on_up(other)
    policy.on_add(other)
    assert plan(policy) == [allowed]
    assert policy.distance(allowed) == HostDistance.LOCAL
    assert policy.distance(other) == HostDistance.IGNORED
    policy.on_down(allowed)
    assert plan(policy) == []
    policy.on_up(allowed)
    assert plan(policy) == [allowed]


def test_names_of_the_list_are_resolved():
    local = host("127.0.0.1")
    assert plan(populated(AllowListRoundRobinPolicy(["localhost"]), local)) == [local]


def test_a_socket_file_can_be_on_the_list():
    endpoint = UnixSocketEndPoint("/run/cql.sock")
    there = host(endpoint)
    assert plan(populated(AllowListRoundRobinPolicy([endpoint]), there)) == [there]
