"""Records: tuple and user-defined type. Parts with 32-bit lengths, one for each field."""

# ruff: noqa: D102  (overrides of the class methods that CQLType documents)

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from ..protocol.errors import MarshalException
from ..protocol.limits import limits
from ..values.named_tuple import named_tuple_of
from .base import CQLType, specialise
from .framing import pack_part, read_part
from .type_string import quote_identifier

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..protocol.typing import CqlValue
    from .type_string import Argument

#: Bytes that a field takes in a tuple, even if it is None.
_POINTER: Final = 8


class TupleType(CQLType):
    """tuple: a tuple in Python, with None for fields that are null or missing."""

    typename = "tuple"
    option_code = 0x0031
    arrow = "+s"
    num_subtypes = None

    @classmethod
    def serialize(cls, value: Sequence[Any], protocol_version: int) -> bytes:
        if isinstance(value, str | bytes) or not isinstance(value, Sequence):
            raise TypeError(f"{cls.typename} takes a sequence, not {type(value).__name__}")
        return cls._pack_fields(value, protocol_version)

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> CqlValue:
        return tuple(cls._fields(data, protocol_version))

    @classmethod
    def cql_parameterized_type(cls) -> str:
        """A tuple is always frozen."""
        return f"frozen<{super().cql_parameterized_type()}>"

    @classmethod
    def _pack_fields(cls, values: Sequence[Any], protocol_version: int) -> bytes:
        """The fields that are given; the server takes missing ones at the end as null."""
        if len(values) > len(cls.subtypes):
            raise ValueError(
                f"{cls.typename} has {len(cls.subtypes)} fields, got {len(values)}: {values!r}"
            )
        pairs = zip(cls.subtypes, values, strict=False)
        return b"".join(pack_part(subtype, value, protocol_version) for subtype, value in pairs)

    @classmethod
    def _fields(cls, data: bytes, protocol_version: int) -> list[Any]:
        """A value for each field. Bytes behind the last are fields added since, and ignored."""
        values: list[Any] = []
        offset, end = 0, len(data)
        for subtype in cls.subtypes:
            if offset == end:
                break
            part, offset = read_part(data, offset, cls.typename)
            values.append(subtype.from_binary(part, protocol_version))
        else:
            return values
        check_growth(cls, end)
        missing = cls.subtypes[len(values) :]
        return values + [subtype.from_binary(None, protocol_version) for subtype in missing]


