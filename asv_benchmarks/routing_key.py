"""Bound values to a routing key, and the key to a token.

Keys of one int, of three parts, of 200 bytes (scylladb/python-driver pull request 799). A key of
one part is returned as it is by ``pack_parts``; the pull request timed the framing alone, and so do
the ``key_parts_packed`` cases, for each of the three.
"""

# ruff: noqa: ANN001, ANN202  (objects of whichever driver is installed)

from __future__ import annotations

import struct
from functools import partial
from uuid import UUID

from . import subjects
from .case import Case, Prepared, expect, install

PACK, FRAME = "statements.routing_key:pack_parts", "statements.routing_key:_key_parts_packed"
KEY = "statements.bound:BoundStatement.routing_key"
MODULES = ("statements.routing_key",)
ACCOUNT = UUID("00000000-0000-4007-8000-000000000007")

#: The serialised parts of each key.
PARTS = {
    "single_int": (struct.pack(">i", 7),),
    "composite_of_three": (struct.pack(">i", 7), b"eu-central-1", ACCOUNT.bytes),
    "200_bytes": (b"k" * 200,),
}
#: The same before they were serialised, and the recorded statement that binds them.
VALUES = {
    "single_int": ("select_key_int", (7,)),
    "composite_of_three": ("select_key_three", (7, "eu-central-1", ACCOUNT)),
    "200_bytes": ("select_key_long", ("k" * 200,)),
}


def _pack(pack_parts=None, parts=None):
    return pack_parts(parts)


def _frame(key_parts_packed=None, parts=None):
    return b"".join(key_parts_packed(parts))


def _routing_key(statement=None):
    # A statement keeps its key: without this line only the first call would compute it.
    del statement.routing_key
    return statement.routing_key


def _token(murmur3=None, key=None):
    return murmur3(key)


def framed_by_hand(parts) -> bytes:
    """What Cassandra's CompositeType wants: a length, the bytes, a zero."""
    return b"".join(len(p).to_bytes(2, "big") + p + b"\0" for p in parts)


def key_of(parts) -> bytes:
    """The routing key of serialised parts, by another way than the driver's."""
    return parts[0] if len(parts) == 1 else framed_by_hand(parts)


def _same(wanted: bytes):
    """A check that an answer is the key."""

    def check(result: bytes) -> dict:
        expect(result == wanted, f"the key is {result!r}, not {wanted!r}")
        return {"bytes": len(result)}

    return check


def packed(key: str) -> Prepared:
    """``pack_parts`` of serialised parts."""
    from driver.statements.routing_key import pack_parts

    return Prepared((pack_parts, PARTS[key]), check=_same(key_of(PARTS[key])))


def parts_framed(key: str) -> Prepared:
    """``_key_parts_packed`` alone, also for a key of one part."""
    from driver.statements.routing_key import _key_parts_packed

    return Prepared((_key_parts_packed, PARTS[key]), check=_same(framed_by_hand(PARTS[key])))


def of_statement(key: str) -> Prepared:
    """``BoundStatement.routing_key``."""
    statement, values = VALUES[key]
    bound = subjects.prepared(statement).bind(values)
    return Prepared((bound,), check=_same(key_of(PARTS[key])))


def token(key: str) -> Prepared:
    """The Murmur3 token of the key."""
    from driver.topology.token import murmur3

    return Prepared((murmur3, key_of(PARTS[key])), check=lambda result: {"token": result})


CASES = [
    case
    for key in PARTS
    for case in (
        Case(
            f"pack_parts_{key}",
            _pack,
            partial(packed, key),
            MODULES,
            (PACK,),  # compiled, it frames the parts itself
        ),
        Case(f"key_parts_packed_{key}", _frame, partial(parts_framed, key), MODULES, (FRAME,)),
        Case(
            f"bound_statement_{key}",
            _routing_key,
            partial(of_statement, key),
            ("statements.bound", *MODULES),
            (KEY,),
        ),
        Case(
            f"murmur3_{key}",
            _token,
            partial(token, key),
            ("topology.token",),
            ("topology.token:murmur3",),
        ),
    )
]

install(globals(), CASES)
