"""Where a change of instructions went: C functions from callgrind, Python functions by tracing."""

from .cases import explain

__all__ = ["explain"]
