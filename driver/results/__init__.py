"""Results: the shape of rows, and the pages that they come in."""

from .page import ResultPage as ResultPage
from .result_set import ResultSet as ResultSet
from .rows import RowFactory as RowFactory
from .rows import class_factory as class_factory
from .rows import dict_factory as dict_factory
from .rows import named_tuple_factory as named_tuple_factory
from .rows import ordered_dict_factory as ordered_dict_factory
from .rows import tuple_factory as tuple_factory
