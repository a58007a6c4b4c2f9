"""Statements: what a request says, before it is a message: simple, prepared, bound, batch."""

from .base import FETCH_SIZE_UNSET, Statement
from .batch import BatchStatement
from .bound import BoundStatement
from .prepared import PreparedStatement
from .routing_key import pack_parts
from .simple import SimpleStatement, bind_params

__all__ = [
    "FETCH_SIZE_UNSET",
    "BatchStatement",
    "BoundStatement",
    "PreparedStatement",
    "SimpleStatement",
    "Statement",
    "bind_params",
    "pack_parts",
]
