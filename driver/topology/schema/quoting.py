"""Names and values as CQL text: quoted where CQL needs it, and only there.

Source of the words: the ``K_`` tokens and ``unreserved_keyword`` rules of Cassandra 5.0's CQL
grammar, with the words of ScyllaDB and of DataStax Enterprise. A word that is reserved anywhere
counts as reserved: a name in quotes is right everywhere.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ...types.literals import cql_quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Words that a name must not be without quotes.
cql_keywords_reserved: Final[frozenset[str]] = frozenset(
    """
    active add allow alter and any application applications apply asc authentication authorize
    batch begin by call calls cluster columnfamily columns commit config create default
    delegation delete desc describe drop entries execute executor executors field from full
    grant if in index indices infinity insert internal into is java kerberos keyspace ldap limit
    lowercasestring materialized mbean mbeans method modify nan no node nodes norecursive not
    null object of on or order plan primary profiles rebuild redact reload remote rename renew
    replace restrict revoke rows schema scheme schemes search select set std_err std_out
    submission table to token truncate unlogged unrestrict unset update use using view where
    with workpool
    """.split()  # noqa: SIM905  (a list of literals would be pages long)
)

#: Words with a meaning that may be names all the same.
cql_keywords_unreserved: Final[frozenset[str]] = frozenset(
    """
    access aggregate all as ascii between bigint blob boolean bypass cache called cast cidrs
    clustering compact contains count counter custom datacenters date decimal deterministic
    distinct double duration exists filtering finalfunc float frozen function functions group
    hashed inet initcond input int internals json key keys keyspaces language level like list
    login map mask masked maxwritetime monotonic nologin nosuperuser only options partition
    password per permission permissions prune reducefunc returns role roles
    scylla_clustering_bound scylla_counter_shard_list scylla_timeuuid_list_index select_masked
    service sfunc smallint static storage stype superuser superusers tables text time timeout
    timestamp timeuuid tinyint trigger ttl tuple type types unmask user users uuid values
    varchar varint vector writetime
    """.split()  # noqa: SIM905  (a list of literals would be pages long)
)

cql_keywords: Final[frozenset[str]] = cql_keywords_reserved | cql_keywords_unreserved

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
