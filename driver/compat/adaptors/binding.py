"""Binding as programs for the ``cassandra`` package rely on: what it takes is taken.

This driver refuses what is taken there: a dict with names that are no bind markers, a text in place
of a sequence of values, and in a simple statement a value of any class, which is written as ``str``
has it. A program that has lived with it, or is made of it, has to go on; so all that is taken while
the names are served.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...statements import bound
from ...types.literals import Encoder

if TYPE_CHECKING:
    from collections.abc import Callable

_REFUSALS = ("_refuse_text", "_refuse_unknown")


def binding_as_there() -> Callable[[], None]:
    """Take dicts with more names than there are markers, texts as sequences, and any object.

    Returns:
        What puts everything back.
    """
    before = {name: getattr(bound, name) for name in _REFUSALS}
    for name in _REFUSALS:
        setattr(bound, name, lambda *_: None)
    unknown = Encoder.cql_encode_unknown
    Encoder.cql_encode_unknown = Encoder.cql_encode_object  # type: ignore[method-assign]

    def restore() -> None:
        for name, refusal in before.items():
            setattr(bound, name, refusal)
        Encoder.cql_encode_unknown = unknown  # type: ignore[method-assign]

    return restore
