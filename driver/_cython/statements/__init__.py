"""Compiled modules of driver/statements."""
