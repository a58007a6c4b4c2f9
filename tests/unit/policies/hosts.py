"""Hosts for tests of policies."""

from types import SimpleNamespace

from driver.topology.host import Host


def host(address, datacenter="dc1", rack="r1", is_up=True):
    """A host that is up."""
    made = Host(address, None, datacenter, rack)
    made.is_up = is_up
    return made


def cluster(contact_points=(), replicas=(), known=(), leaders=None):
    """A cluster that has these replicas for every key, and remembers what it was asked.

    Of some keyspaces, every tablet has the leader in ``leaders``.
    """
    asked = []

    def get_replicas(*where):
        asked.append(where)
        return list(replicas)

    def get_host(address):
        return next((h for h in known if h.address == address), None)

    return SimpleNamespace(
        endpoints_resolved=list(contact_points),
        metadata=SimpleNamespace(
            get_replicas=get_replicas,
            get_host=get_host,
            can_support_partitioner=lambda: True,
            partitioner="Murmur3Partitioner",
            led_keyspaces=frozenset(leaders or ()),
            leader_of=lambda keyspace, _key, _table: leaders.get(keyspace),
        ),
        asked=asked,
    )
