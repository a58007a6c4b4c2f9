"""A CQL driver for Apache Cassandra and ScyllaDB whose hot paths are measured."""

__version__ = "0.1.0"
__all__ = ["__version__"]
