"""Results as Arrow's data: what takes it, page by page, from rows that were decoded or not."""

import asyncio

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from cql_cluster import CqlCluster
from cql_node import error, rows

from driver.aio import Cluster as AsyncCluster
from driver.cluster import Cluster, ExecutionProfile
from driver.policies import AES256ColumnEncryptionPolicy
from driver.protocol.columns import ColDesc
from driver.protocol.errors import InvalidRequest
from driver.results.arrow import ArrowBatch, ArrowFactory, ArrowTable, arrow_factory
from driver.results.rows import class_factory, dict_factory, named_tuple_factory, tuple_factory
from driver.types import BytesType, DecimalType, Int32Type, UTF8Type, VectorType

VECTOR = VectorType.with_size(Int32Type, 2)
COLUMNS = [("k", Int32Type), ("v", UTF8Type), ("e", VECTOR)]
PAGES = [
    [(1, "one", [1, 1]), (2, None, None)],
    [],
    [(3, "three", [3, 3])],
]
LISTS = {"k": [1, 2, 3], "v": ["one", None, "three"], "e": [[1, 1], None, [3, 3]]}
QUERY = "SELECT * FROM t"


def paged(last):
    """Three pages, the second of them empty; what the third is."""

    def answer(request):
        number = next((i for i in (1, 2) if b"state-%d" % i in request.body), 0)
        if number == 2:
            return last
        return rows(COLUMNS, PAGES[number], paging_state=b"state-%d" % (number + 1))

    return answer


@pytest.fixture
def nodes():
    with CqlCluster(1) as found:
        found.when("FROM t", paged(rows(COLUMNS, PAGES[2])))
        found.when("FROM broken", paged(error(0x2200, "no third page")))
        found.when("FROM d", rows([("d", DecimalType)], [("1.25",), (None,)]))
        yield found


@pytest.fixture
def session(nodes):
    with Cluster(**nodes.options) as cluster:
        yield cluster.connect()


@pytest.fixture(params=["arrow_factory", "decoded rows"])
def result(request, session):
    options = {"row_factory": arrow_factory} if request.param == "arrow_factory" else {}
    return session.execute(QUERY, **options)


# --- who takes it --------------------------------------------------------------------------------


def test_pyarrow_takes_it(result):
    table = pa.table(result.to_arrow())
    table.validate(full=True)
    assert table.to_pydict() == LISTS
    assert table.schema.field("e").type == pa.list_(pa.int32(), 2)


def test_polars_takes_it(result):
    assert pl.DataFrame(result.to_arrow()).to_dict(as_series=False) == LISTS


def test_pandas_takes_it(result):
    frame = pd.DataFrame.from_arrow(result.to_arrow())
    assert list(frame["k"]) == [1, 2, 3]
    assert frame["v"].isna().tolist() == [False, True, False]


def test_duckdb_takes_it(result):
    found_rows = result.to_arrow()  # noqa: F841  (DuckDB looks for it in this frame)
    found = duckdb.sql("SELECT k, v, e FROM found_rows ORDER BY k DESC")
    assert found.fetchall() == [(3, "three", (3, 3)), (2, None, None), (1, "one", (1, 1))]
    assert duckdb.sql("SELECT sum(k) FROM found_rows").fetchall() == [(6,)]


def test_consumers_read_pages_as_they_come(nodes, result):
    reader = pa.RecordBatchReader.from_stream(result.arrow_batches())
    assert len(nodes.texts) == 1
    assert reader.read_next_batch().num_rows == 2
    assert len(nodes.texts) == 1
    assert [batch.num_rows for batch in reader] == [0, 1]
    assert len(nodes.texts) == 3


def test_duckdb_and_polars_read_streams(session):
    pages = session.execute(QUERY, row_factory=arrow_factory).arrow_batches()
    assert pl.DataFrame(pages)["k"].to_list() == [1, 2, 3]
    pages = session.execute(QUERY, row_factory=arrow_factory).arrow_batches()
    reader = pa.RecordBatchReader.from_stream(pages)  # noqa: F841  (DuckDB finds it here)
    assert duckdb.sql("SELECT count(*) FROM reader").fetchall() == [(3,)]


# --- pages ---------------------------------------------------------------------------------------


def test_a_table_can_be_taken_again_and_outlives_its_result(session):
    table = session.execute(QUERY, row_factory=arrow_factory).to_arrow()
    assert isinstance(table, ArrowTable)
    assert pa.table(table).equals(pa.table(table))
    assert (table.num_rows, len(table.batches), table.column_names) == (3, 3, ["k", "v", "e"])
    assert table.nbytes == sum(batch.nbytes for batch in table.batches) > 0
    assert pa.schema(table) == pa.table(table).schema


def test_iterating_over_the_result_gives_batches(session):
    batches = list(session.execute(QUERY, row_factory=arrow_factory))
    assert [(type(each), each.num_rows) for each in batches] == [
        (ArrowBatch, 2),
        (ArrowBatch, 0),
        (ArrowBatch, 1),
    ]


