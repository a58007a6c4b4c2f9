"""Loggers: records of this driver are logged by the loggers of the ``cassandra`` package.

While the names are served, each logger of this driver hands its questions and its records on to its
counterpart: ``driver.cluster.session`` to ``cassandra.cluster``. Levels, filters, handlers and
``propagate`` are those of the counterpart, so that an application configures
``logging.getLogger("cassandra")`` or one below it as ever, before or after; a record has the
counterpart's name, and passes through no handler twice, because the handlers of ``driver`` loggers
are left out meanwhile.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from .resolve import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Module or folder of this driver -> logger of the ``cassandra`` package; the longest that fits.
COUNTERPARTS: Final[Mapping[str, str]] = {
    "": "cassandra",
    "aio": "cassandra.cluster",
    "auth": "cassandra.auth",
    "cluster": "cassandra.cluster",
    "execution": "cassandra.cluster",
    "execution.concurrent": "cassandra.concurrent",
    "execution.metrics": "cassandra.metrics",
    "execution.tracing": "cassandra.query",
    "net": "cassandra.connection",
    "policies": "cassandra.policies",
    "policies.timestamps": "cassandra.timestamps",
    "pool": "cassandra.pool",
    "results": "cassandra.query",
    "statements": "cassandra.query",
    "topology": "cassandra.metadata",
    "topology.endpoint": "cassandra.connection",
    "topology.host": "cassandra.pool",
    "types": "cassandra.cqltypes",
    "types.literals": "cassandra.encoder",
    "values": "cassandra.util",
    "wire": "cassandra.protocol",
}


def counterpart(name: str) -> str:
    """The logger of the ``cassandra`` package for one of this driver.

    Args:
        name: of a logger, with the package: ``"driver.pool.host_pool"``.
    """
    relative = name.removeprefix(PACKAGE).removeprefix(".")
    while relative not in COUNTERPARTS:
        relative = relative.rpartition(".")[0]
    return COUNTERPARTS[relative]


class _HandingOn(logging.Logger):
    """What a logger of this driver is while the names are served.

    Not a handler on the ``driver`` logger: whether a record is made at all is the logger's
    question, and its answer must follow levels that are set on the counterpart at any time.
    """

    @property
    def _counterpart(self) -> logging.Logger:
        """The logger that answers."""
        return logging.getLogger(counterpart(self.name))

    def isEnabledFor(self, level: int) -> bool:
        """Whether the counterpart wants records of a level."""
        return self._counterpart.isEnabledFor(level)

    def getEffectiveLevel(self) -> int:
        """The level of the counterpart."""
        return self._counterpart.getEffectiveLevel()

    def hasHandlers(self) -> bool:
        """Whether a record would get anywhere."""
        return self._counterpart.hasHandlers()

    def handle(self, record: logging.LogRecord) -> None:
        """Have the counterpart filter and handle a record, under its name."""
        answering = self._counterpart
        record.name = answering.name
        answering.handle(record)


class LogBridge:
    """Makes the loggers of this driver hand on, and makes them what they were."""

    def __init__(self) -> None:
        """Nothing is changed yet."""
        self._before: dict[logging.Logger, tuple[type[logging.Logger], Any]] = {}

    def start(self) -> None:
        """Change the loggers; loggers that are made later become children of a changed one."""
        logging.getLogger(PACKAGE)
        self.adopt()

    def adopt(self) -> None:
        """Change the loggers that were made since."""
        for name, logger in list(logging.root.manager.loggerDict.items()):
            mine = name == PACKAGE or name.startswith(PACKAGE + ".")
            if mine and isinstance(logger, logging.Logger) and logger not in self._before:
                self._before[logger] = (type(logger), logger.parent)
                logger.__class__ = _HandingOn
                # For its children that nobody adopted: levels and handlers come from there.
                logger.parent = logging.getLogger(counterpart(name))

    def stop(self) -> None:
        """Undo it."""
        for logger, (kind, parent) in self._before.items():
            logger.__class__ = kind
            logger.parent = parent
        self._before.clear()
        # Forget which levels each logger was asked for: levels are another's again.
        logging.root.setLevel(logging.root.level)
