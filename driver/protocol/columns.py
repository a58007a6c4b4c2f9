"""Descriptions of columns: of a result, of a bound parameter, of an encrypted column."""

from __future__ import annotations

from typing import Any, NamedTuple


class ColumnMetadata(NamedTuple):
    """A column of a result or a bind marker, as the server describes it.

    ``type`` is a class of ``driver.types``; this layer does not know them.
    """

    keyspace_name: str
    table_name: str
    name: str
    type: Any


class ColDesc(NamedTuple):
    """The full name of a column, by which an encryption policy knows it."""

    ks: str
    table: str
    col: str
