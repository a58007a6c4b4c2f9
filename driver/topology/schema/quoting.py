"""Names and values as CQL text: quoted where CQL needs it, and only there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...types.literals import cql_quote
from .keywords import cql_keywords_reserved

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_PLAIN_NAME = re.compile(r"[a-z][a-z0-9_]*")


def is_valid_name(name: str | None) -> bool:
    """Whether a name means itself without quotes: lower case, and no reserved word."""
    if name is None:
        return False
    return bool(_PLAIN_NAME.fullmatch(name)) and name not in cql_keywords_reserved


def escape_name(name: str) -> str:
    """A name in double quotes, which are doubled inside."""
    return '"' + name.replace('"', '""') + '"'


def protect_name(name: str) -> str:
    """A name as CQL text: in double quotes unless it means itself without."""
    return name if is_valid_name(name) else escape_name(name)


def protect_names(names: Iterable[str]) -> list[str]:
    """Each name as ``protect_name`` has it."""
    return [protect_name(name) for name in names]


def protect_value(value: object) -> str:
    """A value of an option as CQL text: text in single quotes, numbers and booleans bare."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return cql_quote(value)


def map_literal(pairs: Mapping[str, object]) -> str:
    """A map of texts, as options have it: every key and value in single quotes.

    A boolean or number is written as text: the server takes no other in maps of options.
    """
    texts = ((k, str(v).lower() if isinstance(v, bool) else v) for k, v in pairs.items())
    return "{" + ", ".join(f"{cql_quote(k)}: {cql_quote(v)}" for k, v in texts) + "}"


def qualified(keyspace: str, name: str) -> str:
    """``keyspace.name``, each protected."""
    return f"{protect_name(keyspace)}.{protect_name(name)}"