def test_a_stream_is_read_once(session):
    pages = session.execute(QUERY, row_factory=arrow_factory).arrow_batches()
    assert pages.column_names == ["k", "v", "e"]
    assert pa.schema(pages).names == ["k", "v", "e"]
    assert next(pages).num_rows == 2
    assert pa.table(pages)["k"].to_pylist() == [3]
    with pytest.raises(RuntimeError, match=r"to_arrow\(\) keeps them"):
        pages.__arrow_c_stream__()


def test_a_stream_that_nobody_reads_asks_for_no_page(nodes, session):
    session.execute(QUERY, row_factory=arrow_factory).arrow_batches().__arrow_c_stream__()
    assert len(nodes.texts) == 1


def test_an_error_in_the_middle_ends_a_stream_and_is_kept(session):
    pages = session.execute("SELECT * FROM broken", row_factory=arrow_factory).arrow_batches()
    reader = pa.RecordBatchReader.from_stream(pages)
    assert [reader.read_next_batch().num_rows for _ in range(2)] == [2, 0]
    with pytest.raises(OSError, match="no third page"):
        reader.read_next_batch()
    assert isinstance(pages.error, InvalidRequest)
    reader.close()


def test_an_error_in_the_middle_is_raised_by_what_iterates(session):
    result = session.execute("SELECT * FROM broken", row_factory=arrow_factory)
    with pytest.raises(InvalidRequest, match="no third page"):
        result.to_arrow()


# --- where it comes from -------------------------------------------------------------------------


@pytest.mark.parametrize("factory", [named_tuple_factory, tuple_factory, dict_factory])
def test_rows_of_the_drivers_factories_become_columns(session, factory):
    assert pa.table(session.execute(QUERY, row_factory=factory).to_arrow()).to_pydict() == LISTS


def test_pages_after_decoded_rows_are_not_decoded(session):
    result = session.execute(QUERY)
    result.to_arrow()
    assert result.response_future.row_factory is arrow_factory


def test_rows_of_other_shapes_are_refused(session):
    class Row:
        def __init__(self, k, v, e):
            """Take what is there."""

    result = session.execute(QUERY, row_factory=class_factory(Row))
    with pytest.raises(TypeError, match=r"row_factory=driver\.arrow_factory"):
        result.to_arrow()


def test_a_result_without_rows_is_refused(session):
    with pytest.raises(TypeError, match="no rows"):
        session.execute("INSERT INTO elsewhere").to_arrow()


def test_a_profile_may_have_the_factory(nodes):
    profile = ExecutionProfile(row_factory=ArrowFactory(decimal=(9, 2)))
    options = {**nodes.options, "execution_profiles": {"arrow": profile}}
    with Cluster(**options) as cluster:
        session = cluster.connect()
        found = session.execute("SELECT d FROM d", execution_profile="arrow").to_arrow()
        assert pa.table(found)["d"].type == pa.decimal128(9, 2)
        assert session.execute("SELECT d FROM d").one().d is not None


@pytest.mark.parametrize(("decimal", "varint"), [((77, 0), None), ((5, 6), None), (None, 0)])
def test_digits_that_arrow_does_not_have_are_refused(decimal, varint):
    with pytest.raises(ValueError, match="1 to 76 digits"):
        ArrowFactory(decimal=decimal, varint=varint)


@pytest.mark.parametrize(
    ("decimal", "varint"),
    [(5, None), ((5,), None), (("5", 2), None), ((5, 2, 1), None), (None, "5")],
)
def test_what_is_no_number_of_digits_is_refused(decimal, varint):
    with pytest.raises(TypeError, match=r"^decimal is a pair of numbers of digits.* varint"):
        ArrowFactory(decimal=decimal, varint=varint)


def test_factories_are_equal_if_what_they_make_is():
    assert ArrowFactory() == arrow_factory
    assert hash(ArrowFactory()) == hash(arrow_factory)
    assert ArrowFactory(varint=3) != arrow_factory
    assert ArrowFactory(decimal=[9, 2]) == ArrowFactory(decimal=(9, 2))
    assert repr(ArrowFactory(varint=3)) == "ArrowFactory(decimal=None, varint=3)"


def test_encrypted_columns_arrive_as_what_they_hold(nodes):
    policy = AES256ColumnEncryptionPolicy()
    description = ColDesc("ks", "t", "k")
    policy.add_column(description, bytes(32), "int")
    secret = policy.encode_and_encrypt(description, 7)
    nodes.when("FROM secret", rows([("k", BytesType)], [(secret,)]))
    with Cluster(**nodes.options, column_encryption_policy=policy) as cluster:
        result = cluster.connect().execute("SELECT k FROM secret", row_factory=arrow_factory)
        assert pa.table(result.to_arrow()).to_pydict() == {"k": [7]}


def test_coroutines_get_batches_and_tables(nodes):
    async def read():
        async with AsyncCluster(**nodes.options) as cluster:
            session = await cluster.connect()
            result = await session.execute(QUERY, row_factory=arrow_factory)
            sizes = [batch.num_rows async for batch in result.arrow_batches()]
            table = await (await session.execute(QUERY)).to_arrow()
            with pytest.raises(InvalidRequest, match="no third page"):
                await (await session.execute("SELECT * FROM broken")).to_arrow()
            return sizes, pa.table(table).to_pydict()

    assert asyncio.run(read()) == ([2, 0, 1], LISTS)
