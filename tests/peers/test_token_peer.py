"""Tokens equal those of cassandra-driver; replicas do where it follows Cassandra's rules."""

import pytest
from cassandra import metadata as peer
from cassandra.policies import SimpleConvictionPolicy
from cassandra.pool import Host as PeerHost
from hypothesis import given
from hypothesis import strategies as st

from driver.topology import replication, token
from driver.topology.host import Host

CLASSES = [
    (token.Murmur3Token, peer.Murmur3Token),
    (token.MD5Token, peer.MD5Token),
    (token.BytesToken, peer.BytesToken),
]


@pytest.mark.parametrize(("ours", "theirs"), CLASSES, ids=lambda c: c.__name__)
@given(key=st.binary(max_size=300))
def test_a_key_has_the_peer_s_token(ours, theirs, key):
    assert ours.from_key(key).value == theirs.from_key(key).value


@given(value=st.integers(-(2**63), 2**63 - 1))
def test_text_has_the_peer_s_token(value):
    text = str(value)
    ours, theirs = token.Murmur3Token.from_string(text), peer.Murmur3Token.from_string(text)
    assert ours.value == theirs.value


@st.composite
def rings(draw):
    """(datacenter, rack) of each host, and its tokens.

    The peer places a replica twice, or not at all, where hosts own several tokens or have no rack;
    so these hosts have one token and a rack each.
    """
    places = st.tuples(st.sampled_from(["dc1", "dc2"]), st.sampled_from(["r1", "r2", "r3"]))
    hosts = draw(st.lists(places, min_size=1, max_size=8))
    tokens = draw(
        st.lists(st.integers(-99, 99), min_size=len(hosts), max_size=len(hosts), unique=True)
    )
    return list(zip(hosts, tokens, strict=True))


def replicas_of(strategy, owners):
    placed = strategy.make_token_replica_map(owners, sorted(owners))
    return {t.value: [host.address for host in hosts] for t, hosts in placed.items()}


def owners_of(ring, host_class, token_class, *conviction):
    return {
        token_class(value): host_class(f"10.0.0.{i}", *conviction, *place)
        for i, (place, value) in enumerate(ring)
    }


@given(ring=rings(), factor=st.sampled_from(["1", "2", "3", "3/1", "9"]))
def test_simple_replicas_are_the_peer_s(ring, factor):
    options = {"replication_factor": factor}
    ours = owners_of(ring, Host, token.Murmur3Token, None)
    theirs = owners_of(ring, PeerHost, peer.Murmur3Token, SimpleConvictionPolicy)
    assert replicas_of(replication.SimpleStrategy(options), ours) == replicas_of(
        peer.SimpleStrategy(dict(options)), theirs
    )


@given(ring=rings(), factors=st.tuples(st.integers(0, 5), st.integers(0, 5)))
def test_network_topology_replicas_are_the_peer_s_in_some_order(ring, factors):
    # Cassandra 4 and later take a second host of a rack as it comes, the peer after all racks.
    options = {"dc1": str(factors[0]), "dc2": str(factors[1])}
    ours = owners_of(ring, Host, token.Murmur3Token, None)
    theirs = owners_of(ring, PeerHost, peer.Murmur3Token, SimpleConvictionPolicy)
    placed = replicas_of(replication.NetworkTopologyStrategy(options), ours)
    expected = replicas_of(peer.NetworkTopologyStrategy(dict(options)), theirs)
    assert {t: sorted(hosts) for t, hosts in placed.items()} == {
        t: sorted(hosts) for t, hosts in expected.items()
    }
