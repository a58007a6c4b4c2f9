"""Compiled twins of driver/wire/requests."""
