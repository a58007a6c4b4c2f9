"""Which commits changed what: the steps of every series of a history."""

from .model import Change
from .search import find, find_all, prepare

__all__ = ["Change", "find", "find_all", "prepare"]
