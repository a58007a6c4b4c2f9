"""Compiled twins of driver/wire."""
