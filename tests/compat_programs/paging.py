"""Pages: automatic, by hand, from a saved state, with callbacks."""
# ruff: noqa: T201  (a program prints)

import threading

from cassandra.query import SimpleStatement, dict_factory
from keyspaces import connected

with connected() as (_, session):
    session.execute("CREATE TABLE t (p int, c int, PRIMARY KEY (p, c))")
    insert = session.prepare("INSERT INTO t (p, c) VALUES (0, ?)")
    for number in range(25):
        session.execute(insert, [number])

    query = SimpleStatement("SELECT c FROM t WHERE p = 0", fetch_size=10)
    print([row.c for row in session.execute(query)])

    result = session.execute(query)
    print(len(result.current_rows), result.has_more_pages, result.paging_state is not None)
    result.fetch_next_page()
    print([row.c for row in result.current_rows], result.has_more_pages)

    state = session.execute(query).paging_state
    later = session.execute(query, paging_state=state)
    print([row.c for row in later.current_rows])
    print(len(list(later)), later.has_more_pages, later.paging_state)
    print(len(session.execute(query).all()), session.execute(query).one().c)

    session.row_factory = dict_factory
    print(list(session.execute(query))[-1])

    session.default_fetch_size = 7
    print(session.execute("SELECT c FROM t WHERE p = 0").has_more_pages)
    session.default_fetch_size = None
    print(session.execute("SELECT c FROM t WHERE p = 0").has_more_pages)

    class Pages:
        """Collects the pages of a request with callbacks."""

        def __init__(self, future):
            """Begin."""
            self.future, self.done, self.sizes = future, threading.Event(), []
            future.add_callbacks(callback=self.on_page, errback=self.on_error)

        def on_page(self, rows):
            """Count, and go on."""
            self.sizes.append(len(rows))
            if self.future.has_more_pages:
                self.future.start_fetching_next_page()
            else:
                self.done.set()

        def on_error(self, error):
            """Give up."""
            print("error", error)
            self.done.set()

    pages = Pages(session.execute_async(query))
    pages.done.wait(30)
    print(pages.sizes)
