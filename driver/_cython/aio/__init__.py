"""Compiled modules of driver/aio."""
