"""Whole requests through ``Session.execute_async``, and each hop of them on the same objects.

A point select (one row by its partition and clustering key) and a range select (a page of 100
rows) of a prepared statement: bind, routing key and token, the plan of TokenAware over DCAware, a
connection borrowed from the pool, encode, v5 segments, decode, ``_set_result``, rows to the caller.
Nothing is stubbed but the socket: see ``asv_benchmarks/ring.py``. The answers are recorded frames.

``point_select`` and ``range_select`` are the wholes, ``<whole>_<hop>`` their parts: ``benchproof
share`` tells which share of the whole each of them has, and how much is in none.
"""

# ruff: noqa: ANN001, ANN202, ANN401  (objects of whichever driver is installed)

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache, partial
from typing import Any, NamedTuple

from . import recordings, ring
from .case import Case, Prepared, expect, install

AT = datetime(2026, 3, 20, 8, 34, tzinfo=UTC).replace(tzinfo=None)
#: Microseconds since the epoch, for requests that are encoded here.
TIMESTAMP = 1_774_000_000_000_000


class Select(NamedTuple):
    """A request: the recorded statement, its values, the recorded answer."""

    prepared: str
    values: tuple[Any, ...]
    rows: str


SELECTS = {
    "point_select": Select("prepared_select_point", (1, AT), "rows_one_skipped"),
    "range_select": Select("prepared_select_readings", (1,), "rows_page_100_skipped"),
}

# --- what is timed ---------------------------------------------------------------------------


def _one(execute=None, statement=None, values=None, deliver=None):
    future = execute(statement, values)
    deliver()
    return future.result().one()


def _page(execute=None, statement=None, values=None, deliver=None):
    future = execute(statement, values)
    deliver()
    return future.result().current_rows


def _bind(bind=None, values=None):
    return bind(values)


def _message(request=None, future_class=None, bound=None):
    return request(future_class, bound)


def _plan(query_plan=None, bound=None, policy=None):
    # A statement keeps its key: without this line only the first call would compute it.
    del bound.routing_key
    return next(query_plan(bound, policy))


def _borrow(pool_for=None, token_and_shard=None, session=None, bound=None, host=None):
    pool = pool_for(host)
    token, shard = token_and_shard(session, bound, host)
    connection, stream = pool.borrow_connection(token, shard)
    connection.release_request_id(stream)
    return connection


def _no_route(_session, _bound, host):
    # What a request does since it has a route: no node of the ring has shards, none is computed.
    return None, host.sharding_info


def _encode(encode=None, message=None, stream=None):
    return encode(message, stream)


def _write(write=None, data=None, waiting=None):
    write(data)
    return waiting.popleft()


def _timer(call_later=None, seconds=None, callback=None):
    call_later(seconds, callback).cancel()


def _server(answer=None, data=None):
    return answer(data)


def _read(feed=None, data=None):
    return feed(data)


def _decode(decode=None, inputs=None):
    return decode(*inputs)


def _dispatch(set_result=None, host=None, connection=None, pool=None, response=None):
    set_result(host, connection, pool, response)


def _rows_one(result=None):
    return result().one()


def _rows_page(result=None):
    return result().current_rows


# --- the objects of one request --------------------------------------------------------------


