"""Consistency levels, with the codes that they have on the wire."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping


class ConsistencyLevel(IntEnum):
    """How many replicas must answer before the coordinator does (native_protocol_v5 section 3).

    Attributes:
        value_to_name: the name of each code, ``{1: "ONE", ...}``.
        name_to_value: the level of each name, ``{"ONE": ConsistencyLevel.ONE, ...}``.
    """

    ANY = 0
    ONE = 1
    TWO = 2
    THREE = 3
    QUORUM = 4
    ALL = 5
    LOCAL_QUORUM = 6
    EACH_QUORUM = 7
    SERIAL = 8
    LOCAL_SERIAL = 9
    LOCAL_ONE = 10

    # Annotated without a value, so that they do not become members; assigned below.
    value_to_name: ClassVar[Mapping[int, str]]
    name_to_value: ClassVar[Mapping[str, ConsistencyLevel]]

    @staticmethod
    def is_serial(level: int) -> bool:
        """Whether a level is for the Paxos phase of a conditional statement."""
        return level in (ConsistencyLevel.SERIAL, ConsistencyLevel.LOCAL_SERIAL)


ConsistencyLevel.value_to_name = {level.value: level.name for level in ConsistencyLevel}
ConsistencyLevel.name_to_value = {level.name: level for level in ConsistencyLevel}


def consistency_value_to_name(value: int | None) -> str:
    """The name of a consistency code, for messages; ``"Not Set"`` for None."""
    if value is None:
        return "Not Set"
    return ConsistencyLevel.value_to_name.get(value, f"unknown ({value})")
