"""Load balancing: which hosts get connections, and in which order a request asks them."""

from .allow_list import AllowListRoundRobinPolicy as AllowListRoundRobinPolicy
from .allow_list import WhiteListRoundRobinPolicy as WhiteListRoundRobinPolicy
from .base import HostStateListener as HostStateListener
from .base import LoadBalancingPolicy as LoadBalancingPolicy
from .dc_aware import DCAwareRoundRobinPolicy as DCAwareRoundRobinPolicy
from .host_filter import HostFilterPolicy as HostFilterPolicy
from .rack_aware import RackAwareRoundRobinPolicy as RackAwareRoundRobinPolicy
from .round_robin import RoundRobinPolicy as RoundRobinPolicy
from .token_aware import TokenAwarePolicy as TokenAwarePolicy
from .wrapper import DefaultLoadBalancingPolicy as DefaultLoadBalancingPolicy
from .wrapper import WrapperPolicy as WrapperPolicy
