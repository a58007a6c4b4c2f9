"""Compiled modules of driver/pool."""
