"""Which commits changed what: the steps of every series of a history."""

from .search import Change, find_all

__all__ = ["Change", "find_all"]
