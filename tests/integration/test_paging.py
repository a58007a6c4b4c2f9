"""Pages: fetched as they are needed, by hand, by callbacks, and by another process."""

import itertools
import subprocess
import sys
import threading

import pytest

from driver.protocol.errors import DriverException
from driver.statements import SimpleStatement
from tests.integration.rings import ROOT

COUNT = 250
EVERYTHING = SimpleStatement("SELECT k, v FROM t", fetch_size=40)
OTHER_PROCESS = """
import sys
from driver.cluster import Cluster
from driver.statements import SimpleStatement
address, keyspace, state = sys.argv[1:]
with Cluster([address]) as cluster:
    session = cluster.connect(keyspace)
    statement = SimpleStatement("SELECT k, v FROM t", fetch_size=40)
    for row in session.execute(statement, paging_state=bytes.fromhex(state)):
        print(row[0])
"""


@pytest.fixture
def table(session):
    session.execute("CREATE TABLE t (k int PRIMARY KEY, v text)")
    insert = session.prepare("INSERT INTO t (k, v) VALUES (?, ?)")
    for future in [session.execute_async(insert, (k, str(k))) for k in range(COUNT)]:
        future.result()
    return session


def keys(found):
    return [row[0] for row in found]


@pytest.mark.parametrize("size", [1, 7, COUNT, COUNT + 1])
def test_iteration_goes_over_all_pages(table, size):
    limit = SimpleStatement("SELECT k FROM t", fetch_size=size)
    assert sorted(keys(table.execute(limit))) == list(range(COUNT))


def test_a_prepared_statement_is_paged_by_its_fetch_size(table):
    prepared = table.prepare("SELECT k, v FROM t")
    prepared.fetch_size = 40
    found = table.execute(prepared)
    assert (len(found.current_rows), found.has_more_pages) == (40, True)
    assert sorted(keys(found)) == list(range(COUNT))


def test_without_a_fetch_size_everything_comes_at_once(table):
    found = table.execute(SimpleStatement("SELECT k FROM t", fetch_size=None))
    assert (len(found.current_rows), found.has_more_pages) == (COUNT, False)


def test_the_sessions_fetch_size_is_the_default(table):
    table.default_fetch_size = 30
    assert len(table.execute("SELECT k FROM t").current_rows) == 30


def test_pages_can_be_fetched_by_hand(table):
    found = table.execute(EVERYTHING)
    pages = [keys(found.current_rows)]
    while found.has_more_pages:
        found.fetch_next_page()
        pages.append(keys(found.current_rows))
    assert [len(page) for page in pages] == [40] * 6 + [10]
    assert sorted(itertools.chain(*pages)) == list(range(COUNT))


def test_a_paging_state_goes_on_where_another_request_ended(table):
    first = table.execute(EVERYTHING)
    before, state = keys(first.current_rows), first.paging_state
    after = keys(table.execute(EVERYTHING, paging_state=state))
    assert sorted(before + after) == list(range(COUNT))


def test_a_paging_state_goes_on_in_another_process(table, keyspace_name, one_node):
    first = table.execute(EVERYTHING)
    arguments = [one_node.addresses[0], keyspace_name, first.paging_state.hex()]
    printed = subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS, *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        cwd=ROOT,
    ).stdout
    after = [int(line) for line in printed.split()]
    assert sorted(keys(first.current_rows) + after) == list(range(COUNT))


def test_a_paging_state_that_the_server_did_not_give_is_refused(table):
    with pytest.raises(DriverException, match=r"(?i)paging state"):
        table.execute(EVERYTHING, paging_state=b"\xff\xfe\xfd")


def test_callbacks_can_ask_for_the_next_page(table):
    future = table.execute_async(EVERYTHING)
    pages, done = [], threading.Event()

    def page(rows):
        pages.append(keys(rows))
        if future.has_more_pages:
            future.start_fetching_next_page()
        else:
            done.set()

    future.add_callbacks(page, lambda error: (pages.append(error), done.set()))
    assert done.wait(20)
    assert sorted(itertools.chain(*pages)) == list(range(COUNT))


def test_asking_beyond_the_last_page_is_an_error(table):
    from driver.execution.response_future import QueryExhausted

    future = table.execute_async(SimpleStatement("SELECT k FROM t", fetch_size=COUNT + 1))
    future.result()
    with pytest.raises(QueryExhausted):
        future.start_fetching_next_page()


def test_a_table_that_is_dropped_between_pages_is_an_error_and_no_end(table):
    found = table.execute(EVERYTHING)
    table.execute("DROP TABLE t", timeout=30)
    with pytest.raises(DriverException):
        list(found)
