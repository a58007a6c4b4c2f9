"""A real Apache Cassandra on loopback addresses; scripts/cassandra is its command line."""
