"""Decoded results to the future that waits: ``ResponseFuture._set_result``, and the next page.

Each kind of result, pages, warnings, ScyllaDB's tablets (scylladb/python-driver pull request 805);
and whole requests of a session whose nodes are in this process.
"""

# ruff: noqa: ANN001, ANN003, ANN202, ANN401  (objects of whichever driver is installed)

from __future__ import annotations

import struct
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple
from uuid import UUID

from . import recordings, ring, subjects
from .case import Case, Prepared, expect, install

DISPATCH = "execution.request:RequestExecution._set_result"
NEXT_PAGE = "results.result_set:ResultSet.fetch_next_page"
ITERATED = (
    "execution.response_future:ResponseFuture.result",
    "results.result_set:ResultSet.__next__",
)
#: Until 1 a session that was made for the purpose asked and answered, without a cluster.
OF_A_SESSION = "2"
MODULES = ("execution.request", "execution.response_future")
VERSION = 4
CUSTOM_PAYLOAD_FLAG = 0x04
TABLET_KEY = "tablets-routing-v1"


def _dispatch(set_result=None, host=None, connection=None, response=None):
    set_result(host, connection, None, response)


def _next_page(fetch=None, forget=None, hosts=None):
    fetch()
    forget()
    hosts.clear()


def _iterate(result=None):
    return list(result())


def _shape(factory=None, names=None, rows=None):
    return factory(names, rows)


def _request(execute=None, statement=None, forget=None):
    result = execute(statement)
    forget()
    return result.current_rows


def tablet_payload() -> bytes:
    """What ScyllaDB sends for a tablet: tuple<bigint, bigint, list<tuple<uuid, int>>>."""

    def cell(data: bytes) -> bytes:
        return struct.pack(">i", len(data)) + data

    replicas = [(UUID(int=number, version=4), number) for number in (1, 2, 3)]
    elements = [cell(cell(host.bytes) + cell(struct.pack(">i", shard))) for host, shard in replicas]
    tokens = cell(struct.pack(">q", -(1 << 62))) + cell(struct.pack(">q", 1 << 62))
    return tokens + cell(struct.pack(">i", len(elements)) + b"".join(elements))


def with_tablet(frame: recordings.Recorded) -> recordings.Recorded:
    """A recorded frame with a tablet in its custom payload; Cassandra does not send these."""
    key, value = TABLET_KEY.encode(), tablet_payload()
    payload = struct.pack(">HH", 1, len(key)) + key + struct.pack(">i", len(value)) + value
    return frame._replace(flags=frame.flags | CUSTOM_PAYLOAD_FLAG, body=payload + frame.body)


class Owner(NamedTuple):
    """A session and what a case needs of it.

    Attributes:
        core: what a request asks.
        execute: sends a statement, gives its result.
        host: the node that answers.
        connection: the connection to it.
        forget: forgets the requests that a node remembers.
    """

    core: Any
    execute: Any
    host: Any
    connection: Any
    forget: Any


def session(
    statement: str = "select_readings", answer: str = "rows_one_skipped", *, tablets: bool = False
) -> Owner:
    """A session of rows that are tuples; its nodes answer each EXECUTE with one recorded frame."""
    from driver.results.rows import tuple_factory

    try:
        announced = {"TABLETS_ROUTING_V1": ""} if tablets else {}
        opened = ring.open_session(
            ring.Ring(f"prepared_{statement}", answer, VERSION, ring.PromptCarrier, announced)
        )
    except (ImportError, NotImplementedError):
        return _session_of_before(answer, tuple_factory, tablets)
    opened.session.row_factory = tuple_factory
    core = opened.session.core
    host, pool = next(iter(core.pools.by_host.items()))
    connection, stream = pool.borrow_connection()
    connection.release_request_id(stream)
    pool.return_connection(connection)
    return Owner(core, opened.session.execute, host, connection, _nothing)


def _session_of_before(answer: str, row_factory: Any, tablets: bool) -> Owner:
    """The session without sockets that commits had in the driver whose connections need them."""
    in_memory = import_module("driver.execution.in_memory")
    frame = recordings.frame(answer)
    fixed = import_module("driver.net.in_memory").Answer(frame.opcode, frame.body, frame.flags)
    features = import_module("driver.wire.features").ProtocolFeatures(tablets_routing_v1=tablets)
    made = in_memory.InMemorySession(lambda _: fixed, features=features, row_factory=row_factory)
    return Owner(made, made.execute, made.host, made.connection, made.server.requests.clear)


def _nothing() -> None:
    """Nothing to forget."""


def waiting(owner: Owner, statement: str = "select_readings") -> Any:
    """A future that waits for the answer to an execution of a recorded statement."""
    from driver.execution.response_future import ResponseFuture
    from driver.wire.requests import ExecuteMessage

    prepared = subjects.prepared(statement)
    bound = prepared.bind((1,))
    message = ExecuteMessage(prepared.query_id, bound.values, 1, skip_meta=True)
    return ResponseFuture(owner.core, message, bound, None, prepared_statement=prepared)


def dispatched(name: str, *, tablet: bool = False) -> Prepared:
    """``_set_result`` of a decoded frame, on one future again and again.

    What a session does about a keyspace or a schema is no part of it: it is done at once.
    """
    owner = session(tablets=tablet)
    cluster = owner.core.cluster
    keyspaces: list[str] = []
    owner.core.set_keyspace_for_all_pools = lambda keyspace, done: (
        keyspaces.append(keyspace),
        done({}),
    )
    cluster.schema_changed = lambda _connection, _event, done: done(True)
    future = waiting(owner)
    frame = recordings.frame(name)
    response = subjects.decode_frame(with_tablet(frame) if tablet else frame)

    def check(_: object) -> dict[str, Any]:
        facts: dict[str, Any] = {"kind": frame.about["kind"] or "ERROR"}
        if tablet:
            known = cluster.metadata.tablets
            expect(known.get_tablet_for_key("cqlpath", "readings", _Token(0)), "no tablet learnt")
            facts["tablet"] = True
        if frame.about["kind"] == "SET_KEYSPACE":
            expect(keyspaces[-1] == "cqlpath", f"the keyspace is {keyspaces}")
        return facts

    inputs = (future._set_result, owner.host, owner.connection, response)
    return Prepared(inputs, answer=lambda _: _outcome(future), check=check)


