"""Why a test of the suite does not pass through this driver, where that is meant so."""

from __future__ import annotations

_OLD_PROTOCOL = "asks for protocol v1 or v2, which this driver does not speak"
_PATCHED = "looks at or patches a private part of the other driver, which has no counterpart here"

#: Part of a test's name -> reason.
REASONS: dict[str, str] = {
    "BadMetaTest": _PATCHED,
    "test_basic_table_meta_properties": _PATCHED,
    "TestConsistency::test_default_consistency": _PATCHED,
    "test_only_one_connection_is_created": _PATCHED,
    "test_paged_result_handling": (
        "patches an attribute of one session; attributes of sessions are settings here, which "
        "cannot be deleted again"
    ),
    "TestModelQueryWithFetchSize": "runs into what the test before it left patched",
    "test_table_extensions": (
        "registers a class that writes CQL for an extension of tables, which only DataStax "
        "Enterprise has"
    ),
    "CustomProtocolHandlerTest": (
        "replaces `ResultMessage.type_codes`, by which the other driver reads types; a message of "
        "this one reads them by one table"
    ),
    "test_des_bytes_type_array": (
        "replaces a deserializer in a module of the other driver's compiled part"
    ),
    "test_non_alphanum_identifiers": (
        "a type whose name is no identifier is a named tuple here, too, and a plain one there"
    ),
    "test_too_many_statements": (
        "a batch of more statements than the protocol counts is a ValueError here; there it is "
        "NoHostAvailable around an error of struct"
    ),
    "test_insert_collection_with_null_fails": (
        "a null in a collection is sent as a null, which this server answers by a server error; "
        "there as an empty value"
    ),
    "test_first_failure_client_side": (
        "needs a quorum of three: on one node, which of two errors comes first decides"
    ),
    "test_schema_metadata_disable": (
        "without tokens there is no token map here, and an empty one there"
    ),
    "test_auth_provider_is_callable": _OLD_PROTOCOL,
    "test_v2_auth_provider": _OLD_PROTOCOL,
    "test_invalid_protocol_negotation": (
        "asks for a protocol version of DataStax Enterprise, which is refused before connecting"
    ),
    "test_host_resolution": "names are resolved when a cluster connects, not when it is made",
    "test_session_host_parameter": (
        "makes a cluster without contact points, which is refused here"
    ),
    "test_idle_heartbeat_disabled": "runs into what the test before it left patched",
    "test_idle_heartbeat": _PATCHED,
    "test_down_event_with_active_connection": _PATCHED,
    "test_prepare_on_ignored_hosts": _PATCHED,
    "test_incomplete_query_trace": _PATCHED,
    "test_set_keyspace_slow_connection": _PATCHED,
    "test_pool_management": (
        "the state of a pool has numbers of streams here, where there are sets of them there"
    ),
    "test_refresh_schema": (
        "the mapping of keyspaces never changes under those who read it: after a refresh it is "
        "another one, of other objects"
    ),
    "DeprecationWarningTest": (
        "waits for warnings of what the other driver means to drop, and this one keeps"
    ),
    "test_subclasses_share_loop": "counts threads by the names that the other driver gives them",
    "test_numpy": "a column of tinyint is an array of int8 here, and one of objects there",
    "test_driver_config": (
        "imports what extends the other driver's report of its configuration; this one's is fixed"
    ),
    "MetricsNamespaceTest": (
        "in a module that imports classes of the other driver's statistics, which are not served"
    ),
    "MetricsRequestSize": (
        "counts by classes of the other driver's statistics; here are those of Cluster.metrics"
    ),
    "test_query_by_id": "a column of text is called text here, as in the schema; varchar there",
    "test_predefined_routing_key": "a routing key that is given as text is kept as bytes",
}


def reason_for(test: str) -> str:
    """The reason of a test, or nothing."""
    return next((reason for part, reason in REASONS.items() if part in test), "")
