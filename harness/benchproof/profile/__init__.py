"""Where a change of instructions went: C functions from callgrind, Python functions by tracing."""
