"""Where statements and topology differ from cassandra-driver 3.30.1 on purpose: executed rows.

The columns are those of known_differences.py; ``run`` takes the one or the other side of SIDES.
"""

from types import SimpleNamespace

from cassandra import cqltypes as peer_types
from cassandra import metadata as peer_metadata
from cassandra import query as peer_query
from cassandra.policies import SimpleConvictionPolicy
from cassandra.pool import Host as PeerHost
from cassandra.protocol import ColumnMetadata as PeerColumn
from peers.known_differences import Difference

from driver import statements, types
from driver.protocol.columns import ColumnMetadata
from driver.topology import host, replication, token

SIDES = (
    SimpleNamespace(
        types=types,
        column=ColumnMetadata,
        query=statements,
        token=token,
        replication=replication,
        factor=replication.ReplicationFactor,
        strategy=replication.ReplicationStrategy.create,
        host=lambda address, dc, rack: host.Host(address, None, dc, rack),
    ),
    SimpleNamespace(
        types=peer_types,
        column=PeerColumn,
        query=peer_query,
        token=peer_metadata,
        replication=peer_metadata,
        factor=peer_metadata.ReplicationFactor,
        strategy=peer_metadata._ReplicationStrategy.create,
        host=lambda address, dc, rack: PeerHost(address, SimpleConvictionPolicy, dc, rack),
    ),
)


def bound(side, type_names, values, version=4):
    """A statement of columns of these types, bound; the first column is the key."""
    columns = [
        side.column("ks", "t", f"c{i}", getattr(side.types, name))
        for i, name in enumerate(type_names)
    ]
    prepared = side.query.PreparedStatement(columns, b"", [0], "q", None, version, None, None)
    return prepared.bind(values)


def refused(side, type_name, value):
    """What the message calls a value that cannot be bound."""
    try:
        bound(side, [type_name], [value])
    except TypeError as error:
        return str(error).partition(" for column")[0]


def placed(side, name, options, hosts):
    """Addresses of the replicas of the lowest token; hosts are (address, dc, rack, tokens)."""
    owners = {
        side.token.Murmur3Token(value): side.host(address, dc, rack)
        for address, dc, rack, values in hosts
        for value in values
    }
    ring = sorted(owners)
    replicas = side.strategy(name, options).make_token_replica_map(owners, ring)
    return [replica.address for replica in replicas.get(ring[0], ())]


def _keys_of_two_binds(statement):
    return [statement.routing_key, statement.bind(["b"]).routing_key]


def _length_after_add_all(batch):
    batch.add_all(["a", "b"], [()])
    return len(batch._statements_and_parameters)


ONE_RACK_TWICE = [("a", "d", "1", [0]), ("b", "d", "1", [1]), ("c", "d", "2", [2])]
TWO_TOKENS_IN_A_RACK = [
    ("a", "d", "1", [1, 2]),
    ("b", "d", "1", [3]),
    ("c", "d", "1", [0]),
    ("d", "d", "2", [4]),
]
NETWORK = "NetworkTopologyStrategy"

DIFFERENCES = [
    Difference(
        "routing key given in parts to the constructor",
        "packed",
        "kept as a list",
        "assigned parts are packed in both; a list is no key that can be hashed",
        lambda side: side.query.SimpleStatement("q", routing_key=[b"a", b"b"]).routing_key,
        b"\x00\x01a\x00\x00\x01b\x00",
        [b"a", b"b"],
    ),
    Difference(
        "routing key after binding again",
        "of the new values",
        "of the first values",
        "a stale key routes to the wrong replicas in silence",
        lambda side: _keys_of_two_binds(bound(side, ["UTF8Type"], ["a"])),
        [b"a", b"b"],
        [b"a", b"a"],
    ),
    Difference(
        "too few values before v4",
        "ValueError",
        "sent as they are",
        "the server refuses them, and knows the columns less well",
        lambda side: bound(side, ["Int32Type", "Int32Type"], [1], 3).values,
        ValueError,
        [b"\x00\x00\x00\x01"],
    ),
    Difference(
        "a set of all values to bind",
        "TypeError",
        "bound in whichever order it has",
        "values of like types would go to each other's columns",
        lambda side: bound(side, ["Int32Type"], {1}).values,
        TypeError,
        [b"\0\0\0\1"],
    ),
    Difference(
        "binding an int to text",
        "TypeError that names the column",
        "AttributeError that does not",
        "the class and the message of every other wrong type",
        lambda side: bound(side, ["UTF8Type"], [5]),
        TypeError,
        AttributeError,
    ),
    Difference(
        "binding a number that is out of range",
        "TypeError that says so",
        "TypeError that calls its type invalid",
        "the type was right, and looking at it does not help",
        lambda side: refused(side, "Int32Type", 2**31),
        "Received a value out of range",
        "Received an argument of invalid type",
    ),
    Difference(
        "more statements than parameters in `add_all`",
        "ValueError",
        "the surplus is ignored",
        "a statement must not get lost in silence",
        lambda side: _length_after_add_all(side.query.BatchStatement()),
        ValueError,
        1,
    ),
    Difference(
        "adding to a batch what is no statement",
        "TypeError",
        "AttributeError",
        "it is the wrong type, and says so",
        lambda side: side.query.BatchStatement().add(5),
        TypeError,
        AttributeError,
    ),
    Difference(
        "tokens of different partitioners with equal values",
        "not equal",
        "equal",
        "they are places on different rings",
        lambda side: side.token.Murmur3Token(1) == side.token.MD5Token(1),
        False,
        True,
    ),
    Difference(
        "more transient replicas than replicas",
        "ValueError",
        "a negative number of full replicas",
        "no server accepts such a keyspace",
        lambda side: side.factor.create("3/4").full_replicas,
        ValueError,
        -1,
    ),
    Difference(
        "a second host of a rack in NetworkTopologyStrategy",
        "in the order of the ring",
        "after the hosts of all racks",
        "the order of Cassandra 4 and later; the hosts are the same",
        lambda side: placed(side, NETWORK, {"d": "3"}, ONE_RACK_TWICE),
        ["a", "b", "c"],
        ["a", "c", "b"],
    ),
    Difference(
        "hosts with many tokens in NetworkTopologyStrategy",
        "every host once",
        "a host may be listed twice, and another one not at all",
        "two replicas are two hosts",
        lambda side: placed(side, NETWORK, {"d": "4"}, TWO_TOKENS_IN_A_RACK),
        ["c", "a", "b", "d"],
        ["c", "d", "a", "a"],
    ),
    Difference(
        "transient replicas in NetworkTopologyStrategy",
        "placed with the others, then left out",
        "the full ones are placed alone",
        "Cassandra places all of them: the transient ones take racks too",
        lambda side: placed(side, NETWORK, {"d": "3/1"}, ONE_RACK_TWICE),
        ["a", "b"],
        ["a", "c"],
    ),
    Difference(
        "EverywhereStrategy",
        "every host",
        "no replicas are known",
        "ScyllaDB and DSE keep system keyspaces in it",
        lambda side: placed(side, "EverywhereStrategy", {}, ONE_RACK_TWICE),
        ["a", "b", "c"],
        [],
    ),
]
