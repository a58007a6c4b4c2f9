"""A program of a user that type checkers have nothing to say about; nothing here is ever run."""

import asyncio
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

from driver import (
    EXEC_PROFILE_DEFAULT,
    AsyncCluster,
    BatchStatement,
    BoundStatement,
    Cluster,
    ConsistencyLevel,
    DCAwareRoundRobinPolicy,
    DriverException,
    ExecutionProfile,
    InvalidRequest,
    PreparedStatement,
    ResultSet,
    RetryPolicy,
    RowFactory,
    Session,
    SimpleStatement,
    TokenAwarePolicy,
    arrow_factory,
    class_factory,
    dict_factory,
    tuple_factory,
)


@dataclass
class User:
    name: str
    age: int | None = None


class Named(NamedTuple):
    name: str


class Keyed(TypedDict):
    name: str


USERS = class_factory(User)
NAMED: RowFactory[Named] = class_factory(Named)


def connected() -> Session:
    profile = ExecutionProfile(
        load_balancing_policy=TokenAwarePolicy(DCAwareRoundRobinPolicy("dc1")),
        retry_policy=RetryPolicy(),
        consistency_level=ConsistencyLevel.LOCAL_QUORUM,
        request_timeout=2.0,
        row_factory=dict_factory,
    )
    cluster = Cluster(
        ["10.0.0.1", ("10.0.0.2", 9043)],
        9042,
        compression="lz4",
        connect_timeout=None,
        execution_profiles={EXEC_PROFILE_DEFAULT: profile},
    )
    with cluster:
        return cluster.connect("people")


def names(session: Session) -> list[str]:
    found = [user.name for user in session.execute("SELECT * FROM users", row_factory=USERS)]
    found += [row.name for row in session.execute_async("SELECT", row_factory=NAMED).result()]
    found += [row["name"] for row in session.execute("SELECT", row_factory=class_factory(Keyed))]
    found += [str(row["name"]) for row in session.execute("SELECT", row_factory=dict_factory)]
    found += [str(row[0]) for row in session.execute("SELECT", row_factory=tuple_factory)]
    found += [str(batch.num_rows) for batch in session.execute("SELECT", row_factory=arrow_factory)]
    for row in session.execute("SELECT name FROM users"):
        found.append(row.name)
    return found


def one(session: Session, prepared: PreparedStatement) -> User | None:
    bound: BoundStatement = prepared.bind(("Ada",))
    result: ResultSet[User] = session.execute(bound, timeout=1, row_factory=USERS)
    page: list[User] = result.current_rows
    return result.one() or (page[0] if page else result[0])


def write(session: Session) -> None:
    batch = BatchStatement(consistency_level=ConsistencyLevel.ONE)
    batch.add(SimpleStatement("INSERT", fetch_size=10), ("Ada",))
    try:
        session.execute(batch, execution_profile="reports")
    except InvalidRequest as error:
        raise DriverException("no") from error
    every = session.execute_concurrent([("SELECT", None), (batch, None)], concurrency=3)
    assert all(success and result.one() for success, result in every)
    args = [("Ada", 1), ("Bob", 2)]
    for one in session.execute_concurrent_with_args("INSERT", args, raise_on_first_error=False):
        print(
            one.result_or_exc
            if isinstance(one.result_or_exc, Exception)
            else one.result_or_exc.one()
        )
    assert sum(state["open_count"] for state in session.get_pool_state().values())
    lazily = session.execute_concurrent([("SELECT", None)], results_generator=True)
    assert next(lazily).success


async def awaited() -> list[User]:
    async with AsyncCluster(["10.0.0.1"], idle_heartbeat_interval=5) as cluster:
        session = await cluster.connect()
        users = [user async for user in session.stream("SELECT", row_factory=USERS)]
        users += await (await session.execute("SELECT", row_factory=USERS)).all()
        for _, result in await session.execute_concurrent([("SELECT", {"name": "Ada"})]):
            print(await result.all())
        return users


asyncio.run(awaited())
