"""One value to bytes: the serializer of a type, before the statement around it.

Floats, doubles and ints, vectors of them, and types that go the generic way
(scylladb/python-driver pull request 748). A commit without serializers is measured by the class
method that binding calls there.
"""

# ruff: noqa: ANN001, ANN202, ANN401  (objects of whichever driver is installed)

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from . import subjects
from .case import Case, Prepared, expect, install

MODULES = ("types.marshal", "types.numeric", "types.vector")


def _serialize(serialize=None, value=None):
    return serialize(value, 4)


def serializer(cql: str) -> Any:
    """What turns values of a type into bytes in the installed driver."""
    from driver.types import lookup_cqltype

    cqltype = lookup_cqltype(cql)
    try:
        return import_module("driver.types.serializers").find_serializer(cqltype).serialize
    except ImportError:
        return cqltype.serialize


def one_value(cql: str, value: Any) -> Prepared:
    """Serialise one value again and again."""

    def check(result) -> dict[str, Any]:
        expect(isinstance(result, bytes), f"{cql} became a {type(result).__name__}")
        return {"bytes": len(result)}

    return Prepared((serializer(cql), value() if callable(value) else value), check=check)


def floats(dimension: int) -> list[float]:
    """A recorded embedding."""
    return subjects.recorded_value(f"rows_vector_{dimension}", "embedding")


def _case(name, cql, value) -> Case:
    return Case(name, _serialize, partial(one_value, cql, value), MODULES, ())


CASES = [
    _case("float", "float", 20.5),
    _case("double", "double", 20.5),
    _case("int", "int", 7919),
    _case("bigint_generic", "bigint", 7919),
    _case("text_generic", "text", "reading 1 of Ada"),
    *(
        _case(f"vector_float_{n}", f"vector<float, {n}>", partial(floats, n))
        for n in (128, 768, 1536)
    ),
    _case("vector_double_128", "vector<double, 128>", partial(floats, 128)),
    _case("vector_int_128", "vector<int, 128>", list(range(128))),
    _case("vector_bigint_128_generic", "vector<bigint, 128>", list(range(128))),
    _case("vector_text_8_generic", "vector<text, 8>", ["element"] * 8),
]

install(globals(), CASES)
