"""User-defined functions and aggregates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .part import SchemaPart
from .quoting import protect_name, protect_value, qualified

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def format_signature(name: str, argument_types: Sequence[str]) -> str:
    """A name with argument types, such as ``avg(int,bigint)``: several parts may share a name."""
    return f"{name}({','.join(argument_types)})"


def comparable_type(cql_type: str, keyspace: str) -> str:
    """A type without what rows and events write differently, and no two functions differ in alone.

    Rows have ``list<frozen<"A b">>`` where events have ``list<frozen<ks.A b>>``; frozen arguments
    stand with and without ``frozen``, depending on the server's version.
    """
    text = re.sub(rf"[\" ]|(?<!\w){re.escape(keyspace)}\.", "", cql_type)
    while (start := text.find("frozen<")) >= 0:
        end = _closing(text, start + len("frozen"))
        text = text[:start] + text[start + len("frozen<") : end] + text[end + 1 :]
    return text


def _closing(text: str, opening: int) -> int:
    """Where the bracket closes that opens at a position; the end of the text if it does not."""
    depth = 0
    for position in range(opening, len(text)):
        depth += {"<": 1, ">": -1}.get(text[position], 0)
        if depth == 0:
            return position
    return len(text)


def same_types(some: Iterable[str] | None, others: Iterable[str], keyspace: str) -> bool:
    """Whether two lists of argument types of functions of a keyspace mean the same."""
    pairs = ([comparable_type(t, keyspace) for t in types or ()] for types in (some, others))
    return len({tuple(pair) for pair in pairs}) == 1


def without_outer_frozen(cql_type: str) -> str:
    """A type as functions take it: the server freezes arguments, and refuses to be told so."""
    return cql_type[len("frozen<") : -1] if cql_type.startswith("frozen<") else cql_type


def _join(parts: list[str], formatted: bool) -> str:
    return ("\n    " if formatted else " ").join(parts)


@dataclass(eq=False, repr=False)
class Function(SchemaPart):
    """A user-defined function.

    Attributes:
        keyspace: the keyspace it lives in.
        name: its name.
        argument_types: types of its arguments, as CQL text.
        argument_names: their names.
        return_type: the type of its result, as CQL text.
        language: what it is written in.
        body: its source.
        called_on_null_input: it is called even if an argument is null.
        deterministic: it gives the same result for the same arguments (DataStax Enterprise).
        monotonic: its result is ordered as its arguments are (DataStax Enterprise).
        monotonic_on: the arguments for which that holds; empty for all.
    """

    _LABEL = "Function {0.keyspace}.{0.key}"

    keyspace: str
    name: str
    argument_types: Sequence[str]
    argument_names: Sequence[str]
    return_type: str
    language: str
    body: str
    called_on_null_input: bool
    deterministic: bool = False
    monotonic: bool = False
    monotonic_on: Sequence[str] = ()

    @property
    def signature(self) -> str:
        """Name and argument types: the key in ``KeyspaceMetadata.functions``."""
        return format_signature(self.name, self.argument_types)

    key = signature

    def as_cql_query(self, formatted: bool = False) -> str:
        """``CREATE FUNCTION``."""
        arguments = ", ".join(
            f"{protect_name(name)} {without_outer_frozen(cql_type)}"
            for name, cql_type in zip(self.argument_names, self.argument_types, strict=False)
        )
        parts = [
            f"CREATE FUNCTION {qualified(self.keyspace, self.name)}({arguments})",
            f"{'CALLED' if self.called_on_null_input else 'RETURNS NULL'} ON NULL INPUT",
            f"RETURNS {without_outer_frozen(self.return_type)}",
        ]
        if self.deterministic:
            parts.append("DETERMINISTIC")
        if self.monotonic:
            # The grammar has one name there: several stand for all of them.
            one = len(self.monotonic_on) == 1 != len(self.argument_names)
            parts.append(
                f"MONOTONIC ON {protect_name(self.monotonic_on[0])}" if one else "MONOTONIC"
            )
        # Dollars cannot be doubled inside $$, quotes can; one at the end would close it too soon.
        has_dollars = "$$" in self.body or self.body.endswith("$")
        body = protect_value(self.body) if has_dollars else f"$${self.body}$$"
        parts += [f"LANGUAGE {self.language}", f"AS {body}"]
        return _join(parts, formatted)


@dataclass(eq=False, repr=False)
class Aggregate(SchemaPart):
    """A user-defined aggregate.

    Attributes:
        keyspace: the keyspace it lives in, and its functions too.
        name: its name.
        argument_types: types of its arguments, as CQL text.
        state_func: the function that takes the state and a row's arguments and returns the state.
        state_type: the type of the state, as CQL text.
        final_func: the function from the last state to the result; None if that is the result.
        initial_condition: the first state, a CQL literal as text; None for null.
        return_type: the type of the result, as CQL text.
        deterministic: same rows, same result (DataStax Enterprise).
        reduce_func: the function that joins two states (ScyllaDB); None if there is none.
    """

    _LABEL = "Aggregate {0.keyspace}.{0.key}"

    keyspace: str
    name: str
    argument_types: Sequence[str]
    state_func: str
    state_type: str
    final_func: str | None
    initial_condition: str | None
    return_type: str
    deterministic: bool = False
    reduce_func: str | None = None

    @property
    def signature(self) -> str:
        """Name and argument types: the key in ``KeyspaceMetadata.aggregates``."""
        return format_signature(self.name, self.argument_types)

    key = signature

    def as_cql_query(self, formatted: bool = False) -> str:
        """``CREATE AGGREGATE``."""
        types = ", ".join(map(without_outer_frozen, self.argument_types))
        parts = [
            f"CREATE AGGREGATE {qualified(self.keyspace, self.name)}({types})",
            f"SFUNC {protect_name(self.state_func)}",
            f"STYPE {without_outer_frozen(self.state_type)}",
        ]
        if self.reduce_func:
            parts.append(f"REDUCEFUNC {protect_name(self.reduce_func)}")
        if self.final_func:
            parts.append(f"FINALFUNC {protect_name(self.final_func)}")
        if self.initial_condition is not None:
            parts.append(f"INITCOND {self.initial_condition}")
        if self.deterministic:
            parts.append("DETERMINISTIC")
        return _join(parts, formatted)
