"""Compiled modules of driver/policies/load_balancing.

They call C functions of these modules' compiled forms, each of which has to load its own.
"""

from ....statements import prepared
from ....topology import metadata

__all__ = ["metadata", "prepared"]
