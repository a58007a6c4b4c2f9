"""Pull request 651: which hosts a request is sent to, in which order.

The cluster is that of the pull request's own figures: 5 data centers of 3 racks of 3 hosts. Every
request has another routing key, so that no cache of replicas holds it.
"""

import struct
import uuid
from itertools import cycle
from types import SimpleNamespace

from cassandra import policies
from cassandra.connection import DefaultEndPoint
from cassandra.metadata import Murmur3Token
from cassandra.pool import Host
from cassandra.tablets import Tablets

from .proving import proved

MODULES = ("policies", "metadata", "tablets", "cmurmur3")
KEYS = 8192
HOSTS = [
    Host(DefaultEndPoint(f"127.0.{number // 3}.{number % 3 + 1}"), policies.SimpleConvictionPolicy,
         host_id=uuid.UUID(int=number + 1), datacenter=f"dc{number // 9}",
         rack=f"rack{number // 3 % 3}")
    for number in range(45)
]  # fmt: skip
for _host in HOSTS:
    _host.set_up()


class Replicas:
    """Three hosts for each token, and the same map for each keyspace."""

    token_class = Murmur3Token

    def __init__(self):
        """One keyspace."""
        self.tokens_to_hosts_by_ks = {"app": {}}

    def get_replicas(self, keyspace, token):
        """By the token alone."""
        first = token.value % len(HOSTS)
        return [HOSTS[(first + more) % len(HOSTS)] for more in range(3)]


class Metadata:
    """What policies ask a cluster's metadata for."""

    def __init__(self):
        """No tablets."""
        self.token_map, self._tablets = Replicas(), Tablets({})

    def can_support_partitioner(self):
        """Tokens are known."""
        return True

    def get_replicas(self, keyspace, key):
        """By a routing key."""
        return self.token_map.get_replicas(keyspace, Murmur3Token.from_key(key))

    def get_host(self, endpoint_or_address, port=None):
        """No statement names one."""


class Statement:
    """A request of a table."""

    keyspace, table = "app", "words"

    def __init__(self, number):
        """With a key of its own."""
        self.routing_key = struct.pack(">I", number)

    def is_lwt(self):
        """No."""
        return False


STATEMENTS = [Statement(number) for number in range(KEYS)]


def by_data_center():
    """Hosts of one data center, then one of each other."""
    return policies.DCAwareRoundRobinPolicy(local_dc="dc0", used_hosts_per_remote_dc=1)


def by_rack():
    """The same, the hosts of one rack first."""
    return policies.RackAwareRoundRobinPolicy("dc0", "rack0", used_hosts_per_remote_dc=1)


def planning(make):
    """A call that plans the next of many requests, with the first host always the same.

    Returns:
        It, and what to do to begin with the first request again.
    """
    policy = make()
    policy.populate(SimpleNamespace(metadata=Metadata()), HOSTS)
    inner = getattr(policy, "_child_policy", policy)
    state = SimpleNamespace()

    def again():
        inner._position = 0
        state.requests = cycle(STATEMENTS)

    def plan():
        return list(policy.make_query_plan("app", next(state.requests)))

    again()
    return plan, again


def tier(host):
    """How near a host is."""
    return ("rack" if host.rack == "rack0" else "data center") if host.datacenter == "dc0" else ""


def told(again):
    """Of a hundred plans, who is in them and in which order of nearness.

    Among hosts that are equally near a policy begins anywhere.
    """

    def answer(of):
        again()
        plans = [of() for _ in range(100)]
        again()
        return [([tier(host) for host in plan], sorted(host.address for host in plan))
                for plan in plans]  # fmt: skip

    return answer


def case(make, name, about, *reaches):
    """A benchmark of a policy."""
    plan, again = planning(make)

    def time_plan(plan=plan):
        return plan()

    time_plan.__name__, time_plan.__doc__ = f"time_{name}", about
    return proved(reaches, MODULES, answer=lambda _: told(again)(plan))(time_plan)


time_data_center = case(
    by_data_center, "data_center", "Hosts by data center.",
    "policies:DCAwareRoundRobinPolicy.make_query_plan",
)  # fmt: skip
time_rack = case(
    by_rack, "rack", "Hosts by rack.", "policies:RackAwareRoundRobinPolicy.make_query_plan"
)
time_token_data_center = case(
    lambda: policies.TokenAwarePolicy(by_data_center(), shuffle_replicas=False),
    "token_data_center", "Replicas first, then by data center.",
    "policies:TokenAwarePolicy.make_query_plan",
)  # fmt: skip
time_token_rack = case(
    lambda: policies.TokenAwarePolicy(by_rack(), shuffle_replicas=False),
    "token_rack", "Replicas first, then by rack.", "policies:TokenAwarePolicy.make_query_plan",
)  # fmt: skip
time_default = case(
    lambda: policies.DefaultLoadBalancingPolicy(by_data_center()), "default",
    "What a cluster has unless it is told.",
    "policies:DefaultLoadBalancingPolicy.make_query_plan",
)  # fmt: skip
time_filter = case(
    lambda: policies.HostFilterPolicy(by_data_center(), lambda host: host.rack != "rack2"),
    "filter", "Some hosts left out.", "policies:HostFilterPolicy.make_query_plan",
)  # fmt: skip