class _Token:
    """A token as tablets are looked up by."""

    def __init__(self, value: int) -> None:
        self.value = value


def _outcome(future: Any) -> Any:
    """What the caller of a future gets: rows, a message's id, or an exception as text."""
    try:
        rows = future.result().current_rows
    except Exception as error:  # noqa: BLE001  (errors are dispatched too)
        return f"{type(error).__name__}: {error}"
    return [getattr(row, "query_id", row) for row in rows]


def next_page() -> Prepared:
    """``ResultSet.fetch_next_page`` from a server whose every page has a next one."""
    owner = session(answer="rows_page_100_skipped")
    future = waiting(owner)
    future.send_request()
    page = future.result()

    def check(_: object) -> dict[str, Any]:
        expect(len(page.current_rows) == 100, f"{len(page.current_rows)} rows on the page")
        expect(page.has_more_pages, "the page is the last")
        return {"rows": 100}

    inputs = (page.fetch_next_page, owner.forget, future.attempted_hosts)
    return Prepared(inputs, answer=lambda _: page.current_rows, check=check)


def iterated(statement: str, answer: str) -> Prepared:
    """A result set from a future whose answer is there, and its rows one after another."""
    future = waiting(session(statement, answer), statement)
    future.send_request()
    count = recordings.frame(answer).about["rows"]

    def check(rows: Any) -> dict[str, Any]:
        expect(len(rows) == count, f"{len(rows)} rows of {count}")
        return {"rows": len(rows)}

    return Prepared((future.result,), check=check)


def shaped(name: str) -> Prepared:
    """A page of 100 decoded rows, to a row factory."""
    made = subjects.decode_frame(recordings.frame("rows_page_100_skipped"))
    names = made.column_names

    def check(rows: Any) -> dict[str, Any]:
        expect(len(rows) == 100, f"{len(rows)} rows")
        first = rows[0]
        values = first.values() if isinstance(first, dict) else first
        expect(tuple(values) == made.parsed_rows[0], f"not the decoded row: {first}")
        return {"rows": len(rows)}

    factory = getattr(import_module("driver.results"), name)
    return Prepared((factory, names, made.parsed_rows), check=check)


def request(statement: str, answer: str) -> Prepared:
    """Execute a bound statement, from encoding to rows, without a socket."""
    owner = session(statement, answer)
    frame = recordings.frame(answer)
    values = {"select_point": (1, _at())}.get(statement, (1,))
    bound = subjects.prepared(statement).bind(values)

    def check(rows: Any) -> dict[str, Any]:
        expect(len(rows) == frame.about["rows"], f"{len(rows)} rows of {frame.about['rows']}")
        return {"rows": len(rows)}

    return Prepared((owner.execute, bound, owner.forget), check=check)


def _at() -> Any:
    from datetime import UTC, datetime

    return datetime(2026, 3, 20, 8, 34, tzinfo=UTC).replace(tzinfo=None)


def _case(name, frame, **about) -> Case:
    prepare = partial(dispatched, frame, **about)
    return Case(name, _dispatch, prepare, MODULES, (DISPATCH,), OF_A_SESSION)


WHOLE = ("wire.codec", "wire.rows", *MODULES)
WHOLE_REACHES = (
    "wire.requests.frames:encode_message",
    "wire.decoding:decode_message",
    "wire.rows:parse_rows",
    DISPATCH,
)

CASES = [
    _case("rows", "rows_one_skipped"),
    _case("rows_with_next_page", "rows_page_100_skipped"),
    _case("rows_with_warnings", "rows_warned"),
    _case("rows_with_payload", "rows_with_payload"),
    _case("rows_with_tablet", "rows_one_skipped", tablet=True),
    _case("void", "void"),
    _case("set_keyspace", "set_keyspace"),
    _case("schema_change", "schema_table"),
    _case("prepared", "prepared_select_point"),
    _case("error", "error_unavailable"),
    Case(
        "iterate_one_row",
        _iterate,
        partial(iterated, "select_readings", "rows_one_skipped"),
        MODULES,
        ITERATED,
    ),
    Case(
        "iterate_20_rows",
        _iterate,
        partial(iterated, "select_documents", "rows_wide_text_skipped"),
        MODULES,
        ITERATED,
    ),
    *(
        Case(case, _shape, partial(shaped, name), ("results.rows",), (f"results.rows:{name}",))
        for case, name in {
            "rows_to_dicts_100": "dict_factory",
            "rows_to_named_tuples_100": "named_tuple_factory",
        }.items()
    ),
    Case("fetch_next_page", _next_page, next_page, MODULES, (NEXT_PAGE, DISPATCH), OF_A_SESSION),
    Case(
        "request_one_row",
        _request,
        partial(request, "select_point", "rows_one_skipped"),
        WHOLE,
        WHOLE_REACHES,
        OF_A_SESSION,
    ),
    Case(
        "request_page_100",
        _request,
        partial(request, "select_readings", "rows_page_100_skipped"),
        WHOLE,
        WHOLE_REACHES,
        OF_A_SESSION,
    ),
]

install(globals(), CASES)
