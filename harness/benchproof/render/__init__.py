"""Plots and pages: comparisons, as data, become something that a person reads."""
