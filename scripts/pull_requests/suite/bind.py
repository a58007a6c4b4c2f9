"""Pull requests 630, 749 and 798: values become bytes in `BoundStatement.bind`."""

import datetime as dt

from cassandra import cqltypes
from cassandra.query import BoundStatement

from .proving import proved
from .wire import prepared

BIND, MODULES = ("query:BoundStatement.bind",), ("query", "cqltypes", "serializers")
_MARSHAL = "org.apache.cassandra.db.marshal"


def vector(size):
    """The type Vector<float, size>."""
    return cqltypes.lookup_casstype(f"{_MARSHAL}.VectorType({_MARSHAL}.FloatType, {size})")


def floats(size):
    """Values of it."""
    return [index / 8 for index in range(size)]


def inputs(types, values):
    """A statement of some types, and what to bind to it."""
    return BoundStatement(prepared(types)), values


def bound(statement):
    """What a statement has bound."""
    return statement.values


FLOAT, INT, DOUBLE = cqltypes.FloatType, cqltypes.Int32Type, cqltypes.DoubleType
SCALARS = inputs([FLOAT] * 5 + [INT] * 3 + [DOUBLE] * 2, [0.5] * 5 + [7] * 3 + [0.25] * 2)
THREE = inputs([INT, DOUBLE, cqltypes.UTF8Type], [7, 0.5, "a word"])
EIGHT = inputs([INT, DOUBLE, FLOAT, cqltypes.LongType] * 2, [7, 0.5, 0.25, 7] * 2)
SERIES = inputs(
    [cqltypes.DateType, INT, DOUBLE, FLOAT, cqltypes.UTF8Type],
    [dt.datetime(2025, 4, 5, 12, 0, 0, 123456), 42, 3.14159, 0.5, "sensor-alpha-001"],
)
SMALL, MIDDLE, LARGE = (inputs([vector(size)], [floats(size)]) for size in (128, 768, 1536))
ITEM = inputs([INT, DOUBLE, FLOAT, vector(1536)], [7, 0.5, 0.25, floats(1536)])
LONG_ITEM = inputs(
    [INT, DOUBLE, FLOAT, INT, DOUBLE, vector(1536)], [7, 0.5, 0.25, 7, 0.5, floats(1536)]
)


@proved(BIND, MODULES, answer=bound)
def time_10_scalars(of=SCALARS):
    """Five floats, three ints, two doubles."""
    return of[0].bind(of[1])


@proved(BIND, MODULES, answer=bound)
def time_3_columns(of=THREE):
    """An int, a double, a text."""
    return of[0].bind(of[1])


@proved(BIND, MODULES, answer=bound)
def time_8_columns(of=EIGHT):
    """Eight numbers."""
    return of[0].bind(of[1])


@proved(BIND, MODULES, answer=bound)
def time_series_row(of=SERIES):
    """A timestamp, an int, a double, a float, a text."""
    return of[0].bind(of[1])


@proved(BIND, MODULES, answer=bound)
def time_vector_128(of=SMALL):
    """A vector of 128 floats."""
    return of[0].bind(of[1])


@proved(BIND, MODULES, answer=bound)
def time_vector_768(of=MIDDLE):
    """A vector of 768 floats."""
    return of[0].bind(of[1])


@proved(BIND, MODULES, answer=bound)
def time_vector_1536(of=LARGE):
    """A vector of 1,536 floats."""
    return of[0].bind(of[1])


@proved(BIND, MODULES, answer=bound)
def time_vector_1536_and_3_scalars(of=ITEM):
    """An insert of a vector and three numbers."""
    return of[0].bind(of[1])


@proved(BIND, MODULES, answer=bound)
def time_vector_1536_and_5_scalars(of=LONG_ITEM):
    """An insert of a vector and five numbers."""
    return of[0].bind(of[1])
