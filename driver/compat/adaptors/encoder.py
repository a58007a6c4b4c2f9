"""``cassandra.encoder``: how object mappers quote."""

from __future__ import annotations

from ...types.literals import cql_quote as quoted


def cql_quote(term: object) -> str:
    """Text between single quotes; anything else as it is written, such as a number or a UUID."""
    return quoted(term) if isinstance(term, str) else str(term)
