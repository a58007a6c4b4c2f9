"""Plots and pages: comparisons, as data, become something that a person reads."""

from __future__ import annotations

from .page import write_page
from .pictures import draw_readme
from .table import markdown_table

__all__ = ["draw_readme", "markdown_table", "write_page"]
