"""Compiled twins of driver/types."""
