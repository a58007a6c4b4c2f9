"""Compiled modules of driver/types."""
