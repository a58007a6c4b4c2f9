"""Plots and pages: comparisons, as data, become something that a person reads."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .page import write_page
    from .pictures import draw_readme
    from .table import markdown_table

__all__ = ["draw_readme", "markdown_table", "write_page"]

#: Loaded when asked for: who only wants `units` should need neither jinja2 nor matplotlib.
_PLACES = {"write_page": "page", "draw_readme": "pictures", "markdown_table": "table"}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_PLACES[name]}", __name__), name)
