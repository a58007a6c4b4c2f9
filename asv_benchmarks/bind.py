"""Values to bytes: ``BoundStatement.bind``.

Vectors of 128, 768 and 1,536 floats, ten mixed scalars, one vector with three scalars
(scylladb/python-driver pull request 749); a row with text, a dict, unset values, collections,
user-defined types, every scalar type, an encrypted column.
"""

# ruff: noqa: ANN001, ANN002, ANN201, ANN202  (objects of whichever driver is installed)

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec

from . import moved, subjects
from .case import Case, Prepared, expect, install

BIND = "statements.bound:BoundStatement.bind"
MODULES = ("statements.bound", "types.marshal", "types.base")
KEY = hashlib.sha256(b"a column key").digest()
IV = hashlib.md5(b"an initialisation vector", usedforsecurity=False).digest()
AT = datetime(2026, 3, 20, 8, 34, 0, tzinfo=UTC).replace(tzinfo=None)


def _bind(bind=None, values=None):
    return bind(values)


def vector(dimension: int) -> tuple:
    """One recorded embedding."""
    return (subjects.recorded_value(f"rows_vector_{dimension}", "embedding"),)


def mixed() -> tuple:
    """Five float, three int, two double, in the order of the statement."""
    return (1, 2, 3, 0.25, 0.5, 0.75, 1.0, 1.25, 1.1, -2.2)


def item() -> tuple:
    """Three scalars and a vector: what an insert of an embedding looks like."""
    return (1, "lamp", 9.5, *vector(1536))


def reading() -> tuple:
    """A row with a text and a timestamp."""
    return (1, AT, 7919, 20.5, True, "reading 1 of Ada")


def reading_dict() -> dict:
    """The same by name."""
    names = ("sensor", "at", "seq", "value", "valid", "note")
    return dict(zip(names, reading(), strict=True))


def reading_short() -> tuple:
    """The same with three values left unset, and a null."""
    return (1, AT, None)


def row_of(name: str) -> tuple:
    """A recorded row in the order of its insert's bind markers."""
    frame, statement = f"rows_{name}", {"collections": "collections", "udt": "customer"}.get(name)
    message = subjects.decode(frame)
    row = dict(zip(message.column_names, message.parsed_rows[0], strict=True))
    markers = subjects.prepared(f"insert_{statement or name}").column_metadata
    return tuple(row[column.name] for column in markers)


def bound(statement: str, values, policy=None, *, fresh: bool = False) -> Prepared:
    """Bind to one statement again and again, or to a fresh one each time."""
    from driver.statements.bound import BoundStatement

    prepared = subjects.prepared(statement, policy=policy() if policy else None)
    given = values()
    markers = len(prepared.column_metadata)

    def check(result) -> dict:
        expect(isinstance(result, BoundStatement), f"bind returned {type(result).__name__}")
        expect(len(result.values) == markers, f"{len(result.values)} values, {markers} markers")
        sizes = [len(v) if isinstance(v, bytes) else str(v) for v in result.values]
        return {"value_bytes": sizes}

    bind = prepared.bind if fresh else BoundStatement(prepared).bind
    return Prepared((bind, given), answer=_bytes_of, check=check)


def _bytes_of(statement) -> list:
    """Bound values; what is unset by its name."""
    return [v if v is None or isinstance(v, bytes) else repr(v) for v in statement.values]


def encrypted_note():
    """A policy that encrypts one text column, with a fixed vector so that bytes are the same."""
    from driver.policies.column_encryption import AES256ColumnEncryptionPolicy

    if find_spec("cryptography") is None:
        raise NotImplementedError("cryptography is not installed")
    policy = AES256ColumnEncryptionPolicy(iv=IV)
    policy.add_column(
        moved.load("protocol.columns:ColDesc")("cqlpath", "readings", "note"), KEY, "text"
    )
    return policy


def _case(name, prepare, *reaches, bind=BIND) -> Case:
    return Case(name, _bind, prepare, MODULES, (bind, *reaches))


CASES = [
    *(
        _case(f"vector_{n}", partial(bound, f"insert_vector_{n}", partial(vector, n)))
        for n in (128, 768, 1536)
    ),
    _case("mixed_scalars_10", partial(bound, "insert_mixed", mixed)),
    _case("vector_1536_and_3_scalars", partial(bound, "insert_item", item)),
    _case("reading", partial(bound, "insert_reading", reading)),
    _case("reading_from_dict", partial(bound, "insert_reading", reading_dict)),
    _case("reading_with_unset", partial(bound, "insert_reading", reading_short)),
    _case(
        "reading_with_encryption",
        partial(bound, "insert_reading", reading, encrypted_note),
        "policies.column_encryption:AES256ColumnEncryptionPolicy.encrypt",
    ),
    _case(
        "reading_prepared_bind",
        partial(bound, "insert_reading", reading, fresh=True),
        bind="statements.bound:bind_prepared",
    ),
    _case("all_scalars", partial(bound, "insert_scalars", partial(row_of, "scalars"))),
    _case("collections", partial(bound, "insert_collections", partial(row_of, "collections"))),
    _case("udt", partial(bound, "insert_customer", partial(row_of, "udt"))),
]

install(globals(), CASES)
