"""``cassandra.cython_deps``: what is compiled and what is installed."""

from importlib.util import find_spec

from ...implementation import IMPL

HAVE_CYTHON = IMPL == "cython"
HAVE_NUMPY = find_spec("numpy") is not None