class UserType(TupleType):
    """A user-defined type: a namedtuple in Python, or an instance of a registered class.

    Takes a sequence in the order of the fields, a mapping by field name, or an object with the
    fields as attributes.

    Attributes:
        keyspace: where the type is defined.
        typename: the name of the type.
        fieldnames: names of the fields.
        mapped_class: called with the fields as keywords for each decoded value; None for
            ``tuple_type``.
        tuple_type: the namedtuple class. Fields whose names Python does not take are called
            ``field_<position>_``.
    """

    typename = "org.apache.cassandra.db.marshal.UserType"
    option_code = 0x0030
    keyspace: ClassVar[str] = ""
    mapped_class: ClassVar[Callable[..., Any] | None] = None
    tuple_type: ClassVar[type[tuple[Any, ...]]] = tuple

    @classmethod
    def make_udt_class(
        cls,
        keyspace: str,
        udt_name: str,
        field_names: Sequence[str],
        field_types: Sequence[type[CQLType]],
        mapped_class: Callable[..., Any] | None = None,
    ) -> type[UserType]:
        """The class of a user-defined type; the same one for the same arguments.

        Raises:
            ValueError: not as many names as types.
        """
        if len(field_names) != len(field_types):
            raise ValueError(
                f"{udt_name} has {len(field_names)} field names and {len(field_types)} types"
            )
        new = specialise(
            cls,
            keyspace=keyspace,
            typename=udt_name,
            fieldnames=tuple(field_names),
            subtypes=tuple(field_types),
            mapped_class=mapped_class,
        )
        udt = cast("type[UserType]", new)
        if udt.tuple_type is tuple:
            udt.tuple_type = _make_tuple_type(udt_name, field_names)
        return udt

    @classmethod
    def from_arguments(
        cls, arguments: Sequence[Argument], build: Callable[[Argument], type[CQLType]]
    ) -> type[CQLType]:
        """``UserType(keyspace, hex of the name, hex of a field's name:type, ...)``."""
        if len(arguments) < 2:
            raise ValueError(f"a user-defined type has a keyspace and a name, got {arguments!r}")
        keyspace, name, *fields = arguments
        if not all(field.label for field in fields):
            raise ValueError(f"a user-defined type's fields have names, got {arguments!r}")
        return cls.make_udt_class(
            keyspace.name,
            bytes.fromhex(name.name).decode(),
            [bytes.fromhex(field.label or "").decode() for field in fields],
            [build(field) for field in fields],
        )

    @classmethod
    def serialize(cls, value: CqlValue, protocol_version: int) -> bytes:
        names = cast("tuple[str, ...]", cls.fieldnames)
        if isinstance(value, str | bytes):
            raise TypeError(f"{cls.typename} takes a record, not {type(value).__name__}")
        if isinstance(value, Sequence):
            fields: Sequence[Any] = value
        elif isinstance(value, Mapping):
            unknown = sorted(set(value) - set(names), key=str)
            if unknown:
                raise ValueError(f"{cls.typename} has no fields {unknown}")
            fields = [value.get(name) for name in names]
        else:
            missing = object()
            fields = [getattr(value, name, missing) for name in names]
            if names and all(field is missing for field in fields):
                raise TypeError(f"{cls.typename} takes a record, not {type(value).__name__}")
            fields = [None if field is missing else field for field in fields]
        return cls._pack_fields(fields, protocol_version)

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> CqlValue:
        values = cls._fields(data, protocol_version)
        if cls.mapped_class is None:
            return cls.tuple_type(*values)
        names = cast("tuple[str, ...]", cls.fieldnames)
        return cls.mapped_class(**dict(zip(names, values, strict=True)))

    @classmethod
    def cql_parameterized_type(cls) -> str:
        """A reference by name; whether it is frozen is not known, and frozen is the usual case."""
        return f"frozen<{quote_identifier(cls.typename)}>"

    @classmethod
    def cass_parameterized_type(cls, full: bool = False) -> str:
        """With keyspace and names, which Cassandra writes in hexadecimal."""
        names = cast("tuple[str, ...]", cls.fieldnames or ())
        fields = [
            f"{name.encode().hex()}:{subtype.cass_parameterized_type(full)}"
            for name, subtype in zip(names, cls.subtypes, strict=True)
        ]
        inner = ",".join([cls.keyspace, cls.typename.encode().hex(), *fields])
        return f"{cls._cass_name(full)}({inner})"


def check_growth(record: type[TupleType], size: int) -> None:
    """Refuse a value that says next to nothing and would take much memory for it.

    Args:
        record: its type, of which it leaves out fields.
        size: its bytes; four more are its length.

    Raises:
        MarshalException: it would take more than ``limits.growth`` allows.
    """
    fields = len(record.subtypes)
    if fields * _POINTER > limits.growth * (size + 4):
        raise MarshalException(
            f"{record.typename}: {size} bytes would become {fields} fields, which "
            f"driver.protocol.limits does not allow: its growth is {limits.growth}"
        )


def _make_tuple_type(udt_name: str, field_names: Sequence[str]) -> type[tuple[Any, ...]]:
    """A namedtuple class for a user-defined type, whatever its names are."""
    known, fields = set(field_names), dict[str, None]()
    for position, name in enumerate(field_names):
        usable = name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")
        field = name
        if not usable or name in fields:
            field = f"field_{position}_"
            while field in known:
                field += "_"
        fields[field] = None
    class_name = udt_name if udt_name.isidentifier() and not keyword.iskeyword(udt_name) else "udt"
    return named_tuple_of(class_name, tuple(fields))
