"""``cassandra``: what the package itself says about its version and its loggers."""

from __future__ import annotations

from logging import NullHandler
from typing import Final

__all__ = ["NullHandler", "__version__", "__version_info__"]

#: The release of the ``cassandra`` package whose public names are served.
__version_info__: Final = (3, 30, 1)
__version__: Final = ".".join(map(str, __version_info__))
