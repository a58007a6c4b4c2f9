"""Why a test of the suite does not pass through this driver, where that is meant so."""

from __future__ import annotations

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
}


def reason_for(test: str) -> str:
    """The reason of a test, or nothing."""
    return next((reason for part, reason in REASONS.items() if part in test), "")
