"""Result sets: pages, first rows, and conditional statements."""

import answers
import pytest
from in_memory import InMemorySession

from driver.results import (
    ResultPage,
    ResultSet,
    dict_factory,
    named_tuple_factory,
    ordered_dict_factory,
    tuple_factory,
)
from driver.types import BooleanType, Int32Type
from driver.wire.handlers import LazyProtocolHandler, NumpyProtocolHandler

NUMBER = [("n", Int32Type)]
PAGES = [[(1,), (2,)], [], [(3,)]]


@pytest.fixture
def pages():
    """A session whose server has three pages, the second of them empty."""

    def answer(request):
        page = sum(state in request.body for state in (b"state-1", b"state-2")) and (
            1 if b"state-1" in request.body else 2
        )
        state = b"state-%d" % (page + 1) if page < 2 else None
        return answers.rows(NUMBER, PAGES[page], paging_state=state)

    return InMemorySession(answer, row_factory=tuple_factory)


@pytest.fixture
def result_of():
    """A result set of given columns and rows."""

    def make(columns, values, **options):
        return InMemorySession(lambda _: answers.rows(columns, values), **options).execute("q")

    return make


def test_iterating_goes_through_all_pages(pages):
    assert list(pages.execute("q")) == [(1,), (2,), (3,)]
    assert len(pages.server.requests) == 3


def test_all_gives_every_row(pages):
    assert pages.execute("q").all() == [(1,), (2,), (3,)]


def test_pages_can_be_fetched_one_by_one(pages):
    result = pages.execute("q")
    seen = []
    while True:
        seen.append((list(result.current_rows), result.has_more_pages, result.paging_state))
        if not result.has_more_pages:
            break
        result.fetch_next_page()
    assert seen == [
        ([(1,), (2,)], True, b"state-1"),
        ([], True, b"state-2"),
        ([(3,)], False, None),
    ]
    result.fetch_next_page()
    assert result.current_rows == []
    assert len(pages.server.requests) == 3


def test_a_page_is_fetched_only_when_it_is_reached(pages):
    rows = iter(pages.execute("q"))
    assert [next(rows), next(rows)] == [(1,), (2,)]
    assert len(pages.server.requests) == 1
    assert next(rows) == (3,)
    with pytest.raises(StopIteration):
        next(rows)


def test_a_result_set_is_its_own_iterator_and_begins_anew_with_each(pages):
    result = pages.execute("q")
    first = iter(result)
    assert first is result
    assert next(first) == next(iter(result)) == (1,)
    assert list(zip(result, result, strict=False)) == [((1,), (2,))]


def test_every_way_to_ask_for_the_next_row_goes_on_where_the_others_are(pages):
    result = pages.execute("q")
    assert [next(result), result.next(), result.__next__()] == [(1,), (2,), (3,)]
    assert next(result, None) is None
    for ask in (result.next, result.__next__):
        with pytest.raises(StopIteration):
            ask()
    assert result.current_rows == []


def test_rows_after_a_page_that_failed_come_when_it_is_asked_for_again(pages, monkeypatch):
    result = pages.execute("q")
    rows = iter(result)
    assert [next(rows), next(rows)] == [(1,), (2,)]
    refusing = answers.error(0x2000, "not now")
    with monkeypatch.context() as failing:
        failing.setattr(pages.server, "answer", lambda _: refusing)
        with pytest.raises(Exception, match="not now"):
            next(rows)
    assert result.current_rows == [(1,), (2,)]
    assert next(rows) == (3,)


def test_all_leaves_nothing_to_iterate_over(pages):
    result = pages.execute("q")
    assert result.all() == [(1,), (2,), (3,)]
    assert (result.all(), list(result), result.current_rows) == ([], [], [])
    with pytest.raises(RuntimeError, match="some were iterated over already"):
        assert result[0]


def test_all_begins_with_the_whole_page_that_is_being_iterated_over(pages):
    result = pages.execute("q")
    assert next(result) == (1,)
    assert result.all() == [(1,), (2,), (3,)]


def test_a_class_below_may_have_a_next_row_of_its_own(pages):
    class Doubled(ResultSet):
        def __next__(self):
            return super().__next__() * 2

    class Same(ResultSet):
        pass

    future = pages.execute_async("q")
    rows = future.result().current_rows
    assert list(Doubled(future, rows)) == [(1, 1), (2, 2), (3, 3)]
    future = pages.execute_async("q")
    assert list(Same(future, future.result().current_rows)) == [(1,), (2,), (3,)]


def test_the_next_row_of_the_class_may_be_replaced_and_put_back(pages, monkeypatch):
    real = ResultSet.__next__
    asked = []
    with monkeypatch.context() as replaced:
        replaced.setattr(ResultSet, "__next__", lambda self: asked.append(1) or real(self))
        assert list(pages.execute("q")) == [(1,), (2,), (3,)]
    assert list(pages.execute("q")) == [(1,), (2,), (3,)]
    assert len(asked) == 4


