"""Compiled modules of driver/execution."""
