"""A server's schema tables without the server: answers the reader's queries from rows."""

import asyncio
import json
import lzma
import re
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent / "golden" / "topology"
QUERY = re.compile(r"SELECT \* FROM (?P<table>[a-z_.]+)(?: WHERE (?P<where>.*))?")
CONDITION = re.compile(r"(?P<column>[a-z_]+) = '(?P<value>(?:[^']|'')*)'")


class SchemaServer:
    """Rows by table. A table that is not there has no rows, as ``ask`` promises."""

    def __init__(self, tables, release_version):
        self.tables = tables
        self.release_version = release_version
        self.queries = []

    @classmethod
    def recorded(cls, version="5.0.9"):
        """What scripts/record-schema wrote."""
        path = GOLDEN / f"schema-{version}.json.xz"
        recorded = json.loads(lzma.decompress(path.read_bytes()))
        server = cls(recorded["tables"], recorded["release_version"])
        server.described = recorded["described"]
        return server

    async def ask(self, queries):
        self.queries += queries
        return [self.rows(query) for query in queries]

    def rows(self, query):
        match = QUERY.fullmatch(query)
        assert match, f"a query that no schema table answers: {query}"
        conditions = [
            (found["column"], found["value"].replace("''", "'"))
            for found in CONDITION.finditer(match["where"] or "")
        ]
        rows = self.tables.get(match["table"], ())
        for column, _ in conditions:
            assert all(column in row for row in rows), f"{match['table']} has no {column}"
        return [dict(row) for row in rows if all(row[c] == v for c, v in conditions)]

    def read(self, reader, *args):
        """The result of one of the readers."""
        return asyncio.run(reader(self.ask, self.release_version, *args))