def test_a_row_whose_end_iterates_anew_does_no_harm(pages):
    result = pages.execute("q")

    class Last:
        def __del__(self):
            iter(result)

    result._current_rows = [Last()]
    assert list(result)[1:] == [(3,)]


def test_an_earlier_paging_state_can_be_taken_up(pages):
    assert list(pages.execute("q", paging_state=b"state-2")) == [(3,)]


def test_one_is_the_first_row(pages, result_of):
    assert pages.execute("q").one() == (1,)
    assert result_of(NUMBER, []).one() is None


def test_a_result_is_true_if_its_page_has_rows(pages, result_of):
    assert pages.execute("q")
    assert not result_of(NUMBER, [])
    assert not InMemorySession().execute("q")


def test_a_result_without_rows_is_empty():
    result = InMemorySession().execute("q")
    assert (list(result), result.column_names, result.has_more_pages) == ([], None, False)


def test_columns_are_described(result_of):
    result = result_of([("n", Int32Type), ("b", BooleanType)], [])
    assert result.column_names == ["n", "b"]
    assert result.column_types == [Int32Type, BooleanType]


def test_lazy_rows_are_decoded_when_they_are_reached(result_of):
    broken = [(1,), (answers.Raw(b"xx"),)]
    result = result_of(NUMBER, broken, handler=LazyProtocolHandler, row_factory=tuple_factory)
    rows = iter(result)
    assert next(rows) == (1,)
    with pytest.raises(Exception, match='column "n"'):
        next(rows)


@pytest.mark.parametrize("factory", [tuple_factory, named_tuple_factory, dict_factory])
def test_a_page_of_numpy_columns_is_one_element(result_of, factory):
    result = result_of(NUMBER, [(1,), (None,)], handler=NumpyProtocolHandler, row_factory=factory)
    (page,) = list(result)
    assert page["n"].tolist() == [1, None]


FACTORIES = [tuple_factory, named_tuple_factory, dict_factory, ordered_dict_factory]


class TestConditionalStatements:
    @pytest.mark.parametrize("factory", FACTORIES)
    @pytest.mark.parametrize("applied", [True, False])
    def test_tell_whether_they_were_applied(self, result_of, factory, applied):
        columns = [("[applied]", BooleanType), ("n", Int32Type)]
        result = result_of(columns, [(applied, 5)], row_factory=factory)
        assert result.was_applied is applied

    def test_are_told_from_others(self, result_of):
        for result in (
            result_of(NUMBER, [(1,)]),
            result_of(NUMBER, []),
            InMemorySession().execute(""),
        ):
            with pytest.raises(RuntimeError, match="conditional statements"):
                assert result.was_applied

    def test_need_a_row_factory_that_is_known(self, result_of):
        result = result_of(
            [("[applied]", BooleanType)], [(True,)], row_factory=lambda _, rows: rows
        )
        with pytest.raises(
            RuntimeError, match=r"is for rows of tuple_factory, .* not for those of"
        ):
            assert result.was_applied


class TestAListOfRows:
    def test_is_made_by_an_index(self, pages):
        result = pages.execute("q")
        assert result[2] == (3,)
        assert list(result) == list(result) == result.current_rows == [(1,), (2,), (3,)]
        assert (result.one(), bool(result), result.has_more_pages) == ((1,), True, False)

    def test_is_made_by_a_slice(self, pages):
        assert pages.execute("q")[1:] == [(2,), (3,)]

    def test_is_made_by_a_comparison(self, pages):
        assert pages.execute("q") == [(1,), (2,), (3,)]
        assert pages.execute("q") != [(1,)]

    def test_has_an_end(self, pages):
        with pytest.raises(IndexError):
            pages.execute("q")[3]

    @pytest.mark.parametrize(
        ("name", "use"),
        [("index operator", lambda r: r[0]), ("equality operator", lambda r: r == [])],
    )
    def test_is_not_made_of_what_was_iterated_over(self, pages, name, use):
        result = pages.execute("q")
        next(iter(result))
        with pytest.raises(RuntimeError, match=f"the {name} needs all rows"):
            use(result)

    def test_has_no_hash(self, pages):
        with pytest.raises(TypeError, match="unhashable"):
            hash(pages.execute("q"))

    def test_may_be_gone_through_by_hand(self, pages):
        result = pages.execute("q")
        assert result[0] == (1,)
        rows = iter(result)
        assert [next(rows), next(rows), next(rows)] == result.all()


def test_a_page_alone_does_not_fetch(pages):
    future = pages.execute_async("q")
    page = ResultPage(future, future.result().current_rows)
    assert (page.current_rows, page.has_more_pages, page.paging_state) == (
        [(1,), (2,)],
        True,
        b"state-1",
    )
    assert (page.warnings, page.custom_payload, page.column_names) == (None, None, ["n"])
    assert not hasattr(page, "fetch_next_page")
