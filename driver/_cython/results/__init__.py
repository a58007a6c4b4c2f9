"""Compiled twins of driver/results."""
