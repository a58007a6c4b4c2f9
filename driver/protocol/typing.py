"""Names for types that only applications know, for signatures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

#: A value of a column or of a parameter, of whatever CQL type: perhaps of a class of the user's.
CqlValue: TypeAlias = Any

#: The values of a statement's markers, in their order or by name; None for a statement without.
Parameters: TypeAlias = Sequence[CqlValue] | dict[str, CqlValue] | None

#: What a row factory makes of a page: a list of rows, unless a factory of the user's decides else.
Rows: TypeAlias = Any

#: The position of a key on the ring: an int, or bytes where the partitioner keeps the order.
TokenValue: TypeAlias = Any
