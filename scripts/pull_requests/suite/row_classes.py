"""Pull request 740: the class of a result's rows, which is made for each result."""

from cassandra import query

from .proving import proved

FACTORY, MODULES = ("query:named_tuple_factory",), ("query",)


def result(columns, rows):
    """Names of columns, and rows of ints."""
    return [f"col_{index}" for index in range(columns)], [tuple(range(columns))] * rows


ONE, FIVE, TEN = result(10, 1), result(5, 100), result(10, 100)


@proved(FACTORY, MODULES)
def time_10_columns_1_row(of=ONE):
    """Almost only the class."""
    return query.named_tuple_factory(*of)


@proved(FACTORY, MODULES)
def time_5_columns_100_rows(of=FIVE):
    """A page."""
    return query.named_tuple_factory(*of)


@proved(FACTORY, MODULES)
def time_10_columns_100_rows(of=TEN):
    """A page of wider rows."""
    return query.named_tuple_factory(*of)
