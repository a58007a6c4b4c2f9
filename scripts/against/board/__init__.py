"""Whole requests by this driver and by others, against a real node and one that answers at once."""
