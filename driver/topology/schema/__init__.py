"""The schema: its parts, their CQL text, and how they are read from a server."""

from .attachments import IndexMetadata, TriggerMetadata
from .column import ColumnMask, ColumnMetadata, PartitionKeyColumn
from .function import Aggregate, Function
from .keyspace import KeyspaceMetadata
from .keywords import cql_keywords, cql_keywords_reserved, cql_keywords_unreserved
from .quoting import escape_name, is_valid_name, protect_name, protect_names, protect_value
from .reader import (
    Ask,
    read_aggregate,
    read_function,
    read_keyspace,
    read_keyspaces,
    read_table,
    read_type,
)
from .table import TableMetadata
from .user_type import UserType
from .view import MaterializedViewMetadata

__all__ = [
    "Aggregate",
    "Ask",
    "ColumnMask",
    "ColumnMetadata",
    "Function",
    "IndexMetadata",
    "KeyspaceMetadata",
    "MaterializedViewMetadata",
    "PartitionKeyColumn",
    "TableMetadata",
    "TriggerMetadata",
    "UserType",
    "cql_keywords",
    "cql_keywords_reserved",
    "cql_keywords_unreserved",
    "escape_name",
    "is_valid_name",
    "protect_name",
    "protect_names",
    "protect_value",
    "read_aggregate",
    "read_function",
    "read_keyspace",
    "read_keyspaces",
    "read_table",
    "read_type",
]
