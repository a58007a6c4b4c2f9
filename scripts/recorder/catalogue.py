"""Which frames are recorded, in tables; ``record_all`` walks them once a protocol version."""

from __future__ import annotations

import contextlib
import struct
import subprocess
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import client as cql
from .client import Client, Frame

if TYPE_CHECKING:
    from pathlib import Path

FIRST, SECOND = "127.0.0.1", "127.0.0.2"
ONE_INT = (struct.pack(">i", 1),)
NOBODY = (struct.pack(">i", 404),)
PAYLOAD = struct.pack(">H", 1) + struct.pack(">H", 4) + b"echo" + struct.pack(">i", 5) + b"hello"
EVENTS = ("TOPOLOGY_CHANGE", "STATUS_CHANGE", "SCHEMA_CHANGE")
EVENT_SECONDS = 60.0  # the failure detector convicts a silent node after about 20

#: Columns of the table that has every scalar type.
SCALARS = (
    "c_ascii, c_bigint, c_blob, c_boolean, c_date, c_decimal, c_double, c_duration, c_float, "
    "c_inet, c_int, c_smallint, c_text, c_time, c_timestamp, c_timeuuid, c_tinyint, c_uuid, "
    "c_varchar, c_varint"
)

#: name -> CQL; the PREPARED response of each is recorded.
PREPARED = {
    "select_point": "SELECT * FROM cqlpath.readings WHERE sensor = ? AND at = ?",
    "select_readings": "SELECT * FROM cqlpath.readings WHERE sensor = ?",
    "select_documents": "SELECT * FROM cqlpath.documents WHERE id = ?",
    "select_vector_128": "SELECT * FROM cqlpath.vector_128 WHERE id = ?",
    "select_vector_768": "SELECT * FROM cqlpath.vector_768 WHERE id = ?",
    "select_vector_1536": "SELECT * FROM cqlpath.vector_1536 WHERE id = ?",
    "select_vector_text": "SELECT * FROM cqlpath.vector_text WHERE id = ?",
    "select_collections": "SELECT * FROM cqlpath.collections WHERE id = ?",
    "select_customers": "SELECT * FROM cqlpath.customers WHERE id = ?",
    "select_scalars": "SELECT * FROM cqlpath.scalars WHERE id = ?",
    "select_mixed": "SELECT * FROM cqlpath.mixed WHERE i1 = ?",
    "select_counts": "SELECT * FROM cqlpath.counts WHERE id = ?",
    "select_backwards": "SELECT * FROM cqlpath.backwards WHERE id = ?",
    "select_columns_5": "SELECT * FROM cqlpath.columns_5 WHERE id = ?",
    "select_columns_10": "SELECT * FROM cqlpath.columns_10 WHERE id = ?",
    "select_columns_20": "SELECT * FROM cqlpath.columns_20 WHERE id = ?",
    "select_columns_50": "SELECT * FROM cqlpath.columns_50 WHERE id = ?",
    "select_key_int": "SELECT v FROM cqlpath.key_int WHERE k = ?",
    "select_key_three": (
        "SELECT v FROM cqlpath.key_three WHERE tenant = ? AND region = ? AND account = ?"
    ),
    "select_key_long": "SELECT v FROM cqlpath.key_long WHERE k = ?",
    "insert_vector_128": "INSERT INTO cqlpath.vector_128 (id, n, embedding) VALUES (1, 0, ?)",
    "insert_vector_768": "INSERT INTO cqlpath.vector_768 (id, n, embedding) VALUES (1, 0, ?)",
    "insert_vector_1536": "INSERT INTO cqlpath.vector_1536 (id, n, embedding) VALUES (1, 0, ?)",
    "insert_mixed": (
        "INSERT INTO cqlpath.mixed (i1, i2, i3, f1, f2, f3, f4, f5, d1, d2) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    ),
    "insert_item": "INSERT INTO cqlpath.items (id, name, price, embedding) VALUES (?, ?, ?, ?)",
    "insert_reading": (
        "INSERT INTO cqlpath.readings (sensor, at, seq, value, valid, note) "
        "VALUES (?, ?, ?, ?, ?, ?)"
    ),
    "insert_collections": (
        "INSERT INTO cqlpath.collections (id, n, tags, scores, attributes, nested, pair) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)"
    ),
    "insert_customer": "INSERT INTO cqlpath.customers (id, n, home, others) VALUES (?, ?, ?, ?)",
    "insert_scalars": (
        f"INSERT INTO cqlpath.scalars (id, n, {SCALARS}) VALUES (?, ?, {', '.join('?' * 20)})"
    ),
}

#: name -> (prepared statement, bound values, page size); each is executed twice, with metadata
#: in the result and without (``<name>_skipped``).
EXECUTED = {
    "rows_one": ("select_point", (*ONE_INT, struct.pack(">q", 1773995640000)), 0),
    "rows_none": ("select_readings", NOBODY, 0),
    "rows_page_100": ("select_readings", ONE_INT, 100),
    "rows_page_5000": ("select_readings", ONE_INT, 5000),
    "rows_wide_text": ("select_documents", ONE_INT, 0),
    "rows_vector_128": ("select_vector_128", ONE_INT, 0),
    "rows_vector_768": ("select_vector_768", ONE_INT, 0),
    "rows_vector_1536": ("select_vector_1536", ONE_INT, 0),
    "rows_vector_text": ("select_vector_text", ONE_INT, 0),
    "rows_collections": ("select_collections", ONE_INT, 0),
    "rows_udt": ("select_customers", ONE_INT, 0),
    "rows_scalars": ("select_scalars", ONE_INT, 0),
    "rows_mixed": ("select_mixed", ONE_INT, 0),
    "rows_counter": ("select_counts", ONE_INT, 0),
    "rows_backwards": ("select_backwards", ONE_INT, 0),
    "rows_columns_5": ("select_columns_5", ONE_INT, 0),
    "rows_columns_10": ("select_columns_10", ONE_INT, 0),
    "rows_columns_20": ("select_columns_20", ONE_INT, 0),
    "rows_columns_50": ("select_columns_50", ONE_INT, 0),
    # No rows: what is left of decoding is the listing of names and types.
    "none_columns_5": ("select_columns_5", NOBODY, 0),
    "none_columns_10": ("select_columns_10", NOBODY, 0),
    "none_columns_20": ("select_columns_20", NOBODY, 0),
    "none_columns_50": ("select_columns_50", NOBODY, 0),
}

POINT = "SELECT * FROM cqlpath.key_int WHERE k = 1"
COUNT = "SELECT count(*) FROM cqlpath.key_int"  # without a partition key: the server warns

#: name -> (CQL, flags); asked as plain queries.
QUERIED = {
    "rows_traced": (POINT, cql.FLAG_TRACING),
    "rows_with_payload": (POINT, cql.FLAG_PAYLOAD),
    "rows_warned": (COUNT, 0),
    "rows_traced_warned_with_payload": (COUNT, cql.FLAG_TRACING | cql.FLAG_PAYLOAD),
    "rows_applied": ("INSERT INTO cqlpath.key_int (k, v) VALUES (9, 9) IF NOT EXISTS", 0),
    "rows_not_applied": ("INSERT INTO cqlpath.key_int (k, v) VALUES (1, 9) IF NOT EXISTS", 0),
    "void": ("DELETE FROM cqlpath.key_int WHERE k = 9", 0),
    "set_keyspace": ("USE cqlpath", 0),
    "schema_keyspace": (
        (
            "CREATE KEYSPACE passing WITH replication = "
            "{'class': 'SimpleStrategy', 'replication_factor': 1}"
        ),
        0,
    ),
    "schema_type": ("CREATE TYPE passing.pair (a int, b int)", 0),
    "schema_table": ("CREATE TABLE passing.t (k int PRIMARY KEY, v int)", 0),
    "schema_function": (
        (
            "CREATE FUNCTION passing.plus (s int, v int) CALLED ON NULL INPUT RETURNS int "
            "LANGUAGE java AS 'return s + v;'"
        ),
        0,
    ),
    "schema_aggregate": (
        "CREATE AGGREGATE passing.total (int) SFUNC plus STYPE int INITCOND 0",
        0,
    ),
}

#: name -> (CQL, page size); asked on compressed connections. A v5 segment ends at 128 KiB: the
#: largest of these takes several.
COMPRESSED = {
    "one": (POINT, 0),
    "page": ("SELECT * FROM cqlpath.readings WHERE sensor = 1", 100),
    "split": ("SELECT * FROM cqlpath.readings WHERE sensor = 1", 5000),
}

#: name -> (CQL, consistency); each is answered with ERROR.
REFUSED = {
    "error_syntax": ("SELEC * FROM cqlpath.key_int", cql.ONE),
    "error_invalid": ("SELECT * FROM cqlpath.no_such_table", cql.ONE),
    "error_configuration": (
        "CREATE KEYSPACE bad WITH replication = {'class': 'NoSuchStrategy'}",
        cql.ONE,
    ),
    "error_already_exists_keyspace": (
        (
            "CREATE KEYSPACE cqlpath WITH replication = "
            "{'class': 'SimpleStrategy', 'replication_factor': 1}"
        ),
        cql.ONE,
    ),
    "error_already_exists_table": ("CREATE TABLE cqlpath.key_int (k int PRIMARY KEY)", cql.ONE),
    "error_unavailable": (POINT, cql.THREE),
    "error_read_failure": ("SELECT * FROM cqlpath.graves WHERE id = 1", cql.ONE),
    "error_function": ("SELECT cqlpath.fails(v) FROM cqlpath.key_int WHERE k = 1", cql.ONE),
}

#: The same, while the other replica is frozen.
TIMED_OUT = {
    "error_read_timeout": (POINT, cql.TWO),
    "error_write_timeout": ("INSERT INTO cqlpath.key_int (k, v) VALUES (2, 2)", cql.TWO),
    "error_write_timeout_cas": (
        "INSERT INTO cqlpath.key_int (k, v) VALUES (2, 2) IF NOT EXISTS",
        cql.ONE,
    ),
    "error_truncate": ("TRUNCATE cqlpath.key_long", cql.ONE),
}


@dataclass
class Record:
    """One recorded response and what asked for it."""

    name: str
    version: int
    frame: Frame
    query: str = ""
    prepared: str = ""  # the PREPARED record whose result metadata decodes it
    compression: str = ""


@dataclass
class Recording:
    """What was recorded so far."""

    server: str = ""
    records: list[Record] = field(default_factory=list)
    segments: dict[str, bytes] = field(default_factory=dict)

    def add(self, name: str, version: int, frame: Frame, expected: int, **about: str) -> Frame:
        """Keep a frame after a look at its opcode: a recording of the wrong answer helps nobody."""
        if frame.opcode != expected:
            raise cql.Refused(f"{name} (v{version}): opcode {frame.opcode}, {frame.body[:300]!r}")
        self.records.append(Record(name, version, frame, **about))
        return frame


def record_handshake(into: Recording, version: int) -> Client:
    """SUPPORTED and READY, and a protocol error; returns the started connection."""
    wrong = Client(FIRST, version)
    with contextlib.closing(wrong):
        # An opcode of a response as a request.
        into.add("error_protocol", version, wrong.call(cql.RESULT, b""), cql.ERROR)
    link = Client(FIRST, version)
    into.add("supported", version, link.call(cql.OPTIONS, b""), 0x06)
    into.add("ready", version, link.start(), cql.READY)
    return link


def record_rows(into: Recording, link: Client) -> None:
    """PREPARED of every statement; ROWS of every execution, with metadata and without."""
    version = link.version
    prepared = {}
    for name, query in PREPARED.items():
        prepared[name] = into.add(
            f"prepared_{name}", version, link.prepare(query), cql.RESULT, query=query
        )
    for name, (statement, values, page) in EXECUTED.items():
        query, key = PREPARED[statement], f"prepared_{statement}"
        full = link.execute(prepared[statement], values, page)
        into.add(name, version, full, cql.RESULT, query=query, prepared=key)
        bare = link.execute(prepared[statement], values, page, skip_metadata=True)
        into.add(f"{name}_skipped", version, bare, cql.RESULT, query=query, prepared=key)
    unknown = Frame(b"", struct.pack(">i", 4) + b"".join(
        struct.pack(">H", 16) + bytes(16) for _ in range(2)
    ))  # fmt: skip
    into.add("error_unprepared", version, link.execute(unknown, ()), cql.ERROR)


def record_queries(into: Recording, link: Client) -> None:
    """Every kind of RESULT, with the flags that a header may carry; the errors."""
    version = link.version
    link.must("DROP KEYSPACE IF EXISTS passing")
    for name, (query, flags) in QUERIED.items():
        prefix = PAYLOAD if flags & cql.FLAG_PAYLOAD else b""
        frame = link.query(query, flags=flags, prefix=prefix)
        into.add(name, version, frame, cql.RESULT, query=query)
    frame = link.query("DROP KEYSPACE passing")
    into.add("schema_dropped", version, frame, cql.RESULT, query="DROP KEYSPACE passing")
    for name, (query, consistency) in REFUSED.items():
        into.add(name, version, link.query(query, consistency), cql.ERROR, query=query)


def record_metadata_change(into: Recording, link: Client) -> None:
    """v5: a result that says that its metadata changed since it was prepared."""
    link.must("CREATE TABLE cqlpath.changing (k int PRIMARY KEY, v int)")
    query = "SELECT * FROM cqlpath.changing WHERE k = ?"
    key = "prepared_before_change"
    prepared = into.add(key, link.version, link.prepare(query), cql.RESULT, query=query)
    link.must("INSERT INTO cqlpath.changing (k, v) VALUES (1, 1)")
    link.must("ALTER TABLE cqlpath.changing ADD w text")
    # The server forgot the statement; prepared again it has the same id, and new metadata.
    again = link.prepare(query)
    into.add("prepared_after_change", link.version, again, cql.RESULT, query=query)
    frame = link.execute(prepared, ONE_INT, skip_metadata=True)
    about = {"query": query, "prepared": key}
    into.add("rows_metadata_changed", link.version, frame, cql.RESULT, **about)
    link.must("DROP TABLE cqlpath.changing")


def record_compressed(into: Recording, version: int) -> None:
    """v4: compressed bodies. v5: raw segments, plain and compressed, whole and split."""
    for compression in ("lz4", "snappy") if version < 5 else ("", "lz4"):
        with contextlib.closing(Client(FIRST, version, compression)) as link:
            link.start()
            for name, (query, page) in COMPRESSED.items():
                link.raw.clear()
                frame = link.query(query, page=page)
                about = {"query": query, "compression": compression}
                if version >= 5:
                    into.segments[f"segments_{compression or 'plain'}_{name}"] = bytes(link.raw)
                elif page < 5000:  # one compressed page shows all that a larger one would
                    into.add(f"{compression}_rows_{name}", version, frame, cql.RESULT, **about)


def record_frozen(into: Recording, links: list[Client], cassandra: Path) -> None:
    """Timeouts while a replica is frozen, then the events that it went down and came up."""
    watchers = [Client(FIRST, link.version) for link in links]
    for watcher in watchers:
        watcher.start()
        into.add("ready_registered", watcher.version, watcher.register(EVENTS), cql.READY)
        watcher.socket.settimeout(EVENT_SECONDS)
    subprocess.run([cassandra, "pause", "2"], check=True, timeout=10)
    try:
        for link in links:
            for name, (query, consistency) in TIMED_OUT.items():
                frame = link.query(query, consistency)
                into.add(name, link.version, frame, cql.ERROR, query=query)
        for watcher in watchers:
            into.add("event_down", watcher.version, watcher.next_frame(), 0x0C)
    finally:
        subprocess.run([cassandra, "resume", "2"], check=True, timeout=10)
    for watcher in watchers:
        into.add("event_up", watcher.version, watcher.next_frame(), 0x0C)
    time.sleep(1.0)  # a schema change wants both nodes to agree
    links[0].must("CREATE TABLE cqlpath.seen (k int PRIMARY KEY)")
    for watcher in watchers:
        into.add("event_schema", watcher.version, watcher.next_frame(), 0x0C)
        watcher.close()
    links[0].must("DROP TABLE cqlpath.seen")


def server_version(link: Client) -> str:
    """What the server says that it is: the one value that ends the body, after its length."""
    body = link.query("SELECT release_version FROM system.local").body
    size = next(n for n in range(1, 64) if body[-n - 4 : -n] == struct.pack(">i", n))
    return f"Apache Cassandra {body[-size:].decode()}"


def record_all(into: Recording, cassandra: Path) -> None:
    """Everything that a server without authentication answers, in v4 and v5."""
    links = []
    for version in (4, 5):
        link = record_handshake(into, version)
        record_rows(into, link)
        record_queries(into, link)
        if version >= 5:
            record_metadata_change(into, link)
        record_compressed(into, version)
        into.server = server_version(link)
        links.append(link)
    record_frozen(into, links, cassandra)
    for link in links:
        link.close()


def record_authentication(into: Recording) -> None:
    """AUTHENTICATE, AUTH_SUCCESS, refused credentials and a refused statement."""
    for version in (4, 5):
        with contextlib.closing(Client(FIRST, version)) as link:
            into.add("authenticate", version, link.start(), cql.AUTHENTICATE)
            into.add("error_credentials", version, link.authenticate("cassandra", "x"), cql.ERROR)
        with contextlib.closing(Client(FIRST, version)) as link:
            link.start()
            right = link.authenticate("cassandra", "cassandra")
            into.add("auth_success", version, right, 0x10)
            link.must("CREATE ROLE IF NOT EXISTS guest WITH LOGIN = true AND PASSWORD = 'guest'")
        with contextlib.closing(Client(FIRST, version)) as link:
            link.start()
            link.authenticate("guest", "guest")
            query = "CREATE ROLE another"
            into.add("error_unauthorized", version, link.query(query), cql.ERROR, query=query)
