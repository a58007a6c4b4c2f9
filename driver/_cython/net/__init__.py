"""Compiled modules of driver/net."""
