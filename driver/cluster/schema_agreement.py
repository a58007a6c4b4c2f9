"""Schema agreement: waiting until the nodes that matter have the same schema."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from ..protocol.errors import OperationTimedOut

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from uuid import UUID

log = logging.getLogger(__name__)

#: Seconds between two questions.
POLL_INTERVAL = 0.2


class SchemaAgreementScope(StrEnum):
    """Which nodes have to agree with the node that is asked.

    Nodes that are not up never count: they read the schema when they start.
    """

    #: Every node.
    CLUSTER = "cluster"
    #: The nodes of the same datacenter.
    DC = "dc"
    #: The nodes of the same rack of the same datacenter.
    RACK = "rack"


@dataclass(frozen=True, slots=True)
class NodeSchema:
    """The schema version of one node, as the node that was asked knows it.

    Attributes:
        version: its schema version; None if nobody knows it.
        datacenter: where the node is.
        rack: the same.
        is_up: whether it counts.
        name: what logs call it.
    """

    version: UUID | str | None
    datacenter: str | None
    rack: str | None
    is_up: bool
    name: str = ""


def check_scope(scope: str) -> SchemaAgreementScope:
    """The scope with a name.

    Raises:
        ValueError: there is no such scope.
    """
    try:
        return SchemaAgreementScope(scope)
    except ValueError:
        known = ", ".join(repr(known.value) for known in SchemaAgreementScope)
        raise ValueError(f"{scope!r} is no scope of schema agreement; there are {known}") from None


def schema_versions(
    nodes: Sequence[NodeSchema], scope: SchemaAgreementScope
) -> dict[UUID | str, list[str]]:
    """The nodes that have each schema version, among those that are up and in the scope.

    Args:
        nodes: first the node that was asked, which always counts, then the others.
        scope: where nodes count, as seen from the first.
    """
    versions: dict[UUID | str, list[str]] = {}
    for node in _counting(nodes, scope):
        if node.version is not None:
            versions.setdefault(node.version, []).append(node.name)
    return versions


def _counting(nodes: Sequence[NodeSchema], scope: SchemaAgreementScope) -> Iterable[NodeSchema]:
    for index, node in enumerate(nodes):
        same_dc = node.datacenter == nodes[0].datacenter
        in_scope = (
            scope is SchemaAgreementScope.CLUSTER
            or (scope is SchemaAgreementScope.DC and same_dc)
            or (scope is SchemaAgreementScope.RACK and same_dc and node.rack == nodes[0].rack)
        )
        if index == 0 or (node.is_up and in_scope):
            yield node


async def wait_for_schema_agreement(
    ask_versions: Callable[[], Awaitable[Sequence[NodeSchema]]],
    wait_time: float,
    scope: str = SchemaAgreementScope.CLUSTER,
) -> bool:
    """Ask for the schema versions until there is only one, or the time is over.

    Args:
        ask_versions: gives what one node knows of itself, first, and of the others.
        wait_time: seconds; zero or less means not to ask at all.
        scope: ``cluster``, ``dc`` or ``rack``: which nodes have to agree.

    Returns:
        Whether the nodes agree; True if nobody was to be asked.

    Raises:
        ValueError: there is no such scope; nothing was asked then.
        DriverException: what asking raised, timeouts apart, after which it is asked again.
    """
    where = check_scope(scope)
    if wait_time <= 0:
        return True
    loop = asyncio.get_running_loop()
    deadline = loop.time() + wait_time
    versions: dict[UUID | str, list[str]] = {}
    while True:
        try:
            async with asyncio.timeout_at(deadline):
                versions = schema_versions(await ask_versions(), where)
        except (TimeoutError, OperationTimedOut) as late:
            log.debug("A question for schema versions was not answered in time: %s", late)
        else:
            if len(versions) <= 1:
                return True
            log.debug("Schemas mismatched, trying again: %s", versions)
        left = deadline - loop.time()
        if left <= 0:
            break
        await asyncio.sleep(min(POLL_INTERVAL, left))
    log.warning("Nodes do not agree on the schema after %s seconds: %s", wait_time, versions)
    return False
