"""Compiled modules of driver/policies."""
