"""Pull request 799: the parts of a composite routing key are framed.

The framing alone is done ten times, so that the call of the case itself weighs little.
"""

from cassandra import cqltypes
from cassandra.query import SimpleStatement

from .proving import proved
from .wire import prepared

TEN = (None,) * 10
FRAMING, MODULES = ("query:Statement._key_parts_packed",), ("query", "marshal")
ONE = prepared([cqltypes.Int32Type], key=[0]).bind((7,))
THREE = prepared([cqltypes.Int32Type, cqltypes.UTF8Type, cqltypes.LongType], key=[0, 1, 2]).bind(
    (7, "a word or two", 7)
)
STATEMENT = SimpleStatement("SELECT")
INT, PARTS = (b"\x00\x00\x00\x07",), tuple(THREE.values)
LONG = (b"\x00\x00\x00\x07", b"k" * 200)


@proved(FRAMING, MODULES)
def time_bound_single_int(statement=ONE):
    """The routing key of a bound statement whose key is one int."""
    statement._routing_key = None
    return statement.routing_key


@proved(FRAMING, MODULES)
def time_bound_three_parts(statement=THREE):
    """The same of a key of three columns."""
    statement._routing_key = None
    return statement.routing_key


@proved(FRAMING, MODULES)
def time_framing_of_one_int(statement=STATEMENT, parts=INT):
    """The framing alone; no statement frames a key of one part."""
    for _ in TEN:
        found = b"".join(statement._key_parts_packed(parts))
    return found


@proved(FRAMING, MODULES)
def time_framing_of_three_parts(statement=STATEMENT, parts=PARTS):
    """The framing of three parts."""
    for _ in TEN:
        found = b"".join(statement._key_parts_packed(parts))
    return found


@proved(FRAMING, MODULES)
def time_framing_with_200_bytes(statement=STATEMENT, parts=LONG):
    """The framing of an int and a part of 200 bytes."""
    for _ in TEN:
        found = b"".join(statement._key_parts_packed(parts))
    return found
