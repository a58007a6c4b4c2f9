"""Pull request 748: a vector becomes bytes, by whatever the side has for it."""

from .bind import floats, vector
from .proving import proved

try:
    from cassandra import serializers
except ImportError:
    serializers = None
MODULES = ("serializers", "cqltypes")
TYPE, VALUES = vector(1536), floats(1536)
#: The method that a driver of this side has to offer; before the change, the type's own.
serialize = serializers.find_serializer(TYPE).serialize if serializers else TYPE.serialize


@proved([], MODULES)
def time_vector_1536(serialize=serialize, values=VALUES):
    """1,536 floats."""
    return serialize(values, 4)
