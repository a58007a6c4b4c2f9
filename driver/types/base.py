"""What every CQL type is: a class whose class methods turn values into bytes and back.

Exceptions, the same for all types:

==================  ========================================================================
TypeError           ``serialize`` of a value of a Python type that the CQL type does not take
OverflowError       ``serialize`` of a number that the CQL type cannot hold
ValueError          ``serialize`` of a value of the right type and the wrong content or length
MarshalException    ``deserialize`` of bytes that are no value of the type (a ValueError)
UnicodeDecodeError  ``deserialize`` of bytes that are no text (a ValueError)
OverflowError       ``deserialize`` of a timestamp that ``datetime`` cannot hold
==================  ========================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from ..protocol.errors import MarshalException

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..protocol.typing import CqlValue
    from .type_string import Argument

#: Where Cassandra's own types live.
MARSHAL_PREFIX: Final = "org.apache.cassandra.db.marshal."

#: Every type by its marshal name without the prefix, ``"Int32Type"``.
casstypes: dict[str, type[CQLType]] = {}

#: Every type by its CQL name, ``"int"``.
cqltypes: dict[str, type[CQLType]] = {}

#: Every type that has an option code, by it.
types_by_option_code: dict[int, type[CQLType]] = {}


class EmptyValue:
    """The class of ``EMPTY``, a value of zero bytes of a type that has none, such as int.

    Left over from Thrift; decoded as None unless the type's ``support_empty_values`` is set.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        """The public name."""
        return "EMPTY"

    def __reduce__(self) -> str:
        """Pickle by name: there is one."""
        return "EMPTY"


EMPTY: Final = EmptyValue()


class CQLTypeMeta(type):
    """Gives every type a repr that reads as CQL."""

    def __repr__(cls) -> str:
        """``<CQL list<int>>``."""
        return f"<CQL {cls.cql_parameterized_type()}>"  # type: ignore[attr-defined]  # of CQLType


