"""Pools: the connections to one host, lent to requests."""
