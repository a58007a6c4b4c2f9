"""Refreshing: nodes or parts of the schema are read again because an application asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..protocol.kinds import SchemaTargetType

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from .core import ClusterCore

#: None, or an awaitable of it.
Done = TypeVar("Done")


async def refresh_schema(
    core: ClusterCore,
    max_schema_agreement_wait: float | None = None,
    **target: Any,  # noqa: ANN401  (names of parts)
) -> None:
    """Read the schema, or the part that ``target`` names as a SCHEMA_CHANGE does.

    Raises:
        ConnectionException: there is no control connection, or it failed meanwhile.
        OperationTimedOut: the node did not answer in time.
    """
    await core.control_connection.refresh_schema(
        schema_agreement_wait=max_schema_agreement_wait, force=True, **target
    )


async def refresh_nodes(core: ClusterCore, *, force_token_rebuild: bool = False) -> None:
    """Read the list of nodes and the ring.

    Raises:
        ConnectionException: there is no control connection, or it failed meanwhile.
        OperationTimedOut: the node did not answer in time.
    """
    await core.control_connection.refresh_nodes(force_token_rebuild=force_token_rebuild)


class Refreshing(Generic[Done]):
    """The ``refresh_...`` methods of clusters; those of ``driver.aio`` are to be awaited.

    Each waits until the nodes agree on the schema, ``max_schema_agreement_wait`` seconds at most:
    by default those of the options, 0 for not at all. Each raises a DriverException that says why,
    if nothing was read.
    """

    core: ClusterCore

    def _perform(self, work: Coroutine[Any, Any, None]) -> Done:
        """Have it done: wait for it, or hand it to the caller to be awaited."""
        raise NotImplementedError

    def refresh_nodes(self, force_token_rebuild: bool = False) -> Done:
        """Read the list of nodes, and the ring if it changed, or in any case."""
        return self._perform(refresh_nodes(self.core, force_token_rebuild=force_token_rebuild))

    def refresh_schema_metadata(self, max_schema_agreement_wait: float | None = None) -> Done:
        """Read the whole schema."""
        return self._perform(refresh_schema(self.core, max_schema_agreement_wait))

    def refresh_keyspace_metadata(
        self, keyspace: str, max_schema_agreement_wait: float | None = None
    ) -> Done:
        """Read a keyspace without what is in it."""
        return self._refresh(
            SchemaTargetType.KEYSPACE, max_schema_agreement_wait, keyspace=keyspace
        )

    def refresh_table_metadata(
        self, keyspace: str, table: str, max_schema_agreement_wait: float | None = None
    ) -> Done:
        """Read a table, its indexes, triggers and views."""
        return self._refresh(
            SchemaTargetType.TABLE, max_schema_agreement_wait, keyspace=keyspace, table=table
        )

    def refresh_materialized_view_metadata(
        self, keyspace: str, view: str, max_schema_agreement_wait: float | None = None
    ) -> Done:
        """Read a materialized view."""
        return self.refresh_table_metadata(keyspace, view, max_schema_agreement_wait)

    def refresh_user_type_metadata(
        self, keyspace: str, user_type: str, max_schema_agreement_wait: float | None = None
    ) -> Done:
        """Read a user-defined type."""
        return self._refresh(
            SchemaTargetType.TYPE, max_schema_agreement_wait, keyspace=keyspace, type=user_type
        )

    def refresh_user_function_metadata(
        self, keyspace: str, function: object, max_schema_agreement_wait: float | None = None
    ) -> Done:
        """Read a function, given by a ``UserFunctionDescriptor``."""
        return self._refresh(
            SchemaTargetType.FUNCTION,
            max_schema_agreement_wait,
            keyspace=keyspace,
            function=function,
        )

    def refresh_user_aggregate_metadata(
        self, keyspace: str, aggregate: object, max_schema_agreement_wait: float | None = None
    ) -> Done:
        """Read an aggregate, given by a ``UserAggregateDescriptor``."""
        return self._refresh(
            SchemaTargetType.AGGREGATE,
            max_schema_agreement_wait,
            keyspace=keyspace,
            aggregate=aggregate,
        )

    def _refresh(self, target_type: str, wait: float | None, **target: object) -> Done:
        return self._perform(refresh_schema(self.core, wait, target_type=target_type, **target))
