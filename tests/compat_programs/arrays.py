"""NumPy arrays instead of rows; the published peer loses them, so its output is not compared."""
# ruff: noqa: T201  (a program prints)

from cassandra.protocol import NumpyProtocolHandler
from cassandra.query import tuple_factory
from keyspaces import connected

with connected() as (_, session):
    session.execute("CREATE TABLE t (k int, c int, v double, s text, PRIMARY KEY (k, c))")
    for number in range(3):
        session.execute("INSERT INTO t (k, c, v, s) VALUES (0, %s, %s, 'x')", (number, number / 2))
    session.client_protocol_handler = NumpyProtocolHandler
    session.row_factory = tuple_factory
    for page in session.execute("SELECT c, v, s FROM t WHERE k = 0"):
        for name, array in page.items():
            print(name, array.dtype, array.tolist())
