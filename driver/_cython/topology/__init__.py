"""Compiled modules of driver/topology."""
