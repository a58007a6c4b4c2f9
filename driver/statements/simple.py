"""Simple statements: CQL text, with parameters written into it as literals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import FETCH_SIZE_UNSET, FetchSizeUnset, Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..policies.retry import RetryPolicy
    from ..types.literals import Encoder

#: What can be iterated over and is no sequence of parameters: a set has no order.
_NO_PARAMETERS = (str, bytes, set, frozenset)


class SimpleStatement(Statement):
    """A statement of CQL text, parsed by the server each time."""

    def __init__(
        self,
        query_string: str,
        retry_policy: RetryPolicy | None = None,
        consistency_level: int | None = None,
        routing_key: bytes | str | Sequence[bytes] | None = None,
        serial_consistency_level: int | None = None,
        fetch_size: int | FetchSizeUnset | None = FETCH_SIZE_UNSET,
        keyspace: str | None = None,
        custom_payload: dict[str, bytes | None] | None = None,
        is_idempotent: bool = False,
        table: str | None = None,
    ) -> None:
        """Wrap a text; ``%s`` and ``%(name)s`` in it stand for parameters."""
        super().__init__(
            retry_policy,
            consistency_level,
            routing_key,
            serial_consistency_level,
            fetch_size,
            keyspace,
            custom_payload,
            is_idempotent,
            table,
        )
        self._query_string = query_string

    @property
    def query_string(self) -> str:
        """The text, parameters not yet written in."""
        return self._query_string

    def __repr__(self) -> str:
        """Text and consistency level."""
        return (
            f'<{type(self).__name__} query="{self.query_string}", '
            f"consistency={self._consistency_name()}>"
        )


def bind_params(query: str, params: Sequence[Any] | dict[str, Any], encoder: Encoder) -> str:
    """Write parameters into a text as literals.

    Args:
        query: text with a ``%s`` for each of a sequence, or ``%(name)s`` for a mapping.
        params: the values.
        encoder: what writes a literal.

    Returns:
        CQL text without placeholders.

    Raises:
        TypeError: a sequence is longer or shorter than the placeholders, or it is none but a text,
            a set or a single value.
        KeyError: a mapping lacks a name.
    """
    if isinstance(params, _NO_PARAMETERS) or not hasattr(params, "__iter__"):
        raise TypeError(f"parameters are a tuple, a list or a dict, not {params!r}: write (x,)")
    encode = encoder.cql_encode_all_types
    if isinstance(params, dict):
        named = {name: encode(value) for name, value in params.items()}
        try:
            return query % named
        except KeyError as missing:
            raise KeyError(f"the dict has no value for %({missing.args[0]})s") from None
    literals = tuple(encode(value) for value in params)
    try:
        return query % literals
    except TypeError as error:
        hint = ", and ? is for statements that session.prepare made" if "?" in query else ""
        raise TypeError(
            f"{error}: the text needs a %s for each of {len(literals)} parameters{hint}"
        ) from None
