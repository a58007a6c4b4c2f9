"""Compiled modules of driver/cluster."""
