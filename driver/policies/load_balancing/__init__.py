"""Load balancing: which hosts get connections, and in which order a request asks them."""

from .allow_list import AllowListRoundRobinPolicy, WhiteListRoundRobinPolicy
from .base import HostStateListener, LoadBalancingPolicy
from .dc_aware import DCAwareRoundRobinPolicy
from .host_filter import HostFilterPolicy
from .rack_aware import RackAwareRoundRobinPolicy
from .round_robin import RoundRobinPolicy
from .token_aware import TokenAwarePolicy
from .wrapper import DefaultLoadBalancingPolicy, WrapperPolicy

__all__ = [
    "AllowListRoundRobinPolicy",
    "DCAwareRoundRobinPolicy",
    "DefaultLoadBalancingPolicy",
    "HostFilterPolicy",
    "HostStateListener",
    "LoadBalancingPolicy",
    "RackAwareRoundRobinPolicy",
    "RoundRobinPolicy",
    "TokenAwarePolicy",
    "WhiteListRoundRobinPolicy",
    "WrapperPolicy",
]
