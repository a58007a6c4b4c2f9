"""Versions of the CQL native protocol, and what each of them brought."""

from __future__ import annotations

from typing import ClassVar


class ProtocolVersion:
    """Protocol versions as plain ints, and the questions that encoding asks about them.

    The questions are class methods: callers pass the version that they negotiated.
    """

    V3 = 3
    """Collections with 32-bit lengths, user-defined types, client timestamps."""

    V4 = 4
    """UNSET, warnings, custom payload, partition key indexes of prepared statements."""

    V5 = 5
    """Segments with checksums, result metadata ids, a keyspace for each request."""

    V6 = 6
    """Only a name: the beta that follows v5."""

    DSE_V1 = 0x41
    """Only a name: where the versions of DataStax Enterprise begin."""

    DSE_V2 = 0x42
    """Only a name."""

    SUPPORTED_VERSIONS: ClassVar[tuple[int, ...]] = (V5, V4, V3)
    BETA_VERSIONS: ClassVar[tuple[int, ...]] = (V6,)
    MIN_SUPPORTED: ClassVar[int] = min(SUPPORTED_VERSIONS)
    MAX_SUPPORTED: ClassVar[int] = max(SUPPORTED_VERSIONS)

    @classmethod
    def get_lower_supported(cls, previous_version: int) -> int:
        """The highest supported version below another one; 0 if there is none."""
        lower = (v for v in cls.SUPPORTED_VERSIONS if v < previous_version)
        return max(lower, default=0)

    @classmethod
    def uses_int_query_flags(cls, version: int) -> bool:
        """Whether the flags of QUERY, EXECUTE and BATCH are an int instead of a byte."""
        return version >= cls.V5

    @classmethod
    def uses_prepare_flags(cls, version: int) -> bool:
        """Whether PREPARE carries flags."""
        return version >= cls.V5 and version != cls.DSE_V1

    @classmethod
    def uses_prepared_metadata(cls, version: int) -> bool:
        """Whether a prepared statement has an id for its result metadata."""
        return version >= cls.V5 and version != cls.DSE_V1

    @classmethod
    def uses_error_code_map(cls, version: int) -> bool:
        """Whether read and write failures list a reason for each replica."""
        return version >= cls.V5

    @classmethod
    def uses_keyspace_flag(cls, version: int) -> bool:
        """Whether a request can name the keyspace that it runs in."""
        return version >= cls.V5 and version != cls.DSE_V1

    @classmethod
    def has_checksumming_support(cls, version: int) -> bool:
        """Whether frames travel in checksummed segments (native_protocol_v5 section 2)."""
        return cls.V5 <= version < cls.DSE_V1
