"""Endpoints: how a node is reached, and how that is read from what the cluster says."""

from .base import DEFAULT_PORT, DefaultEndPoint, EndPoint, UnixSocketEndPoint
from .factory import DefaultEndPointFactory, EndPointFactory, SniEndPointFactory
from .sni import SniEndPoint

__all__ = [
    "DEFAULT_PORT",
    "DefaultEndPoint",
    "DefaultEndPointFactory",
    "EndPoint",
    "EndPointFactory",
    "SniEndPoint",
    "SniEndPointFactory",
    "UnixSocketEndPoint",
]