class Request:
    """A request that was executed step by step, with everything that a hop of it needs."""

    def __init__(self, select: Select) -> None:
        """Open a session, and execute the request once.

        Raises:
            ImportError: this commit has no sessions.
            NotImplementedError: its connections need sockets.
        """
        from driver.execution import routing
        from driver.execution.response_future import ResponseFuture

        opened = ring.open_session(ring.Ring(select.prepared, select.rows))
        self.select = select
        self.session, self.ring, self.statement = opened.session, opened.ring, opened.statement
        self.core = self.session.core
        self.future_class = ResponseFuture
        self.token_and_shard = getattr(routing, "token_and_shard", _no_route)
        self.bound = self.statement.bind(select.values)
        self.policy = self.core.default_profile.load_balancing_policy
        for _ in range(ring.STREAMS):  # the answer on each of them is made once, and not timed
            self.session.execute_async(self.statement, select.values)
            self.ring.deliver()
        self.future = self.session.execute_async(self.statement, select.values)
        self.message, self.waiting = self.future.message, self.ring.waiting
        self.carrier, self.written = self.waiting[0]
        self.ring.deliver()
        self.host = self.future.coordinator_host
        self.pool = self.core.pool_for(self.host)
        self.connection, stream = self.pool.borrow_connection()
        self.connection.release_request_id(stream)
        self.stream = 1  # which one is next is for each commit to say, and no different answer
        self.conversation = self.connection._conversation
        # A frame with the time of day has another checksum in each process, and a checksum with
        # fewer digits costs fewer instructions.
        self.message.timestamp = TIMESTAMP
        self.frame = self.conversation.encode(self.message, self.stream)
        self.answer = self.carrier.answer(self.written)
        (received,) = self.conversation.feed(self.answer)
        self.to_decode = (
            received.version, self.connection.features, {}, received.stream_id, received.flags,
            received.opcode, received.body, self.conversation.decompressor,
            self.statement.result_metadata,
        )  # fmt: skip
        self.response = self.connection.handler.decode_message(*self.to_decode)

    @property
    def count(self) -> int:
        """How many rows were recorded."""
        return recordings.frame(self.select.rows, ring.PROTOCOL_VERSION).about["rows"]


@cache
def request(name: str) -> Request:
    """The request of a name; one for the whole and all of its hops."""
    return Request(SELECTS[name])


def whole(name: str) -> Prepared:
    """``Session.execute_async``, and the rows of its result."""
    made = request(name)

    def check(rows: Any) -> dict[str, Any]:
        rows = [rows] if made.count == 1 else rows
        expect(len(rows) == made.count, f"{len(rows)} rows of {made.count}")
        expect(rows[0].sensor == 1, f"not the recorded row: {rows[0]}")
        made.ring.forget_answers()
        before = len(made.ring.executed())
        made.session.execute_async(made.statement, made.select.values)
        made.ring.deliver()
        bodies = made.ring.executed()[before:]
        made.ring.remember_answers()
        expect(len(bodies) == 1, f"{len(bodies)} EXECUTE for one request")
        for value in (made.statement.query_id, *made.bound.values):
            expect(value in bodies[0], f"{value!r} is not in the request: {bodies[0]!r}")
        plan = list(made.core.query_plan(made.bound, made.policy))
        replicas = made.core.cluster.metadata.get_replicas("cqlpath", made.bound.routing_key)
        expect(plan == list(replicas) and len(plan) == 3, f"not the replicas: {plan}")
        return {"rows": len(rows), "request_bytes": len(bodies[0])}

    inputs = (made.session.execute_async, made.statement, made.select.values, made.ring.deliver)
    return Prepared(inputs, check=check)


def hop(name: str, inputs: Any, answer: Any, holds: Any) -> Prepared:
    """A part of a request.

    Args:
        name: of the whole.
        inputs: takes the request, gives the inputs of the timed function.
        answer: takes the request and what the function returned, gives plain values.
        holds: takes the same, tells whether the answer is the right one.
    """
    made = request(name)

    def check(result: Any) -> dict[str, Any]:
        expect(holds(made, result), f"this is not what the request needs: {result!r}")
        return {}

    return Prepared(inputs(made), answer=partial(answer, made), check=check)


# --- the table -------------------------------------------------------------------------------


class Hop(NamedTuple):
    """A part of a request: see ``hop``. The names that it reaches are the whole's as well."""

    body: Any
    reaches: tuple[str, ...]
    inputs: Any
    holds: Any
    answer: Any


def _nothing(_made: Request, _result: Any) -> None:
    """An answer that is no value: times, ids, objects."""


ENCODE = "wire.requests.frames:encode_message"
DECODE = ("wire.decoding:decode_message", "wire.rows:parse_rows")
TOKEN_AWARE = "policies.load_balancing.token_aware:TokenAwarePolicy.make_query_plan"  # noqa: S105
DISPATCH = "execution.request:RequestExecution._set_result"

