"""Compiled modules of driver/execution.

They call C functions of these modules' compiled forms, each of which has to load its own.
"""

from ...net import connection, timers
from ...pool import host_pool

__all__ = ["connection", "host_pool", "timers"]
