"""Endpoints: how a node is reached, and how that is read from what the cluster says."""

from .base import DEFAULT_PORT as DEFAULT_PORT
from .base import DefaultEndPoint as DefaultEndPoint
from .base import EndPoint as EndPoint
from .base import UnixSocketEndPoint as UnixSocketEndPoint
from .factory import DefaultEndPointFactory as DefaultEndPointFactory
from .factory import EndPointFactory as EndPointFactory
from .factory import SniEndPointFactory as SniEndPointFactory
from .sni import SniEndPoint as SniEndPoint