HOPS = {
    "bind": Hop(
        _bind,
        ("statements.bound:bind_prepared",),
        lambda r: (r.statement.bind, r.select.values),
        lambda r, bound: bound.values == r.bound.values,
        lambda _, bound: bound.values,
    ),
    "message": Hop(
        _message,
        ("cluster.session_core:SessionCore.request",),
        lambda r: (r.core.request, r.future_class, r.bound),
        lambda r, future: future.message.query_id == r.statement.query_id,
        lambda _, future: future.message.query_params,
    ),
    "plan": Hop(
        _plan,
        (
            TOKEN_AWARE,
            # Of compiled code the key and its token are C calls: nothing can stand in front.
            "topology.metadata:Metadata.get_replicas",
        ),
        lambda r: (r.core.query_plan, r.bound, r.policy),
        lambda r, host: host is r.host,
        lambda _, host: str(host),
    ),
    "borrow": Hop(
        _borrow,
        ("pool.host_pool:HostPool.borrow_connection",),
        lambda r: (r.core.pool_for, r.token_and_shard, r.core, r.bound, r.host),
        lambda r, connection: connection is r.connection and not connection.in_flight,
        _nothing,
    ),
    "encode": Hop(
        _encode,
        (ENCODE,),
        lambda r: (r.conversation.encode, r.message, r.stream),
        lambda r, frame: frame == r.frame,
        lambda _, frame: frame,
    ),
    "write": Hop(
        _write,
        ("wire.segments:SegmentCodec.encode",),
        lambda r: (r.connection._write, r.frame, r.waiting),
        lambda r, sent: sent[0] is r.carrier and r.frame in sent[1],
        lambda _, sent: len(sent[1]),
    ),
    "timer": Hop(
        _timer,
        ("net.timers:Timers.call_later",),
        lambda r: (r.core.timers.call_later, r.future.timeout, r.ring.deliver),
        lambda r, _: not r.core.timers.pending,
        _nothing,
    ),
    "server": Hop(
        _server,
        (),
        lambda r: (r.carrier.answer, r.written),
        lambda r, data: data == r.answer,
        # Without the stream id and its checksum: which stream is next is for each commit to say.
        lambda r, data: (len(data), r.to_decode[6]),
    ),
    "read": Hop(
        _read,
        ("wire.conversation:Conversation.feed",),
        lambda r: (r.conversation.feed, r.answer),
        lambda r, frames: [f.body for f in frames] == [r.to_decode[6]],
        lambda _, frames: [frame.body for frame in frames],
    ),
    "decode": Hop(
        _decode,
        DECODE,
        lambda r: (r.connection.handler.decode_message, r.to_decode),
        lambda r, message: len(message.parsed_rows) == r.count,
        lambda _, message: message.parsed_rows,
    ),
    "dispatch": Hop(
        _dispatch,
        (DISPATCH,),
        lambda r: (r.future._set_result, r.host, r.connection, r.pool, r.response),
        lambda r, _: len(r.future.result().current_rows) == r.count,
        lambda r, _: r.future.result().current_rows,
    ),
}
ROWS = {
    "point_select": Hop(
        _rows_one,
        ("execution.response_future:ResponseFuture.result", "results.page:ResultPage.one"),
        lambda r: (r.future.result,),
        lambda _, row: row.sensor == 1,
        lambda _, row: row,
    ),
    "range_select": Hop(
        _rows_page,
        ("execution.response_future:ResponseFuture.result",),
        lambda r: (r.future.result,),
        lambda r, rows: len(rows) == r.count,
        lambda _, rows: rows,
    ),
}
#: What no hop has: the glue between them.
GLUE = (
    "cluster.session:Session.execute_async",
    "execution.request:RequestExecution.send_request",
    "net.connection:Connection.send_msg",
)


def cases(name: str, body: Any) -> list[Case]:
    """A whole, and its parts in the order in which they happen."""
    hops = {**HOPS, "rows": ROWS[name]}
    reaches = tuple(
        dict.fromkeys((*GLUE, *(one for each in hops.values() for one in each.reaches)))
    )
    made = [Case(name, body, partial(whole, name), _modules(reaches), reaches)]
    for called, part in hops.items():
        prepare = partial(hop, name, part.inputs, part.answer, part.holds)
        reached = part.reaches
        made.append(
            Case(f"{name}_{called}", part.body, prepare, _modules(reached), reached, part_of=name)
        )
    return made


def _modules(reaches: tuple[str, ...]) -> tuple[str, ...]:
    """The modules of names."""
    return tuple(dict.fromkeys(name.partition(":")[0] for name in reaches))


CASES = [*cases("point_select", _one), *cases("range_select", _page)]

install(globals(), CASES)
