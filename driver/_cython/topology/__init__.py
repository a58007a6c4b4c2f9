"""Compiled twins of driver/topology."""
