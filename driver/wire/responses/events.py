"""EVENT, section 4.2.6: what the server tells without being asked, on stream -1.

What changed in the schema is written there as in a RESULT (4.2.5.5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self, TypeAlias

from ...protocol.kinds import SchemaTargetType
from ..malformed import MalformedFrameError
from ..messages import Response
from ..primitives import read_inet, read_string, read_stringlist

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from io import BytesIO


class SignatureDescriptor(NamedTuple):
    """A function or aggregate: several may share a name.

    Attributes:
        name: without its arguments.
        argument_types: as CQL.
    """

    name: str
    argument_types: tuple[str, ...]

    @property
    def signature(self) -> str:
        """The name with its argument types, such as ``avg(int,bigint)``."""
        return f"{self.name}({','.join(self.argument_types)})"


#: ``change_type``, ``target_type``, ``keyspace``; and unless that is what changed, the target in
#: lower case (``table``, ``type``, ``function``, ``aggregate``) with its name.
SchemaChange: TypeAlias = "dict[str, str | SignatureDescriptor]"

_WITH_SIGNATURE = (SchemaTargetType.FUNCTION, SchemaTargetType.AGGREGATE)


def read_schema_change(f: BytesIO) -> SchemaChange:
    """Read <change_type><target><options>.

    Raises:
        MalformedFrameError: there is no such target.
    """
    change_type = read_string(f)
    target = read_string(f)
    if target not in SchemaTargetType.__members__:
        raise MalformedFrameError(f"a schema change of an unknown target: {target!r}")
    event: SchemaChange = {
        "change_type": change_type,
        "target_type": target,
        "keyspace": read_string(f),
    }
    if target == SchemaTargetType.KEYSPACE:
        return event
    name = read_string(f)
    signature = target in _WITH_SIGNATURE
    event[target.lower()] = (
        SignatureDescriptor(name, tuple(read_stringlist(f))) if signature else name
    )
    return event


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
            :data:`~driver.wire.responses.events.SchemaChange` describes.
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
