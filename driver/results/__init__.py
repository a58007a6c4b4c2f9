"""Results: the shape of rows, and the pages that they come in."""

from .page import ResultPage
from .result_set import ResultSet
from .rows import (
    RowFactory,
    class_factory,
    dict_factory,
    named_tuple_factory,
    ordered_dict_factory,
    tuple_factory,
)

__all__ = [
    "ResultPage",
    "ResultSet",
    "RowFactory",
    "class_factory",
    "dict_factory",
    "named_tuple_factory",
    "ordered_dict_factory",
    "tuple_factory",
]
