"""The drivers, each by what its documentation shows: connect, prepare, ask, take all values.

For a statement a client gives two calls: one asks, one takes the values of all rows out of what
came back, in the form of rows that is the driver's default or, where a row decodes its values only
when they are asked for, its cheapest. Compression is off, since not all have it; everything else is
a default. Only the standard library and the driver itself are there.
"""

# ruff: noqa: ANN401  (objects of whichever driver)

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[[tuple[Any, ...]], Any]
    Take = Callable[[Any], list[Any]]


def _nothing(_: object) -> list[Any]:
    return []


class Blocking:
    """`cqlpath`, cassandra-driver and scylla-driver; futures can also be started."""

    package = "cassandra"

    def __init__(self, host: str, port: int) -> None:
        """Connect."""
        module = import_module(f"{self.package}.cluster")
        self._cluster = module.Cluster([host], port=port, compression=False)
        self.session = self._cluster.connect()

    def run(self, text: str) -> None:
        """Execute a text."""
        self.session.execute(text)

    def prepare(self, kind: str, text: str) -> tuple[Ask, Take]:
        """A call that blocks until there is a result; what takes its rows."""
        statement, execute = self.session.prepare(text), self.session.execute
        return lambda bound: execute(statement, bound), _nothing if kind == "insert" else list

    def start(self, kind: str, text: str) -> tuple[Ask, Take]:
        """A call that gives a future; what takes the rows of its result."""
        statement, start = self.session.prepare(text), self.session.execute_async
        return lambda bound: start(statement, bound), _nothing if kind == "insert" else list

    def as_tuples(self) -> None:
        """Let rows be tuples from now on, not named ones."""
        query = import_module("driver" if self.package == "driver" else f"{self.package}.query")
        self.session.row_factory = query.tuple_factory

    def close(self) -> None:
        """Disconnect."""
        self._cluster.shutdown()


class BlockingOurs(Blocking):
    """This driver."""

    package = "driver"


class BlockingRust:
    """`scylladb-rs-driver`: each call gives a future that can be waited for."""

    def __init__(self, host: str, port: int) -> None:
        """Connect."""
        builder = import_module("scylla.session_builder").SessionBuilder()
        self.session = builder.contact_points([(host, port)]).connect().result()

    def run(self, text: str) -> None:
        """As `Blocking.run`."""
        self.session.execute(text).result()

    def prepare(self, kind: str, text: str) -> tuple[Ask, Take]:
        """As `Blocking.prepare`."""
        statement, execute = self.session.prepare(text).result(), self.session.execute
        take = _nothing if kind == "insert" else _current_page
        return lambda bound: execute(statement, bound).result(), take

    def start(self, kind: str, text: str) -> tuple[Ask, Take]:
        """As `Blocking.start`."""
        statement, execute = self.session.prepare(text).result(), self.session.execute
        take = _nothing if kind == "insert" else _current_page
        return lambda bound: execute(statement, bound).start(), take

    def close(self) -> None:
        """It has no such call."""


class Awaited:
    """A driver on an event loop; most are used alike."""

    session: Any

    async def connect(self, host: str, port: int) -> None:
        """Connect."""
        raise NotImplementedError

    async def run(self, text: str) -> None:
        """Execute a text."""
        await self.session.execute(text)

    async def prepare(self, kind: str, text: str) -> tuple[Ask, Take]:
        """A call that gives something to await; what takes the rows of its result."""
        statement, execute = await self.session.prepare(text), self.session.execute
        return lambda bound: execute(statement, bound), self.taking(kind)

    def taking(self, kind: str) -> Take:
        """What takes the rows of a result."""
        raise NotImplementedError

    async def close(self) -> None:
        """Disconnect, where there is a call for it."""


class AwaitedOurs(Awaited):
    """This driver."""

    async def connect(self, host: str, port: int) -> None:
        """As `Awaited.connect`."""
        cluster = import_module("driver.aio").Cluster([host], port=port, compression=False)
        self.session = await cluster.connect()
        self.close = cluster.shutdown

    def taking(self, kind: str) -> Take:
        """As `Awaited.taking`."""
        return _nothing if kind == "insert" else _current_rows


def _current_rows(result: Any) -> list[Any]:
    rows: list[Any] = result.current_rows
    return rows


class AwaitedRust(Awaited):
    """`scylladb-rs-driver`."""

    async def connect(self, host: str, port: int) -> None:
        """As `Awaited.connect`."""
        builder = import_module("scylla.session_builder").SessionBuilder()
        self.session = await builder.contact_points([(host, port)]).connect()

    def taking(self, kind: str) -> Take:
        """As `Awaited.taking`."""
        return _nothing if kind == "insert" else _current_page


def _current_page(result: Any) -> list[Any]:
    return list(result.iter_current_page())


class AwaitedRsylla(Awaited):
    """`rsylla`, which binds by name alone."""

    names = ("sensor", "seq", "at", "value", "valid", "note")

    async def connect(self, host: str, port: int) -> None:
        """As `Awaited.connect`."""
        self.session = await import_module("rsylla").Session.connect([f"{host}:{port}"])

    async def prepare(self, kind: str, text: str) -> tuple[Ask, Take]:
        """As `Awaited.prepare`."""
        statement, execute = await self.session.prepare(text), self.session.execute_prepared
        names = self.names
        take = _nothing if kind == "insert" else _columns
        # The names of fewer values are those in front.
        return lambda bound: execute(statement, dict(zip(names, bound, strict=False))), take


def _columns(result: Any) -> list[Any]:
    return [row.columns() for row in result.rows()]


class AwaitedAcsylla(Awaited):
    """`acsylla`, over the C++ driver."""

    async def connect(self, host: str, port: int) -> None:
        """As `Awaited.connect`."""
        cluster = import_module("acsylla").create_cluster([host], port=port, log_level="error")
        self.session = await cluster.create_session()
        self.close = self.session.close

    async def run(self, text: str) -> None:
        """As `Awaited.run`."""
        await self.session.query(text)

    async def prepare(self, kind: str, text: str) -> tuple[Ask, Take]:
        """As `Awaited.prepare`."""
        bind, execute = (await self.session.create_prepared(text)).bind, self.session.execute
        return lambda bound: execute(bind(bound)), _nothing if kind == "insert" else _as_tuples


def _as_tuples(result: Any) -> list[Any]:
    return [row.as_tuple() for row in result.all()]


class AwaitedScyllapy(Awaited):
    """`scyllapy`."""

    async def connect(self, host: str, port: int) -> None:
        """As `Awaited.connect`."""
        self.session = import_module("scyllapy").Scylla([f"{host}:{port}"])
        await self.session.startup()
        self.close = self.session.shutdown

    def taking(self, kind: str) -> Take:
        """As `Awaited.taking`."""
        return _nothing if kind == "insert" else _all


def _all(result: Any) -> list[Any]:
    rows: list[Any] = result.all()
    return rows


BLOCKING = {"cqlpath": BlockingOurs, "cassandra-driver": Blocking, "scylla-driver": Blocking,
            "scylladb-rs-driver": BlockingRust}  # fmt: skip
AWAITED = {"cqlpath": AwaitedOurs, "scylladb-rs-driver": AwaitedRust, "rsylla": AwaitedRsylla,
           "acsylla": AwaitedAcsylla, "scyllapy": AwaitedScyllapy}  # fmt: skip
