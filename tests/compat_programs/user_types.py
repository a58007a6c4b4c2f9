"""User-defined types, tuples and nested collections."""
# ruff: noqa: T201  (a program prints)

from cassandra.cluster import UserTypeDoesNotExist
from keyspaces import KEYSPACE, connected


class Address:
    """An address, as an application has it."""

    def __init__(self, street, zipcode):
        """Keep both."""
        self.street = street
        self.zipcode = zipcode

    def __repr__(self):
        """For the output."""
        return f"Address({self.street!r}, {self.zipcode!r})"


with connected() as (cluster, session):
    session.execute("CREATE TYPE address (street text, zipcode int)")
    session.execute("CREATE TYPE person (name text, home frozen<address>)")
    session.execute(
        "CREATE TABLE t (k int PRIMARY KEY, a frozen<address>, many list<frozen<address>>, "
        "p frozen<person>, pair tuple<int, text>, deep map<text, frozen<set<int>>>)"
    )
    session.execute("INSERT INTO t (k, a) VALUES (0, {street: 'Main St', zipcode: 12345})")
    row = session.execute("SELECT a FROM t WHERE k = 0").one()
    print(row.a.street, row.a.zipcode, tuple(row.a))

    cluster.register_user_type(KEYSPACE, "address", Address)
    print(session.execute("SELECT a FROM t WHERE k = 0").one().a)
    session.execute("INSERT INTO t (k, a) VALUES (%s, %s)", (1, Address("High St", 2)))
    insert = session.prepare("INSERT INTO t (k, a, many, p, pair, deep) VALUES (?, ?, ?, ?, ?, ?)")
    session.execute(
        insert,
        (2, Address("x", 3), [Address("y", 4)], ("Jo", Address("z", 5)), (6, "six"), {"a": {1, 2}}),
    )
    for key in (1, 2):
        row = session.execute("SELECT * FROM t WHERE k = %s", (key,)).one()
        print(row.a, row.many, row.pair)
        if row.p:
            print(row.p.name, row.p.home, {name: list(s) for name, s in row.deep.items()})

    cluster.register_user_type(KEYSPACE, "person", dict)
    print(session.execute("SELECT p FROM t WHERE k = 2").one().p["name"])
    try:
        cluster.register_user_type(KEYSPACE, "nobody", dict)
    except UserTypeDoesNotExist as error:
        print("UserTypeDoesNotExist", "nobody" in str(error))
    print(sorted(cluster.metadata.keyspaces[KEYSPACE].user_types))
