"""The tables: which module of the ``cassandra`` package is made of which names of this driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .cluster import CLUSTER, CONCURRENT, METRICS
from .connections import (
    APPLICATION_INFO,
    CONNECTION,
    CYTHON_LZ4,
    POOL,
    PROTOCOL_FEATURES,
    REACTORS,
    SHARD_INFO,
)
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

__all__ = ["LEFT_OUT", "MEMBERS_LEFT_OUT", "MODULES", "ON_TOP", "REFUSED"]

#: Every module that is served, by its full name.
MODULES: Final[Mapping[str, Served]] = {
    "cassandra": ROOT,
    "cassandra.application_info": APPLICATION_INFO,
    "cassandra.auth": AUTH,
    "cassandra.bytesio": BYTESIO,
    "cassandra.c_shard_info": SHARD_INFO,
    "cassandra.cluster": CLUSTER,
    "cassandra.cmurmur3": MURMUR3,
    "cassandra.column_encryption": PACKAGE,
    "cassandra.column_encryption.policies": COLUMN_ENCRYPTION,
    "cassandra.concurrent": CONCURRENT,
    "cassandra.connection": CONNECTION,
    "cassandra.cqltypes": CQLTYPES,
    "cassandra.cython_deps": CYTHON_DEPS,
    "cassandra.cython_lz4": CYTHON_LZ4,
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
    "cassandra.protocol_features": PROTOCOL_FEATURES,
    "cassandra.query": QUERY,
    "cassandra.row_parser": ROW_PARSER,
    "cassandra.segment": SEGMENT,
    "cassandra.shard_info": SHARD_INFO,
    "cassandra.tablets": TABLETS,
    "cassandra.timestamps": TIMESTAMPS,
    "cassandra.type_codes": TYPE_CODES,
    "cassandra.util": UTIL,
}

_DSE = "it speaks to DataStax products, which this driver does not know"

#: Packages in pure Python that run on the names above, from a distribution that has them.
ON_TOP: Final[Mapping[str, str]] = {
    "cassandra.cqlengine": "the object mapper is taken from a cassandra-driver or scylla-driver "
    "that is installed beside this driver, and none is: pip install cassandra-driver",
}

#: What is left out on purpose, packages with all that is in them, and why.
REFUSED: Final[Mapping[str, str]] = {
    "cassandra.graph": f"graph is not part of this driver: {_DSE}",
    "cassandra.datastax": f"{_DSE} (Astra, Insights, graph)",
    "cassandra.client_routes": "client routes of private links are not read; an address_translator "
    "or an endpoint_factory says where hosts are reached",
    "cassandra.driver_config": "the driver's report of its configuration cannot be extended",
    "cassandra.ssl_session_cache": "TLS sessions are resumed by the ssl_context that is given",
}
