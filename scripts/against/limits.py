"""What a step takes at least: C that does it and nothing else, for what is not as aimed at.

The values and bytes are those that all drivers get, and so are the answers (`limits.c`, which
`sides` compiles).
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import operations
from .operations import Operation
from .sides import LIMITS, MODULE

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What `scalars` calls the types of CQL.
KINDS = {"int": b"i", "float": b"f", "double": b"d"}


class Limits:
    """The steps that C was written for."""

    name = LIMITS

    def modules(self) -> dict[str, str]:
        """As `Driver` says."""
        return operations.files_of("", [MODULE])

    def operations(self) -> list[Operation]:
        """All of them; the names are those of the drivers' operations."""
        from .ours import Ours  # noqa: PLC0415  (only to read what was recorded)

        found, driver, limits = [], Ours(), import_module(MODULE)
        kinds = b"".join(
            KINDS[column.type.typename]
            for column in driver.prepared("insert_mixed").column_metadata
        )
        found.append(
            Operation(
                "bind ten scalars", partial(limits.scalars, tuple(operations.SCALARS), kinds), hexes
            )
        )
        for size in operations.DIMENSIONS:
            (vector,) = operations.vector_of(driver, size)
            call = partial(limits.vector, vector)
            found.append(Operation(f"bind a vector of {size:,} floats", call, lambda x: [x.hex()]))
        for name, bound in operations.bound_keys(driver):
            key = limits.Key(
                [bound.values[i] for i in bound.prepared_statement.routing_key_indexes]
            )
            found.append(Operation(name, operations.key_of(key), bytes.hex))
        for kind in ("int", "text"):
            body = operations.grid(kind)
            position = len(operations.rows_body([kind] * 10, []))
            call = partial(getattr(limits, f"{kind}s"), body, position, 1000, 10)
            found.append(Operation(f"decode 1,000 x 10 {kind}s", call, rows))
        return found


def hexes(values: Sequence[bytes]) -> list[str]:
    """Values in hexadecimal."""
    return [value.hex() for value in values]


def rows(found: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Names and rows, as of a decoded message."""
    return [[f"c{i}" for i in range(10)], operations.recordings.plain(found)]
