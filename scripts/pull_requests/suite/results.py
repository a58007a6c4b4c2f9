"""Pull request 805: a result is decoded and given to the future that waits for it.

A session, a connection and a cluster stand in for those of a running driver; they only hold what
the future reads of them.
"""

import inspect
import uuid
from types import SimpleNamespace

from cassandra.cluster import ResponseFuture, ResultSet
from cassandra.cqltypes import lookup_casstype
from cassandra.protocol import ProtocolHandler, QueryMessage
from cassandra.query import SimpleStatement, tuple_factory
from cassandra.tablets import Tablets

from .proving import proved
from .wire import FEATURES, RESULT, STREAM, VERSION, VOID, bare_rows, metadata, prepared, rows

MODULES = ("cluster", "protocol", "query", "row_parser")
SET, DECODE = "cluster:ResponseFuture._set_result", "protocol:ResultMessage.recv_body"
V1 = "tablets-routing-v1"
decode = ProtocolHandler.decode_message
TABLET = lookup_casstype("TupleType(LongType, LongType, ListType(TupleType(UUIDType, Int32Type)))")
PAYLOAD = {V1: TABLET.serialize((-10, 10, [(uuid.UUID(int=1), 1)]), VERSION)}


class NoHosts:
    """A policy of a future that sends nothing."""

    def make_query_plan(self, keyspace, query):
        """No host."""
        return ()


class Paged(ResponseFuture):
    """A future whose next page is there already."""

    def start_fetching_next_page(self):
        """Nothing to wait for."""


def future(kind=ResponseFuture, statement=None, **more):
    """A future of one session, without a timeout."""
    cluster = SimpleNamespace(
        _default_load_balancing_policy=NoHosts(), protocol_version=VERSION,
        metadata=SimpleNamespace(_tablets=Tablets({})), control_connection=None,
    )  # fmt: skip
    session = SimpleNamespace(row_factory=tuple_factory, cluster=cluster, keyspace="app")
    query = SimpleStatement("SELECT", keyspace="app")
    query.table = "words"
    made = kind(session, QueryMessage("SELECT", 1), query, None, prepared_statement=statement,
                **more)  # fmt: skip
    if statement is not None and hasattr(made, "_bound_col_names"):
        # As a session of a side that keeps them does.
        snapshot = statement.result_metadata_snapshot
        made._bound_col_names, made._bound_col_types = snapshot[2:]
    return made


def message(body, columns=None):
    """A decoded result."""
    return decode(VERSION, FEATURES, {}, STREAM, 0, RESULT, body, None, columns)


def bare(number):
    """A future of a prepared statement, the body of its result, and the metadata that it has."""
    about = metadata(number)
    # Before DRIVER-153 (29 July 2026) a future was not given the metadata of its statement.
    takes = inspect.signature(ResponseFuture).parameters
    more = {"bound_result_metadata": about} if "bound_result_metadata" in takes else {}
    return future(statement=prepared([], result=about), **more), bare_rows(0, number), about


def told(made):
    """What a future holds then."""
    return made._col_names, made._col_types, made._final_result, made._warnings


FUTURE, ONE, ONE_ROW, NOTHING = future(), rows(1, 6), message(rows(1, 6)), message(VOID)
WITH_TABLET = message(rows(1, 6))
WITH_TABLET.custom_payload = PAYLOAD
CONNECTION = SimpleNamespace(
    features=SimpleNamespace(tablets_routing_v1=True, tablets_routing_v2=False), keyspace="app"
)
PAGED = future(Paged)
PAGED._set_result(None, None, None, ONE_ROW)
PAGED._paging_state = b"next"
PAGES = ResultSet(PAGED, PAGED._final_result)
FIVE, TEN, TWENTY, FIFTY = (bare(number) for number in (5, 10, 20, 50))


@proved([DECODE], MODULES, answer=lambda found: (found.kind, found.column_names))
def time_decode_void(decode=decode, body=VOID):
    """A VOID, the answer to a write."""
    return decode(VERSION, FEATURES, {}, STREAM, 0, RESULT, body, None, None)


@proved([DECODE], MODULES, answer=lambda found: (found.column_names, found.parsed_rows))
def time_decode_one_row(decode=decode, body=ONE):
    """A row of six columns, with its metadata."""
    return decode(VERSION, FEATURES, {}, STREAM, 0, RESULT, body, None, None)


@proved(["cluster:ResultSet.fetch_next_page"], MODULES, answer=lambda found: found.current_rows)
def time_fetch_next_page(pages=PAGES):
    """A page that has come."""
    pages.fetch_next_page()
    return pages


@proved([SET], MODULES, answer=told)
def time_set_rows(future=FUTURE, found=ONE_ROW):
    """A row."""
    future._set_result(None, None, None, found)
    return future


@proved([SET], MODULES, answer=told)
def time_set_void(future=FUTURE, found=NOTHING):
    """A VOID."""
    future._set_result(None, None, None, found)
    return future


@proved([SET, "cluster:ResponseFuture._cache_tablet_from_payload"], MODULES, answer=told)
def time_set_rows_with_tablet(future=FUTURE, connection=CONNECTION, found=WITH_TABLET):
    """A row, and the tablet that it is from."""
    future._set_result(None, connection, None, found)
    return future


@proved([SET, DECODE], MODULES, answer=told)
def time_decode_and_set_one_row(future=FUTURE, decode=decode, body=ONE):
    """Both."""
    future._set_result(
        None, None, None, decode(VERSION, FEATURES, {}, STREAM, 0, RESULT, body, None, None)
    )
    return future


def names_and_types(of):
    """Decode a result without rows and metadata, and set it: little but the names and types."""
    made, body, about = of
    made._set_result(
        None, None, None, decode(VERSION, FEATURES, {}, STREAM, 0, RESULT, body, None, about)
    )
    return made


@proved([SET, DECODE], MODULES, answer=told)
def time_names_and_types_5(of=FIVE):
    """Of five columns."""
    return names_and_types(of)


@proved([SET, DECODE], MODULES, answer=told)
def time_names_and_types_10(of=TEN):
    """Of ten columns."""
    return names_and_types(of)


@proved([SET, DECODE], MODULES, answer=told)
def time_names_and_types_20(of=TWENTY):
    """Of twenty columns."""
    return names_and_types(of)


@proved([SET, DECODE], MODULES, answer=told)
def time_names_and_types_50(of=FIFTY):
    """Of fifty columns."""
    return names_and_types(of)
