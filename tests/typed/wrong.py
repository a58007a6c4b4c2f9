"""A program of a user in which each marked line is an error that type checkers find."""

from dataclasses import dataclass

import driver
from driver import (
    AsyncCluster,
    Cluster,
    ExecutionProfile,
    Session,
    SimpleStatement,
    class_factory,
    dict_factory,
    tuple_factory,
)


@dataclass
class User:
    name: str


USERS = class_factory(User)

print(driver.no_such_name)  # wrong: no such name

Cluster(["10.0.0.1"], connect_timeuot=3)  # wrong: no such option
Cluster(["10.0.0.1"], connect_timeout="3")  # wrong: a text is no number of seconds
Cluster(10)  # wrong: a number is no list of contact points
Cluster(["10.0.0.1"], "9042")  # wrong: a text is no port
Cluster(["10.0.0.1"], auth_provider=("user", "password"))  # wrong: a pair is no provider
AsyncCluster(["10.0.0.1"], prot=9042)  # wrong: no such option
ExecutionProfile(row_factroy=dict_factory)  # wrong: no such option
Cluster(["10.0.0.1"], sockopts=[(6, "1", 1)])  # wrong: a text is no number of an option
Cluster(["10.0.0.1"], connection_class=User)  # wrong: no class of connections
Cluster(["10.0.0.1"], application_info="mine")  # wrong: a text adds nothing to STARTUP
SimpleStatement("SELECT", retry_policy=3)  # wrong: a number is no policy
ExecutionProfile(row_factory=User)  # wrong: a class is no row factory


def rows(session: Session) -> None:
    session.execute("SELECT", time_out=3)  # wrong: no such option
    session.execute("SELECT", timeout="3")  # wrong: a text is no number of seconds
    session.execute(7)  # wrong: a number is no statement
    users = session.execute("SELECT", row_factory=USERS)
    print(users.one().name)  # wrong: there may be no row
    for user in users:
        print(user.nmae)  # wrong: no such field
    print(users[0].nmae)  # wrong: no such field
    for named in session.execute_async("SELECT", row_factory=USERS).result():
        print(named["name"])  # wrong: an object, not a mapping
    for values in session.execute("SELECT", row_factory=tuple_factory):
        print(values["name"])  # wrong: an index, not a name
    for row in session.execute("SELECT", row_factory=dict_factory):
        print(row.name)  # wrong: a key, not an attribute
    print(session.execute("SELECT").one().name)  # wrong: there may be no row
    session.execute("SELECT", row_factory=User)  # wrong: a class is no row factory
    session.execute_concurrent([(7, None)])  # wrong: a number is no statement
    session.execute_concurrent_with_args("SELECT", [1])  # wrong: a number is no row of values
    for one in session.execute_concurrent([("SELECT", None)], raise_on_first_error=False):
        print(one.result_or_exc.one())  # wrong: it may be an exception
    print(session.get_pool_state().popitem()[1]["opne_count"])  # wrong: no such number
    session.get_pool_state()["127.0.0.1"]  # wrong: by host


async def awaited(cluster: AsyncCluster) -> None:
    session = await cluster.connect()
    async for user in session.stream("SELECT", row_factory=USERS):
        print(user.nmae)  # wrong: no such field
    session.execute("SELECT").one()  # wrong: it was not awaited
    session.stream("SELECT", time_out=3)  # wrong: no such option
