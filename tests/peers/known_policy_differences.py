"""Where policies and authenticators differ from cassandra-driver 3.30.1 on purpose: executed rows.

The columns are those of known_differences.py; ``run`` takes the one or the other side of SIDES.
"""

import inspect
from types import SimpleNamespace

from cassandra import auth as peer_auth
from cassandra import policies as peer_policies
from peers.known_differences import Difference

from driver import auth, policies
from driver.protocol.errors import AuthenticationFailed

SIDES = (
    SimpleNamespace(policies=policies, auth=auth),
    SimpleNamespace(policies=peer_policies, auth=peer_auth),
)


def node(address, datacenter="dc1", is_up=True):
    return SimpleHost(address=address, endpoint=address, datacenter=datacenter, is_up=is_up)


class SimpleHost(SimpleNamespace):
    """A host that can be in a set."""

    def __hash__(self):
        return hash(self.address)


def hosts_of_datacenters_in_turn(side):
    policy = side.policies.DCAwareRoundRobinPolicy("dc1")
    policy.populate(None, [node("a"), node("b", "dc2"), node("c")])
    return sorted(host.address for host in policy.make_query_plan())


def contact_point_of_a_known_datacenter(side):
    policy = side.policies.DCAwareRoundRobinPolicy()
    policy.populate(SimpleNamespace(endpoints_resolved=["a"]), [node("a")])
    return [host.address for host in policy.make_query_plan()]


def host_that_moved(side):
    policy = side.policies.DCAwareRoundRobinPolicy("dc1", 1)
    moving = node("a", "dc2")
    policy.populate(None, [moving])
    moving.datacenter = "dc3"
    policy.on_down(moving)
    return [host.address for host in policy.make_query_plan()]


def host_found_before_the_local_datacenter(side):
    policy = side.policies.DCAwareRoundRobinPolicy("", 1)
    policy.populate(SimpleNamespace(endpoints_resolved=["b"]), [])
    unknown = node("a", None)
    for host in (unknown, node("b", "dc2"), unknown):
        policy.on_up(host)
    return [host.address for host in policy.make_query_plan()]


def replica_that_may_be_up(side):
    hosts = [node("a", is_up=None), node("b")]
    metadata = SimpleNamespace(get_replicas=lambda *_: list(hosts))
    policy = side.policies.TokenAwarePolicy(side.policies.DCAwareRoundRobinPolicy("dc1"))
    policy.populate(SimpleNamespace(metadata=metadata), hosts)
    query = SimpleNamespace(keyspace="ks", routing_key=b"k", table=None)
    return [host.address for host in policy.make_query_plan(None, query)]


def default_of_shuffle_replicas(side):
    parameters = inspect.signature(side.policies.TokenAwarePolicy).parameters
    return parameters["shuffle_replicas"].default


def statement_that_may_have_been_executed(side):
    query = SimpleNamespace(is_idempotent=False)
    policy = side.policies.RetryPolicy()
    return policy.on_request_error(query, None, OSError(), 0) == (policy.RETRY_NEXT_HOST, None)


def challenge_that_makes_no_sense(side):
    return side.auth.PlainTextAuthenticator("u", "p").evaluate_challenge(b"?")


def name_with_nul(side):
    return side.auth.PlainTextAuthProvider("a\0b", "c").new_authenticator("h").initial_response()


DIFFERENCES = [
    Difference(
        "hosts of several datacenters, in turn, given to `DCAwareRoundRobinPolicy.populate`",
        "all of them are used",
        "only the last run of each datacenter is",
        "a host must not be lost because of the order in which hosts are listed",
        hosts_of_datacenters_in_turn,
        ["a", "c"],
        ["c"],
    ),
    Difference(
        "a contact point whose datacenter is known in `DCAwareRoundRobinPolicy.populate`",
        "makes it the local one",
        "makes it the local one when the host is added or comes up",
        "a policy that is given hosts must have a plan",
        contact_point_of_a_known_datacenter,
        ["a"],
        [],
    ),
    Difference(
        "a host that goes down after its datacenter changed",
        "is asked no more",
        "stays in the plans, where it was",
        "it is down, wherever it is",
        host_that_moved,
        [],
        ["a"],
    ),
    Difference(
        "a host without a datacenter, before and after the local one is known",
        "is asked once a plan",
        "is asked twice a plan",
        "it is one host, which can be in one datacenter",
        host_found_before_the_local_datacenter,
        ["b", "a"],
        ["b", "a", "a"],
    ),
    Difference(
        "a local replica that is not known to be up, in the plan of `TokenAwarePolicy`",
        "keeps its place in the child's plan",
        "is left out",
        "the child decides which hosts are alive; a host that was just found has no state yet",
        replica_that_may_be_up,
        ["b", "a"],
        ["b"],
    ),
    Difference(
        "`shuffle_replicas` of `TokenAwarePolicy`, by default",
        "True",
        "False",
        "the replicas of a busy partition share its load; lightweight transactions keep the order",
        default_of_shuffle_replicas,
        True,
        False,
    ),
    Difference(
        "a statement that is not idempotent and may have been executed, in `on_request_error`",
        "is not sent again by any policy of the driver",
        "is sent to the next host",
        "a counter must not be raised twice because a connection broke",
        statement_that_may_have_been_executed,
        False,
        True,
    ),
    Difference(
        "a challenge that a password cannot answer",
        "AuthenticationFailed",
        "Exception",
        "who catches the driver's errors catches this one",
        challenge_that_makes_no_sense,
        AuthenticationFailed,
        Exception,
    ),
    Difference(
        "a NUL in a user name or password",
        "ValueError",
        "sent, and read as the end of the name",
        "RFC 4616 forbids it: it would move a part of the name into the password",
        name_with_nul,
        ValueError,
        b"\0a\0b\0c",
    ),
]
