"""Compiled modules of driver/pool.

They call C functions of this module's compiled form, which has to be loaded by it.
"""

from ...net import streams

__all__ = ["streams"]
