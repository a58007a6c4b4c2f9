"""The tables: which module of the ``cassandra`` package is made of which names of this driver."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from . import cluster, connections, metadata, policies, query, root, types, wire
from .left_out import LEFT_OUT, MEMBERS_LEFT_OUT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..served import Served

__all__ = ["LEFT_OUT", "MEMBERS_LEFT_OUT", "MODULES", "ON_TOP", "REFUSED"]

#: Every module that is served, by its full name.
MODULES: Final[Mapping[str, Served]] = {
    name: replace(served, file=str(table.__file__))
    for table in (cluster, connections, metadata, policies, query, root, types, wire)
    for name, served in table.TABLES.items()
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
