"""The tables: which module of the ``cassandra`` package is made of which names of this driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .cluster import CLUSTER, CONCURRENT, METRICS
from .connections import CONNECTION, POOL, REACTORS
from .left_out import LEFT_OUT, MEMBERS_LEFT_OUT
from .metadata import METADATA, MURMUR3, TABLETS
from .policies import AUTH, COLUMN_ENCRYPTION, POLICIES
from .query import ENCODER, QUERY, TIMESTAMPS
from .root import PACKAGE, ROOT
from .types import CQLTYPES, CYTHON_UTILS, DESERIALIZERS, MARSHAL, TYPE_CODES, UTIL
from .wire import (
    BYTESIO,
    CYTHON_DEPS,
    NUMPY_PARSER,
    OBJ_PARSER,
    PARSING,
    PROTOCOL,
    ROW_PARSER,
    SEGMENT,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..served import Served

__all__ = ["LEFT_OUT", "MEMBERS_LEFT_OUT", "MODULES", "REFUSED"]

#: Every module that is served, by its full name.
MODULES: Final[Mapping[str, Served]] = {
    "cassandra": ROOT,
    "cassandra.auth": AUTH,
    "cassandra.bytesio": BYTESIO,
    "cassandra.cluster": CLUSTER,
    "cassandra.cmurmur3": MURMUR3,
    "cassandra.column_encryption": PACKAGE,
    "cassandra.column_encryption.policies": COLUMN_ENCRYPTION,
    "cassandra.concurrent": CONCURRENT,
    "cassandra.connection": CONNECTION,
    "cassandra.cqltypes": CQLTYPES,
    "cassandra.cython_deps": CYTHON_DEPS,
    "cassandra.cython_utils": CYTHON_UTILS,
    "cassandra.deserializers": DESERIALIZERS,
    "cassandra.encoder": ENCODER,
    "cassandra.io": PACKAGE,
    **{f"cassandra.io.{name}": served for name, served in REACTORS.items()},
    "cassandra.marshal": MARSHAL,
    "cassandra.metadata": METADATA,
    "cassandra.metrics": METRICS,
    "cassandra.murmur3": MURMUR3,
    "cassandra.numpy_parser": NUMPY_PARSER,
    "cassandra.obj_parser": OBJ_PARSER,
    "cassandra.parsing": PARSING,
    "cassandra.policies": POLICIES,
    "cassandra.pool": POOL,
    "cassandra.protocol": PROTOCOL,
    "cassandra.query": QUERY,
    "cassandra.row_parser": ROW_PARSER,
    "cassandra.segment": SEGMENT,
    "cassandra.tablets": TABLETS,
    "cassandra.timestamps": TIMESTAMPS,
    "cassandra.type_codes": TYPE_CODES,
    "cassandra.util": UTIL,
}

_DSE = "it speaks to DataStax products, which this driver does not know"

#: What is left out on purpose, packages with all that is in them, and why.
REFUSED: Final[Mapping[str, str]] = {
    "cassandra.cqlengine": "the object mapper is not part of this driver",
    "cassandra.graph": f"graph is not part of this driver: {_DSE}",
    "cassandra.datastax": f"{_DSE} (Astra, Insights, graph)",
}
