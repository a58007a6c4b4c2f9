"""What a session keeps prepared: the cache of ``Session.prepare``, and texts of many executions."""

from __future__ import annotations

import asyncio
import copy
import logging
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from ..protocol.errors import RequestValidationException
from ..protocol.version import ProtocolVersion
from ..statements.bound import BoundStatement
from ..statements.placeholders import MarkedText, with_markers
from ..statements.simple import SimpleStatement
from ..types import DecimalType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..execution.options import RequestOptions
    from ..policies.preparation import PreparationPolicy
    from ..statements.base import Statement
    from ..statements.prepared import PreparedStatement
    from ..types.base import CQLType
    from .session_core import SessionCore

log = logging.getLogger(__name__)

_Key: TypeAlias = tuple[str, str | None]
_Parameters: TypeAlias = "Sequence[Any] | dict[str, Any] | None"
_Value = TypeVar("_Value")


class _Recent(Generic[_Value]):
    """What was used most recently, by text and keyspace; any thread."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._values: OrderedDict[_Key, _Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: _Key) -> _Value | None:
        """What is kept, which is used by that."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: _Key, value: _Value) -> None:
        """Keep a value, and let that go which was not used for longest."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > self._capacity:
                self._values.popitem(last=False)

    def clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._values.clear()

    def __len__(self) -> int:
        return len(self._values)


@dataclass(slots=True)
class _Text:
    """A text that is executed with parameters.

    Attributes:
        marked: the text with bind markers; None if it stays as it is.
        prepared: what it became; None before.
        executions: how often it was executed; two threads may count one.
        is_asked: whether it is being prepared.
    """

    marked: MarkedText | None
    prepared: PreparedStatement | None = None
    executions: int = 0
    is_asked: bool = False


class PreparedCache:
    """The prepared statements that a session keeps, by text and keyspace.

    Attributes:
        statements: those that ``prepare`` gave.
        texts: the texts that were executed with parameters.
    """

    def __init__(self, core: SessionCore, policy: PreparationPolicy) -> None:
        """Keep none yet."""
        self._core = core
        self._policy = policy
        self.statements: _Recent[PreparedStatement] = _Recent(policy.capacity)
        self.texts: _Recent[_Text] = _Recent(policy.capacity)
        self._asking: dict[_Key, asyncio.Task[PreparedStatement]] = {}
        self._changes = core.cluster.schema_changes

    def _forget_what_changed(self) -> None:
        """Keep nothing from before a change of the schema, which may have given it other types."""
        changes = self._core.cluster.schema_changes
        if changes != self._changes:
            self._changes = changes
            self.statements.clear()
            self.texts.clear()

    async def prepare(self, query: str, keyspace: str | None = None) -> PreparedStatement:
        """A prepared statement of the caller's own; those who ask at once share one PREPARE.

        Raises:
            DriverException: as of ``SessionCore.prepare``.
        """
        core = self._core
        key = (query, keyspace or core.keyspace)
        self._forget_what_changed()
        found = self.statements.get(key)
        if found is None or found.outdated:
            asking = self._asking.get(key)
            if asking is None:
                asking = core.loop.create_task(self._ask(key, query, keyspace))
                self._asking[key] = asking
                asking.add_done_callback(lambda _: self._asking.pop(key))
            # Shielded: that one of them is cancelled is nothing to the others.
            found = await asyncio.shield(asking)
        # Whoever sets a default of it, such as the consistency level, sets it for himself.
        own = copy.copy(found)
        core.cluster.prepared.add(own, key[1])
        return own

    async def _ask(self, key: _Key, query: str, keyspace: str | None) -> PreparedStatement:
        """Have it prepared, and kept before anybody could find that nobody asks any more."""
        found = await self._core.prepare_anew(query, None, keyspace)
        self.statements.put(key, found)
        return found

    def bound(
        self, query: Statement, parameters: _Parameters, more: RequestOptions | None
    ) -> tuple[Statement, _Parameters]:
        """A text with its parameters bound, if it is prepared; otherwise both as they are.

        Called for each request with parameters, on its thread; it never waits.
        """
        if type(query) is not SimpleStatement or not parameters:
            return query, parameters
        names_keyspace = ProtocolVersion.uses_keyspace_flag(self._core.cluster.protocol_version)
        given: str | None = (more or {}).get("keyspace") or query.keyspace
        keyspace = given if names_keyspace else None
        self._forget_what_changed()
        text = self._counted(query.query_string, keyspace or self._core.keyspace)
        marked, prepared = text.marked, text.prepared
        if marked is None:
            return query, parameters
        if prepared is not None and prepared.outdated:
            prepared = text.prepared = None
        if prepared is None:
            if not text.is_asked and self._policy.should_prepare(
                query.query_string, text.executions
            ):
                text.is_asked = True
                self._core.cluster.background.spawn(self._prepare, text, marked, keyspace)
            return query, parameters
        values = marked.values(parameters)
        if values is None:
            return query, parameters
        try:
            return _bound_like(query, prepared, values), None
        except (TypeError, ValueError):
            # Literals can say more: text for a timestamp. Or the server says what is wrong.
            return query, parameters

    def _counted(self, query: str, keyspace: str | None) -> _Text:
        text = self.texts.get((query, keyspace))
        if text is None:
            text = _Text(with_markers(query))
            self.texts.put((query, keyspace), text)
        text.executions += 1
        return text

    async def _prepare(self, text: _Text, marked: MarkedText, keyspace: str | None) -> None:
        """Prepare a text; one that the server refuses stays as it is."""
        try:
            prepared = await self.prepare(marked.query, keyspace)
            if _has_decimals(prepared):
                text.marked = None
            else:
                text.prepared = prepared
        except RequestValidationException as error:
            text.marked = None
            log.debug("A text stays as it is, for it cannot be prepared: %s", error)
        except Exception as error:  # noqa: BLE001  (nobody waits for it; it goes on without)
            text.executions = 0
            log.debug("Cannot prepare a text now: %s", error)
        finally:
            text.is_asked = False


def _bound_like(
    query: SimpleStatement, prepared: PreparedStatement, values: Sequence[Any]
) -> BoundStatement:
    """A bound statement with the options of a simple one."""
    bound = BoundStatement(prepared)
    bound.consistency_level = query.consistency_level
    bound.serial_consistency_level = query.serial_consistency_level
    bound.retry_policy = query.retry_policy
    bound.fetch_size = query.fetch_size
    bound.custom_payload = query.custom_payload
    bound.is_idempotent = query.is_idempotent
    bound.bind(values)
    if query.routing_key is not None:
        bound.routing_key = query.routing_key
    return bound


def _has_decimals(prepared: PreparedStatement) -> bool:
    """Whether a value may be a decimal: a float's literal is another one than its exact value."""
    return any(map(_is_of_decimals, (column.type for column in prepared.column_metadata)))


def _is_of_decimals(cqltype: type[CQLType]) -> bool:
    return issubclass(cqltype, DecimalType) or any(map(_is_of_decimals, cqltype.subtypes))
