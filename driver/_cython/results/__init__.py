"""Compiled modules of driver/results."""
