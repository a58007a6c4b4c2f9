"""Compiled modules of driver/policies/load_balancing."""
