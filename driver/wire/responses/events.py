"""EVENT, section 4.2.6: what the server tells without being asked, on stream -1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from ..malformed import MalformedFrameError
from ..messages import Response
from ..primitives import read_inet, read_string
from .schema_change import read_schema_change

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from io import BytesIO


def read_node_change(f: BytesIO) -> dict[str, object]:
    """Read a [string] and an [inet]: which change, of which node."""
    return {"change_type": read_string(f), "address": read_inet(f)}


#: How the rest of an event is read, by its type.
_READERS: Mapping[str, Callable[[BytesIO], Mapping[str, object]]] = {
    "TOPOLOGY_CHANGE": read_node_change,
    "STATUS_CHANGE": read_node_change,
    "SCHEMA_CHANGE": read_schema_change,
}

#: What a REGISTER may ask for.
KNOWN_EVENT_TYPES = frozenset(_READERS)


class EventMessage(Response):
    """EVENT: nodes that came, left, went up or down, or a schema that changed.

    Attributes:
        event_type: TOPOLOGY_CHANGE, STATUS_CHANGE or SCHEMA_CHANGE.
        event_args: ``change_type`` and ``address`` (text, port), or what
            :data:`~driver.wire.responses.schema_change.SchemaChange` describes.
    """

    opcode = 0x0C
    name = "EVENT"

    def __init__(self, event_type: str, event_args: Mapping[str, object]) -> None:
        """Keep what the class describes."""
        self.event_type = event_type
        self.event_args = event_args

    @classmethod
    def recv_body(cls, f: BytesIO, *_: object) -> Self:
        """Read <event_type><event_args>.

        Raises:
            MalformedFrameError: there is no such event type.
        """
        event_type = read_string(f)
        reader = _READERS.get(event_type)
        if reader is None:
            raise MalformedFrameError(f"an event of an unknown type: {event_type!r}")
        return cls(event_type, reader(f))
