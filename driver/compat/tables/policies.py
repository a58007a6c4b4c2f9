"""``cassandra.policies``, ``.auth`` and ``.column_encryption.policies``."""

from __future__ import annotations

from ..served import serve

#: What each module is made of.
TABLES = {
    "cassandra.policies": serve(
        {
            "policies.address_translation": (
                "AddressTranslator EC2MultiRegionTranslator IdentityTranslator"
            ),
            "policies.column_encryption": "ColumnEncryptionPolicy",
            "policies.conviction": "ConvictionPolicy SimpleConvictionPolicy",
            "policies.distance": "HostDistance",
            "policies.load_balancing": """
                DCAwareRoundRobinPolicy DSELoadBalancingPolicy=DefaultLoadBalancingPolicy
                DefaultLoadBalancingPolicy HostFilterPolicy HostStateListener LoadBalancingPolicy
                RackAwareRoundRobinPolicy RoundRobinPolicy TokenAwarePolicy
                WhiteListRoundRobinPolicy WrapperPolicy
            """,
            "policies.reconnection": """
                ConstantReconnectionPolicy ExponentialReconnectionPolicy ReconnectionPolicy
            """,
            "policies.retry": """
                DowngradingConsistencyRetryPolicy ExponentialBackoffRetryPolicy
                FallthroughRetryPolicy NeverRetryPolicy RetryPolicy
            """,
            "policies.speculative": """
                ConstantSpeculativeExecutionPlan ConstantSpeculativeExecutionPolicy
                NoSpeculativeExecutionPlan NoSpeculativeExecutionPolicy SpeculativeExecutionPlan
                SpeculativeExecutionPolicy
            """,
            "protocol.columns": "ColDesc",
            "protocol.consistency": "ConsistencyLevel",
            "protocol.errors": "OperationTimedOut",
            "protocol.kinds": "WT=WriteType WriteType",
        },
        behind=(
            "policies.load_balancing.base",
            "policies.load_balancing.dc_aware",
            "policies.load_balancing.round_robin",
            "policies.load_balancing.token_aware",
            "policies.load_balancing.wrapper",
            "policies.load_balancing.allow_list",
            "policies.reconnection",
            "policies.retry",
            "policies.address_translation",
        ),
    ),
    "cassandra.auth": serve(
        {
            "auth": """
                AuthProvider Authenticator DSEPlainTextAuthProvider=PlainTextAuthProvider
                PlainTextAuthProvider PlainTextAuthenticator SaslAuthProvider SaslAuthenticator
                TransitionalModePlainTextAuthProvider TransitionalModePlainTextAuthenticator
            """,
        },
        behind=("auth.base", "auth.plain", "auth.sasl"),
    ),
    "cassandra.column_encryption.policies": serve(
        {
            "policies.column_encryption": """
                AES256ColumnEncryptionPolicy AES256_BLOCK_SIZE AES256_BLOCK_SIZE_BYTES
                AES256_KEY_SIZE_BYTES ColumnEncryptionPolicy
            """,
            "protocol.columns": "ColDesc",
        },
        behind=("policies.column_encryption",),
    ),
}
