"""Pull request 741: what decodes a column is looked up and made, for each result."""

from cassandra import cqltypes

from .proving import proved

try:
    from cassandra import deserializers
except ImportError:
    deserializers = None
TIMES = (None,) * 10
MODULES = ("deserializers",)
FIVE = [cqltypes.Int32Type, cqltypes.UTF8Type, cqltypes.BooleanType, cqltypes.DoubleType,
        cqltypes.LongType]  # fmt: skip
TEN = [*FIVE, cqltypes.FloatType, cqltypes.TimestampType, cqltypes.UUIDType,
       cqltypes.InetAddressType, cqltypes.DecimalType]  # fmt: skip


def setup():
    """They are compiled, or not there."""
    if deserializers is None:
        raise NotImplementedError


def classes(found):
    """The names of their classes."""
    return [type(each).__name__ for each in found]


@proved([], MODULES, answer=lambda found: type(found).__name__)
def time_find_one(kind=cqltypes.Int32Type):
    """Of one type, ten times."""
    for _ in TIMES:
        found = deserializers.find_deserializer(kind)
    return found


@proved(["deserializers:make_deserializers"], MODULES, answer=classes)
def time_make_5(types=FIVE):
    """Of five columns."""
    return deserializers.make_deserializers(types)


@proved(["deserializers:make_deserializers"], MODULES, answer=classes)
def time_make_10(types=TEN):
    """Of ten columns."""
    return deserializers.make_deserializers(types)
