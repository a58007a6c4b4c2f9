"""``cassandra`` itself, and single names of ``encoder``, ``metadata`` and ``cython_deps``."""

from __future__ import annotations

from importlib.util import find_spec
from logging import NullHandler
from typing import Final

from ...implementation import IMPL
from ...topology.schema import function
from ...types.literals import cql_quote as quoted
from ...wire.responses import events

__all__ = ["NullHandler", "__version__", "__version_info__"]

#: The release of the ``cassandra`` package whose public names are served.
__version_info__: Final = (3, 30, 1)
__version__: Final = ".".join(map(str, __version_info__))

#: What is compiled and what is installed.
HAVE_CYTHON: Final = IMPL == "cython"
HAVE_NUMPY: Final = find_spec("numpy") is not None

REPLICATION_STRATEGY_CLASS_PREFIX: Final = "org.apache.cassandra.locator."


class NoMurmur3(Exception):  # noqa: N818  (the name there)
    """The hash is missing; never raised here, for it is part of the driver."""


class SignatureDescriptor(events.SignatureDescriptor):
    """A function or an aggregate, by its name and the types of its arguments."""

    __slots__ = ()

    format_signature = staticmethod(function.format_signature)


class UserFunctionDescriptor(SignatureDescriptor):
    """A user-defined function."""

    __slots__ = ()


class UserAggregateDescriptor(SignatureDescriptor):
    """A user-defined aggregate."""

    __slots__ = ()


def cql_quote(term: object) -> str:
    """Text between single quotes; anything else as it is written, such as a number or a UUID.

    How object mappers quote.
    """
    return quoted(term) if isinstance(term, str) else str(term)
