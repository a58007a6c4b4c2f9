"""Types of classes that this driver does not know: their values stay bytes."""

# ruff: noqa: ARG003  (overrides of the class methods that CQLType documents)

from __future__ import annotations

from typing import cast

from .base import specialise
from .text import BytesType


class _UnrecognizedType(BytesType):
    """A custom type; what the bytes mean is for the application to know."""

    @classmethod
    def cql_parameterized_type(cls) -> str:
        """The class name in single quotes, as CQL has custom types."""
        return f"'{cls.typename}'"

    @classmethod
    def cass_parameterized_type(cls, full: bool = False) -> str:
        """The class name with its arguments, as the server gave it."""
        return cls.typename


def mkUnrecognizedType(casstypename: str) -> type[_UnrecognizedType]:  # noqa: N802  (the field's name)
    """The type of a class name with its arguments; the same one for the same name."""
    new = specialise(_UnrecognizedType, typename=casstypename, cassname=casstypename)
    return cast("type[_UnrecognizedType]", new)
