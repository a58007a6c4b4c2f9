"""Statements: what a request says, before it is a message: simple, prepared, bound, batch."""

from .base import FETCH_SIZE_UNSET as FETCH_SIZE_UNSET
from .base import Statement as Statement
from .batch import BatchStatement as BatchStatement
from .bound import BoundStatement as BoundStatement
from .prepared import PreparedStatement as PreparedStatement
from .routing_key import pack_parts as pack_parts
from .simple import SimpleStatement as SimpleStatement
from .simple import bind_params as bind_params
