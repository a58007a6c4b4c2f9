"""What changed in the schema: the same in a RESULT (4.2.5.5) and in an EVENT (4.2.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ...protocol.kinds import SchemaTargetType
from ..malformed import MalformedFrameError
from ..primitives import read_string, read_stringlist

if TYPE_CHECKING:
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
