"""Prepared statements to bind."""

import pytest

from driver.protocol.columns import ColumnMetadata
from driver.statements import PreparedStatement
from driver.types import Int32Type, UTF8Type


@pytest.fixture
def prepare():
    """Make a prepared statement of columns a (int), b (text), c (int); the key is (a, b)."""

    def make(protocol_version=4, routing_key_indexes=(0, 1), policy=None, c=Int32Type):
        types = {"a": Int32Type, "b": UTF8Type, "c": c}
        return PreparedStatement(
            [ColumnMetadata("ks", "t", name, type_) for name, type_ in types.items()],
            b"id",
            routing_key_indexes,
            "INSERT INTO t (a, b, c) VALUES (?, ?, ?)",
            None,
            protocol_version,
            None,
            None,
            column_encryption_policy=policy,
        )

    return make
