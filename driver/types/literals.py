"""CQL literals: Python values as the text of CQL, for statements with positional parameters.

No type is known here, only the value; a prepared statement is the better way for anything that a
literal cannot say. The choice is by the exact class of a value, in ``Encoder.mapping``, which an
application may extend; subclasses follow their first base that is in it.
"""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ..protocol.unset import UNSET_VALUE, UnsetType
from ..values.date import Date
from ..values.duration import Duration
from ..values.ordered_map import OrderedMap, OrderedMapSerializedKey
from ..values.sorted_set import SortedSet
from ..values.time import Time
from .temporal import EPOCH_OFFSET_DAYS, ms_timestamp_from_datetime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def cql_quote(term: object) -> str:
    """Text between single quotes, which are doubled inside."""
    # Not str() of a str: a subclass may say anything there, an Enum its own name.
    text = term if isinstance(term, str) else str(term)
    return "'" + text.replace("'", "''") + "'"


class ValueSequence(list[Any]):
    """Values to be written as ``(a, b, c)``, for ``WHERE x IN %s``."""


class Encoder:
    """Writes Python values as CQL literals.

    Attributes:
        mapping: the function for each class of values; change it to write a class differently.
    """

    def __init__(self) -> None:
        """Start with the classes that CQL types have in Python."""
        self.mapping: dict[type, Callable[[Any], str]] = {
            type(None): self.cql_encode_none,
            bool: self.cql_encode_object,
            int: self.cql_encode_int,
            float: self.cql_encode_float,
            Decimal: self.cql_encode_decimal,
            str: self.cql_encode_str,
            bytes: self.cql_encode_bytes,
            bytearray: self.cql_encode_bytes,
            memoryview: self.cql_encode_bytes,
            UUID: self.cql_encode_object,
            IPv4Address: self.cql_encode_ipaddress,
            IPv6Address: self.cql_encode_ipaddress,
            dt.datetime: self.cql_encode_datetime,
            dt.date: self.cql_encode_date,
            dt.time: self.cql_encode_time,
            Date: self.cql_encode_date_ext,
            Time: self.cql_encode_time,
            Duration: self.cql_encode_object,
            dict: self.cql_encode_map_collection,
            OrderedMap: self.cql_encode_map_collection,
            OrderedMapSerializedKey: self.cql_encode_map_collection,
            list: self.cql_encode_list_collection,
            tuple: self.cql_encode_list_collection,
            set: self.cql_encode_set_collection,
            frozenset: self.cql_encode_set_collection,
            SortedSet: self.cql_encode_set_collection,
            ValueSequence: self.cql_encode_sequence,
            UnsetType: self.cql_encode_unset,
        }

    def cql_encode_all_types(self, value: object) -> str:
        """The literal of a value of any class in the mapping.

        Raises:
            TypeError: neither the value's class nor a base of it is in the mapping.
            ValueError: a class that has a literal, and a value that has none (UNSET).
        """
        for base in type(value).__mro__:
            encode = self.mapping.get(base)
            if encode is not None:
                return encode(value)
        return self.cql_encode_unknown(value)

    def cql_encode_unknown(self, value: object) -> str:
        """The literal of a value whose class, and no base of it, is in the mapping: none.

        Raises:
            TypeError: always.
        """
        raise TypeError(f"a {type(value).__name__} has no CQL literal: {value!r}")

    def cql_encode_none(self, _value: None) -> str:
        """NULL."""
        return "NULL"

    def cql_encode_unset(self, _value: UnsetType) -> str:
        """Nothing: CQL has no word for it.

        Raises:
            ValueError: always.
        """
        raise ValueError(f"{UNSET_VALUE} has no CQL literal; use a prepared statement")

    def cql_encode_object(self, value: object) -> str:
        """As ``str`` has it."""
        return str(value)

    def cql_encode_int(self, value: int) -> str:
        """In decimal."""
        # Not str(): an Enum of ints says its own name there.
        return int.__repr__(value)

    def cql_encode_float(self, value: float) -> str:
        """The shortest decimal that reads back the same; NaN and Infinity as CQL spells them."""
        if math.isfinite(value):
            return repr(float(value))
        if math.isnan(value):
            return "NaN"
        return "Infinity" if value > 0 else "-Infinity"

    def cql_encode_decimal(self, value: Decimal) -> str:
        """Every digit, the scale included."""
        return str(value)

    def cql_encode_str(self, value: str) -> str:
        """In single quotes."""
        return cql_quote(value)

    def cql_encode_bytes(self, value: bytes | bytearray | memoryview) -> str:
        """In hexadecimal, ``0xcafe``."""
        return "0x" + bytes(value).hex()

    def cql_encode_ipaddress(self, value: IPv4Address | IPv6Address) -> str:
        """In single quotes."""
        return cql_quote(value.compressed)

    def cql_encode_datetime(self, value: dt.datetime) -> str:
        """Milliseconds since the epoch, which no time zone of the server changes."""
        return str(ms_timestamp_from_datetime(value))

    def cql_encode_date(self, value: dt.date) -> str:
        """``'2024-02-29'``."""
        return cql_quote(value.isoformat())

    def cql_encode_date_ext(self, value: Date) -> str:
        """The number on the wire, for a ``Date`` may lie where ISO 8601 has no text."""
        return str(value.days_from_epoch + EPOCH_OFFSET_DAYS)

    def cql_encode_time(self, value: dt.time | Time) -> str:
        """``'12:34:56.789000000'``."""
        return cql_quote(value if isinstance(value, Time) else Time(value))

    def cql_encode_sequence(self, value: Iterable[Any]) -> str:
        """``(1, 2, 3)``."""
        return f"({self._join(value)})"

    def cql_encode_tuple(self, value: Iterable[Any]) -> str:
        """``(1, 'a')``: put it in the mapping for tuple if tuples are CQL tuples, not lists."""
        return f"({self._join(value)})"

    def cql_encode_list_collection(self, value: Iterable[Any]) -> str:
        """``[1, 2, 3]``."""
        return f"[{self._join(value)}]"

    def cql_encode_set_collection(self, value: Iterable[Any]) -> str:
        """``{1, 2, 3}``."""
        return f"{{{self._join(value)}}}"

    def cql_encode_map_collection(self, value: Mapping[Any, Any]) -> str:
        """``{'a': 1}``."""
        encode = self.cql_encode_all_types
        items = ", ".join(f"{encode(key)}: {encode(item)}" for key, item in value.items())
        return f"{{{items}}}"

    def _join(self, values: Iterable[Any]) -> str:
        return ", ".join(map(self.cql_encode_all_types, values))
