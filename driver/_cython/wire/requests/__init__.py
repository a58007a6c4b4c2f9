"""Compiled modules of driver/wire/requests."""
