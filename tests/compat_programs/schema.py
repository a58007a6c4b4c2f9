"""Metadata: hosts, keyspaces, tables, what they export, replicas of a key."""
# ruff: noqa: T201  (a program prints)

from cassandra.metadata import group_keys_by_replica
from cassandra.policies import DCAwareRoundRobinPolicy, HostStateListener, TokenAwarePolicy
from cassandra.query import SimpleStatement
from keyspaces import KEYSPACE, connected


class Listener(HostStateListener):
    """Hears of nothing on one node, and must not fail."""


with connected(load_balancing_policy=TokenAwarePolicy(DCAwareRoundRobinPolicy())) as (
    cluster,
    session,
):
    cluster.register_listener(Listener())
    session.execute("CREATE TYPE address (street text, no int)")
    session.execute(
        "CREATE TABLE orders (shop int, day date, id uuid, note text static, home frozen<address>, "
        "tags set<text>, PRIMARY KEY ((shop, day), id)) WITH CLUSTERING ORDER BY (id DESC) "
        "AND comment = 'orders''' AND gc_grace_seconds = 3600"
    )
    session.execute("CREATE INDEX by_tag ON orders (tags)")
    keyspace = cluster.metadata.keyspaces[KEYSPACE]
    print(keyspace.name == KEYSPACE, keyspace.durable_writes, sorted(keyspace.tables))
    print(keyspace.replication_strategy.export_for_schema(), keyspace.virtual)
    table = keyspace.tables["orders"]
    print(list(table.columns), [column.name for column in table.partition_key])
    print([(c.name, c.cql_type, c.is_reversed) for c in table.clustering_key])
    print([(c.name, c.cql_type, c.is_static) for c in table.columns.values()])
    print([column.name for column in table.primary_key], table.is_cql_compatible)
    print(table.options["comment"], table.options["gc_grace_seconds"], list(table.indexes))
    print(table.indexes["by_tag"].kind, table.indexes["by_tag"].as_cql_query())
    print(keyspace.user_types["address"].as_cql_query())
    exported = table.export_as_string()
    print("CREATE TABLE" in exported, "CLUSTERING ORDER BY (id DESC)" in exported)
    print("gc_grace_seconds = 3600" in exported, "CREATE INDEX by_tag" in exported)
    print(len(keyspace.export_as_string()) > len(exported))

    # What was exported is accepted again.
    session.execute("DROP TABLE orders")
    print("orders" in cluster.metadata.keyspaces[KEYSPACE].tables)
    for statement in exported.split(";"):
        if statement.strip():
            session.execute(statement)
    cluster.refresh_schema_metadata()
    print(cluster.metadata.keyspaces[KEYSPACE].tables["orders"].export_as_string() == exported)
    cluster.refresh_table_metadata(KEYSPACE, "orders")
    cluster.refresh_keyspace_metadata(KEYSPACE)

    hosts = cluster.metadata.all_hosts()
    print([(h.is_up, h.datacenter, h.rack, bool(h.release_version)) for h in hosts])
    print(hosts[0].address == cluster.metadata.get_host(hosts[0].endpoint).address)
    print(len(cluster.metadata.token_map.ring) > 0, cluster.metadata.partitioner)
    replicas = cluster.metadata.get_replicas(KEYSPACE, b"key")
    print(replicas == hosts, cluster.protocol_version)
    statement = SimpleStatement(
        "SELECT key FROM system.local", routing_key=b"key", keyspace=KEYSPACE
    )
    future = session.execute_async(statement)
    future.result()
    print(future.coordinator_host in replicas, future.attempted_hosts == [hosts[0]])
    session.execute("CREATE TABLE simple (k int PRIMARY KEY)")
    grouped = group_keys_by_replica(session, KEYSPACE, "simple", [(1,), (2,)])
    print([sorted(keys) for keys in grouped.values()])
    print(sorted(session.get_pool_state()[hosts[0]]) != [], len(session.hosts), session.is_shutdown)
    print(cluster.get_control_connection_host() == hosts[0])
