"""A CQL driver for Apache Cassandra and ScyllaDB whose hot paths are measured."""

from .implementation import IMPL

__version__ = "0.1.0"
__all__ = ["IMPL", "__version__"]
