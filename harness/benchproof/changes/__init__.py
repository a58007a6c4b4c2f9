"""Which commits changed what: the steps of every series of a history."""

from .search import find_all
from .sizes import Change

__all__ = ["Change", "find_all"]
