"""Preparation: which texts a session prepares by itself, and how many statements it keeps."""

from __future__ import annotations


class PreparationPolicy:
    """Keep prepared statements, and prepare texts that are executed again and again.

    Where a cluster has such a policy, ``Session.prepare`` answers from what the session keeps, and
    a text that is executed with parameters is prepared beside the requests: none waits for it, and
    from then on values are bound in place of literals. Subclass to choose the texts.

    Attributes:
        capacity: prepared statements that a session keeps, by text and keyspace, and as many texts
            that it counts; those that were not used for longest go first.
        after: executions of a text with parameters before it is prepared; None for never, so that
            there is only the cache of ``Session.prepare``.
    """

    def __init__(self, capacity: int = 1000, after: int | None = 2) -> None:
        """Set both.

        Raises:
            ValueError: one of them is less than 1.
        """
        if capacity < 1:
            raise ValueError(f"capacity must be 1 or more, got {capacity}")
        if after is not None and after < 1:
            raise ValueError(f"after must be 1 or more, or None, got {after}")
        self.capacity = capacity
        self.after = after

    def should_prepare(self, query: str, executions: int) -> bool:
        """Whether to prepare a text.

        Args:
            query: the text, with ``%s`` or ``%(name)s`` where values go.
            executions: how often it was executed by the session, this one included.
        """
        return self.after is not None and executions >= self.after
