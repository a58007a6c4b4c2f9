"""``cassandra``: descriptors of functions and aggregates, one class for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.responses.events import SignatureDescriptor as _SignatureDescriptor

if TYPE_CHECKING:
    from collections.abc import Iterable


class SignatureDescriptor(_SignatureDescriptor):
    """A function or an aggregate, by its name and the types of its arguments."""

    __slots__ = ()

    @staticmethod
    def format_signature(name: str, argument_types: Iterable[str]) -> str:
        """The signature of a name and types."""
        return f"{name}({','.join(argument_types)})"


class UserFunctionDescriptor(SignatureDescriptor):
    """A user-defined function."""

    __slots__ = ()


class UserAggregateDescriptor(SignatureDescriptor):
    """A user-defined aggregate."""

    __slots__ = ()
