"""Layer 9: clusters, sessions, and what keeps them informed of nodes and schema."""

from .cluster import Cluster
from .options import ClusterOptions
from .profiles import EXEC_PROFILE_DEFAULT, ExecutionProfile
from .session import Session
from .user_types import UserTypeDoesNotExist

__all__ = [
    "EXEC_PROFILE_DEFAULT",
    "Cluster",
    "ClusterOptions",
    "ExecutionProfile",
    "Session",
    "UserTypeDoesNotExist",
]
