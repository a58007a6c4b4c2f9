"""Compiled modules of driver/wire."""
