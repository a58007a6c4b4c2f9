"""The words of CQL: those that a name must not be without quotes, and those that it may be.

Source: the ``K_`` tokens and ``unreserved_keyword`` rules of Cassandra 5.0's CQL grammar, with
the words of ScyllaDB and of DataStax Enterprise. A word that is reserved anywhere counts as
reserved: a name in quotes is right everywhere.
"""

from __future__ import annotations

from typing import Final

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
