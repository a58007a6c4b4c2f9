"""What goes wrong, and which classes catch it."""
# ruff: noqa: T201  (a program prints)

from cassandra import (
    AlreadyExists,
    ConsistencyLevel,
    DriverException,
    InvalidRequest,
    RequestExecutionException,
    RequestValidationException,
    Unavailable,
)
from cassandra.cluster import Cluster, NoHostAvailable
from cassandra.policies import FallthroughRetryPolicy
from cassandra.protocol import ConfigurationException, ErrorMessage, SyntaxException
from cassandra.query import SimpleStatement
from keyspaces import CONTACT_POINT, connected

with connected() as (cluster, session):
    session.execute("CREATE TABLE t (k int PRIMARY KEY)")
    try:
        session.execute("SELEKT")
    except SyntaxException as error:
        print("SyntaxException", hex(error.code), "SELEKT" in error.message, error.info)
        print(isinstance(error, ErrorMessage), isinstance(error, Exception))
        print("Syntax error" in str(error))
    try:
        session.execute("SELECT * FROM missing")
    except InvalidRequest as error:
        print(
            "InvalidRequest",
            isinstance(error, RequestValidationException),
            "code=2200" in str(error),
        )
    try:
        session.execute("CREATE TABLE t (k int PRIMARY KEY)")
    except AlreadyExists as error:
        print("AlreadyExists", error.keyspace == session.keyspace, error.table)
    try:
        session.execute(
            "CREATE KEYSPACE bad_options WITH replication = {'class': 'SimpleStrategy', 'x': 1}"
        )
    except ConfigurationException as error:
        print("ConfigurationException", hex(error.code))
    try:
        statement = SimpleStatement(
            "INSERT INTO t (k) VALUES (1)",
            consistency_level=ConsistencyLevel.THREE,
            retry_policy=FallthroughRetryPolicy(),
        )
        session.execute(statement)
    except Unavailable as error:
        print("Unavailable", error.required_replicas, isinstance(error, RequestExecutionException))
    try:
        session.prepare("SELECT nothing FROM t")
    except DriverException as error:
        print(type(error).__name__)
    for faulty in (lambda: session.execute(5), lambda: session.execute("SELECT %s", (object(),))):
        try:
            faulty()
        except Exception as error:  # noqa: BLE001  (whatever it is)
            print("refused", type(error) is not None)
    other = cluster.connect(session.keyspace)
    print(other.execute("SELECT * FROM t").one())
    other.shutdown()
    try:
        other.execute("SELECT * FROM t")
    except Exception as error:  # noqa: BLE001  (whatever it is)
        print("after shutdown", error is not None)

try:
    Cluster(["127.0.0.99"], port=1, connect_timeout=1).connect()
except NoHostAvailable as error:
    print("NoHostAvailable", len(error.errors), [str(host) for host in error.errors])
try:
    Cluster([CONTACT_POINT]).connect("no_such_keyspace")
except Exception as error:  # noqa: BLE001  (whatever it is)
    print("no_such_keyspace" in str(error))
try:
    Cluster("127.0.0.1")
except TypeError:
    print("TypeError")
