"""Metadata classes: tokens, replication, quoting, exported CQL, without a server."""
# ruff: noqa: T201  (a program prints)

import uuid

from cassandra.metadata import (
    Aggregate,
    BytesToken,
    ColumnMetadata,
    Function,
    KeyspaceMetadata,
    MD5Token,
    Metadata,
    Murmur3Token,
    NetworkTopologyStrategy,
    ReplicationStrategy,
    SimpleStrategy,
    TableMetadata,
    TokenMap,
    UserType,
    escape_name,
    is_valid_name,
    protect_name,
    protect_names,
    protect_value,
)
from cassandra.murmur3 import murmur3
from cassandra.policies import SimpleConvictionPolicy
from cassandra.pool import Host

print(murmur3(b"key"), Murmur3Token.from_key(b"key").value, MD5Token.from_key(b"key").value)
print(Murmur3Token(5) < Murmur3Token(6), BytesToken.from_key(b"ab").value, Murmur3Token(5))
for name in ("plain", "Mixed", "select", "with space", 'quo"te', "1digit", "_under"):
    print(name, protect_name(name), is_valid_name(name), escape_name(name))
print(protect_names(["a", "B"]), protect_value(True), protect_value(1.5), protect_value("it's"))
print(protect_value(None))

for name, options in (
    ("SimpleStrategy", {"replication_factor": "3"}),
    ("org.apache.cassandra.locator.NetworkTopologyStrategy", {"dc1": "2", "dc2": "1"}),
    ("LocalStrategy", {}),
):
    strategy = ReplicationStrategy.create(name, options)
    print(type(strategy).__name__, strategy.export_for_schema())
print(SimpleStrategy({"replication_factor": 2}) == SimpleStrategy({"replication_factor": "2"}))

hosts = []
for number in range(1, 5):
    made = Host(f"10.0.0.{number}", SimpleConvictionPolicy)
    made.host_id = uuid.UUID(int=number)
    made.broadcast_rpc_address = f"10.0.0.{number}"
    made.set_location_info("dc1" if number < 4 else "dc2", f"r{number % 2}")
    hosts.append(made)
owners = {Murmur3Token(number * 100): made for number, made in enumerate(hosts)}
ring = sorted(owners)
for strategy in (
    SimpleStrategy({"replication_factor": 2}),
    NetworkTopologyStrategy({"dc1": 2, "dc2": 1}),
):
    replicas = strategy.make_token_replica_map(owners, ring)
    print([sorted(h.address for h in replicas[token]) for token in ring])

keyspace = KeyspaceMetadata("Shop", True, "SimpleStrategy", {"replication_factor": 1})
print(keyspace.as_cql_query())
print(UserType("shop", "address", ["street", "no"], ["text", "int"]).as_cql_query())
print(UserType("shop", "address", ["street", "no"], ["text", "int"]).as_cql_query(formatted=True))
function = Function(
    "shop",
    "plus",
    ["int", "int"],
    ["a", "b"],
    "int",
    "java",
    "return a + b;",
    False,
    False,
    False,
    [],
)
print(function.signature, function.as_cql_query())
aggregate = Aggregate("shop", "total", ["int"], "plus", "int", None, "0", "int", False)
print(aggregate.signature, aggregate.as_cql_query())

table = TableMetadata("shop", "orders")
column = ColumnMetadata(table, "id", "int")
table.columns["id"] = column
table.partition_key.append(column)
print(table.primary_key == [column], column, table.is_cql_compatible)
metadata = Metadata()
metadata.keyspaces["Shop"] = keyspace
metadata.partitioner = "org.apache.cassandra.dht.Murmur3Partitioner"
print(metadata.all_hosts(), metadata.get_host("10.0.0.1"), metadata.can_support_partitioner())
host, is_new = metadata.add_or_return_host(hosts[0])
print(host.address, is_new, metadata.add_or_return_host(hosts[0])[1])
print(metadata.get_host("10.0.0.1").address, len(metadata.all_hosts()))
token_map = TokenMap(Murmur3Token, owners, ring, metadata)
print([h.address for h in token_map.get_replicas("Shop", Murmur3Token(150))])
