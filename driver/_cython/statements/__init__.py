"""Compiled twins of driver/statements."""