class CQLType(metaclass=CQLTypeMeta):
    """Base of all CQL types.

    Attributes:
        typename: the CQL name, ``"int"``; the full class name of a type that CQL has no name for.
        cassname: the name of the class in Cassandra, without its package, ``"Int32Type"``.
        option_code: by which metadata names it (native protocol, section 4.2.5.2); None for a type
            that is named otherwise.
        dtype: NumPy's name of the numbers that its values are on the wire; empty for objects.
        arrow: Apache Arrow's type as its C data interface writes it; the bytes as they are for a
            type that Arrow has none for.
        subtypes: the types that this one is parameterised with.
        fieldnames: names of the subtypes, or None.
        num_subtypes: how many subtypes the type takes; None for any number.
        empty_binary_ok: zero bytes are a value of this type.
        support_empty_values: zero bytes, which are no value, are decoded as EMPTY, not None.
        generic: the type that this one was made of with parameters, in its own ``__dict__``.
    """

    typename: ClassVar[str] = "?"
    cassname: ClassVar[str] = "?"
    option_code: ClassVar[int | None] = None
    dtype: ClassVar[str] = ""
    arrow: ClassVar[str] = "z"
    subtypes: ClassVar[tuple[type[CQLType], ...]] = ()
    fieldnames: ClassVar[tuple[str | None, ...] | None] = None
    num_subtypes: ClassVar[int | None] = 0
    empty_binary_ok: ClassVar[bool] = False
    support_empty_values: ClassVar[bool] = False
    generic: ClassVar[type[CQLType] | None] = None

    def __init_subclass__(cls, register: bool = True) -> None:
        """Register a class that Cassandra has a name for.

        Args:
            register: False for parameterised classes, which are found through their generic one.
        """
        super().__init_subclass__()
        name = cls.__name__
        if not register or name.startswith("_"):
            return
        cls.cassname = name
        cls.typename = cls.__dict__.get("typename", MARSHAL_PREFIX + name)
        casstypes[name] = cls
        # The first class of a CQL name is the current one, later ones are Cassandra's old names.
        cqltypes.setdefault(cls.typename, cls)
        code = cls.__dict__.get("option_code")
        if code is not None:
            types_by_option_code[code] = cls

    @classmethod
    def serialize(cls, value: CqlValue, protocol_version: int) -> bytes:
        """The bytes of a value that is not null.

        Raises:
            TypeError: the value is of a type that this CQL type does not take.
            OverflowError: a number is out of range.
            ValueError: the value has the wrong content or length.
        """
        raise NotImplementedError

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> CqlValue:
        """The value of bytes.

        Raises:
            MarshalException: the bytes are no value of this type.
        """
        raise NotImplementedError

    @classmethod
    def to_binary(cls, value: CqlValue, protocol_version: int) -> bytes:
        """As ``serialize``; zero bytes for None and EMPTY."""
        if value is None or value is EMPTY:
            return b""
        return cls.serialize(value, protocol_version)

    @classmethod
    def from_binary(cls, data: bytes | None, protocol_version: int) -> CqlValue:
        """As ``deserialize``; None for null, and for zero bytes that are no value None or EMPTY."""
        if data is None:
            return None
        if not data and not cls.empty_binary_ok:
            return EMPTY if cls.support_empty_values else None
        return cls.deserialize(data, protocol_version)

    @classmethod
    def serial_size(cls) -> int | None:
        """Bytes of every value inside a vector; None if they vary.

        As Cassandra has it: its tinyint, smallint, date and time do not call themselves fixed.
        """
        return None

    @classmethod
    def apply_parameters(
        cls, subtypes: Sequence[type[CQLType]], names: Sequence[str | None] | None = None
    ) -> type[CQLType]:
        """This type with subtypes; the same class each time for the same subtypes.

        Raises:
            ValueError: the type does not take that many subtypes.
        """
        if cls.num_subtypes is not None and len(subtypes) != cls.num_subtypes:
            raise ValueError(
                f"{cls.typename} takes {cls.num_subtypes} subtypes, got {len(subtypes)}"
            )
        fieldnames = None if names is None or not any(names) else tuple(names)
        return specialise(cls, subtypes=tuple(subtypes), fieldnames=fieldnames)

    @classmethod
    def from_arguments(
        cls, arguments: Sequence[Argument], build: Callable[[Argument], type[CQLType]]
    ) -> type[CQLType]:
        """This type with the arguments that a type string gives it.

        Args:
            arguments: parsed, unresolved.
            build: resolves an argument that is a type.
        """
        subtypes = [build(argument) for argument in arguments]
        return cls.apply_parameters(subtypes, [argument.label for argument in arguments])

    @classmethod
    def cql_parameterized_type(cls) -> str:
        """The type as CQL writes it: ``map<text, frozen<list<int>>>``."""
        if not cls.subtypes:
            return cls.typename
        inner = ", ".join(subtype.cql_parameterized_type() for subtype in cls.subtypes)
        return f"{cls.typename}<{inner}>"

    @classmethod
    def cass_parameterized_type(cls, full: bool = False) -> str:
        """The type as Cassandra's class names: ``ListType(Int32Type)``.

        Args:
            full: with the package in front of each name.
        """
        name = cls._cass_name(full)
        if not cls.subtypes:
            return name
        inner = ", ".join(subtype.cass_parameterized_type(full) for subtype in cls.subtypes)
        return f"{name}({inner})"

    @classmethod
    def _cass_name(cls, full: bool) -> str:
        """The class name, with its package if full."""
        return MARSHAL_PREFIX + cls.cassname if full else cls.cassname


#: Parameterised classes by their generic class and parameters: one object a type, so that types
#: compare by identity and a deserializer can be kept for each.
_specialised: dict[tuple[Any, ...], type[CQLType]] = {}


def specialise(generic: type[CQLType], **attributes: object) -> type[CQLType]:
    """A subclass of a type with other class attributes; the same one for the same attributes.

    Args:
        generic: the type that the parameters are for.
        attributes: class attributes, hashable.
    """
    key = (generic, *sorted(attributes.items()))
    found = _specialised.get(key)
    if found is None:
        new: type[CQLType] = CQLTypeMeta(  # type: ignore[assignment]  # a subclass of generic
            generic.__name__, (generic,), {**attributes, "generic": generic}, register=False
        )
        # setdefault and not assignment: of two threads that race, both get the first's class.
        found = _specialised.setdefault(key, new)
    return found


def wrong_size(typename: str, expected: str, size: int) -> MarshalException:
    """The error of a fixed-width value with another number of bytes."""
    return MarshalException(f"{typename}: a value has {expected} bytes, got {size}")


def truncated(typename: str, needed: int, left: int) -> MarshalException:
    """The error of a length that promises more bytes than there are."""
    return MarshalException(f"{typename}: {needed} more bytes announced, {left} left")
