"""One node: shards, the port that lets clients choose one, and tables of one key and one value."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from uuid import UUID, uuid5

import wire_bodies as wb
from cql_node import EXECUTE, RESULT, VOID, Answer, CqlNode, error, rows

from driver.topology.token import murmur3
from driver.types import BooleanType, Int32Type

from . import extensions, system_tables

_NAMESPACE = UUID("8a1f4c52-6f0e-4d6a-9b8e-0d6a5ff2b4b1")


@dataclass(frozen=True)
class Arrival:
    """An execution, as it arrived.

    Attributes:
        node: number of the node.
        shard: the shard behind the connection.
        token: of the statement's partition.
        text: the statement.
    """

    node: int
    shard: int
    token: int
    text: str


class ScyllaNode(CqlNode):
    """A node of a ``ScyllaCluster``.

    Attributes:
        number: its place in the cluster, from 0.
        host_id: its identity.
        shards: how many.
        ignore_msb: most significant bits of a token that do not count for the shard.
        shard_aware_port: where a client's port chooses the shard; None if there is no such port.
        announces_port: whether SUPPORTED says so.
        is_behind_nat: source ports are changed on the way here, so that they choose any shard.
        plain_connections: how many connections came to the plain port so far.
        rate_limited: texts whose executions are rejected, with what rejects them.
        lacks: extensions that it does not have.
    """

    def __init__(self, cluster, number, shards, ignore_msb, lacks, **options):
        super().__init__(versions=(3, 4), supported=self._options_of, **options)
        self.cluster = cluster
        self.number = number
        self.host_id = uuid5(_NAMESPACE, str(number))
        self.shards = shards
        self.ignore_msb = ignore_msb
        self.shard_aware_port = None
        self.announces_port = True
        self.is_behind_nat = False
        self.plain_connections = 0
        self.rate_limited = {}
        self.lacks = set(lacks)
        self._turns = itertools.count(number)

    def open_shard_aware_port(self):
        self.shard_aware_port = self.listen_too()
        self._shard_aware_server = self._servers[-1]

    def close_shard_aware_port(self):
        """Refuse connections there, and go on announcing it, as behind a firewall."""

        async def close():
            self._servers.remove(self._shard_aware_server)
            self._shard_aware_server.close()

        self.call(close())

    def _on_connect(self, client):
        _, port, *_ = client.transport.get_extra_info("sockname")
        self.plain_connections += port == self.port
        if port == self.shard_aware_port and not self.is_behind_nat:
            client.shard = client.peername[1] % self.shards
        else:
            client.shard = next(self._turns) % self.shards

    def _options_of(self, client):
        port = self.shard_aware_port if self.announces_port else None
        ports = (None, port) if self.ssl_context else (port, None)
        options = {
            **extensions.sharding_options(client.shard, self.shards, self.ignore_msb, *ports),
            **extensions.negotiable_options(),
        }
        return {name: values for name, values in options.items() if name not in self.lacks}

    # --- statements ---------------------------------------------------------------------------

    def _has_metadata_ids(self, request):
        return extensions.METADATA_ID in request.client.startup_options

    def _answer(self, request):
        has_block = extensions.TABLETS_V2 in request.client.startup_options
        if request.opcode == EXECUTE and len(request.rest) != has_block:
            return error(0x000A, f"EXECUTE ends with {len(request.rest)} bytes, not {has_block}")
        return super()._answer(request)

    def _columns(self, text):
        """The columns of the rows that a statement gives."""
        if text.startswith("SELECT *"):
            added = self.cluster.table_of(text).added
            return [(name, Int32Type) for name in ("k", "v", *added)]
        if text.startswith("SELECT"):
            return [("v", Int32Type)]
        return [("[applied]", BooleanType)] * (" IF " in text)

    def _on_prepare(self, request):
        answer = super()._on_prepare(request)
        table = self.cluster.table_of(request.text)
        if table is None:
            return answer
        (query_id,) = (key for key, text in self.prepared.items() if text == request.text)
        is_select = request.text.startswith("SELECT")
        is_lwt = " IF " in request.text
        is_marked = is_lwt and extensions.LWT in request.client.startup_options
        markers = [("k", Int32Type)] if is_select else [("k", Int32Type), ("v", Int32Type)]
        results = self._columns(request.text)

        def body(version):
            return wb.prepared_result(
                query_id,
                markers,
                results,
                version,
                pk=[0],
                # Bit 31 in a signed [int].
                flags=extensions.LWT_MASK - 2**32 if is_marked else 0,
                metadata_id=extensions.metadata_id(results),
                has_metadata_id=self._has_metadata_ids(request),
            )

        return Answer(RESULT, body)

    def _by_table(self, request):
        if system_tables.is_system_query(request.text):
            return system_tables.answer(request.text, self.cluster.system_rows(self))
        table = self.cluster.table_of(request.text)
        if table is None or not request.values:
            return super()._by_table(request)
        token = murmur3(request.values[0])
        shard = request.client.shard
        self.cluster.arrivals.append(Arrival(self.number, shard, token, request.text))
        if request.text in self.rate_limited:
            return self._rejected(request)
        return self._with_routing(request, table, token, self._run(request, table))

    def _run(self, request, table):
        """Read or write the one value of a key."""
        key, *value = request.values
        if request.text.startswith("SELECT"):
            row = {"k": key, "v": table.content.get(key)}
            cells = [row.get(name) for name, _ in self._columns(request.text)]
            numbers = [cell and Int32Type.from_binary(cell, 4) for cell in cells]
            return self._rows(request, [numbers] if key in table.content else [])
        if " IF " not in request.text:
            table.content[key] = value[0]
            return VOID
        is_applied = key not in table.content
        table.content.setdefault(key, value[0])
        return self._rows(request, [[is_applied]])

    def _rows(self, request, values):
        """Rows with the metadata that the client needs."""
        columns = self._columns(request.text)
        current = extensions.metadata_id(columns)
        if request.metadata_id not in (None, current):
            return rows(columns, values, new_id=current)
        return rows(columns, values, skip=request.skips_metadata)

    def _with_routing(self, request, table, token, answer):
        """The answer, with the tablet if the client does not know it."""
        tablet = table.tablet_of(token)
        has_versions = extensions.TABLETS_V2 in request.client.startup_options
        if tablet is None:
            return answer
        if has_versions:
            knows = request.opcode != EXECUTE or tablet.has_version_block(request.rest[0])
        else:
            asks = extensions.TABLETS in request.client.startup_options and request.version >= 4
            knows = not asks or (self.host_id, request.client.shard) in tablet.replicas
        if knows:
            return answer
        body, flag = extensions.with_tablet(
            answer.body_for(request.version), tablet, has_version=has_versions
        )
        return Answer(answer.opcode, body, flag)

    def _rejected(self, request):
        is_write = not request.text.startswith("SELECT")
        fields = extensions.rate_limit_fields(is_write, self.rate_limited[request.text])
        if extensions.RATE_LIMIT in request.client.startup_options:
            return error(extensions.RATE_LIMIT_CODE, "Per-partition rate limit reached", fields)
        return error(extensions.CONFIG_ERROR_CODE, "Per-partition rate limit reached")

    # --- what it sees -------------------------------------------------------------------------

    def shards_reached(self):
        """The shard of each open connection that has started, in order."""
        return sorted(client.shard for client in list(self.clients) if client.started)

    def drop_shard(self, shard):
        """Close the connections to a shard without a word."""
        self.do(lambda: [c.transport.abort() for c in self.clients if c.shard == shard])
