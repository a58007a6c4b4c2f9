"""Policies: decisions that a user can take over from the driver."""

from .address_translation import AddressTranslator, EC2MultiRegionTranslator, IdentityTranslator
from .column_encryption import AES256ColumnEncryptionPolicy, ColumnEncryptionPolicy
from .conviction import ConvictionPolicy, SimpleConvictionPolicy
from .distance import HostDistance
from .load_balancing import (
    AllowListRoundRobinPolicy,
    DCAwareRoundRobinPolicy,
    DefaultLoadBalancingPolicy,
    HostFilterPolicy,
    HostStateListener,
    LoadBalancingPolicy,
    RackAwareRoundRobinPolicy,
    RoundRobinPolicy,
    TokenAwarePolicy,
    WhiteListRoundRobinPolicy,
    WrapperPolicy,
)
from .preparation import PreparationPolicy
from .reconnection import (
    ConstantReconnectionPolicy,
    ExponentialReconnectionPolicy,
    ReconnectionPolicy,
)
from .retry import (
    DowngradingConsistencyRetryPolicy,
    ExponentialBackoffRetryPolicy,
    FallthroughRetryPolicy,
    NeverRetryPolicy,
    RetryPolicy,
)
from .speculative import (
    ConstantSpeculativeExecutionPolicy,
    NoSpeculativeExecutionPlan,
    NoSpeculativeExecutionPolicy,
    SpeculativeExecutionPlan,
    SpeculativeExecutionPolicy,
)
from .timestamps import MonotonicTimestampGenerator

__all__ = [
    "AES256ColumnEncryptionPolicy",
    "AddressTranslator",
    "AllowListRoundRobinPolicy",
    "ColumnEncryptionPolicy",
    "ConstantReconnectionPolicy",
    "ConstantSpeculativeExecutionPolicy",
    "ConvictionPolicy",
    "DCAwareRoundRobinPolicy",
    "DefaultLoadBalancingPolicy",
    "DowngradingConsistencyRetryPolicy",
    "EC2MultiRegionTranslator",
    "ExponentialBackoffRetryPolicy",
    "ExponentialReconnectionPolicy",
    "FallthroughRetryPolicy",
    "HostDistance",
    "HostFilterPolicy",
    "HostStateListener",
    "IdentityTranslator",
    "LoadBalancingPolicy",
    "MonotonicTimestampGenerator",
    "NeverRetryPolicy",
    "NoSpeculativeExecutionPlan",
    "NoSpeculativeExecutionPolicy",
    "PreparationPolicy",
    "RackAwareRoundRobinPolicy",
    "ReconnectionPolicy",
    "RetryPolicy",
    "RoundRobinPolicy",
    "SimpleConvictionPolicy",
    "SpeculativeExecutionPlan",
    "SpeculativeExecutionPolicy",
    "TokenAwarePolicy",
    "WhiteListRoundRobinPolicy",
    "WrapperPolicy",
]
